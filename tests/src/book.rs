//! The book and the README against the records that they are made from.

use std::fs;

use crate::generated;

#[test]
fn what_is_generated_is_what_the_records_say() {
    for (path, text) in generated::files().unwrap_or_else(|error| panic!("{error:#}")) {
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == text, "{} is not what the records say; run `cargo book`", path.display());
    }
}

#[test]
fn nothing_generated_has_lost_its_record() {
    let files = generated::files().unwrap_or_else(|error| panic!("{error:#}"));
    let folder = generated::root().join("book/src/generated");
    for device in fs::read_dir(folder).unwrap() {
        for page in fs::read_dir(device.unwrap().path()).unwrap() {
            let page = page.unwrap().path();
            assert!(files.iter().any(|(path, _)| *path == page), "{} has no record", page.display());
        }
    }
}
