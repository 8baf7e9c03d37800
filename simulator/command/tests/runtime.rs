//! Programs that use the CUDA runtime, as `nvcc` builds them: linked with `libcudart` of CUDA 12 or 13, their kernels in a fat binary.

use std::path::Path;
use std::process::Command;

use driver::install::install;
use tempfile::TempDir;

/// This package.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the name of NVIDIA's library. The version of its symbols has the same name.
fn library(version: u32) -> String {
    format!("libcudart.so.{version}")
}

/// Makes a library for the linker, with NVIDIA's name and symbol versions. Its functions do nothing.
fn stand_in(folder: &Path, version: u32) {
    let (source, map) = (folder.join("stand_in.c"), folder.join("stand_in.map"));
    let exports = std::fs::read_to_string(Path::new(ROOT).join("../cudart/src/nvidia_exports.txt")).unwrap();
    let functions: String = exports.lines().map(|name| format!("void {name}(void) {{}}\n")).collect();
    std::fs::write(&source, functions).unwrap();
    let name = library(version);
    std::fs::write(&map, format!("{name} {{ global: cuda*; __cuda*; local: *; }};")).unwrap();
    let script = format!("-Wl,--version-script={}", map.display());
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-w", &format!("-Wl,-soname,{name}"), &script, "-o"]).arg(folder.join(&name)).arg(&source);
    assert!(compiler.status().unwrap().success());
}

/// Compiles the program and links it with a version of the runtime. Runs it with ours, and returns its output and what is on standard error.
fn run(version: u32, what: &str) -> (String, String) {
    let (build, installed) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    install(installed.path()).unwrap();
    stand_in(build.path(), version);
    let program = build.path().join("program");
    let source = Path::new(ROOT).join("tests/foreign/runtime.c");
    let compiled =
        Command::new("cc").arg("-o").arg(&program).arg(source).arg(build.path().join(library(version))).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ptx = Path::new(ROOT).join("tests/ptx/runtime.ptx");
    let output = Command::new(&program).arg(ptx).arg(what).env_clear().env("LD_LIBRARY_PATH", installed.path()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_program_built_with_the_runtime_of_cuda_12_or_13_runs() {
    // The size is that of `cudaDeviceProp` of CUDA 11, which the plain name means in CUDA 12, and of that of CUDA 13.
    for (version, number, bytes) in [(12, 12000, 728), (13, 13000, 1008)] {
        let (stdout, stderr) = run(version, "ptx");
        let expected = format!(
            "0 0 0 0 0: no error\n\
             0 0 1, 0 wrong, launches 6, total 1003\n\
             9 13 801 801 801 0\n\
             0 NVIDIA H200: CUDA {number}, {bytes} bytes\n\
             before kernel\n\
             after 0\n\
             0 0 0, launches after a reset 6, free 0\n"
        );
        assert_eq!(stdout, expected, "{version}: {stderr}");
        let mut lines: Vec<_> = stderr.lines().collect();
        lines.sort_unstable();
        let refused = "simcuda: cudaGraphCreate: graphs are not supported by this runtime library; launch the kernels on a stream";
        assert_eq!(lines, [refused, "simcuda: kernel scale: block.x 2000 is outside 1..=1024"], "nothing from the loader");
    }
}

#[test]
fn a_program_with_machine_code_only_learns_what_to_compile() {
    let (stdout, stderr) = run(13, "machine code");
    assert_eq!(stdout, "0 0 209 209 0: no kernel image is available for execution on the device\n");
    let expected = "simcuda: the fat binary has no PTX, only machine code for sm_90, but the simulator executes PTX; compile with \
                    `-gencode arch=compute_80,code=compute_80`\n";
    assert_eq!(stderr, expected);
}
