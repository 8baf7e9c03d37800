//! Asks for features of other people's crates, and holds no code.
//!
//! Cargo compiles a crate again when another command asks for other features of it or of what it depends on. `cargo test -p kernels` would compile the
//! whole simulator once more, only because no command line is parsed there. A package that does not ask for these features through its other
//! dependencies therefore depends on this one, most of them for their tests only. `.ci/features` compares what commands build and says what differs.
