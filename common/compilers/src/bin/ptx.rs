//! `cargo ptx`: makes `kernels/ptx/*.ptx` from `kernels/cuda/*.cu`, or checks that they still agree.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use compilers::choose::{ATTEMPTS, choose};
use compilers::generate::{body, head};
use compilers::nvrtc::Nvrtc;
use compilers::recipe::PINNED_VERSION;
use kernels::Source;

/// Makes the PTX in kernels/ptx from the CUDA C in kernels/cuda
#[derive(Parser)]
#[command(name = "cargo ptx", bin_name = "cargo ptx")]
struct Arguments {
    /// Write nothing; compile again and exit 1 when a stored text differs
    #[arg(long)]
    check: bool,
    /// The NVRTC library to use instead of the first one with the pinned version
    #[arg(long, value_name = "PATH")]
    nvrtc: Option<PathBuf>,
    /// Allow a version of NVRTC other than the pinned one; its PTX may not load on older drivers
    #[arg(long)]
    any_version: bool,
}

/// A message for the user.
type Failure = Box<dyn Error>;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let nvrtc = open(arguments)?;
    let version = nvrtc.build();
    let mut stale = 0;
    for source in kernels::slides::stored() {
        let first = match body(&nvrtc, source) {
            Ok(body) => body,
            Err(error) => {
                eprintln!("error: {error}");
                return Ok(ExitCode::FAILURE);
            }
        };
        let head = head(&nvrtc, &version, source);
        let bodies = std::iter::once(first).chain(std::iter::from_fn(|| body(&nvrtc, source).ok()));
        let mut texts = bodies.map(|body| format!("{head}{body}"));
        if arguments.check {
            let text = texts.next().unwrap_or_default();
            stale += u32::from(!agrees(source, text, texts.take(ATTEMPTS - 1))?);
        } else {
            // A new source has no text yet.
            let old = fs::read_to_string(stored(source)).unwrap_or_default();
            let text = choose(&old, texts).unwrap_or_default();
            fs::write(stored(source), text).map_err(|error| format!("cannot write {}: {error}", source.ptx_path))?;
            println!("{} from {}", source.ptx_path, source.path);
        }
    }
    if stale > 0 {
        eprintln!(
            "error: {stale} of {} texts differ from what their source compiles to: run `cargo ptx`",
            kernels::slides::stored().count()
        );
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens the compiler that the arguments ask for.
fn open(arguments: &Arguments) -> Result<Nvrtc, Failure> {
    let accepts = |nvrtc: &Nvrtc| arguments.any_version || nvrtc.build() == PINNED_VERSION;
    let Some(path) = &arguments.nvrtc else {
        return Ok(
            Nvrtc::find_where(accepts).map_err(|error| format!("the stored PTX is made by NVRTC {PINNED_VERSION}: {error}"))?
        );
    };
    let nvrtc = Nvrtc::open(path)?;
    if !accepts(&nvrtc) {
        let (path, version) = (path.display(), nvrtc.build());
        return Err(format!(
            "{path} is NVRTC {version}, but the stored PTX is made by {PINNED_VERSION}: \
             `pip install nvidia-cuda-nvrtc-cu12=={PINNED_VERSION}`, or pass --any-version"
        )
        .into());
    }
    Ok(nvrtc)
}

/// Returns true if the stored text is `text` or in `further` (made when the compiler is asked again). If not, says where `text` differs.
fn agrees(source: &Source, text: String, mut further: impl Iterator<Item = String>) -> Result<bool, Failure> {
    let path = source.ptx_path;
    let stored = fs::read_to_string(stored(source)).map_err(|error| format!("cannot read {path}: {error}"))?;
    if stored == text || further.any(|text| stored == text) {
        println!("{path} is what {} compiles to", source.path);
        return Ok(true);
    }
    let same = stored.lines().zip(text.lines()).take_while(|(old, new)| old == new).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(end of file)").trim().to_owned();
    eprintln!("{path} differs from line {}: stored `{}`, expected `{}`", same + 1, line(&stored), line(&text));
    Ok(false)
}

/// Returns the path of a source's `.ptx` on this machine.
fn stored(source: &Source) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(source.ptx_path)
}
