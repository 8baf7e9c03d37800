//! Where the repository is.

use std::path::Path;

/// Returns the root of the repository.
pub fn root() -> &'static Path {
    let is_root = |folder: &&Path| folder.join("book/src").is_dir();
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(is_root).expect("this package is in the repository")
}
