//! Files with what the command prints, for people to read in a change.

use std::path::Path;

use driver::variables::BLESS;

/// Compares a text with a file of this package. With [`BLESS`] set, it is written to that file first.
pub fn assert_is(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if BLESS.path().is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let saved = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(saved == text, "{file} has something else; {BLESS}=1 writes it again:\n{text}");
}
