//! The interactive parts of pages: figures with a static version, which scripts of `book/lab` bring to life where they can run.
//!
//! # Layout
//!
//! - [`html`]: text and data inside HTML.
//! - [`explain`]: a kernel's source with its counts, and the requests of each line.
//! - [`launch`]: a stage's launches as a file, so that a page can repeat them.
//! - [`slides`]: experiments with sliders. `bench` runs their kernels.

mod bench;
pub mod explain;
pub mod html;
pub mod launch;
pub mod slides;
