//! CUDA C on its way to a compiler.

use kernels::{Header, Source};

/// CUDA C to compile.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The name of the text in messages and in `.file`.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
    /// The files that it can include.
    pub headers: &'a [Header],
}

/// The first line of a text with host code. Its functions are compiled for the device unless they say otherwise.
pub const HOST_CODE: &str = "#define CODE_OF_THE_HOST\n";

impl Input<'_> {
    /// Returns the text of a source, under its path.
    pub fn of(source: &Source) -> Input<'static> {
        Input { name: source.path, text: source.cuda, headers: source.headers }
    }
}

/// The form of a learner's text after compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a GPU would run it.
    Optimized,
    /// Without optimization.
    Plain,
    /// As [`Form::Optimized`], without what it prints.
    Quiet,
}
