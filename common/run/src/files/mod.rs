//! The user's files: the ones that a run reads, and the ones that it writes whole or not at all.

pub mod atomic_file;
pub mod audio;
pub mod input_file;
pub mod npy;
pub mod picture;
