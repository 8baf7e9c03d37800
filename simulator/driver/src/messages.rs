//! Messages on standard error.
//!
//! The driver runs in other people's programs. `eprintln!` panics where its text is not taken, and a panic would end such a program.

use std::fmt::Arguments;
use std::io::{Write, stderr};

/// Prints a line that says who prints it.
pub fn say(message: Arguments<'_>) {
    print(format_args!("simcuda: {message}\n"));
}

pub fn print(text: Arguments<'_>) {
    // If this fails, there is no other place to say so.
    let _ = stderr().lock().write_fmt(text);
}
