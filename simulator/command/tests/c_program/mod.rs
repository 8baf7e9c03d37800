//! The programs in C of `foreign`, which do not know about the simulator.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::ended::run;

/// Compiles `foreign/NAME.c`, once for all tests of a process.
pub fn compiled(name: &str) -> PathBuf {
    static COMPILED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let path = folder.join(name);
    // Locked until the program is compiled.
    let mut compiled_before = COMPILED.lock().unwrap();
    if compiled_before.insert(name.to_owned()) {
        fs::create_dir_all(&folder).unwrap();
        // Another process of tests may run the old one.
        let unfinished = path.with_extension(std::process::id().to_string());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(name).with_extension("c");
        let (status, _, stderr) = run(Command::new("cc").arg("-o").arg(&unfinished).arg(source).arg("-ldl"));
        assert_eq!(status, Some(0), "{stderr}");
        fs::rename(&unfinished, &path).unwrap();
    }
    path
}
