//! The book and the README against the records and the runs that they are made from.

use std::fs;

use common::device::Request;
use common::gpu::Gpu;

use crate::device::{in_own_process, with_gpu};
use crate::{generated, pictures};

#[test]
fn what_is_generated_is_what_the_records_say() {
    for (path, text) in generated::files().unwrap_or_else(|error| panic!("{error:#}")) {
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == text, "{} is not what the records say; run `cargo book`", path.display());
    }
}

#[test]
fn listings_of_machine_code_are_not_older_than_their_kernels() {
    for listing in fs::read_dir(generated::root().join("book/listings")).unwrap() {
        let path = listing.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let head = |key: &str| text.lines().find_map(|line| line.strip_prefix(&format!("// {key}: "))).unwrap_or_default();
        let source = kernels::sources().iter().find(|source| source.path == head("source")).expect("its source is one of ours");
        let now = toolkit::stamp::sha256_of(&[source]);
        assert_eq!(head("sha256"), now, "{}: run `cargo run -p tests --bin listings`", path.display());
    }
}

#[test]
fn what_is_drawn_is_what_the_simulator_does() {
    let pictures = with_gpu(|gpu| gpu.is_simulated().then(|| pictures::pictures(gpu)));
    // A GPU shows no warp; the same test ran on the simulator before.
    let Some(pictures) = pictures else { return };
    for (path, svg) in pictures.unwrap_or_else(|error| panic!("{error:#}")) {
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == svg, "{} is not what the simulator does; run `cargo book`", path.display());
    }
}

#[test]
fn what_is_drawn_of_an_old_gpu_is_what_the_simulator_does() {
    if with_gpu(|gpu| gpu.is_simulated()) {
        in_own_process("book::what_the_simulator_does_as_an_old_gpu");
    }
}

/// In a process of its own, because a process simulates one GPU.
#[test]
#[ignore = "not a test: what_is_drawn_of_an_old_gpu_is_what_the_simulator_does starts it in a process of its own"]
fn what_the_simulator_does_as_an_old_gpu() {
    let gpu = Gpu::open(&Request::Sim(Some(pictures::OLD_GPU.to_owned()))).unwrap();
    let drawn = pictures::of_old_gpu(&gpu).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(drawn.each_ref().map(|(path, _)| path.clone()), pictures::files_of_old_gpu());
    for (path, svg) in drawn {
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == svg, "{} is not what the simulator does; run `cargo book`", path.display());
    }
}

#[test]
fn nothing_generated_has_lost_its_record() {
    let mut files = generated::files().unwrap_or_else(|error| panic!("{error:#}"));
    match with_gpu(|gpu| gpu.is_simulated().then(|| pictures::pictures(gpu))) {
        Some(pictures) => files.extend(pictures.unwrap_or_else(|error| panic!("{error:#}"))),
        None => return,
    }
    files.extend(pictures::files_of_old_gpu().map(|path| (path, String::new())));
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
