//! `cargo doctor`: what this machine has for running the chapters, and what would mend each gap. `cargo doctor --workshop`: also whether
//! all exercises can be done on it, tried with one.

use std::fs;
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use common::device::Request;
use common::gpu::{DeviceInfo, Gpu};
use common::probe::{self, Unusable};
use simcuda::client;
use toolkit::libraries::{CUBLAS, CUFFT, Library};
use toolkit::nvrtc::{Input, Nvrtc};
use toolkit::recipe::options;
use workshop::Exercise;
use workshop::desk::Desk;

/// One line of the report.
struct Line {
    what: &'static str,
    state: State,
    text: String,
}

/// How a part is.
enum State {
    /// It is there and works.
    Works,
    /// It is not there; the chapters run without it.
    Missing,
    /// Without it no chapter runs, or, where a workshop is asked for, no exercise.
    Fails,
}

/// Says what this machine has for running the chapters, and what would mend each gap.
#[derive(Debug, Parser)]
#[command(name = "cargo doctor")]
struct Arguments {
    /// Try also what a workshop needs: status 0 when all exercises can be done on this machine
    #[arg(long)]
    workshop: bool,
}

fn main() -> ExitCode {
    let Arguments { workshop } = Arguments::parse();
    let (device, runs) = device();
    let mut lines = vec![driver(), simulator(), nvrtc(), library(&CUBLAS), library(&CUFFT), device];
    if workshop {
        lines.extend([exercises(), desk(), check()]);
    }
    let fine = runs && (!workshop || lines.iter().all(|line| !matches!(line.state, State::Fails)));
    let mut report = String::new();
    for Line { what, state, text } in &lines {
        let mark = match state {
            State::Works => "ok",
            State::Missing => "--",
            State::Fails => "!!",
        };
        report += &format!("{mark}  {what:<13} {text}\n");
    }
    // Whoever reads only the first lines (`| head`) has no need of an error.
    let _ = std::io::stdout().write_all(report.as_bytes());
    if fine { ExitCode::SUCCESS } else { ExitCode::from(2) }
}

fn driver() -> Line {
    let (state, text) = match probe::probe() {
        Ok(found) => {
            let release = found.release.map(|release| format!("{release}, ")).unwrap_or_default();
            let more = if found.devices > 1 { format!(", the first of {}", found.devices) } else { String::new() };
            (State::Works, format!("{release}CUDA {}: {}{more}", found.cuda, found.name))
        }
        Err(why) => (State::Missing, format!("{why}; {}", mend_driver(&why))),
    };
    Line { what: "NVIDIA driver", state, text }
}

/// What to do about a driver that cannot be used.
fn mend_driver(why: &Unusable) -> &'static str {
    match why {
        Unusable::NoLibrary => "chapters run on the simulated GPU; with an NVIDIA GPU, install its driver",
        Unusable::NoDevice => {
            "see what `nvidia-smi` lists; in a container, pass the GPU through (docker: --gpus all); CUDA_VISIBLE_DEVICES may hide it"
        }
        Unusable::TooOld { .. } => "install a newer driver",
        Unusable::Stub => "the driver's own library is in the system's folder",
        Unusable::Broken { .. } => "see whether `nvidia-smi` works; after an update of the driver, restart the machine",
    }
}

fn simulator() -> Line {
    let (state, text) = match client::find_library() {
        Ok(path) => {
            let profiles: Vec<&str> = client::profiles().map(|(name, _)| name).collect();
            (State::Works, format!("{}; profiles: {}", path.display(), profiles.join(", ")))
        }
        Err(error) => (State::Missing, error.to_string()),
    };
    Line { what: "simulator", state, text }
}

fn nvrtc() -> Line {
    let (state, text) = match Nvrtc::find() {
        Ok(nvrtc) => (State::Works, format!("{} ({})", nvrtc.build(), nvrtc.path().display())),
        Err(error) => (State::Missing, format!("{error}; only needed to compile kernels that you edit")),
    };
    Line { what: "NVRTC", state, text }
}

fn library(library: &'static Library) -> Line {
    let (state, text) = match library.find() {
        Some(path) => (State::Works, path.display().to_string()),
        None => {
            let pip = library.pip();
            (State::Missing, format!("not found; `{pip}` brings it; only needed on a GPU, for the rows that compare with it"))
        }
    };
    Line { what: library.title, state, text }
}

/// What a chapter would run on, tried: the device opened and a kernel loaded.
fn device() -> (Line, bool) {
    let open = || -> common::Result<Gpu> {
        let gpu = Gpu::open(&Request::Auto)?;
        gpu.kernel(kernels::conv_naive::NAIVE)?;
        Ok(gpu)
    };
    let (state, text) = match open() {
        Ok(gpu) => {
            let DeviceInfo { name, compute_capability, compiler, .. } = gpu.info();
            let simulated = if gpu.is_simulated() { "a simulated " } else { "" };
            (State::Works, format!("on {simulated}{name}, compute capability {compute_capability}; kernels: {compiler}"))
        }
        Err(error) => (State::Fails, format!("nowhere: {error}")),
    };
    let runs = matches!(state, State::Works);
    (Line { what: "chapters run", state, text }, runs)
}

/// What is there to do.
fn exercises() -> Line {
    let root = workshop::root();
    let mut count = 0;
    let chapters = fs::read_dir(root.join("chapters")).map(|entries| entries.flatten().collect::<Vec<_>>()).unwrap_or_default();
    for chapter in &chapters {
        match Exercise::all(&root, &chapter.file_name().to_string_lossy()) {
            Ok(exercises) => count += exercises.len(),
            Err(error) => return Line { what: "exercises", state: State::Fails, text: error.to_string() },
        }
    }
    let (state, text) = match count {
        0 => (State::Fails, format!("none in {}: is the repository still there?", root.join("chapters").display())),
        count => (State::Works, format!("{count} in {} chapters", chapters.len())),
    };
    Line { what: "exercises", state, text }
}

/// Whether copies can be kept.
fn desk() -> Line {
    let desk = Desk::new(&workshop::root());
    let (state, text) = match desk.try_to_write() {
        Ok(()) => (State::Works, format!("can be kept in {}", desk.folder().display())),
        Err(error) => (State::Fails, error.to_string()),
    };
    Line { what: "your copies", state, text }
}

/// Whether a kernel can be compiled and loaded, and how long that takes.
fn check() -> Line {
    let begun = Instant::now();
    let compile = || -> common::Result<String> {
        let nvrtc = Nvrtc::find()?;
        let source = Input::of(&kernels::conv_shared::SOURCE);
        Ok(nvrtc.compile(source, &options("compute_80"))?)
    };
    let (state, text) = match compile() {
        Ok(_) => (State::Works, format!("compiled one in {:.1} s", begun.elapsed().as_secs_f64())),
        Err(error) => (State::Fails, format!("{error}; without it only numbers can be predicted")),
    };
    Line { what: "your kernels", state, text }
}
