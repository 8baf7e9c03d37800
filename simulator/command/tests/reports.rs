//! The reports that machines read, what is not to be reported, and `simcuda run` and `simcuda report`, which make one report of several
//! processes.

mod c_program;
mod ended;
mod golden;
mod transcript;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use driver::report::{Report, Severity};
use tempfile::TempDir;

use self::c_program::compiled;
use self::ended::run;
use self::transcript::Transcript;

/// A project's folder: two kernels, each with a mistake at a line of CUDA C, and the PTX made from them.
struct Project {
    folder: TempDir,
}

const SOURCE: &str = "\
__global__ void stores(int *out) {
    out[100] = 1;
}
__global__ void reads(int *out) {
    out[0] = out[1];
}
";

impl Project {
    fn new() -> Self {
        let project = Self { folder: TempDir::new().unwrap() };
        project.write("mine.cu", SOURCE);
        project.write_ptx(2, 5);
        project
    }

    /// Writes the PTX of both kernels, with mistakes in these source lines.
    fn write_ptx(&self, stores: u32, reads: u32) {
        let kernel = |name: &str, line: u32, body: &str| {
            format!(
                ".visible .entry {name}(.param .u64 out) {{\n.reg .b32 %r<3>; .reg .b64 %rd<3>;\nld.param.u64 %rd1, [out];\n.loc 1 {line} 5\n{body}\nret;\n}}\n"
            )
        };
        let stores = kernel("stores", stores, "mov.u32 %r1, 1;\nst.global.u32 [%rd1+400], %r1;");
        let reads = kernel("reads", reads, "ld.global.u32 %r1, [%rd1+4];\nst.global.u32 [%rd1], %r1;");
        let file = self.path("mine.cu").display().to_string();
        self.write("mine.ptx", &format!(".version 7.0\n.target sm_70\n.address_size 64\n{stores}{reads}.file 1 \"{file}\"\n"));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn json(&self, name: &str) -> Report {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Runs `simcuda` in the project's folder, without the simulator's environment variables.
    fn simcuda(&self, arguments: &[&str]) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
        for variable in ["SIMCUDA_REPORT", "SIMCUDA_SUPPRESSIONS", "SIMCUDA_EXITCODE", "GITHUB_WORKSPACE"] {
            command.env_remove(variable);
        }
        Ended::of(command.args(arguments).current_dir(self.folder.path()))
    }

    /// Returns a shell script that runs one process per kernel. It ends with this status.
    fn script(&self, kernels: &[&str], status: u8) -> String {
        let run = |kernel: &&str| format!("{} mine.ptx {kernel} return > /dev/null; ", compiled("ends").display());
        kernels.iter().map(run).collect::<String>() + &format!("exit {status}")
    }

    /// Runs processes under `simcuda run`.
    fn run(&self, options: &[&str], kernels: &[&str], status: u8) -> Ended {
        let script = self.script(kernels, status);
        self.simcuda(&[&["run"], options, &["--", "sh", "-c", &script]].concat())
    }
}

/// The end of a command.
struct Ended {
    status: Option<i32>,
    stderr: String,
}

impl Ended {
    fn of(command: &mut Command) -> Self {
        let (status, _, stderr) = run(command);
        Self { status, stderr }
    }

    /// Compares the messages with `messages/reports-NAME.txt`.
    fn assert_is(self, project: &Project, name: &str) {
        assert_are([(name, self)], project, name);
    }
}

/// Compares the messages of several commands with `messages/reports-NAME.txt`.
fn assert_are<'a>(ended: impl IntoIterator<Item = (&'a str, Ended)>, project: &Project, name: &str) {
    let mut transcript = Transcript::new().naming(project.folder.path(), "PROJECT");
    for (title, Ended { status, stderr }) in ended {
        transcript.add(title, (status, String::new(), stderr));
    }
    transcript.assert_is(&format!("tests/messages/reports-{name}.txt"));
}

#[test]
fn the_reports_of_several_processes_are_one() {
    let project = Project::new();
    let options = ["--report", "text,json:all.json", "--report", "junit:all.xml", "--report", "sarif:all.sarif"];
    project.run(&options, &["stores", "reads", "stores"], 0).assert_is(&project, "of-processes");

    let report = project.json("all.json");
    let mut seen: Vec<_> = report.defects.iter().map(|defect| (defect.kernel.as_str(), defect.times)).collect();
    seen.sort_unstable();
    assert_eq!((seen, report.kernels["stores"].launches), (vec![("reads", 1), ("stores", 2)], 2));
    let stores = report.defects.iter().find(|defect| defect.kernel == "stores").unwrap();
    assert_eq!((stores.kind.as_str(), stores.places[0].file.as_str(), stores.places[0].line), ("out-of-bounds", "mine.cu", 2));
    assert_eq!(stores.places[0].text.as_deref(), Some("out[100] = 1;"));

    let junit = project.read("all.xml");
    assert!(
        junit.contains("<testcase classname=\"mine.cu\" name=\"stores\">\n      <failure message=\"out of bounds: "),
        "{junit}"
    );
    let sarif: serde_json::Value = serde_json::from_str(&project.read("all.sarif")).unwrap();
    let ids: Vec<_> = sarif["runs"][0]["results"].as_array().unwrap().iter().map(|result| &result["ruleId"]).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.iter().any(|id| *id == "uninitialized-global"), "{ids:?}");
    let left: Vec<_> = fs::read_dir(project.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 5, "nothing else is left: {left:?}");
}

#[test]
fn the_status_is_the_programs_or_one_for_defects() {
    let project = Project::new();
    for (options, kernels, of_program, expected) in [
        (&[][..], &[][..], 0, 4),
        (&[], &[], 7, 7),
        (&["--allow-no-launch"], &[], 0, 0),
        (&["--allow-no-launch"], &["stores"], 0, 1),
        (&[], &["stores"], 0, 1),
        (&[], &["stores"], 7, 7),
        (&["--fail-on", "warning"], &["reads"], 0, 1),
        (&["--fail-on", "never"], &["stores"], 0, 0),
        (&["--report", "github"], &["stores"], 0, 1),
    ] {
        let Ended { status, stderr } = project.run(options, kernels, of_program);
        assert_eq!(status, Some(expected), "{options:?} {kernels:?} {of_program}: {stderr}");
    }
    let Ended { stderr, .. } = project.run(&[], &[], 0);
    let untested = "simcuda: the program succeeded, but no process launched a kernel; with --allow-no-launch, that is no failure";
    assert_eq!(stderr, format!("simcuda: no process loaded the driver\n{untested}\n"));
    // Nothing is run.
    let wrong = ["xml", "junit:", "json:/no/such/folder/file", "off,text"];
    assert_are(wrong.map(|wrong| (wrong, project.run(&["--report", wrong], &["stores"], 0))), &project, "to-wrong-places");
}

#[test]
fn a_run_whose_kernels_are_refused_fails() {
    let project = Project::new();
    let text = project.read("mine.ptx").replacen("ret;", "frobnicate.b32;\nret;", 1);
    project.write("mine.ptx", &text);
    let report = ["--fail-on", "never", "--report", "json:all.json,junit:all.xml,sarif:all.sarif,text"];
    // The other kernel of the module runs.
    for (allow, kernels, expected) in [
        (None, &["stores"][..], 3),
        (None, &["reads", "stores"], 3),
        (Some("--allow-refused"), &["stores"], 4),
        (None, &["reads"], 0),
    ] {
        let options: Vec<&str> = report.into_iter().chain(allow).collect();
        let Ended { status, stderr } = project.run(&options, kernels, 0);
        assert_eq!(status, Some(expected), "{allow:?} {kernels:?}: {stderr}");
        let junit = project.read("all.xml");
        assert_eq!(junit.contains("name=\"every kernel ran\">\n      <failure "), expected != 0, "{junit}");
        let sarif: serde_json::Value = serde_json::from_str(&project.read("all.sarif")).unwrap();
        assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], expected == 0);
    }
    let launches = |report: Report| report.processes.iter().map(|process| process.launches).collect::<Vec<_>>();
    project.run(&report, &["reads", "stores", "reads"], 0);
    assert_eq!(launches(project.json("all.json")), [1, 0, 1]);
    // A process can load the driver without calling it.
    let load = "import ctypes; ctypes.CDLL('libcuda.so.1')";
    let Ended { status, stderr } = project.simcuda(&["run", "--", "python3", "-c", load]);
    assert_eq!(status, Some(4));
    assert!(stderr.starts_with("simcuda: no process called cuInit; these loaded the driver: python3"), "{stderr}");
}

#[test]
fn a_suppressed_defect_is_counted_listed_and_not_reported() {
    let project = Project::new();
    project.run(&["--report", "json:before.json"], &["stores", "reads"], 0);
    let before = project.json("before.json");
    let id = &before.defects.iter().find(|defect| defect.kernel == "stores").unwrap().id;
    project.write(
        "known.toml",
        &format!(
            "[[suppress]]\nid = \"{id}\"\nreason = \"the test of a fault\"\n\n[[suppress]]\nkind = \"uninitialized-global\"\nfile = \"mine.cu\"\n\
             line = 5\nreason = \"never used\"\n\n[[suppress]]\nkernel = \"gone\"\nreason = \"r\"\n"
        ),
    );
    // Lines above the mistakes move both of them. The identity stays, and the line does not.
    let options = ["--suppressions", "known.toml", "--report", "text,json:after.json,sarif:after.sarif,junit:after.xml"];
    let suppressed = project.run(&options, &["stores", "reads"], 0);
    let after = project.json("after.json");
    assert!(after.defects.len() == 2 && after.count(Severity::Error) == 0 && after.defects.iter().all(|d| d.suppressed.is_some()));
    assert_eq!(after.suppressions.iter().map(|entry| entry.matched).collect::<Vec<_>>(), [1, 1, 0]);
    assert!(project.read("after.sarif").contains("\"justification\": \"the test of a fault\""));
    assert!(project.read("after.xml").contains("failures=\"0\"") && project.read("after.xml").contains("suppressed (never used)"));

    project.write("mine.cu", &format!("// A new line.\n{SOURCE}"));
    project.write_ptx(3, 6);
    // The line of the second entry is wrong now.
    let moved = project.run(&options, &["stores", "reads"], 0);
    assert_are([("suppressed", suppressed), ("moved", moved)], &project, "with-suppressions");
    let moved = project.json("after.json");
    let reported: Vec<_> = moved.reported().map(|defect| (defect.kernel.as_str(), defect.places[0].line)).collect();
    assert_eq!(reported, [("reads", 6)]);
}

#[test]
fn the_file_of_suppressions_in_the_book_is_read() {
    let project = Project::new();
    project.write("known.toml", include_str!("../examples/suppressions.toml"));
    project.run(&["--suppressions", "known.toml"], &["stores"], 0).assert_is(&project, "with-the-suppressions-of-the-book");
}

#[test]
fn a_wrong_file_of_suppressions_is_refused_with_its_line_before_anything_runs() {
    let project = Project::new();
    project.write("known.toml", "\n[[suppress]]\nid = \"race-shared-00000000\"\n");
    let run = |file| project.run(&["--suppressions", file], &["stores"], 0);
    let (without_reason, missing) = (run("known.toml"), run("none.toml"));
    // A program that is not under `simcuda run` is refused as with any other wrong setting: cuInit fails.
    let script = format!("SIMCUDA_SUPPRESSIONS=known.toml {}", project.script(&["stores"], 0).replace("; exit 0", ""));
    let of_program = project.simcuda(&["run", "--", "sh", "-c", &script]);
    let ended = [("known.toml", without_reason), ("none.toml", missing), ("SIMCUDA_SUPPRESSIONS", of_program)];
    assert_are(ended, &project, "with-wrong-suppressions");
}

#[test]
fn files_are_there_even_if_the_program_aborts_because_of_the_defect() {
    let project = Project::new();
    let script = format!("{} mine.ptx stores abort", compiled("ends").display());
    let Ended { status, stderr } =
        project.simcuda(&["run", "--report", "json:all.json", "--", "sh", "-c", &format!("{script}; exit 0")]);
    assert_eq!(status, Some(1), "{stderr}");
    assert_eq!(project.json("all.json").defects.len(), 1);
}

#[test]
fn reports_that_programs_wrote_can_be_merged_later() {
    let project = Project::new();
    let each: String = ["stores", "reads", "stores"]
        .iter()
        .zip(1..)
        .map(|(kernel, number)| {
            format!("SIMCUDA_REPORT=json:{number}.json {} mine.ptx {kernel} return; ", compiled("ends").display())
        })
        .collect();
    project.simcuda(&["run", "--fail-on", "never", "--", "sh", "-c", &each]);
    project.write("wrong.json", "{}");
    let [right, wrong] = [&["report", "1.json", "2.json", "3.json"][..], &["report", "1.json", "wrong.json"]];
    let ended = [right, wrong].map(|words| (words.last().copied().unwrap_or_default(), project.simcuda(words)));
    assert_are(ended, &project, "of-files");
}

#[test]
fn github_gets_paths_relative_to_the_checkout() {
    let project = Project::new();
    fs::create_dir(project.path("inner")).unwrap();
    let script = format!("cd inner && {} ../mine.ptx stores return", compiled("ends").display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
    command.args(["run", "--report", "github", "--", "sh", "-c", &script]).current_dir(project.folder.path());
    Ended::of(command.env("GITHUB_WORKSPACE", project.folder.path())).assert_is(&project, "for-github");
}
