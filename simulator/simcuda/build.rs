//! Gives the shared library the name that the loader knows NVIDIA's driver by, so that a program that asks for that driver gets this library
//! once it is loaded.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so");
            // The library stays loaded until the process ends, even if it is closed: its destructor reports on the whole process.
            println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
        }
        Ok("macos") => println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,libcuda.dylib"),
        // Windows matches loaded modules by file name. There, the library is loaded from a copy named nvcuda.dll.
        _ => {}
    }
}
