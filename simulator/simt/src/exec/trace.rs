//! Records which bytes of global memory the threads of one block access, for callers that want to show them.
//!
//! The checks see every access of every kind, so they call this. A launch without a traced block records nothing.

use super::core::Core;
use super::request::{Request, lanes_of};
use crate::counters::Touched;
use alu::registers::LANES;

impl Core<'_> {
    /// Records the bytes of a request, if the current block is the traced one.
    #[inline(always)]
    pub fn trace(&mut self, request: &Request<'_>) {
        if self.traces {
            self.keep_touched(request);
        }
    }

    #[cold]
    fn keep_touched(&mut self, request: &Request<'_>) {
        let touched = lanes_of(request.mask).map(|lane| Touched {
            thread: (self.warp - self.first_warp) * LANES as u32 + lane as u32,
            op: request.op,
            address: request.addresses[lane],
            bytes: request.bytes.into(),
        });
        self.stats.touched.extend(touched);
    }
}
