//! Where work is in the order of all work of a context.

use crate::captures::StreamKey;
use crate::handles::Handle;

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

/// The work that a program waits for.
#[derive(Clone, Copy, Debug)]
pub enum Awaited {
    /// That of a stream, and what has to come before it.
    Before(Position),
    /// That of a context.
    Context(Handle),
}

impl Awaited {
    /// Returns true for the position of such work.
    pub fn contains(self, position: &Position) -> bool {
        match self {
            Awaited::Before(before) => before.is_after(position),
            Awaited::Context(context) => position.stream.context == context,
        }
    }
}
