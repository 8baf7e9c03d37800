//! `cargo doctor`: what this machine has for running the chapters, and what would mend each gap.

use std::io::Write;
use std::process::ExitCode;

use common::Result;
use common::device::Request;
use common::gpu::{DeviceInfo, Gpu};
use common::probe::{self, Unusable};
use kernels::nvrtc::Nvrtc;
use kernels::toolkit::{CUBLAS, CUFFT, Library};
use simcuda::client;

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
    /// Without it no chapter runs.
    Fails,
}

fn main() -> ExitCode {
    let (device, runs) = device();
    let lines = [driver(), simulator(), nvrtc(), library(&CUBLAS), library(&CUFFT), device];
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
    if runs { ExitCode::SUCCESS } else { ExitCode::from(2) }
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
    let open = || -> Result<Gpu> {
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
