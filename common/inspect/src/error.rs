//! The errors of `--explain`.

use thiserror::Error;

use crate::line::Line;

/// The result of a fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A reason why a stage cannot be explained.
#[derive(Debug, Error)]
pub enum Error {
    /// A line that has no picture.
    #[error("{}", no_access(stage, line.as_ref(), lines))]
    NoAccess {
        /// The stage.
        stage: String,
        /// The line; `None` if any line would have been fine.
        line: Option<Line>,
        /// The lines that have one.
        lines: String,
    },
}

/// Says why a line has no picture, and which lines have one.
fn no_access(stage: &str, line: Option<&Line>, lines: &str) -> String {
    let of_line = line.map_or(String::new(), |line| format!(" {line}"));
    let expected = if lines.is_empty() { "no line has one".to_owned() } else { format!("expected one of the lines {lines}") };
    format!("the first warp of stage {stage} made no access to global or shared memory{of_line}: {expected}")
}
