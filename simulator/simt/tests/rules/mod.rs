//! Rules of the PTX ISA and of the CUDA C++ Programming Guide that programs in the field rely on. Each test quotes its rule and runs
//! the smallest programs that depend on it.
//!
//! - `results`: the values that instructions compute.

mod results;
