//! The reasons why a kernel does not pass.

use simt::{Dim3, Finding, WarpOrder};
use workloads::Arithmetic;
use workloads::failure::Failure;

use crate::device::Written;
use crate::manifest::Target;
use crate::outputs::InBlock;

/// The reason why a kernel does not pass. `at` is the size, as the workload describes it, and `right` counts the sizes before it.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the comment above has the fields that several variants share")]
pub enum Rejection {
    /// It does not compile; the compiler's messages.
    DoesNotCompile(String),
    /// It compiles, but the exercise's launch does not fit it.
    CannotBeLaunched(String),
    /// It is wrong at a size; with the order of the warps, if it is right when they run by number.
    Fails { at: String, right: usize, order: Option<WarpOrder>, failure: Failure },
    /// Its host code is wrong, in a line of the text if that is known.
    HostCode { at: String, line: Option<u32>, reason: String },
    /// The learner wrote its launch, and with that launch it does not pass.
    Launched { written: Written, rejection: Box<Rejection> },
    /// Its outputs are right, and one has other bits when the warps of a block do not run by number but in another order.
    DependsOnOrder { at: String, index: usize, values: [f32; 2] },
    /// It is right only if a variable that is not set holds zero.
    UsesUnset { at: String, failure: Failure },
    /// A block of a large grid does not store what is its own.
    FailsInBlock { at: String, right: usize, block: Dim3, grid: Dim3, reason: InBlock },
    /// It reads this register, in which a run differs from the next.
    ReadsSurroundings { register: &'static str },
    /// It changes this variable of its module.
    KeepsState { variable: String },
    /// The loop of this line may be unrolled by the compiler.
    NotByHand { line: usize },
    /// It is right, but misses a target. The warnings are those of the first size with any.
    Misses { right: usize, target: Target, counted: f64, arithmetic: Arithmetic, warnings: Vec<Finding> },
}

impl Rejection {
    /// Adds the launch, if the learner wrote it.
    pub fn launched(self, written: Option<Written>) -> Self {
        match written {
            Some(written) => Rejection::Launched { written, rejection: Box::new(self) },
            None => self,
        }
    }
}
