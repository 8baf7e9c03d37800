//! The synchronization that racing accesses of two blocks lack.

use serde::{Deserialize, Serialize};

/// The synchronization that two accesses of different blocks lack. PTX ISA 8.5, section 8.9.4: a release pattern, which a fence begins,
/// synchronizes with an acquire pattern that observes its write, if both have a scope that includes the other thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingOrder {
    /// The other thread's block has not published its access: no fence and no release with a scope of the GPU comes between it and a flag.
    Release,
    /// The same, but on a GPU no value is wrong: the other access is a read, a barrier ended it before its block set a flag, and this write began
    /// after this thread had seen the flag.
    FormalRelease,
    /// It has published it, and this thread has seen the flag, but no fence followed.
    Acquire,
    /// The same, but on a GPU no value is wrong: the read of the flag was over before the access began, and if that is a load, it passes L1, or
    /// nothing had brought the bytes there.
    FormalAcquire,
    /// It has published it, but this thread has not looked at the flag.
    Flag,
    /// Both accesses are strong, but the scope of one is its own block.
    Scope,
}

impl MissingOrder {
    /// Describes the defect, to end a sentence about the two accesses.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Release => "the other block has not published its access with a fence or a release of GPU scope and a flag",
            Self::FormalRelease => {
                "this block saw a flag that the other one set after the read, but no fence of GPU scope came before the flag; GPUs give the right value here"
            }
            Self::Acquire => "this block saw the flag that the other one set, but executed no fence of GPU scope after that",
            Self::FormalAcquire => {
                "this block saw the flag that the other one set, but executed no fence of GPU scope after that; GPUs give the right value here"
            }
            Self::Flag => "the other block published its access, but this thread has not seen the flag",
            Self::Scope => "one of the two has only the scope of its block",
        }
    }

    /// Returns the remedy.
    pub fn help(self) -> &'static str {
        match self {
            Self::Release => {
                "put __threadfence() between the access and the write to the flag; __threadfence_block() and the scope .cta order only threads of \
                 one block"
            }
            Self::FormalRelease => {
                "the barrier after the read ends it (PTX ISA, \"barrier\": earlier accesses of the threads are performed when it completes); the memory model \
                 promises the order to another block only with a release pattern, a fence and then a strong write (\"Release and Acquire \
                 Patterns\"): put __threadfence() before the write of the flag"
            }
            Self::Acquire => {
                "put __threadfence() between the read of the flag and the access, or read the flag with ld.acquire.gpu"
            }
            Self::FormalAcquire => {
                "the access begins after the flag came, and finds no old value in L1; the memory model promises that only with an acquire pattern, \
                 a strong read and then a fence (PTX ISA, \"Release and Acquire Patterns\"): put __threadfence() between the two"
            }
            Self::Flag => "let the thread read the flag, or let it meet a thread that has read it at a barrier",
            Self::Scope => "use the scope of the GPU: thread_scope_device, or an atomic function without _block",
        }
    }
}
