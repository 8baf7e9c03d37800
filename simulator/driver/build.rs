//! Gives the shared library the name that the loader knows NVIDIA's driver by, so that a program which asks for that driver
//! is handed this library once it is loaded.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so");
            // The library stays until the process ends, whoever closes it: its destructor makes the report of the whole process.
            println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
        }
        Ok("macos") => println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,libcuda.dylib"),
        // Windows matches a loaded module by its file name; there the library is loaded from a file named nvcuda.dll.
        _ => {}
    }
}
