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
    if saved != text {
        let same = saved.lines().zip(text.lines()).take_while(|(saved, now)| saved == now).count();
        let [saved, now] = [&saved, text].map(|all| all.lines().nth(same).unwrap_or("(the end)").to_owned());
        panic!(
            "{file}:{}:\n- {saved}\n+ {now}\nIf that is right, run the test with {BLESS}=1, which writes the file again",
            same + 1
        );
    }
}
