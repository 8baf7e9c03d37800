//! The tests of the lowering.
//!
//! - `clang`: finds a clang, and compiles CUDA C to IR and to PTX with it.
//! - `machine`: runs kernels of PTX on the simulator.
//! - `kernels`: the kernels of the chapters and of the exercises, against clang's own back end.
//! - `generated`: generated programs, against clang's own back end.
//! - `texts`: IR that is stored here: what comes out, and what is refused.
//! - `damage`: IR with bytes missing or changed.

mod clang;
mod damage;
mod generated;
mod kernels;
mod machine;
mod texts;
