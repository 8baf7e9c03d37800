//! `cargo book`: makes what the book and the README show of runs, and of the tables of the simulator, then builds the book if mdBook
//! is installed.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use common::device::Request;
use common::gpu::Gpu;
use press::command::Arguments;
use press::{generated, pictures};

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode> {
    if env::args().nth(1).as_deref() == Some(pictures::OLD_GPU) {
        write(pictures::of_old_gpu(&Gpu::open(&Request::Sim(Some(pictures::OLD_GPU.to_owned())))?)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(code) = Arguments::parse().run()? {
        return Ok(code);
    }
    write(generated::files()?)?;
    write(pictures::pictures(&Gpu::open(&Request::Sim(None))?)?)?;
    let another = Command::new(env::current_exe()?).arg(pictures::OLD_GPU).status()?;
    ensure!(another.success(), "the pictures of {} could not be made", pictures::OLD_GPU);
    match Command::new("mdbook").arg("build").arg(generated::root().join("book")).status() {
        Ok(status) if status.success() => Ok(ExitCode::SUCCESS),
        Ok(_) => Ok(ExitCode::FAILURE),
        Err(_) => {
            eprintln!("note: mdBook is not installed; `cargo install mdbook` brings it, then `mdbook serve book` shows the book");
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Writes the files whose text is another now, and names them.
fn write(files: impl IntoIterator<Item = (PathBuf, String)>) -> Result<()> {
    for (path, text) in files {
        if fs::read_to_string(&path).ok().as_ref() == Some(&text) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        eprintln!("{}", path.strip_prefix(generated::root()).unwrap_or(&path).display());
    }
    Ok(())
}
