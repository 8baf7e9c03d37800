//! `cargo doctor` reports what this machine has for running the chapters, and how to fill each gap. `cargo doctor --workshop` also reports
//! whether every exercise can be done here.

use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use compilers::Compiler;
use compilers::clang::Clang;
use compilers::input::{Form, Input};
use compilers::libraries::{CUBLAS, CUFFT, Library};
use compilers::nvrtc::Nvrtc;
use driver::client;
use run::console::{self, note};
use run::gpu::DeviceInfo;
use run::probe::{self, Unusable};
use run::{Gpu, Request};
use workshop::Exercise;
use workshop::workspace::Workspace;

struct Line {
    what: &'static str,
    state: State,
    text: String,
}

/// The state of one thing that chapters or exercises use.
enum State {
    /// It works.
    Works,
    /// It is missing, and the chapters run without it.
    Missing,
    /// No chapter runs without it, or with `--workshop`, some exercise cannot be done without it.
    Fails,
}

impl Line {
    /// Makes a line whose state is `Works` for `Ok`, else `otherwise`.
    fn new(what: &'static str, result: Result<String, String>, otherwise: State) -> Self {
        match result {
            Ok(text) => Self { what, state: State::Works, text },
            Err(text) => Self { what, state: otherwise, text },
        }
    }
}

/// Report what this machine has for running the chapters, and how to fill each gap
#[derive(Debug, Parser)]
#[command(name = "cargo doctor", version)]
struct Arguments {
    /// Also check what a workshop needs; exits with 0 if every exercise can be done on this machine
    #[arg(long)]
    workshop: bool,
}

fn main() -> ExitCode {
    probe::serve_child();
    // As the chapters do, which run without a library beside them.
    driver::linked::link_in();
    match report() {
        Ok(exit_code) => exit_code,
        // A reader who wants only the first lines (`| head`) needs no error.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            note(format_args!("error: {error}"));
            ExitCode::from(error.exit_status())
        }
    }
}

fn report() -> run::Result<ExitCode> {
    let workshop = match Arguments::try_parse() {
        Ok(Arguments { workshop }) => workshop,
        Err(answer) if answer.use_stderr() => {
            let _ = answer.print();
            return Ok(ExitCode::from(2));
        }
        Err(answer) => return console::print_answer(&answer).map(|()| ExitCode::SUCCESS),
    };
    let mut lines = vec![driver(), simulator(), nvrtc(), clang(), compiler(), library(&CUBLAS), library(&CUFFT), device()];
    if workshop {
        lines.extend([exercises(), workspace(), kernels_of_learners()]);
    }
    let mut report = String::new();
    for Line { what, state, text } in &lines {
        let mark = match state {
            State::Works => "ok",
            State::Missing => "--",
            State::Fails => "!!",
        };
        report += &format!("{mark}  {what:<13} {text}\n");
    }
    console::print(&report)?;
    Ok(if lines.iter().any(|line| matches!(line.state, State::Fails)) { ExitCode::from(2) } else { ExitCode::SUCCESS })
}

fn driver() -> Line {
    let found = probe::probe().map(|found| {
        let release = found.release.map(|release| format!("{release}, ")).unwrap_or_default();
        let more = if found.devices > 1 { format!(", the first of {}", found.devices) } else { String::new() };
        format!("{release}CUDA {}: {}{more}", found.cuda, found.name)
    });
    Line::new("NVIDIA driver", found.map_err(|why| format!("{why}; {}", remedy(&why))), State::Missing)
}

fn remedy(why: &Unusable) -> &'static str {
    match why {
        Unusable::NoLibrary => "chapters run on the simulated GPU; if you have an NVIDIA GPU, install its driver",
        Unusable::NoDevice => {
            "see what `nvidia-smi` lists; in a container, pass the GPU through (docker: --gpus all); CUDA_VISIBLE_DEVICES may hide it"
        }
        Unusable::TooOld { .. } => "install a newer driver",
        Unusable::Stub => "the driver's own library is in the system's folder",
        Unusable::Crashes { .. } => {
            "chapters run on the simulated GPU; see whether `nvidia-smi` works, and install the driver again"
        }
        Unusable::Hangs { .. } => "chapters run on the simulated GPU; see whether `nvidia-smi` works, and restart the machine",
        Unusable::Broken { .. } => "see whether `nvidia-smi` works; after a driver update, restart the machine",
    }
}

fn simulator() -> Line {
    let found = client::find_library().map(|path| {
        let profiles: Vec<&str> = client::profiles().map(|(name, _)| name).collect();
        format!("{}; profiles: {}", path.display(), profiles.join(", "))
    });
    Line::new("simulator", found.map_err(|error| error.to_string()), State::Missing)
}

fn nvrtc() -> Line {
    let found = Nvrtc::find().map(|nvrtc| format!("{} ({})", nvrtc.build(), nvrtc.path().display()));
    Line::new("NVRTC", found.map_err(|error| error.to_string()), State::Missing)
}

fn clang() -> Line {
    let found = Clang::find().map(|clang| format!("{} ({})", clang.version(), clang.path().display()));
    Line::new("clang", found.map_err(|error| error.to_string()), State::Missing)
}

/// Reports which of the two compiles a learner's text. One is enough.
fn compiler() -> Line {
    let found = Compiler::find().map(|compiler| format!("kernels that you edit are compiled by {}", compiler.describe()));
    Line::new(
        "compiler",
        found.map_err(|error| match error {
            compilers::Error::NotFound { reason, .. } if reason.starts_with("no ") => {
                format!("none; `{}` installs one; only needed to compile kernels that you edit", compilers::compiler::pip())
            }
            error => error.to_string(),
        }),
        State::Missing,
    )
}

fn library(library: &'static Library) -> Line {
    let missing =
        || format!("not found; install it with `{}`; only needed on a GPU, for the stages that compare with it", library.pip());
    Line::new(library.title, library.find().map(|path| path.display().to_string()).ok_or_else(missing), State::Missing)
}

/// Finds what a chapter would run on: opens the device and loads a kernel.
fn device() -> Line {
    let open = || -> run::Result<String> {
        let gpu = Gpu::open(&Request::Auto)?;
        gpu.kernel(kernels::conv_naive::NAIVE)?;
        let DeviceInfo { name, compute_capability, compiler, .. } = gpu.info();
        let simulated = if gpu.is_simulated() { "a simulated " } else { "" };
        Ok(format!("on {simulated}{name}, compute capability {compute_capability}; kernels: {compiler}"))
    };
    Line::new("chapters run", open().map_err(|error| format!("nowhere: {error}")), State::Fails)
}

fn exercises() -> Line {
    let count = || {
        let chapters = workshop::root().join("chapters");
        let entries =
            fs::read_dir(&chapters).map_err(|error| format!("{}: {error}; is the repository still there?", chapters.display()))?;
        let names: Vec<_> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        let mut count = 0;
        for name in &names {
            count += Exercise::all(&workshop::root(), name).map_err(|error| error.to_string())?.len();
        }
        Ok(format!("{count} in {} chapters", names.len()))
    };
    Line::new("exercises", count(), State::Fails)
}

fn workspace() -> Line {
    let workspace = Workspace::new(&workshop::root());
    let writable = workspace.try_to_write().map(|()| format!("can be kept in {}", workspace.folder().display()));
    Line::new("your copies", writable.map_err(|error| error.to_string()), State::Fails)
}

/// Compiles a kernel, and reports how long that takes.
fn kernels_of_learners() -> Line {
    let start = Instant::now();
    let compile = || -> run::Result<String> {
        Compiler::find()?.compile(Input::of(&kernels::conv_shared::SOURCE), "compute_80", Form::Optimized)?;
        Ok(format!("compiled one in {:.1} s", start.elapsed().as_secs_f64()))
    };
    Line::new("your kernels", compile().map_err(|error| format!("{error}; without it you can only predict numbers")), State::Fails)
}
