//! The stored PTX belongs to the CUDA C beside it.
//!
//! This compares what needs no compiler. `cargo ptx --check` compiles again and compares whole texts. That the names in `kernels/src` agree
//! with both is tested there.

use toolkit::recipe::PINNED_VERSION;
use toolkit::stamp::Stamp;

#[test]
fn every_ptx_carries_the_stamp_of_its_source() {
    for source in kernels::sources().iter().copied().chain(kernels::slides::sources()) {
        assert_eq!(
            Stamp::read(source.ptx),
            Some(Stamp::of(source, PINNED_VERSION)),
            "{} was not made from {} as it is now: run `cargo ptx`",
            source.ptx_path,
            source.path
        );
    }
}

#[test]
fn the_ptx_names_its_source_the_same_way_on_every_machine() {
    for source in kernels::sources().iter().copied().chain(kernels::slides::sources()) {
        let files = simt::ptx::parse(source.ptx).unwrap().files;
        let paths = [source.path].into_iter().chain(source.headers.iter().map(|header| header.path));
        let expected: Vec<(u32, &str)> = (1..).zip(paths).collect();
        assert_eq!(files, expected, "in {}", source.ptx_path);
    }
}
