//! The results of a run: for the runner, for programs, and for people.

pub mod derived;
pub mod lesson;
pub mod record;
pub mod report;
pub mod table;
