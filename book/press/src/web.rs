//! The simulator for web pages: builds the WebAssembly module, and lays out the files that a site needs.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::root;

/// The compiler's name for the module's machine.
const TARGET: &str = "wasm32-unknown-unknown";

/// Most bytes of memory that the module takes from a browser.
const MOST_MEMORY: u64 = 2 << 30;

/// What every page needs beside the module, in `simulator/web/js`.
const SCRIPTS: [&str; 6] = ["simulator.js", "machine.js", "worker.js", "simt.d.ts", "cuda.js", "cuda-worker.js"];

/// What a site takes from npm's package @yowasp/clang. Its other files are for programs of WebAssembly.
const CLANG: [&str; 5] = ["bundle.js", "llvm.core.wasm", "llvm.core2.wasm", "llvm.core3.wasm", "llvm.core4.wasm"];

/// The header that gives clang the names of CUDA.
const HEADER: &str = "kernels/toolkit/src/clang/cuda.h";

/// The files of the demo, from the root of the repository.
const DEMO: [(&str, &str); 10] = [
    ("simulator/web/demo/index.html", "index.html"),
    ("simulator/web/demo/demo.css", "demo.css"),
    ("simulator/web/demo/demo.js", "demo.js"),
    ("simulator/web/demo/drawing.js", "drawing.js"),
    ("simulator/web/demo/stepper.js", "stepper.js"),
    ("simulator/web/demo/compile.js", "compile.js"),
    ("simulator/web/demo/strided.cu", "kernels/strided.cu"),
    ("simulator/web/demo/strided.ptx", "kernels/strided.ptx"),
    ("kernels/cuda/01-conv-naive.cu", "kernels/01-conv-naive.cu"),
    ("kernels/ptx/01-conv-naive.ptx", "kernels/01-conv-naive.ptx"),
];

/// What to build.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Add a page that runs kernels of chapter 01
    #[arg(long)]
    demo: bool,
    /// Add a compiler of CUDA C: the unpacked npm package @yowasp/clang
    #[arg(long, value_name = "FOLDER")]
    compiler: Option<PathBuf>,
    /// The folder to write to
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

impl Arguments {
    /// Builds the module and writes the files.
    ///
    /// # Errors
    ///
    /// When the compiler cannot make WebAssembly, or a file cannot be written.
    pub fn run(self) -> Result<()> {
        let out = self.out.unwrap_or_else(|| root().join("target/web"));
        let module = build("simt-web")?;
        copy(&module, &out.join("simt/simt.wasm"))?;
        copy(&build("lower-web")?, &out.join("simt/lower.wasm"))?;
        for script in SCRIPTS {
            copy(&root().join("simulator/web/js").join(script), &out.join("simt").join(script))?;
        }
        if self.demo {
            for (source, target) in DEMO {
                copy(&root().join(source), &out.join(target))?;
            }
        }
        if let Some(package) = self.compiler {
            let clang = out.join("clang");
            for file in CLANG {
                copy(&package.join("gen").join(file), &clang.join(file))?;
            }
            // An archive without files in place of the headers and libraries of the C library.
            fs::write(clang.join("llvm-resources.tar"), [0; 1024])?;
            copy(&root().join(HEADER), &clang.join("cuda.h"))?;
        }
        let bytes = fs::metadata(&module)?.len();
        eprintln!("{}: the simulator, {} kB", out.display(), bytes / 1000);
        if self.demo {
            eprintln!("a browser loads modules only from a server: python3 -m http.server --directory {}", out.display());
        }
        Ok(())
    }
}

/// Builds the module of a package, and returns its path.
fn build(package: &str) -> Result<PathBuf> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    ensure!(
        has_target(&rustc)?,
        "{} has no target {TARGET}; `rustup target add {TARGET}` installs it",
        Path::new(&rustc).display()
    );
    // The compiler may be another one than the one that built this program, so its output has a folder of its own.
    let folder = root().join("target/wasm");
    let flags = format!("-Ctarget-feature=+simd128 -Clink-arg=--max-memory={MOST_MEMORY}");
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["rustc", "--locked", "--package", package, "--lib", "--crate-type", "cdylib", "--profile", "web"])
        .args(["--target", TARGET, "--target-dir"])
        .arg(&folder)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flags)
        .current_dir(root())
        .status()
        .context("cargo does not start")?;
    if !status.success() {
        bail!("{package} does not build for {TARGET}");
    }
    Ok(folder.join(TARGET).join("web").join(package.replace('-', "_")).with_extension("wasm"))
}

/// Whether the compiler has the standard library for WebAssembly.
fn has_target(rustc: &OsString) -> Result<bool> {
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    let output = output.with_context(|| format!("{} does not start", Path::new(rustc).display()))?;
    let library = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    Ok(fs::read_dir(library).is_ok_and(|mut files| files.any(|file| file.is_ok_and(|file| is_std(&file.file_name())))))
}

fn is_std(name: &std::ffi::OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("libstd-") && name.ends_with(".rlib")
}

fn copy(source: &Path, target: &Path) -> Result<()> {
    let folder = target.parent().context("a file is in a folder")?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    fs::copy(source, target).with_context(|| format!("{} to {}", source.display(), target.display()))?;
    Ok(())
}
