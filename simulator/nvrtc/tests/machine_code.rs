//! A program asks for machine code and gets PTX, from NVIDIA's NVRTC behind this library. It is the one that
//! `UNROLLED_NVRTC` names, or that the library finds. Without an NVRTC, the test says so and ends, unless `UNROLLED_REQUIRE_NVRTC=1`.

use std::ffi::{CString, c_void};
use std::path::PathBuf;
use std::process::Command;
use std::ptr::{null, null_mut};

use simnvrtc::{nvrtcCompileProgram, nvrtcCreateProgram, nvrtcDestroyProgram, nvrtcGetCUBIN, nvrtcGetCUBINSize};

const SOURCE: &str = "extern \"C\" __global__ void one(int *target) { *target = 1; }";

/// Compiles the source with one option. Returns the code and the size of its machine code, and the first bytes of a buffer of that size and some
/// more, filled with `?` before.
fn machine_code(option: &str) -> (i32, usize, Vec<u8>) {
    let (source, option) = (CString::new(SOURCE).unwrap(), CString::new(option).unwrap());
    let (mut program, mut size): (*mut c_void, usize) = (null_mut(), 0);
    // SAFETY: the texts are C strings and outlive the calls; without headers, their lists may be null.
    unsafe {
        assert_eq!(nvrtcCreateProgram(&mut program, source.as_ptr(), null(), 0, null(), null()), 0);
        assert_eq!(nvrtcCompileProgram(program, 1, &option.as_ptr()), 0);
    }
    // SAFETY: the program was made above, and the size has a place.
    let code = unsafe { nvrtcGetCUBINSize(program, &mut size) };
    let mut bytes = vec![b'?'; size + 64];
    // SAFETY: the buffer has room for more than the size that was given.
    unsafe {
        nvrtcGetCUBIN(program, bytes.as_mut_ptr().cast());
        nvrtcDestroyProgram(&mut program);
    }
    (code, size, bytes)
}

#[test]
fn machine_code_is_ptx_and_nothing_is_written_where_there_is_none() {
    // NVIDIA's library is looked up in the environment of the process, so the test runs again in one that has it there.
    let name = "machine_code_is_ptx_and_nothing_is_written_where_there_is_none";
    if std::env::var_os("SIMCUDA_NVRTC").is_none() {
        let named = std::env::var_os("UNROLLED_NVRTC").map(PathBuf::from);
        let Some(nvrtc) = named.or_else(simnvrtc::find) else {
            assert!(std::env::var("UNROLLED_REQUIRE_NVRTC").as_deref() != Ok("1"), "there is no NVRTC");
            return eprintln!("SKIPPED: there is no NVRTC");
        };
        let mut again = Command::new(std::env::current_exe().unwrap());
        let output = again.args([name, "--exact", "--nocapture"]).env("SIMCUDA_NVRTC", nvrtc).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let (code, size, bytes) = machine_code("--gpu-architecture=sm_80");
    let text = String::from_utf8_lossy(&bytes[..size]);
    assert!(code == 0 && text.contains(".target sm_80") && text.contains(".entry one"), "{code}: {text}");
    assert_eq!(bytes[size..], [b'?'; 64]);
    let (_, size, bytes) = machine_code("--gpu-architecture=compute_80");
    assert_eq!((size, bytes), (0, vec![b'?'; 64]));
}
