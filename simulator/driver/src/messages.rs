//! Messages on standard error.
//!
//! The driver runs in other people's programs. `eprintln!` panics where its text is not taken, and a panic would end such a program.

use std::fmt::{Arguments, Display};
use std::io::{Write, stderr};

/// Prints a line that says who prints it.
pub fn say(message: Arguments<'_>) {
    print(format_args!("simcuda: {message}\n"));
}

pub fn print(text: Arguments<'_>) {
    // If this fails, there is no other place to say so.
    let _ = stderr().lock().write_fmt(text);
}

/// Says what could not be written, if it was not.
pub fn say_if_not_written<E: Display>(written: Result<(), E>, what: impl Display) {
    if let Err(error) = written {
        say(format_args!("cannot write {what}: {error}"));
    }
}
