//! Programs that do not know about the simulator, run as a user runs them: in a process of their own, with only the loader's path set. In
//! Rust with cudarc, in C, and in Python; and what is reported when they end.

mod c_program;
mod ended;
mod golden;
mod transcript;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use driver::install::install;
use driver::report::Report;
use tempfile::TempDir;

use self::c_program::compiled;
use self::ended::run;
use self::transcript::Transcript;

/// This package.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns a folder for what all tests share. It is in the target folder, because a test program has no end at which it could clean up.
fn shared(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("foreign").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns a folder with the driver, installed once for all tests.
fn driver() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = shared("driver");
        install(&folder).unwrap();
        folder
    })
}

/// Prepares a program with only the loader's path in its environment.
fn program(path: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(path);
    command.env_clear().env("LD_LIBRARY_PATH", driver());
    command
}

/// Prepares an example of this package, built by cargo with this test.
fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().unwrap().with_file_name("examples").join(name);
    assert!(path.is_file(), "{} does not exist; build it with `cargo build -p simcuda --examples`", path.display());
    program(path)
}

fn ptx(name: &str) -> PathBuf {
    Path::new(ROOT).join("../simcuda/tests/ptx").join(name)
}

/// Prepares a program in C.
fn c_program(name: &str) -> Command {
    program(compiled(name))
}

/// Prepares the C program that runs a faulty kernel. It then ends as `how` says.
fn ends(kernel: &str, how: &str) -> Command {
    let mut command = c_program("ends");
    command.arg(ptx("faults.ptx")).args([kernel, how]);
    command
}

#[test]
fn stock_cudarc_finds_the_simulator() {
    let (status, stdout, stderr) = run(&mut example("double"));
    assert_eq!((status, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert!(stdout.starts_with("NVIDIA H200, compute capability (9, 0)\nall 42: true, in "), "{stdout}");
    let (_, stdout, _) = run(example("double").env("SIMCUDA_PROFILE", "t4"));
    assert!(stdout.starts_with("Tesla T4, compute capability (7, 5)\nall 42: true"), "{stdout}");
}

#[test]
fn the_readme_shows_the_program_that_was_run() {
    let program = std::fs::read_to_string(Path::new(ROOT).join("examples/double.rs")).unwrap();
    let (_, program) = program.split_once("\n\n").expect("the file starts with its documentation");
    let readme = std::fs::read_to_string(Path::new(ROOT).join("../README.md")).unwrap();
    assert!(readme.contains(program), "simulator/README.md does not show the current examples/double.rs");
}

#[test]
fn a_program_in_c_and_what_its_kernels_print_are_not_changed_by_a_defect() {
    let mut transcript = Transcript::new();
    for kernel in ["misaligned", "fails_an_assertion"] {
        transcript.add(kernel, run(&mut ends(kernel, "return")));
    }
    transcript.assert_is("tests/messages/foreign-defects.txt");
}

#[test]
fn messages_that_cannot_be_printed_cost_a_program_nothing() {
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let (status, stdout, _) = run(ends("misaligned", "return").env("SIMCUDA_REPORT", "text").stderr(full()));
    assert_eq!((status, stdout.as_str()), (Some(0), "synchronized: 716\nthe program's own end\n"));
}

#[test]
fn an_answer_of_the_command_that_cannot_be_printed_is_an_error() {
    let folder = TempDir::new().unwrap();
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    for arguments in [vec!["--help".into()], vec!["install".into(), folder.path().join("driver").into_os_string()]] {
        let (status, _, message) = run(Command::new(env!("CARGO_BIN_EXE_simcuda")).args(&arguments).stdout(full()));
        assert_eq!(status, Some(2), "{arguments:?}: {message}");
        assert!(message.starts_with("error: cannot write to standard output: "), "{arguments:?}: {message}");
    }
}

#[test]
fn a_program_in_python_finds_the_simulator() {
    let Ok(python) = Command::new("python3").args(["-c", "import sys, ctypes; print(sys.executable)"]).output() else {
        eprintln!("skipped: this machine has no python3");
        return;
    };
    let python = String::from_utf8_lossy(&python.stdout);
    let mut command = program(python.trim());
    let (status, stdout, stderr) = run(command.arg(Path::new(ROOT).join("tests/foreign/count.py")).arg(ptx("vectors.ptx")));
    assert_eq!((status, stdout.as_str(), stderr.as_str()), (Some(0), "103\n", ""), "the counter starts at 7");
}

#[test]
fn a_report_is_written_however_the_process_ends() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("report.json");
    for (how, status) in [("return", Some(0)), ("exit", Some(7)), ("fork", Some(0)), ("abort", None)] {
        let (found, _, stderr) = run(ends("misaligned", how).env("SIMCUDA_REPORT", &file));
        assert_eq!(found, status, "{how}: {stderr}");
        assert!(stderr.contains("misaligned: store of 4 bytes"), "{how}: the defect is printed when it is seen: {stderr}");
        let report: Report = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!((report.profile.as_str(), report.kernels["misaligned"].failed), ("h200", 1), "{how}");
        assert_eq!((report.defects.len(), report.defects[0].times), (1, 1), "{how}");
        std::fs::remove_file(&file).unwrap();
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no unfinished file is left");
    let (_, _, stderr) = run(ends("misaligned", "fork").env("SIMCUDA_REPORT", "text"));
    assert_eq!(stderr.matches("1 launch on the profile").count(), 1, "the forked child has launched nothing: {stderr}");
}

#[test]
fn only_defects_give_the_requested_exit_status() {
    for (kernel, how, status) in [
        ("misaligned", "return", 9),
        ("misaligned", "exit", 9),
        ("misaligned", "fork", 9),
        ("keeps_to_the_rules", "return", 0),
        ("keeps_to_the_rules", "exit", 7),
    ] {
        let (found, stdout, stderr) = run(ends(kernel, how).env("SIMCUDA_EXITCODE", "9"));
        assert_eq!(found, Some(status), "{kernel}, {how}: {stderr}");
        assert!(stdout.ends_with("the program's own end\n"), "what the program printed is not lost: {stdout}");
    }
}

#[test]
fn what_hardware_does_not_notice_is_reported_but_is_not_an_error_code() {
    let mut command = ends("reads_what_nobody_wrote", "return");
    let mut transcript = Transcript::new();
    transcript.add("SIMCUDA_REPORT=github", run(command.env("SIMCUDA_REPORT", "github").env("SIMCUDA_EXITCODE", "9")));
    transcript.add("SIMCUDA_REPORT=github SIMCUDA_CHECKS=off", run(command.env("SIMCUDA_CHECKS", "off")));
    transcript.assert_is("tests/messages/foreign-warning.txt");
}

#[test]
fn a_report_goes_to_several_places_or_to_none() {
    let folder = TempDir::new().unwrap();
    let list = format!("github,text,json:{}/%p", folder.path().display());
    let mut transcript = Transcript::new();
    transcript.add("SIMCUDA_REPORT=github,text,json:FILE", run(ends("misaligned", "return").env("SIMCUDA_REPORT", list)));
    transcript.assert_is("tests/messages/foreign-report.txt");
    let name = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().file_name();
    assert!(name.to_str().unwrap().parse::<u32>().is_ok(), "{name:?} is the process ID");

    let (status, _, stderr) = run(ends("misaligned", "return").env("SIMCUDA_REPORT", "off").env("SIMCUDA_EXITCODE", "9"));
    assert_eq!((status, stderr.as_str()), (Some(9), ""));
}

#[test]
fn what_is_refused_is_named_once_with_what_to_do_instead() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("report.json");
    let (status, stdout, stderr) = run(c_program("refused").env("SIMCUDA_REPORT", &file));
    assert_eq!((status, stdout.as_str()), (Some(0), "801 801 209 209 ".repeat(3).as_str()), "{stderr}");
    let image = "the image is machine code for a GPU, but the simulator executes PTX; compile to PTX, for example with \
                 `nvcc -ptx` or nvrtcGetPTX and `--gpu-architecture=compute_80`";
    let expected = [
        "cuGraphConditionalHandleCreate: nodes with semaphores or conditions are not supported by the simulator; use other nodes",
        "cuImportExternalMemory: memory and semaphores of other APIs are not supported by the simulator; copy through memory of the host",
        "the fat binary has no PTX, only machine code for sm_90, but the simulator executes PTX; compile with \
         `-gencode arch=compute_80,code=compute_80`",
        image,
    ];
    let mut printed: Vec<&str> = stderr.lines().collect();
    printed.sort_unstable();
    assert_eq!(printed, expected.map(|reason| format!("simcuda: {reason}")));
    let report: Report = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let mut listed: Vec<_> = report.refusals.iter().map(|refusal| (refusal.reason.as_str(), refusal.times)).collect();
    listed.sort_unstable();
    assert_eq!(listed, expected.map(|reason| (reason, 3)));
}

#[test]
fn a_module_loads_without_the_kernel_that_cannot_run() {
    let folder = TempDir::new().unwrap();
    let broken = std::fs::read_to_string(ptx("faults.ptx")).unwrap();
    let (before, kernel) = broken.split_once("keeps_to_the_rules").unwrap();
    let (kernel, after) = kernel.split_once("ret;").unwrap();
    let path = folder.path().join("in_part.ptx");
    std::fs::write(&path, format!("{before}keeps_to_the_rules{kernel}frobnicate.b32;\n\tret;{after}")).unwrap();
    let ends = |kernel: &str| run(c_program("ends").arg(&path).args([kernel, "return"]));

    let mut transcript = Transcript::new();
    for kernel in ["misaligned", "keeps_to_the_rules"] {
        transcript.add(kernel, ends(kernel));
    }
    transcript.assert_is("tests/messages/foreign-in-part.txt");
}

#[test]
fn a_forked_child_is_not_initialized_and_never_hangs() {
    let (status, stdout, stderr) = run(c_program("fork").arg(ptx("vectors.ptx")).arg("count"));
    assert_eq!((status, stdout.as_str()), (Some(0), "3 3 3 3 3 3 3 0 child 0, parent 0\n"), "{stderr}");
}

#[test]
fn a_program_of_the_time_before_cuda_4_runs() {
    // NVIDIA's driver for CUDA 13.0 returned the same codes on an H100.
    let mut transcript = Transcript::new();
    transcript.add("old", run(c_program("old").arg(ptx("vectors.ptx"))));
    transcript.assert_is("tests/messages/foreign-old.txt");
}

#[test]
fn a_bad_value_fails_the_first_call() {
    let mut transcript = Transcript::new();
    for (variable, value) in [
        ("SIMCUDA_REPORT", "xml"),
        ("SIMCUDA_REPORT", "/no/such/folder/report.json"),
        ("SIMCUDA_EXITCODE", "none"),
        ("SIMCUDA_PROFILE", "voodoo2"),
        ("SIMCUDA_FUEL", "much"),
        ("SIMCUDA_CHECKS", "yes"),
        ("SIMCUDA_DRIVER_VERSION", "new"),
    ] {
        transcript.add(format_args!("{variable}={value}"), run(ends("misaligned", "return").env(variable, value)));
    }
    transcript.assert_is("tests/messages/foreign-bad-values.txt");
}

#[test]
fn a_program_sees_the_version_that_the_environment_asks_for() {
    for (version, seen) in [(None, 13050), (Some("12.8"), 12080)] {
        let mut command = c_program("version");
        command.envs(version.map(|version| ("SIMCUDA_DRIVER_VERSION", version)));
        assert_eq!(run(&mut command).1, format!("{seen}\n"));
    }
}

/// Checks the output that the book includes. `SIMCUDA_BLESS=1` writes it again.
#[test]
fn the_book_shows_what_a_run_with_a_defect_prints() {
    let (status, stdout, stderr) = run(example("saxpy").env("SIMCUDA_REPORT", "text,github").env("SIMCUDA_EXITCODE", "3"));
    assert_eq!((status, stdout.as_str()), (Some(3), ""), "{stderr}");
    golden::assert_is("examples/saxpy/report.txt", &stderr);
}

/// A step of a job: its command, and the variables for this command.
struct Step {
    command: String,
    variables: Vec<(String, String)>,
}

/// Reads the steps of a workflow that run a command. This supports only the YAML in the file in `examples/`: one key per line, no quotes.
fn steps(workflow: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut in_variables = false;
    for line in workflow.lines() {
        let (key, value) = line.trim_start_matches([' ', '-']).split_once(':').unwrap_or_default();
        in_variables &= !line.trim_start().starts_with('-');
        match (key, steps.last_mut()) {
            ("run", _) => steps.push(Step { command: value.trim().to_owned(), variables: Vec::new() }),
            ("env", _) => in_variables = true,
            (_, Some(step)) if in_variables => step.variables.push((key.to_owned(), value.trim().to_owned())),
            _ => {}
        }
    }
    steps
}

/// Runs the commands of the job as GitHub does: with `bash -e`, and with what a command writes to `GITHUB_ENV` set for the commands after it.
/// A fake `cargo` runs what cargo would build and run: the installer, and the book's program as the user's tests.
#[test]
fn the_job_in_the_book_runs_and_fails_because_of_the_defect() {
    let folder = TempDir::new().unwrap();
    let (cargo, exported) = (folder.path().join("cargo"), folder.path().join("exported"));
    let user = example("saxpy").get_program().to_owned();
    let install = env!("CARGO_BIN_EXE_simcuda");
    let script = format!(
        "#!/bin/sh\ncase $1 in run) while [ \"$1\" != -- ]; do shift; done; shift; exec {install} \"$@\";; test) exec {};; esac\n",
        user.display()
    );
    std::fs::write(&cargo, script).unwrap();
    let executable = Command::new("chmod").arg("+x").arg(&cargo).status().unwrap();
    assert!(executable.success());
    std::fs::write(&exported, "").unwrap();

    let workflow = std::fs::read_to_string(Path::new(ROOT).join("examples/github-actions.yml")).unwrap();
    let outcomes: Vec<_> = steps(&workflow)
        .into_iter()
        .map(|step| {
            let exported_before = std::fs::read_to_string(&exported).unwrap();
            let mut command = Command::new("bash");
            command.args(["-e", "-c", &step.command]).env_clear().current_dir(folder.path());
            command.env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()));
            command.env("RUNNER_TEMP", folder.path()).env("GITHUB_ENV", &exported);
            command.envs(exported_before.lines().filter_map(|line| line.split_once('='))).envs(step.variables);
            run(&mut command)
        })
        .collect();
    let [(installed, _, complaint), (tested, _, log)] = outcomes.try_into().expect("two steps run commands");
    assert_eq!(installed, Some(0), "{complaint}");
    assert_eq!(tested, Some(3), "{log}");
    assert!(
        log.contains("\n::error title=kernel saxpy,file=simulator/command/examples/saxpy/saxpy.cu,line=4::out of bounds"),
        "{log}"
    );
}

#[test]
fn a_test_that_panics_is_reported() {
    // This executable again, in a process whose driver is the simulator.
    let this = std::env::current_exe().unwrap();
    let mut child = program(this);
    child.args(["--exact", "a_users_test_that_fails", "--ignored"]).env("SIMCUDA_REPORT", "text").env("SIMCUDA_EXITCODE", "9");
    let (status, stdout, stderr) = run(&mut child);
    assert_eq!(status, Some(9), "{stdout}{stderr}");
    assert!(stdout.contains("1 failed"), "{stdout}");
    assert!(stderr.contains("1 launch on the profile h200: 1 error") && stderr.contains("\n1 time: misaligned: store"), "{stderr}");
}

#[test]
#[ignore = "fails on purpose, in a process of its own"]
fn a_users_test_that_fails() {
    use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
    use cudarc::nvrtc::Ptx;

    let context = CudaContext::new(0).unwrap();
    let stream = context.default_stream();
    let module = context.load_module(Ptx::from_src(include_str!("../../simcuda/tests/ptx/faults.ptx"))).unwrap();
    let mut out = stream.alloc_zeros::<u8>(64).unwrap();
    let misaligned = module.load_function("misaligned").unwrap();
    let mut launch = stream.launch_builder(&misaligned);
    launch.arg(&mut out);
    // SAFETY: the simulator stops the kernel, which stores to a misaligned address, before it does harm. That is what this test needs.
    unsafe { launch.launch(LaunchConfig::for_num_elems(1)) }.unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn a_library_that_is_not_ours_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let mut transcript = Transcript::new().naming(folder.path(), "FOLDER");
    for name in ["libcuda.so", "libcudart.so.13"] {
        let taken = folder.path().join(name).with_extension("taken");
        std::fs::create_dir(&taken).unwrap();
        std::fs::write(taken.join(name), "some library").unwrap();
        let refused = run(Command::new(env!("CARGO_BIN_EXE_simcuda")).arg("install").arg(&taken));
        transcript.add(format_args!("simcuda install FOLDER, with some {name}"), refused);
        assert_eq!(std::fs::read_dir(&taken).unwrap().count(), 1, "nothing is installed");
    }
    transcript.assert_is("tests/messages/install.txt");
}

#[test]
fn the_command_prints_the_variable_and_can_be_repeated() {
    let folder = TempDir::new().unwrap();
    let install = || {
        let path = folder.path().join("new/simcuda");
        let (status, stdout, stderr) = run(Command::new(env!("CARGO_BIN_EXE_simcuda")).arg("install").arg(&path));
        assert_eq!(status, Some(0), "{stderr}");
        assert_eq!(stdout, format!("LD_LIBRARY_PATH={}\n", path.canonicalize().unwrap().display()));
    };
    install();
    install();
}
