//! Host memory that the system does not move or swap, so that the device can copy it directly.

use cudarc::driver::PinnedHostSlice;

use crate::{Gpu, Result};

/// Copies `values` to pinned memory.
pub fn pinned(gpu: &Gpu, values: &[f32]) -> Result<PinnedHostSlice<f32>> {
    // Without flags, because cudarc's `alloc_pinned` asks for write-combined memory, which the host reads very slowly.
    // SAFETY: `copy_from_slice` fills the memory before anything reads it, and any bits are a valid f32.
    let mut memory = unsafe { gpu.context.alloc_pinned_with_flags::<f32>(values.len(), 0) }?;
    memory.as_mut_slice()?.copy_from_slice(values);
    Ok(memory)
}
