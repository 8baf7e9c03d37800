//! What the threads of one block touch of global memory, thread by thread, for whoever wants to look at it.
//!
//! The checks see every access of every kind, so it is they who ask; a launch without a traced block keeps nothing.

use super::core::Core;
use super::request::{Request, lanes_of};
use crate::counters::Touched;
use crate::registers::LANES;

impl Core<'_> {
    /// Keeps what a request touches, in the block that is traced.
    #[inline(always)]
    pub fn trace(&mut self, request: &Request<'_>) {
        if self.traces {
            self.keep_touched(request);
        }
    }

    #[cold]
    fn keep_touched(&mut self, request: &Request<'_>) {
        let touched = lanes_of(request.mask).map(|lane| Touched {
            thread: self.warp * LANES as u32 + lane as u32,
            op: request.op,
            address: request.addresses[lane],
            bytes: request.bytes.into(),
        });
        self.stats.touched.extend(touched);
    }
}
