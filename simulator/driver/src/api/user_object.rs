//! User objects: something of the program's own that lives as long as the graphs that use it.

use std::collections::BTreeMap;

use super::prelude::*;
use crate::driver::driver_of_this_process;
use crate::ffi::{HostCall, HostFn};

/// `CU_USER_OBJECT_NO_DESTRUCTOR_SYNC`, which CUDA requires.
const NO_DESTRUCTOR_SYNC: u32 = 1;

#[derive(Debug)]
pub struct UserObject {
    handle: Handle,
    destroy: HostCall,
    references: Mutex<u64>,
}

kind!(UserObject: INVALID_VALUE);

impl UserObject {
    fn retain(&self, count: u64) {
        *self.references.lock() += count;
    }

    /// Gives references back. The last one destroys the object.
    fn release(&self, count: u64) -> Result<()> {
        let mut references = self.references.lock();
        *references = references.checked_sub(count).ok_or(CuResult::INVALID_VALUE)?;
        let is_last = *references == 0;
        drop(references);
        if is_last && let Some(driver) = driver_of_this_process() {
            let _ = driver.handles.remove::<UserObject>(self.handle);
            self.destroy.run();
        }
        Ok(())
    }
}

/// The references that a graph has. They are given back with the graph.
#[derive(Debug, Default)]
pub struct References {
    counts: Mutex<BTreeMap<u64, (Arc<UserObject>, u64)>>,
}

impl References {
    pub fn retain(&self, object: Arc<UserObject>, count: u32, moves: bool) {
        if !moves {
            object.retain(count.into());
        }
        self.counts.lock().entry(object.handle.number()).or_insert((object, 0)).1 += u64::from(count);
    }

    pub fn release(&self, object: &UserObject, count: u32) -> Result<()> {
        let mut counts = self.counts.lock();
        let held = counts.get_mut(&object.handle.number()).ok_or(CuResult::INVALID_VALUE)?;
        held.1 = held.1.checked_sub(count.into()).ok_or(CuResult::INVALID_VALUE)?;
        if held.1 == 0 {
            counts.remove(&object.handle.number());
        }
        drop(counts);
        object.release(count.into())
    }
}

impl Clone for References {
    /// Retains the objects once more, for the copy of a graph.
    fn clone(&self) -> Self {
        let counts = self.counts.lock().clone();
        counts.values().for_each(|(object, count)| object.retain(*count));
        Self { counts: Mutex::new(counts) }
    }
}

impl Drop for References {
    fn drop(&mut self) {
        for (object, count) in self.counts.lock().values() {
            // Cannot fail: these references were counted.
            let _ = object.release(*count);
        }
    }
}

/// Refuses a number of references that CUDA does not allow.
pub fn check_count(count: u32) -> Result<()> {
    if (1..=i32::MAX as u32).contains(&count) { Ok(()) } else { CuResult::INVALID_VALUE.err() }
}

exports! {
    fn cuUserObjectCreate(object: Out<Handle>, data: HostBytes, destroy: Option<HostFn>, references: u32, flags: u32) {
        let driver = driver()?;
        object.check()?;
        check_count(references)?;
        refuse!(INVALID_VALUE if flags != NO_DESTRUCTOR_SYNC);
        let destroy = HostCall::new(destroy, data)?;
        let make = |handle| UserObject { handle, destroy, references: Mutex::new(references.into()) };
        object.put(driver.handles.insert(make).handle)
    }

    fn cuUserObjectRetain(object: Handle, count: u32) {
        let object = find::<UserObject>(object)?;
        check_count(count)?;
        object.retain(count.into());
        Ok(())
    }

    fn cuUserObjectRelease(object: Handle, count: u32) {
        let object = find::<UserObject>(object)?;
        check_count(count)?;
        object.release(count.into())
    }
}
