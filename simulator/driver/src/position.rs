//! Where work is in the order of all work of a context.

use crate::captures::StreamKey;

/// Where work is in the order of all work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub stream: StreamKey,
    /// True in the stream that waits for all blocking streams.
    pub is_legacy: bool,
    pub is_blocking: bool,
    /// True in no stream, but between all earlier and later work.
    pub is_of_context: bool,
}

impl Position {
    /// Returns true if work here has to wait for earlier work there.
    pub fn is_after(&self, earlier: &Self) -> bool {
        let same_context = self.stream.context == earlier.stream.context;
        let with_legacy = (self.is_legacy && earlier.is_blocking) || (self.is_blocking && earlier.is_legacy);
        let with_all = self.is_of_context || earlier.is_of_context;
        self.stream == earlier.stream || (same_context && (with_legacy || with_all))
    }
}
