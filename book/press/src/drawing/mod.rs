//! Drawings for pages, as SVG.
//!
//! # Layout
//!
//! - [`svg`]: rectangles, lines and words. [`words`]: words next to points, placed so that they do not overlap.
//! - [`footprint`]: what a block of a kernel reads and writes. [`trace`] asks the simulator; [`strips`] and [`planes`] draw arrays of one
//!   dimension, and images and matrices.

pub mod footprint;
mod planes;
mod strips;
pub mod svg;
pub mod trace;
pub mod words;
