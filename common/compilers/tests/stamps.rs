//! The stored PTX belongs to the CUDA C beside it.
//!
//! This compares what needs no compiler. `cargo ptx --check` compiles again and compares whole texts. That the names in `kernels/src` agree
//! with both is tested there.

use compilers::recipe::PINNED_VERSION;
use compilers::stamp::stamp;

#[test]
fn every_ptx_carries_the_stamp_of_its_source() {
    for source in kernels::slides::stored() {
        let lines = |text: &str| text.lines().take(4).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            lines(source.ptx),
            lines(&stamp(source, PINNED_VERSION)),
            "{} was not made from {} as it is now: run `cargo ptx`",
            source.ptx_path,
            source.path
        );
    }
}

#[test]
fn the_ptx_names_its_source_the_same_way_on_every_machine() {
    for source in kernels::slides::stored() {
        let mut files = ptx::parse(source.ptx).unwrap().files;
        // The source comes first, and the headers in the order in which code of theirs is first used.
        files.sort_unstable();
        let (numbers, mut paths): (Vec<u32>, Vec<&str>) = files.into_iter().unzip();
        // Of some headers, a source uses only types, which are no code.
        let mut expected: Vec<&str> = [source.path].into_iter().chain(source.headers.iter().map(|header| header.path)).collect();
        expected.retain(|path| paths.contains(path));
        paths[1..].sort_unstable();
        expected[1..].sort_unstable();
        assert_eq!((numbers, &paths), ((1..).take(expected.len()).collect(), &expected), "in {}", source.ptx_path);
    }
}
