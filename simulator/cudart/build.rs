//! Gives the shared library the name and the symbol versions of NVIDIA's runtime library.
//!
//! A program that was linked with `libcudart.so.12` asks for each symbol in a version of that name, and one for `libcudart.so.13` in a version
//! of that name. The library defines both versions and leaves its symbols without one, so that the loader accepts them for either.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=versions.map");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    // Not `rustc-cdylib-link-arg`: cargo also passes that to the libraries of packages that depend on this one. It does so by mistake
    // (rust-lang/cargo#9562).
    println!("cargo:rustc-link-arg=-Wl,-soname,libcudart.so.12");
    // Other libraries may still call it while the process ends.
    println!("cargo:rustc-link-arg=-Wl,-z,nodelete");
    // Rust passes a version script of its own. Only LLVM's linker takes a second one, and toolchains of rustup contain it.
    if let Some(linker) = bundled_linker() {
        println!("cargo:rustc-link-arg=-B{}", linker.display());
        println!("cargo:rustc-link-arg=-fuse-ld=lld");
        let map = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("versions.map");
        println!("cargo:rustc-link-arg=-Wl,--version-script={}", map.display());
    } else {
        // GNU's linker can make one version, of the library's name. Without any, glibc stops the program at its start.
        println!("cargo:rustc-link-arg=-fuse-ld=bfd");
        println!("cargo:rustc-link-arg=-Wl,--default-symver");
        println!(
            "cargo:warning=this toolchain has no rust-lld: the CUDA runtime will serve programs of CUDA 12, but not of CUDA 13"
        );
    }
}

/// Returns the folder of the linker that comes with the toolchain.
fn bundled_linker() -> Option<PathBuf> {
    let rustc = std::env::var_os("RUSTC")?;
    let printed = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    let sysroot = PathBuf::from(String::from_utf8(printed.stdout).ok()?.trim());
    let folder = sysroot.join("lib/rustlib").join(std::env::var_os("HOST")?).join("bin/gcc-ld");
    folder.join("ld.lld").is_file().then_some(folder)
}
