//! This binary alone. Chapter 01 tests what all chapters share, and 06-matmul-tiled its options.

use support::Binary;
use support::binary::verified;

const BINARY: Binary = Binary { path: env!("CARGO_BIN_EXE_06-matmul-half"), chapter: "06-matmul-half" };

support::chapter_tests!(BINARY);

#[test]
fn sizes_that_tensor_cores_cannot_take_are_skipped_with_the_reason() {
    let record = BINARY.record("sim", &["--size", "20,12,24"]);
    assert_eq!(verified(&record), ["cpu"]);
    let reason = record["stages"][1]["skipped"].as_str().unwrap();
    assert!(reason.contains("n has to be a multiple of 8: it is 12"), "{reason}");
}
