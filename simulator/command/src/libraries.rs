//! The libraries of a command that cargo has installed.
//!
//! cargo installs programs and no libraries. So after `cargo install simcuda`, the first subcommand that needs the libraries builds them, from
//! the source that the command was built from. They go into the folder `lib/simcuda` next to the command's folder `bin`, where the driver is
//! looked for. The command cannot carry them, because a build script runs before they exist.

use std::env;
use std::env::consts::{DLL_EXTENSION, DLL_PREFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

use driver::client::{find_library, installed_libraries};
use driver::files::put;
use driver::variables::LIBRARY;
use serde_json::Value;

use crate::ending::{At, Result, bail, say};

/// The packages with the libraries, and the names of their library targets.
const LIBRARIES: [(&str, &str); 3] =
    [("simcuda-library", "simcuda"), ("simcuda-cudart", "simcudart"), ("simcuda-nvrtc", "simnvrtc")];

/// The folder that the command was built from.
const SOURCE: &str = env!("CARGO_MANIFEST_DIR");

/// The file that names the command that the libraries were built for.
const STAMP: &str = "built-for";

/// Installs the libraries into `folder` as [`driver::install::install`] does. If cargo has installed this command, this first builds the
/// libraries, unless it has done so before.
pub fn install(folder: &Path) -> Result<PathBuf> {
    let command = env::current_exe()?;
    if let Some(home) = home_without_libraries(&command)? {
        say(format_args!(
            "simcuda: `cargo install` left out the simulator's libraries; building them now, once, into {}",
            home.display()
        ));
        build(&home).and_then(|()| Ok(fs::write(home.join(STAMP), stamp(&command)?)?)).map_err(|error| {
            format!(
                "cannot build the simulator's libraries: {error}; or set {LIBRARY} to the path of a library that you have built"
            )
        })?;
    }
    Ok(driver::install::install(folder)?)
}

/// Returns the folder where this command's libraries are missing. It is `None` unless cargo has installed the command.
fn home_without_libraries(command: &Path) -> Result<Option<PathBuf>> {
    let Some(bin) = command.parent().filter(|folder| folder.ends_with("bin")) else { return Ok(None) };
    if LIBRARY.path().is_some() {
        return Ok(None);
    }
    let home = installed_libraries(bin);
    Ok(match find_library() {
        Err(_) => Some(home),
        // Libraries without a stamp are not from here. Those for another command are old: the command was installed again since.
        Ok(found) if found.starts_with(&home) => match fs::read_to_string(home.join(STAMP)) {
            Ok(built_for) if built_for != stamp(command)? => Some(home),
            _ => None,
        },
        Ok(_) => None,
    })
}

/// Tells the command from one that is installed in its place later.
fn stamp(command: &Path) -> Result<String> {
    let file = fs::metadata(command)?;
    Ok(format!("{:x}-{:x}", file.len(), file.modified()?.duration_since(UNIX_EPOCH)?.as_nanos()))
}

/// Builds the libraries, and puts them into `home`.
fn build(home: &Path) -> Result<()> {
    if !Path::new(SOURCE).join("Cargo.toml").is_file() {
        bail!("their source is no longer in {SOURCE}; install the command again, with `cargo install --force`");
    }
    fs::create_dir_all(home).at(home)?;
    let target = tempfile::Builder::new().prefix("simcuda-build-").tempdir()?;
    let mut cargo = Command::new("cargo");
    // In the folder of the source, so that the settings of the user's own project do not count.
    cargo.current_dir(SOURCE).args(["build", "--release", "--locked", "--lib", "--message-format", "json-render-diagnostics"]);
    cargo.args(LIBRARIES.iter().flat_map(|(package, _)| ["--package", package]));
    cargo.arg("--target-dir").arg(target.path()).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        bail!("cargo failed in {SOURCE}");
    }
    // The names of the files are not known before: cargo adds a hash to those of packages from a registry.
    let messages = String::from_utf8_lossy(&output.stdout);
    let artifacts: Vec<Value> = messages.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for (_, name) in LIBRARIES {
        let of_library = artifacts.iter().filter(|artifact| artifact["target"]["name"] == name);
        let mut files = of_library.filter_map(|artifact| artifact["filenames"].as_array()).flatten().filter_map(Value::as_str);
        let built = files.find(|file| Path::new(file).extension().is_some_and(|extension| extension == DLL_EXTENSION));
        let built = built.ok_or_else(|| format!("cargo built no library {name}"))?;
        let path = home.join(format!("{DLL_PREFIX}{name}.{DLL_EXTENSION}"));
        // Another command may do the same now, or read the old file.
        put(&path, |unfinished| fs::copy(built, unfinished).map(drop)).at(&path)?;
    }
    Ok(())
}
