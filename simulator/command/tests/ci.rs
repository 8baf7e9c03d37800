//! The tools for CI: the GitHub action with the example project, and the plugin for pytest. Each runs as a user's machine would run it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use driver::client::find_library;
use tempfile::TempDir;

/// This package.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

const LIBRARIES: [&str; 3] = ["libsimcuda.so", "libsimcudart.so", "libsimnvrtc.so"];

/// Returns the repository's root.
fn root() -> PathBuf {
    Path::new(ROOT).join("../..").canonicalize().unwrap()
}

/// Returns how a command ended, and its two outputs in one text.
fn run(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code(), [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat())
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { copy_folder(&from, &to) } else { fs::copy(from, to).map(drop).unwrap() }
    }
}

/// A copy of the example project and of its workflow's runner.
struct Job {
    folder: TempDir,
}

impl Job {
    fn new() -> Self {
        let job = Self { folder: TempDir::new().unwrap() };
        copy_folder(&root().join("simulator/examples/ci"), &job.project());
        job
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Prepares a script of the action, with the variables of a runner.
    fn script(&self, name: &str) -> Command {
        let mut command = Command::new(root().join(".github/actions/simcuda").join(name));
        command.current_dir(self.project()).env("RUNNER_TEMP", self.folder.path()).env("GITHUB_WORKSPACE", self.project());
        for variable in ["SIMCUDA_REPORT", "SIMCUDA_SUPPRESSIONS", "SIMCUDA_EXITCODE"] {
            command.env_remove(variable);
        }
        command
    }

    /// Builds the simulator as the action does. A fake `cargo` puts what cargo has built for this test where a release would be.
    fn build(&self) {
        let tools = self.folder.path().join("tools");
        fs::create_dir(&tools).unwrap();
        let copies: String = LIBRARIES
            .iter()
            .map(|name| format!("cp {} \"$target/release/deps/{name}\"\n", find_library().unwrap().with_file_name(name).display()))
            .collect();
        let script = format!(
            "#!/bin/sh\nset -e\n[ \"$1 $2\" = 'build --release' ]\nwhile [ \"$1\" != --target-dir ]; do shift; done\ntarget=$2\n\
             mkdir -p \"$target/release/deps\"\n{copies}cp {} \"$target/release/simcuda\"\n",
            env!("CARGO_BIN_EXE_simcuda")
        );
        fs::write(tools.join("cargo"), script).unwrap();
        fs::set_permissions(tools.join("cargo"), PermissionsExt::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
        let (status, log) = run(self.script("build").env("PATH", path));
        assert_eq!(status, Some(0), "{log}");
    }

    /// Runs the workflow's step that uses the action, with the workflow's inputs.
    fn test(&self) -> (Option<i32>, String) {
        let workflow = fs::read_to_string(self.project().join(".github/workflows/test.yml")).unwrap();
        let input = |name: &str| {
            let line = workflow.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "));
            line.unwrap_or_else(|| panic!("the workflow has no {name}")).to_owned()
        };
        let mut command = self.script("run");
        command.env("INPUT_RUN", input("run")).env("INPUT_REPORT", input("report"));
        run(command.env("INPUT_FAIL_ON", "error").env("INPUT_SUPPRESSIONS", "").env("SIMCUDA_PROFILE", "h200"))
    }
}

fn has_python(module: &str) -> bool {
    let found =
        Command::new("python3").args(["-c", &format!("import {module}")]).output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("skipped: this machine has no python3 with {module}");
    }
    found
}

#[test]
fn the_example_is_red_at_the_line_of_its_race_and_green_when_it_is_mended() {
    if !has_python("unittest") {
        return;
    }
    let job = Job::new();
    job.build();
    let (status, log) = job.test();
    assert_eq!(status, Some(1), "{log}");
    assert!(log.contains("\nOK\n"), "the project's own tests see nothing: {log}");
    let source = fs::read_to_string(job.project().join("kernels/differences.cu")).unwrap();
    let line = 1 + source.lines().position(|line| line.contains("s_in[threadIdx.x - 1]")).unwrap();
    let annotation =
        format!("\n::error title=kernel differences,file=kernels/differences.cu,line={line}::data race on shared memory");
    assert_eq!(log.matches(&annotation).count(), 1, "{log}");
    for (file, text) in [("kernels.xml", "<failure message=\"data race"), ("simcuda.sarif", "\"the other access\"")] {
        let report = fs::read_to_string(job.project().join(file)).unwrap();
        assert!(report.contains(text), "{file}: {report}");
    }

    copy_folder(&job.project().join("mended"), &job.project().join("kernels"));
    let (status, log) = job.test();
    assert_eq!(status, Some(0), "{log}");
    assert!(log.contains("5 launches on the profile h200: 0 errors, 0 warnings") && !log.contains("::error"), "{log}");
}

#[test]
fn without_a_command_the_action_sets_the_environment_of_the_later_steps() {
    let job = Job::new();
    job.build();
    let (later, rules) = (job.folder.path().join("later"), job.project().join("rules.toml"));
    fs::write(&rules, "").unwrap();
    let mut script = job.script("run");
    script.env("INPUT_RUN", "").env("INPUT_REPORT", "text").env("INPUT_SUPPRESSIONS", "rules.toml").env("INPUT_FAIL_ON", "error");
    let (status, log) = run(script.env("SIMCUDA_PROFILE", "t4").env("GITHUB_ENV", &later));
    assert_eq!(status, Some(0), "{log}");
    let variables = fs::read_to_string(&later).unwrap();
    let value = |name| variables.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).unwrap();
    assert!(value("LD_AUDIT").ends_with("simcuda/installed/libcudart.so.12"), "{variables}");
    assert_eq!(["SIMCUDA_PROFILE", "SIMCUDA_REPORT", "SIMCUDA_EXITCODE"].map(value), ["t4", "text", "3"]);
    assert_eq!(Path::new(value("SIMCUDA_SUPPRESSIONS")), rules.canonicalize().unwrap());
}

#[test]
fn the_action_runs_its_scripts_with_its_inputs() {
    let action = fs::read_to_string(root().join(".github/actions/simcuda/action.yml")).unwrap();
    for script in ["hash", "build", "run"] {
        assert!(action.contains(&format!("$GITHUB_ACTION_PATH/{script}")), "{script}");
        let text = fs::read_to_string(root().join(".github/actions/simcuda").join(script)).unwrap();
        let used = text.split("$INPUT_").skip(1).map(|rest| {
            let end = rest.find(|letter: char| !letter.is_ascii_uppercase() && letter != '_').unwrap_or(rest.len());
            &rest[..end]
        });
        for input in used {
            let given = format!("INPUT_{input}: ${{{{ inputs.{} }}}}", input.to_lowercase().replace('_', "-"));
            assert!(action.contains(&given), "{script} uses INPUT_{input}");
        }
    }
    let hash = || run(&mut Command::new(root().join(".github/actions/simcuda/hash")));
    let (status, hashed) = hash();
    assert!(status == Some(0) && hashed.trim().len() == 16 && hash().1 == hashed, "{hashed}");
}

/// Makes the Python package as pip installs it. It has links to the libraries that cargo has built for this test.
fn python_package(folder: &Path) {
    let package = folder.join("simcuda");
    copy_folder(&root().join("simulator/python/simcuda"), &package);
    fs::create_dir(package.join("native")).unwrap();
    for name in LIBRARIES {
        symlink(find_library().unwrap().with_file_name(name), package.join("native").join(name)).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_simcuda"), package.join("native/simcuda")).unwrap();
}

const TESTS: &str = "\
from differences import Cuda, differences

def test_without_kernels():
    pass

def test_one_warp():
    assert differences(Cuda(), [1.0, 3.0]) == [1.0, 2.0]

def test_two_warps():
    assert differences(Cuda(), [0.0] * 64) == [0.0] * 64

def test_two_warps_again():
    assert differences(Cuda(), [0.0] * 64) == [1.0] * 64
";

#[test]
fn pytest_fails_the_tests_whose_kernels_have_defects() {
    if !has_python("pytest") {
        return;
    }
    let job = Job::new();
    python_package(job.folder.path());
    fs::write(job.project().join("test_more.py"), TESTS).unwrap();
    let pytest = |options: &[&str]| {
        let mut command = Command::new("python3");
        command.args(["-m", "pytest", "-p", "simcuda.pytest_plugin", "-p", "no:cacheprovider", "--simcuda"]).args(options);
        for variable in ["SIMCUDA_REPORT", "SIMCUDA_SUPPRESSIONS", "SIMCUDA_EXITCODE", "SIMCUDA_PYTEST"] {
            command.env_remove(variable);
        }
        // An installed package would register the plugin a second time.
        command.env("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1");
        // pytest itself may be on that path.
        let path = std::env::join_paths(
            [job.folder.path().to_owned()].into_iter().chain(std::env::var_os("PYTHONPATH").iter().flat_map(std::env::split_paths)),
        );
        run(command.env("PYTHONPATH", path.unwrap()).env("PYTHONDONTWRITEBYTECODE", "1").current_dir(job.project()))
    };
    let (status, log) = pytest(&["test_more.py", "--junitxml=tests.xml"]);
    assert_eq!(status, Some(1), "{log}");
    assert!(log.contains("2 failed, 2 passed"), "{log}");
    assert!(log.contains("test_more.py::test_two_warps: kernels had defects") && log.contains("assert [0.0, 0.0"), "{log}");
    assert!(log.contains("--- Defects in kernels ---"), "a test that fails by itself shows the defect, too: {log}");
    let junit = fs::read_to_string(job.project().join("tests.xml")).unwrap();
    assert!(junit.contains("failures=\"2\"") && junit.contains("kernels had defects"), "{junit}");

    let id = log.split("  id ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    fs::write(job.project().join("known.toml"), format!("[[suppress]]\nid = \"{id}\"\nreason = \"to be mended\"\n")).unwrap();
    let (status, log) =
        pytest(&["test_more.py", "--simcuda-suppressions=known.toml", "--deselect=test_more.py::test_two_warps_again"]);
    assert!(status == Some(0) && log.contains("3 passed") && log.contains("1 suppressed"), "{log}");

    copy_folder(&job.project().join("mended"), &job.project().join("kernels"));
    let (status, log) = pytest(&["test_differences.py"]);
    assert!(status == Some(0) && log.contains("1 passed") && log.contains("0 errors, 0 warnings"), "{log}");
}
