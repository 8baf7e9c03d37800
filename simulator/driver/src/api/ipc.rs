//! Sharing between processes of one machine: memory from `cuMemAlloc`, and events.
//!
//! Processes share the bytes of memory. What the simulator knows about them stays in each process: shared bytes count as written, and a
//! race between two processes is not found.

use super::event::{self, Event};
use super::prelude::*;
use crate::allocations::MemoryKind;
use crate::shared_memory::{Place, Token};

/// The kinds of handles.
const MEMORY: u32 = 1;
const EVENT: u32 = 2;

/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`, which must be given.
const LAZY_ENABLE_PEER_ACCESS: u32 = 1;

/// Reads a handle, which must be of another process.
fn place(token: &Token, kind: u32) -> Result<Place> {
    let place = Place::from_token(token).filter(|place| place.kind == kind).ok_or(CuResult::INVALID_HANDLE)?;
    refuse!(INVALID_CONTEXT if place.process == std::process::id(), "the process that exports memory or an event cannot open it");
    Ok(place)
}

/// Refuses a profile without unified addresses, as CUDA does.
fn check_supported(driver: &Driver) -> Result<()> {
    let profile = driver.profile;
    refuse!(NOT_SUPPORTED if profile.compute_capability < (2, 0), "the profile {} cannot share memory between processes", profile.name);
    Ok(())
}

exports! {
    fn cuIpcGetMemHandle(handle: Out<Token>, address: DevicePtr) {
        let (driver, _) = context::current()?;
        check_supported(driver)?;
        handle.check()?;
        driver.captures.lock().check_safe()?;
        handle.put(driver.allocations.lock().export(address, MEMORY, |kind| kind == MemoryKind::Device)?)
    }

    /// The old name for the same: both take the flags.
    fn cuIpcOpenMemHandle_v2 | cuIpcOpenMemHandle(address: Out<DevicePtr>, handle: Token, flags: u32) {
        let (driver, context) = context::current()?;
        check_supported(driver)?;
        address.check()?;
        refuse!(INVALID_VALUE if flags != LAZY_ENABLE_PEER_ACCESS);
        let place = place(&handle, MEMORY)?;
        driver.captures.lock().check_safe()?;
        address.put(driver.allocations.lock().open(&place, context.handle)?)
    }

    fn cuIpcCloseMemHandle(address: DevicePtr) {
        let (driver, _) = context::current()?;
        driver.captures.lock().check_safe()?;
        driver.allocations.lock().close(address)
    }

    fn cuIpcGetEventHandle(handle: Out<Token>, event: Handle) =>
        driver().and_then(|_| handle.put_made(|| find::<Event>(event)?.export(EVENT)));

    fn cuIpcOpenEventHandle(event: Out<Handle>, handle: Token) {
        let (driver, context) = context::current()?;
        event.put_made(|| event::open(driver, context, &place(&handle, EVENT)?))
    }
}
