//! Chapter 01.
fn main() {}
