//! Copying and filling memory, in every direction and shape.

use super::array::Array;
use super::operation::Operation;
use super::prelude::*;
use super::stream::{self, DEFAULT};
use super::transfer::{Address, Copy};
use crate::allocations::{MemoryKind, Owned};
use crate::ffi::{Memcpy2D, Memcpy3D, UnifiedPtr};
use crate::veil::Veil;

fn submit(copy: Copy, stream: Handle) -> Result<()> {
    let (driver, context) = context::current()?;
    if let Some((copy, staging)) = stage(driver, copy, stream)? {
        return stream::submit_then(stream, Operation::Copy(copy, context), move || drop(staging));
    }
    let source = Source::of(driver, &copy)?;
    let veil = hide(driver, &copy, stream)?;
    let then = move || {
        source.iter().for_each(Source::compare);
        drop(veil);
    };
    stream::submit_then(stream, Operation::Copy(copy, context), then)?;
    // The program may use or change pageable memory as soon as the call returns.
    let may_be_late = !driver.queues.is_empty() || driver.queues.timeline.is_some();
    let uses_host = may_be_late && copy.directions(driver).contains(&false) && !stream::is_capturing(stream)?;
    if uses_host { stream::finish(stream) } else { Ok(()) }
}

/// A copy of the host's pageable memory. That memory may change after the call.
struct Staging {
    driver: &'static Driver,
    address: u64,
}

impl Drop for Staging {
    fn drop(&mut self) {
        // It fails only if the memory is gone.
        let _ = self.driver.memory.free(self.address);
    }
}

/// The bytes that a copy from pinned memory reads, and where. If they are others when it is done, the host has changed them in the
/// meantime, and has not waited.
struct Source {
    driver: &'static Driver,
    address: u64,
    bytes: Vec<u8>,
}

impl Source {
    /// Takes the bytes if no other work waits. Then only the host can change them.
    fn of(driver: &'static Driver, copy: &Copy) -> Result<Option<Self>> {
        let address = copy.source.address.number();
        // A copy of more than is there is refused when it is enqueued.
        let bytes_from = |owned: Owned| owned.bytes - (address - owned.base);
        let is_pinned = |owned: Owned| owned.kind.is_on_host() && copy.extent[0] as u64 <= bytes_from(owned);
        let can_be_compared = driver.queues.is_late && driver.queues.is_empty() && copy.is_row();
        if !can_be_compared || !driver.allocations.lock().containing(address).is_some_and(is_pinned) {
            return Ok(None);
        }
        let mut bytes = vec![0; copy.extent[0]];
        driver.memory.read(address, &mut bytes)?;
        Ok(Some(Self { driver, address, bytes }))
    }

    fn compare(&self) {
        let mut now = vec![0; self.bytes.len()];
        // Without the allocation, there is nothing to compare.
        if self.driver.memory.read(self.address, &mut now).is_ok()
            && let Some(changed) = self.bytes.iter().zip(&now).position(|(before, now)| before != now)
        {
            self.driver.note_changed_source(self.address, changed as u64, self.bytes.len() as u64);
        }
    }
}

/// Hides pinned memory from the host until a copy has written it.
fn hide(driver: &'static Driver, copy: &Copy, stream: Handle) -> Result<Option<Arc<Veil>>> {
    let address = copy.target.address.number();
    let is_pinned = |kind| matches!(kind, MemoryKind::Pinned(_) | MemoryKind::Registered(_));
    let hides = driver.queues.is_late
        && copy.is_row()
        && driver.allocations.lock().containing(address).is_some_and(|owned| is_pinned(owned.kind))
        && !stream::is_capturing(stream)?;
    Ok(hides.then(|| driver.queues.veils.hide(&driver.memory, address, copy.extent[0])))
}

/// Returns true for a copy from pageable host memory to the device. CUDA Runtime API, "API synchronization behavior", for these: "host
/// memory is copied to a staging buffer immediately (no device synchronization is performed). The function will return once the pageable
/// buffer has been copied to the staging memory. The DMA transfer to final destination may not have completed."
fn is_staged(driver: &Driver, copy: &Copy) -> bool {
    driver.queues.timeline.is_some() && copy.is_row() && copy.directions(driver) == [true, false]
}

/// Takes a later copy's bytes now, as a GPU's driver does.
fn stage(driver: &'static Driver, copy: Copy, stream: Handle) -> Result<Option<(Copy, Staging)>> {
    if !is_staged(driver, &copy) || stream::is_capturing(stream)? {
        return Ok(None);
    }
    copy.check_memory(driver)?;
    let bytes = copy.extent[0];
    let address = driver.memory.allocate(bytes as u64, Some("the copy of pageable memory"))?;
    let staging = Staging { driver, address };
    Copy::row(Address::Device(address), copy.source.address, bytes).run(driver)?;
    Ok(Some((Copy { source: Address::Staged(address).into(), ..copy }, staging)))
}

/// Waits for a copy whose call returns when it is done. "For transfers from pageable host memory to device memory, a stream sync is
/// performed before the copy is initiated", and "for transfers from device memory to device memory, no host-side synchronization is
/// performed" (the same page).
fn synchronous(target: Address, source: Address, bytes: usize) -> Result<()> {
    let (driver, _) = context::current()?;
    let copy = Copy::row(target, source, bytes);
    if is_staged(driver, &copy) {
        stream::finish(DEFAULT)?;
        return submit(copy, DEFAULT);
    }
    submit(copy, DEFAULT)?;
    let stays_on_device = driver.queues.timeline.is_some() && copy.is_between_devices(driver);
    if stays_on_device { Ok(()) } else { stream::finish(DEFAULT) }
}

fn row(target: Address, source: Address, bytes: usize, stream: Handle) -> Result<()> {
    submit(Copy::row(target, source, bytes), stream)
}

/// Refuses a copy between contexts unless both exist; null means the current one. An address means the same in each.
fn check_contexts(contexts: [Handle; 2], stream: Handle) -> Result<()> {
    for context in contexts.into_iter().filter(|&context| context != Handle::NULL) {
        find::<Context>(context)?.check()?;
    }
    // The driver of an H200 (580.159) does not capture such a copy, either.
    stream::check_not_capturing(stream)
}

/// Returns the bytes of an array from an offset on.
fn part(array: Handle, offset: usize, bytes: usize) -> Result<Address> {
    let found = find::<Array>(array)?;
    found.check(offset, bytes)?;
    Ok(Address::Array(array, found.view.address + offset as u64))
}

fn copy_3d(copy: In<Memcpy3D>, stream: Handle) -> Result<()> {
    context::current()?;
    submit(Copy::from_parameters(&copy.read()?)?, stream)
}

/// Copies many rows of bytes. The attributes only say where the ends are, and when the source may be read; here each end's address says
/// where it is, and each source is read in the order of the stream, which every attribute allows.
fn batch(
    targets: In<UnifiedPtr>,
    sources: In<UnifiedPtr>,
    sizes: In<usize>,
    count: usize,
    failed: Out<usize>,
    stream: Handle,
) -> Result<()> {
    context::current()?;
    // No index, until one copy is to blame.
    failed.put_if_asked(usize::MAX);
    refuse!(INVALID_VALUE if count == 0 || stream::is_legacy(stream));
    for index in 0..count {
        let (target, source) = (targets.read_nth(index)?, sources.read_nth(index)?);
        let bytes = sizes.read_nth(index)?;
        row(Address::Unified(target), Address::Unified(source), bytes, stream).inspect_err(|_| failed.put_if_asked(index))?;
    }
    Ok(())
}

/// Exports copies, most of them twice: in the default stream, which the call waits for, and in any stream. First those of whole rows
/// between addresses, whose calls wait [as CUDA says](synchronous); last those that differ in more than that.
macro_rules! copies {
    (
        $(fn $row_now:ident, $row_later:ident($target:ident: $to:ty, $source:ident: $from:ty);)*
        then
        $(fn $($now:ident)|+ , $later:ident($($argument:ident: $type:ty),* ; $stream:ident) => $body:expr;)*
        then
        $($rest:tt)*
    ) => {
        exports! {
            $(
                fn $row_now(target: $to, source: $from, bytes: usize) also "_ptds" {
                    synchronous(Address::$target(target), Address::$source(source), bytes)
                }

                fn $row_later(target: $to, source: $from, bytes: usize, stream: Handle) also "_ptsz" {
                    row(Address::$target(target), Address::$source(source), bytes, stream)
                }
            )*
            $(
                fn $($now)|+($($argument: $type),*) also "_ptds" {
                    let $stream = DEFAULT;
                    $body?;
                    stream::finish(DEFAULT)
                }

                fn $later($($argument: $type,)* $stream: Handle) also "_ptsz" => $body;
            )*
            $($rest)*
        }
    };
}

copies! {
    fn cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2(Device: DevicePtr, Host: HostBytes);
    fn cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2(Device: DevicePtr, Device: DevicePtr);
    fn cuMemcpy, cuMemcpyAsync(Unified: UnifiedPtr, Unified: UnifiedPtr);

    then

    fn cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2(target: HostBytes, source: DevicePtr, bytes: usize; stream) =>
        row(Address::Host(target), Address::Device(source), bytes, stream);
    fn cuMemcpyPeer, cuMemcpyPeerAsync(target: DevicePtr, to: Handle, source: DevicePtr, from: Handle, bytes: usize; stream) => {
        context::current()?;
        check_contexts([to, from], stream)?;
        row(Address::Device(target), Address::Device(source), bytes, stream)
    };
    fn cuMemcpyAtoH_v2, cuMemcpyAtoHAsync_v2(target: HostBytes, array: Handle, offset: usize, bytes: usize; stream) =>
        row(Address::Host(target), part(array, offset, bytes)?, bytes, stream);
    fn cuMemcpyHtoA_v2, cuMemcpyHtoAAsync_v2(array: Handle, offset: usize, source: HostBytes, bytes: usize; stream) =>
        row(part(array, offset, bytes)?, Address::Host(source), bytes, stream);
    fn cuMemcpy2D_v2 | cuMemcpy2DUnaligned_v2, cuMemcpy2DAsync_v2(copy: In<Memcpy2D>; stream) => {
        context::current()?;
        // A copy of rows is one of a box with one layer.
        submit(Copy::from_parameters(&Memcpy3D::from(copy.read()?))?, stream)
    };
    fn cuMemcpy3D_v2, cuMemcpy3DAsync_v2(copy: In<Memcpy3D>; stream) => copy_3d(copy, stream);
    fn cuMemcpy3DPeer, cuMemcpy3DPeerAsync(copy: In<Memcpy3D>; stream) => {
        context::current()?;
        let boxes = copy.read()?;
        check_contexts([boxes.source.context, boxes.target.context], stream)?;
        copy_3d(copy, stream)
    };

    then

    fn cuMemcpyAtoD_v2(target: DevicePtr, array: Handle, offset: usize, bytes: usize) also "_ptds" =>
        row(Address::Device(target), part(array, offset, bytes)?, bytes, DEFAULT).and_then(|()| stream::finish(DEFAULT));
    fn cuMemcpyDtoA_v2(array: Handle, offset: usize, source: DevicePtr, bytes: usize) also "_ptds" =>
        row(part(array, offset, bytes)?, Address::Device(source), bytes, DEFAULT).and_then(|()| stream::finish(DEFAULT));

    fn cuMemcpyAtoA_v2(target: Handle, target_offset: usize, source: Handle, source_offset: usize, bytes: usize) also "_ptds" {
        row(part(target, target_offset, bytes)?, part(source, source_offset, bytes)?, bytes, DEFAULT)?;
        stream::finish(DEFAULT)
    }

    fn cuMemcpyBatchAsync(
        targets: In<UnifiedPtr>, sources: In<UnifiedPtr>, sizes: In<usize>, count: usize, _attributes: HostBytes,
        _attribute_indices: In<usize>, attribute_count: usize, failed: Out<usize>, stream: Handle,
    ) also "_ptsz" {
        if attribute_count == 0 || attribute_count > count {
            context::current()?;
            refuse!(INVALID_VALUE);
        }
        batch(targets, sources, sizes, count, failed, stream)
    }

    /// Does not say which copy failed.
    fn cuMemcpyBatchAsync_v2(
        targets: In<UnifiedPtr>, sources: In<UnifiedPtr>, sizes: In<usize>, count: usize, _attributes: HostBytes,
        _attribute_indices: In<usize>, attribute_count: usize, stream: Handle,
    ) also "_ptsz" {
        context::current()?;
        refuse!(INVALID_VALUE if attribute_count == 0 || attribute_count > count);
        batch(targets, sources, sizes, count, Out::NULL, stream)
    }

    fn cuMemcpyWithAttributesAsync(target: UnifiedPtr, source: UnifiedPtr, bytes: usize, attributes: HostBytes, stream: Handle) also "_ptsz" {
        context::current()?;
        refuse!(INVALID_VALUE if attributes.is_null() || stream::is_legacy(stream));
        row(Address::Unified(target), Address::Unified(source), bytes, stream)
    }
}
