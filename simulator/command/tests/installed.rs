//! The command alone in a folder `bin`, as `cargo install` leaves it.

#![cfg(target_os = "linux")]

mod golden;
mod transcript;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use driver::client::find_library;
use tempfile::TempDir;

use self::transcript::Transcript;

/// A folder with `bin/simcuda` and a stand-in for `cargo`. The stand-in notes each call and "builds" the libraries that cargo has built for
/// this test, under the names that cargo gives to the libraries of a package from a registry.
struct Installed {
    root: TempDir,
}

impl Installed {
    fn new() -> Self {
        // Near the command, so that a link to it is possible. Nobody may run a copy that another thread has just written.
        let installed = Self { root: TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap() };
        for folder in ["bin", "tools"] {
            fs::create_dir(installed.path(folder)).unwrap();
        }
        fs::hard_link(env!("CARGO_BIN_EXE_simcuda"), installed.path("bin/simcuda")).unwrap();
        let artifacts = ["simcuda", "simcudart", "simnvrtc"].map(|name| {
            let built = find_library().unwrap().with_file_name(format!("lib{name}.so"));
            format!(
                "cp {} \"$target/lib{name}-01234567.so\"\n\
                 echo '{{\"reason\":\"compiler-artifact\",\"target\":{{\"name\":\"{name}\"}},\"filenames\":[\"lib{name}.rlib\",\"'$target'/lib{name}-01234567.so\"]}}'\n",
                built.display()
            )
        });
        let calls = installed.path("calls");
        let script = format!(
            "#!/bin/sh\nset -e\necho \"$PWD $*\" >> {}\nwhile [ \"$1\" != --target-dir ]; do shift; done\ntarget=$2\n\
             echo '{{\"reason\":\"build-script-executed\"}}'\n{}",
            calls.display(),
            artifacts.concat()
        );
        let cargo = installed.path("tools/cargo");
        fs::write(&cargo, script).unwrap();
        fs::set_permissions(&cargo, PermissionsExt::from_mode(0o755)).unwrap();
        installed
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Counts the calls of cargo.
    fn builds(&self) -> usize {
        fs::read_to_string(self.path("calls")).unwrap_or_default().lines().count()
    }

    /// Runs `simcuda run` with a program that shows which libraries it finds. Returns the exit status and standard error.
    fn run(&self, tools: &str) -> (Option<i32>, String) {
        let mut command = Command::new(self.path("bin/simcuda"));
        command.args(["run", "--", "/bin/sh", "-c", "test -e \"${LD_LIBRARY_PATH%%:*}/libcuda.so.1\""]);
        command.env("PATH", format!("{}:/usr/bin:/bin", self.path(tools).display())).env_remove("SIMCUDA_LIBRARY");
        let output = command.env_remove("SIMCUDA_REPORT").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

#[test]
fn an_installed_command_builds_its_libraries_once() {
    let installed = Installed::new();
    let mut transcript = Transcript::new().naming(installed.root.path(), "ROOT");
    for (title, tools) in [("without cargo", "no-tools"), ("with cargo", "tools"), ("the second time", "no-tools")] {
        let (status, log) = installed.run(tools);
        transcript.add(format_args!("simcuda run -- PROGRAM, {title}"), (status, String::new(), log));
    }
    transcript.assert_is("tests/messages/installed.txt");
    let home = installed.path("lib/simcuda");
    let call = fs::read_to_string(installed.path("calls")).unwrap();
    assert!(call.starts_with(concat!(env!("CARGO_MANIFEST_DIR"), " build --release --locked --lib ")), "{call}");
    let mut names: Vec<_> = fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["built-for", "libsimcuda.so", "libsimcudart.so", "libsimnvrtc.so"]);

    assert_eq!(installed.builds(), 1);

    // As after a second `cargo install`.
    fs::write(home.join("built-for"), "another command").unwrap();
    assert_eq!(installed.run("tools").0, Some(4), "no launch");
    assert_eq!(installed.builds(), 2);

    // Whoever packages the simulator puts the libraries there, and no stamp.
    fs::remove_file(home.join("built-for")).unwrap();
    assert_eq!(installed.run("tools").0, Some(4), "no launch");
    assert_eq!(installed.builds(), 2);
}
