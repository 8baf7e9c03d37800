//! The book and the README against the records and the runs that they are made from.

use std::fs;

use crate::device::with_gpu;
use crate::generated;

#[test]
fn what_is_generated_is_what_the_records_say() {
    for (path, text) in generated::files().unwrap_or_else(|error| panic!("{error:#}")) {
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == text, "{} is not what the records say; run `cargo book`", path.display());
    }
}

#[test]
fn what_is_drawn_is_what_the_simulator_does() {
    let pictures = with_gpu(|gpu| gpu.is_simulated().then(|| generated::pictures(gpu)));
    // A GPU shows no warp; the same test ran on the simulator before.
    let Some(pictures) = pictures else { return };
    for (path, svg) in pictures.unwrap_or_else(|error| panic!("{error:#}")) {
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == svg, "{} is not what the simulator does; run `cargo book`", path.display());
    }
}

#[test]
fn nothing_generated_has_lost_its_record() {
    let mut files = generated::files().unwrap_or_else(|error| panic!("{error:#}"));
    match with_gpu(|gpu| gpu.is_simulated().then(|| generated::pictures(gpu))) {
        Some(pictures) => files.extend(pictures.unwrap_or_else(|error| panic!("{error:#}"))),
        None => return,
    }
    let folder = generated::root().join("book/src/generated");
    for device in fs::read_dir(folder).unwrap() {
        let device = device.unwrap().path();
        let pages =
            if device.is_dir() { fs::read_dir(device).unwrap().map(|page| page.unwrap().path()).collect() } else { vec![device] };
        for page in pages {
            assert!(files.iter().any(|(path, _)| *path == page), "{} has no record", page.display());
        }
    }
}
