//! The simulator for web pages: builds the WebAssembly modules, and lays out the files that a site needs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::archive::files_below;
use crate::exercise_data;
use crate::lab::launch;
use crate::root;

/// The compiler's name for the module's machine.
const TARGET: &str = "wasm32-unknown-unknown";

/// Most bytes of memory that the module takes from a browser.
const MOST_MEMORY: u64 = 2 << 30;

/// The scripts that every page needs besides the module, in `simulator/web/js`.
const SCRIPTS: [&str; 6] = ["simulator.js", "machine.js", "worker.js", "simt.d.ts", "cuda.js", "cuda-worker.js"];

/// The files of npm's package @yowasp/clang that a site needs. The others are for programs of WebAssembly.
const CLANG: [&str; 5] = ["bundle.js", "llvm.core.wasm", "llvm.core2.wasm", "llvm.core3.wasm", "llvm.core4.wasm"];

/// The header that gives clang the names of CUDA.
const HEADER: &str = "common/compilers/src/clang/cuda.h";

/// The files that mdBook copies into the site with hashed names.
const BY_MDBOOK: [&str; 3] = ["start.js", "reach.js", "lab.css"];

/// The files to build.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Add a compiler of CUDA C: the unpacked npm package @yowasp/clang
    #[arg(long, value_name = "FOLDER")]
    compiler: Option<PathBuf>,
    /// The folder to write to
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

impl Arguments {
    /// Builds the module and writes the files.
    pub fn run(self) -> Result<()> {
        let out = self.out.unwrap_or_else(|| root().join("target/web"));
        if let Some(missing) = missing_target()? {
            bail!("{missing}; `rustup target add {TARGET}` installs it");
        }
        modules(&out, "simt-web")?;
        self.compiler.map_or(Ok(()), |package| compiler(&package, &out))
    }
}

/// Makes what the interactive parts of a built book need: scripts, launches, modules, and a compiler if there is one. Where modules cannot be
/// built, says so and goes on, because pages are complete without them.
pub fn lab(out: &Path, package: Option<&Path>) -> Result<()> {
    let source = root().join("book/lab");
    for file in files_below(&source)? {
        let name = file.strip_prefix(&source)?;
        if !name.starts_with("tests") && !BY_MDBOOK.iter().any(|copied| name == Path::new(copied)) {
            copy(&file, &out.join(name))?;
        }
    }
    for file in files_below(&root().join(launch::FOLDER)).unwrap_or_default() {
        copy(&file, &out.join("launches").join(file.file_name().context("a file has a name")?))?;
    }
    match missing_target()? {
        None => modules(out, "checker-web")?,
        Some(missing) => eprintln!("pages cannot run kernels: {missing}, which `rustup target add` installs"),
    }
    exercise_data::write(&out.join("exercises"), &env::current_exe()?)?;
    package.map_or(Ok(()), |package| compiler(package, out))
}

/// Builds the modules, and puts them next to their scripts. The package of the `simulator` is `simt-web`, or `checker-web`, which checks exercises, too.
fn modules(out: &Path, simulator: &str) -> Result<()> {
    let module = build(simulator)?;
    copy(&module, &out.join("simt/simt.wasm"))?;
    copy(&build("lower-web")?, &out.join("simt/lower.wasm"))?;
    for script in SCRIPTS {
        copy(&root().join("simulator/web/js").join(script), &out.join("simt").join(script))?;
    }
    copy(&root().join(HEADER), &out.join("simt/cuda.h"))?;
    eprintln!("{}: the simulator, {} kB", out.display(), fs::metadata(&module)?.len() / 1000);
    Ok(())
}

/// Adds the compiler of an unpacked package.
fn compiler(package: &Path, out: &Path) -> Result<()> {
    let clang = out.join("clang");
    for file in CLANG {
        copy(&package.join("gen").join(file), &clang.join(file))?;
    }
    // An archive without files in place of the headers and libraries of the C library.
    Ok(fs::write(clang.join("llvm-resources.tar"), [0; 1024])?)
}

/// Builds the module of a package, and returns its path.
fn build(package: &str) -> Result<PathBuf> {
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

/// Returns a message if the compiler lacks the standard library for WebAssembly.
fn missing_target() -> Result<Option<String>> {
    let rustc = PathBuf::from(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let output = Command::new(&rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    let output = output.with_context(|| format!("{} does not start", rustc.display()))?;
    let library = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let is_std = |name: &str| name.starts_with("libstd-") && name.ends_with(".rlib");
    let mut files = fs::read_dir(library).into_iter().flatten().flatten();
    let has_target = files.any(|file| is_std(&file.file_name().to_string_lossy()));
    Ok((!has_target).then(|| format!("{} has no target {TARGET}", rustc.display())))
}

/// Copies the files of a folder to another one.
pub fn copy_files(source: &Path, target: &Path) -> Result<()> {
    for file in files_below(source)? {
        copy(&file, &target.join(file.strip_prefix(source)?))?;
    }
    Ok(())
}

fn copy(source: &Path, target: &Path) -> Result<()> {
    let folder = target.parent().context("a file is in a folder")?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    fs::copy(source, target).with_context(|| format!("{} to {}", source.display(), target.display()))?;
    Ok(())
}
