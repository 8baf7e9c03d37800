//! Programs that use the CUDA runtime, as `nvcc` builds them: with `libcudart` of CUDA 12 or 13 in them or beside them, their kernels in a fat
//! binary.

mod c_program;
mod ended;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use driver::install::{environment, install};
use tempfile::TempDir;

use self::c_program::compiled;

/// This package.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the name of NVIDIA's library. The version of its symbols has the same name.
fn library(version: u32) -> String {
    format!("libcudart.so.{version}")
}

/// The place of NVIDIA's runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A library.
    Beside,
    /// The program, which has its symbols.
    Inside,
}

/// Makes something to link with that has NVIDIA's names and symbol versions. Its functions do nothing.
fn stand_in(folder: &Path, version: u32, place: Place) -> PathBuf {
    let (source, map) = (folder.join("stand_in.c"), folder.join("stand_in.map"));
    let exports = std::fs::read_to_string(Path::new(ROOT).join("../cudart/src/nvidia_exports.txt")).unwrap();
    let names = exports.lines().filter(|name| version == 12 || *name != "cudaGetDeviceProperties_v2");
    let functions: String = names.map(|name| format!("void {name}(void) {{}}\n")).collect();
    std::fs::write(&source, functions).unwrap();
    let name = library(version);
    std::fs::write(&map, format!("{name} {{ global: cuda*; __cuda*; local: *; }};")).unwrap();
    let script = format!("-Wl,--version-script={}", map.display());
    let mut compiler = Command::new("cc");
    match place {
        Place::Beside => compiler.args(["-shared", "-fPIC", &format!("-Wl,-soname,{name}"), &script]),
        Place::Inside => compiler.args(["-c", "-fvisibility=hidden", "-fpatchable-function-entry=16"]),
    };
    let made = folder.join(if place == Place::Beside { &name } else { "stand_in.o" });
    assert!(compiler.arg("-w").arg("-o").arg(&made).arg(&source).status().unwrap().success());
    made
}

/// Compiles a program of `foreign` for a version of the runtime. Runs it with ours and an argument, and returns its output and what is on
/// standard error.
fn run(name: &str, flags: &[&str], version: u32, place: Place, what: impl AsRef<OsStr>) -> (String, String) {
    let (build, installed) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    install(installed.path()).unwrap();
    let program = build.path().join("program");
    let source = Path::new(ROOT).join("tests/foreign").join(name).with_extension("c");
    let mut compiler = Command::new("cc");
    compiler.args(flags).arg("-o").arg(&program).arg(source).arg(stand_in(build.path(), version, place));
    let compiled = compiler.output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ptx = Path::new(ROOT).join("tests/ptx/runtime.ptx");
    let output = Command::new(&program).arg(ptx).arg(what).env_clear().envs(environment(installed.path())).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_program_built_with_the_runtime_of_cuda_12_or_13_runs() {
    // The size is that of `cudaDeviceProp` of CUDA 11, which the plain name means in CUDA 12, and of that of CUDA 13.
    let versions = [(12, 12000, 728), (13, 13000, 1008)];
    for (place, (version, number, bytes)) in
        [Place::Beside, Place::Inside].into_iter().flat_map(|place| versions.map(|version| (place, version)))
    {
        let (stdout, stderr) = run("runtime", &[], version, place, "ptx");
        let expected = format!(
            "0 0 0 0 0: no error\n\
             0 0 1, 0 wrong, launches 6, total 1003\n\
             9 13 801 801 801 0\n\
             0 NVIDIA H200: CUDA {number}, {bytes} bytes\n\
             before kernel\n\
             after 0\n\
             0 0 0, launches after a reset 6, free 0\n\
             at the end 4\n"
        );
        assert_eq!(stdout, expected, "{version} {place:?}: {stderr}");
        let mut lines: Vec<_> = stderr.lines().collect();
        lines.sort_unstable();
        let refused = "simcuda: cudaGraphicsMapResources: graphics are not supported by this runtime library; copy through memory of the device or the host";
        assert_eq!(lines, [refused, "simcuda: kernel scale: block.x 2000 is outside 1..=1024"], "nothing from the loader");
    }
}

#[test]
fn a_program_builds_captures_changes_and_launches_graphs() {
    let folder = TempDir::new().unwrap();
    let versions: [(_, &[&str]); 3] = [(12, &["-DCUDA=12"]), (12, &["-DCUDA=12", "-DWITH_DATA"]), (13, &["-DCUDA=13"])];
    for (version, flags) in versions {
        let (stdout, stderr) = run("graphs", flags, version, Place::Beside, folder.path());
        assert_eq!(stdout, "0 failures\n", "{flags:?}: {stderr}");
    }
}

#[test]
fn a_program_with_machine_code_only_learns_what_to_compile() {
    let (stdout, stderr) = run("runtime", &[], 13, Place::Beside, "machine code");
    assert_eq!(stdout, "0 0 209 209 0: no kernel image is available for execution on the device\nat the end 4\n");
    let expected = "simcuda: the fat binary has no PTX, only machine code for sm_90, but the simulator executes PTX; compile with \
                    `-gencode arch=compute_80,code=compute_80`\n";
    assert_eq!(stderr, expected);
}

/// NVIDIA's NVRTC as a file that is loaded by its path. It has 99 bytes of machine code and 7 of PTX.
fn nvrtc(folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("nvrtc.c"), folder.join("libnvrtc.so.13"));
    let size_of = |what: &str, bytes| format!("int nvrtcGet{what}Size(void *p, unsigned long *n) {{ *n = {bytes}; return 0; }}\n");
    std::fs::write(&source, size_of("CUBIN", 99) + &size_of("PTX", 7)).unwrap();
    assert!(Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status().unwrap().success());
    library
}

#[test]
fn a_program_that_loads_nvrtc_by_its_path_gets_ptx_for_machine_code() {
    let (build, installed) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    install(installed.path()).unwrap();
    let theirs = nvrtc(build.path());
    let printed = |variables: Vec<(&str, PathBuf)>| {
        let output = Command::new(compiled("compiler")).arg(&theirs).env_clear().envs(variables).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(printed(Vec::new()), "0 99\n");
    assert_eq!(printed(environment(installed.path())), "0 7\n");
}

#[test]
fn the_printed_environment_is_that_of_run() {
    let (build, installed) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let path = installed.path().canonicalize().unwrap();
    let print = |reader: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
        command.arg("env").arg(&path).args(["--for", reader]).env("LD_LIBRARY_PATH", "/others").env_remove("LD_PRELOAD");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let script =
        format!("{}echo $LD_LIBRARY_PATH; {} {}", print("shell"), compiled("compiler").display(), nvrtc(build.path()).display());
    let output = Command::new("sh").arg("-c").arg(script).env_clear().env("LD_LIBRARY_PATH", "/others").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{}:/others\n0 7\n", path.display()));
    let runtime = path.join("libcudart.so.12");
    let (path, runtime) = (path.display(), runtime.display());
    assert_eq!(print("github"), format!("LD_LIBRARY_PATH={path}:/others\nLD_AUDIT={runtime}\nLD_PRELOAD={runtime}\n"));
    let list = ["LD_LIBRARY_PATH", "LD_AUDIT", "LD_PRELOAD"].map(|name| format!("\n    \"{name}=path_list_prepend:"));
    let [libraries, audit, preload] = list;
    assert_eq!(print("cmake"), format!("set(CUDA_ENVIRONMENT{libraries}{path}\"{audit}{runtime}\"{preload}{runtime}\")\n"));
}
