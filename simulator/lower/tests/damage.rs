//! IR with bytes missing or changed. Whatever the text, there is an error or there is PTX that the simulator can read.

use std::time::{Duration, Instant};

use lower::{Options, lower};

use crate::machine::Numbers;

/// Returns the texts without inline PTX: nobody checks what a damaged template says.
fn texts() -> [String; 2] {
    let forms = include_str!("ir/forms.ll");
    let start = forms.find("define ptx_kernel void @inline").expect("a kernel with inline PTX");
    let end = start + forms[start..].find("\n}\n").expect("its end") + 3;
    [include_str!("ir/fixture.ll").to_owned(), format!("{}{}", &forms[..start], &forms[end..])]
}

/// Returns the number of texts: `LOWER_ROUNDS` asks for more.
fn rounds() -> usize {
    std::env::var("LOWER_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(400)
}

/// Longest that a text may take.
const LONGEST: Duration = Duration::from_secs(10);

fn try_to_lower(text: &str, what: &str) {
    let start = Instant::now();
    if let Ok(ptx) = lower(text, &Options::default()) {
        // A text with nothing in it makes PTX with nothing in it.
        if let Err(error) = simt::Module::parse(&ptx) {
            panic!("{what}: the PTX cannot be read: {error}\n{text}\n{ptx}");
        }
    }
    assert!(start.elapsed() < LONGEST, "{what}: took {:?}", start.elapsed());
}

#[test]
fn stored_texts_are_lowered() {
    for text in &texts() {
        let ptx = lower(text, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        simt::Module::parse(&ptx).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    }
}

#[test]
fn a_text_that_ends_early_is_no_reason_to_panic() {
    for text in &texts() {
        for end in (0..text.len()).step_by(41).filter(|end| text.is_char_boundary(*end)) {
            try_to_lower(&text[..end], &format!("the first {end} bytes"));
        }
    }
}

#[test]
fn a_text_with_other_bytes_is_no_reason_to_panic() {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let texts = texts();
    for round in 0..rounds() {
        let mut bytes = texts[round % texts.len()].as_bytes().to_vec();
        for _ in 0..1 + numbers.below(4) {
            let at = numbers.below(bytes.len() as u64) as usize;
            match numbers.below(4) {
                0 => bytes[at] = numbers.one_of(b"0123456789,()[]{}<>%@!#\"= ixpfa*"),
                1 => {
                    bytes.remove(at);
                }
                2 => bytes.insert(at, numbers.one_of(b"0123456789,()[]{}<>%@!#\"= ")),
                _ => {
                    let end = (at + numbers.below(30) as usize).min(bytes.len());
                    bytes.drain(at..end);
                }
            }
        }
        try_to_lower(&String::from_utf8_lossy(&bytes), &format!("round {round}"));
    }
}

#[test]
fn a_text_with_other_words_is_no_reason_to_panic() {
    let mut numbers = Numbers(0xfeed_5678_9abc_def1);
    let texts = texts();
    for round in 0..rounds() {
        let text = &texts[round % texts.len()];
        let mut words: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
        for _ in 0..1 + numbers.below(3) {
            let (from, to) = (numbers.below(words.len() as u64) as usize, numbers.below(words.len() as u64) as usize);
            match numbers.below(3) {
                0 => words[to] = words[from],
                1 => words.swap(from, to),
                _ => {
                    words.remove(to);
                }
            }
        }
        try_to_lower(&words.concat(), &format!("round {round}"));
    }
}

#[test]
fn nesting_and_sizes_have_limits() {
    let types = format!("define void @f({}{}) {{ ret void }}", "[1 x ".repeat(100_000), "]".repeat(100_000));
    let values = format!("@g = global i32 {}", "add (i32 ".repeat(100_000));
    let array = "define ptx_kernel void @k(ptr %p) {\n  %v = load [99999999999 x i32], ptr %p\n  ret void\n}";
    let large = "@g = global [999999999999999 x [999999999 x i64]] zeroinitializer";
    for text in [&types, &values, array, large] {
        assert!(lower(text, &Options::default()).is_err());
    }
}
