//! Fetches and builds a suite, and lists its tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::suite::{Kind, Suite};

/// Variables for a test or a listing, by name.
pub type Environment = [(String, String)];

/// A suite that can run.
pub struct Built {
    /// Its tests, in its own order.
    pub tests: Vec<Test>,
    /// The command for several tests in one process, if the suite has one; their names follow as arguments.
    pub together: Option<Start>,
}

/// A test and what starts it.
pub struct Test {
    /// Its name in the suite.
    pub name: String,
    /// Runs it alone.
    pub start: Start,
}

impl Test {
    /// Returns the class, module or file that the test is in.
    pub fn group(&self) -> &str {
        self.name.rsplit_once(['.', ':']).map_or("", |(group, _)| group)
    }
}

/// The command of a process.
pub struct Start {
    program: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
}

impl Start {
    /// Returns the command that starts it.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder);
        command
    }
}

/// Fetches a suite into the folder and builds it. Does not fetch it if `source` has it already. The suite's tests will get the
/// `environment`, and so does the program that lists them.
pub fn build(suite: &Suite, folder: &Path, source: Option<&Path>, environment: &Environment) -> Result<Built> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    // Tests run in another folder.
    let source = source.map(std::path::absolute).transpose()?;
    let of_crate = |package: &str| source.clone().map_or_else(|| fetch_crate(package, &suite.version, folder), Ok);
    let built = match &suite.kind {
        Kind::Rust { package, arguments } => rust(&of_crate(package)?, arguments, environment)?,
        Kind::Python { packages, of_crate: package, get_source, repository, list, run, run_together, name_contains } => {
            if let (Some(get_source), None) = (get_source, &source) {
                bail!("no package has these tests: {get_source}, and name its folder with --source");
            }
            let python = python(folder, packages)?;
            let source = match (&source, package) {
                (_, Some(package)) => of_crate(package)?,
                (Some(source), None) => source.clone(),
                (None, None) if let Some(address) = repository => check_out(address, &suite.version, folder)?,
                (None, None) => {
                    let ask = "import sysconfig; print(sysconfig.get_path('purelib'))";
                    PathBuf::from(text(Command::new(&python).args(["-c", ask]))?.trim())
                }
            };
            let ours = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts");
            let fill = |words: &[String], test: &str| -> Vec<String> {
                let source = source.display().to_string();
                words.iter().map(|word| word.replace("{test}", test).replace("{source}", &source).replace("{ours}", ours)).collect()
            };
            let mut listing = Command::new(&python);
            listing.args(fill(list, "")).envs(environment.iter().map(|(name, value)| (name, value))).current_dir(folder);
            let listed = text(&mut listing)?;
            let names = listed.lines().map(str::trim).filter(|line| line.contains(name_contains.as_str()) && !line.contains(' '));
            let start = |arguments| Start { program: python.clone(), arguments, folder: folder.to_owned() };
            let test = |name: &str| Test { name: name.to_owned(), start: start(fill(run, name)) };
            Built { tests: names.map(test).collect(), together: run_together.as_ref().map(|words| start(fill(words, ""))) }
        }
    };
    ensure!(!built.tests.is_empty(), "the suite lists no tests");
    Ok(built)
}

/// Puts one commit of a repository into the folder.
fn check_out(address: &str, commit: &str, folder: &Path) -> Result<PathBuf> {
    let source = folder.join(commit);
    if !source.is_dir() {
        let unfinished = folder.join("unfinished");
        fs::create_dir_all(&unfinished)?;
        let git = |words: &[&str]| text(Command::new("git").args(words).current_dir(&unfinished));
        git(&["init", "--quiet"])?;
        git(&["fetch", "--quiet", "--depth", "1", address, commit])?;
        git(&["checkout", "--quiet", "FETCH_HEAD"])?;
        fs::rename(&unfinished, &source)?;
    }
    Ok(source)
}

/// Puts the source of a crate into the folder. Cargo fetches it, from the registry that this machine uses.
fn fetch_crate(package: &str, version: &str, folder: &Path) -> Result<PathBuf> {
    let source = folder.join(format!("{package}-{version}"));
    if source.is_dir() {
        return Ok(source);
    }
    let project = tempfile::tempdir()?;
    let manifest = format!(
        "[package]\nname = \"fetch\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n[dependencies]\n{package} = {{ version = \"={version}\", default-features = false }}\n"
    );
    fs::write(project.path().join("Cargo.toml"), manifest)?;
    fs::write(project.path().join("lib.rs"), "")?;
    text(Command::new(cargo()).args(["vendor", "--quiet", "vendor"]).current_dir(project.path()))?;
    let vendored = project.path().join("vendor").join(package);
    // In another place it is a package of its own, whose files may differ from the registry's.
    let checksums = vendored.join(".cargo-checksum.json");
    fs::remove_file(&checksums).with_context(|| checksums.display().to_string())?;
    let unfinished = folder.join("unfinished");
    text(Command::new("cp").arg("-r").arg(&vendored).arg(&unfinished))?;
    fs::rename(&unfinished, &source)?;
    Ok(source)
}

fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

/// Builds the tests of a crate and lists them.
fn rust(source: &Path, arguments: &[String], environment: &Environment) -> Result<Built> {
    let mut command = Command::new(cargo());
    command.args(["test", "--no-run", "--message-format=json"]).args(arguments).current_dir(source);
    // Not in the folder of the process that started us.
    command.env("CARGO_TARGET_DIR", source.join("target")).stderr(Stdio::inherit());
    // Symbols of a suite and of all that it uses can take more disk than the rest.
    command.envs(["CARGO_PROFILE_DEV_DEBUG", "CARGO_PROFILE_TEST_DEBUG"].map(|profile| (profile, "0")));
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    let messages = text(&mut command)?;
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let binaries = messages.filter(|message| message["profile"]["test"] == true);
    let mut tests = Vec::new();
    for binary in binaries.filter_map(|message| message["executable"].as_str().map(PathBuf::from)) {
        let listed = text(Command::new(&binary).args(["--list", "--format", "terse"]).current_dir(source))?;
        let test = |name: &str| {
            let arguments = ["--exact", name, "--nocapture"].map(str::to_owned).to_vec();
            Test { name: name.to_owned(), start: Start { program: binary.clone(), arguments, folder: source.to_owned() } }
        };
        tests.extend(listed.lines().filter_map(|line| line.strip_suffix(": test")).map(test));
    }
    Ok(Built { tests, together: None })
}

/// Makes a Python environment with these packages, unless the folder has it.
fn python(folder: &Path, packages: &[String]) -> Result<PathBuf> {
    let environment = folder.join("python");
    let python = environment.join("bin/python");
    once(&environment, packages, || {
        text(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
        text(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages))
            .map(drop)
    })?;
    Ok(python)
}

/// Makes a folder of packages. Keeps one that an earlier run made of the same packages.
pub fn once(folder: &Path, packages: &[String], make: impl FnOnce() -> Result<()>) -> Result<()> {
    let (done, wanted) = (folder.join("packages.txt"), packages.join("\n"));
    if fs::read_to_string(&done).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    make()?;
    Ok(fs::write(&done, wanted)?)
}

/// Runs a command to its end and returns its standard output.
pub fn text(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} ended with {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
