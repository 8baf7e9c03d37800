//! The primary context: the one that all libraries of a process share. It exists while someone retains it.

use parking_lot::Mutex;

use crate::handles::{Handle, Handles};

/// The primary context of the device.
pub struct Primary {
    /// The handle, the same for the life of the process, however often the context is destroyed and made again.
    pub handle: Handle,
    pub state: Mutex<State>,
}

/// The state of the primary context.
#[derive(Default)]
pub struct State {
    pub retains: u32,
    /// The flags that the next context starts with.
    pub flags: u32,
}

impl Primary {
    /// Makes a primary context that is not retained yet.
    pub fn new(handles: &Handles) -> Self {
        Self { handle: handles.reserve(), state: Mutex::default() }
    }
}
