//! Copies the stored PTX to where `src/lib.rs` includes it from. A `.cu` that has no PTX yet gets an empty text: `cargo ptx`, which makes
//! the PTX, depends on this package, so the package has to build first.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=cuda");
    println!("cargo:rerun-if-changed=ptx");
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    for entry in fs::read_dir("cuda")? {
        let cuda = entry?.path();
        let Some(stem) = cuda.file_stem().filter(|_| cuda.extension().is_some_and(|extension| extension == "cu")) else {
            continue;
        };
        let name = Path::new(stem).with_extension("ptx");
        let ptx = match fs::read_to_string(Path::new("ptx").join(&name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text?,
        };
        fs::write(Path::new(&out).join(name), ptx)?;
    }
    Ok(())
}
