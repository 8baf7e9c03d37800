//! The functions of a program under way.

/// Where a function's parameters and results stand in local memory. A function that can be on the stack only once, since recursion
/// is refused, has one place for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub params: Vec<(u32, u32)>,
    pub returns: Vec<(u32, u32)>,
}

/// A function of the program under way.
pub(super) struct Function {
    /// Index in the module.
    pub index: usize,
    /// Where its code starts; known once it is decoded.
    pub entry: u32,
    pub frame: Frame,
}
