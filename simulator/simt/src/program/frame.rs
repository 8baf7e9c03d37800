//! The functions of a program that is being decoded.

/// The parameters and results of a function in local memory. One frame per function is enough: recursion is not supported, so a
/// function is on the stack at most once.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub params: Vec<(u32, u32)>,
    pub returns: Vec<(u32, u32)>,
}

/// A function of the program.
pub(super) struct Function {
    /// Index in the module.
    pub index: usize,
    /// Index of its first instruction; known once it is decoded.
    pub entry: u32,
    pub frame: Frame,
}
