//! `streams EXERCISE [--solution]`

use std::env;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    streams::run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}
