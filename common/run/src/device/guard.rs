//! An output on the device that shows what was never written, and what was written next to it.
//!
//! Before a stage runs, the output is filled with poison ([`oracles::output`]). On a GPU, the output is between two guard bands with the same
//! content, because nothing else stops a store past the end. The simulator knows where each allocation ends and names the line that writes
//! past it, which says more than a guard band can. There the output is an allocation of its own.

use cudarc::driver::{CudaSlice, CudaView, CudaViewMut, DevicePtrMut, SyncOnDrop};
use oracles::output::{Breach, Downloaded, POISON, poison};

use crate::{Gpu, Result};

/// Elements of each guard band: 4 KiB, so that the output is aligned like an allocation of its own, and a whole block of threads that writes
/// past the end stays inside the band.
pub const BAND: usize = 1024;

/// An output of `len` values with its guard bands.
pub struct Guarded {
    memory: CudaSlice<f32>,
    band: usize,
    len: usize,
    /// Values in an element of the memory: 1, or 2 if they are bf16.
    each: usize,
}

/// Two bf16 NaNs that no arithmetic produces: [`poison`] for bf16.
const POISONED_PAIR: u32 = 0x7fde_7fde;

impl Guarded {
    /// Allocates `len` values: between guard bands on a GPU, and alone on the simulator.
    pub fn new(gpu: &Gpu, len: usize) -> Result<Self> {
        Self::with_band(gpu, len, if gpu.is_simulated() { 0 } else { BAND })
    }

    /// Allocates bf16 values in the same way. If their number is odd, one more stands behind them, which is guarded, too.
    pub fn of_bf16(gpu: &Gpu, len: usize) -> Result<Self> {
        let mut guarded = Self { each: 2, len, ..Self::new(gpu, len.div_ceil(2))? };
        guarded.poison(gpu)?;
        Ok(guarded)
    }

    /// Allocates `len` values between two guard bands of `band` elements.
    pub fn with_band(gpu: &Gpu, len: usize, band: usize) -> Result<Self> {
        Ok(Self { memory: gpu.stream.clone_htod(&poison(len + 2 * band))?, band, len, each: 1 })
    }

    /// Overwrites every result, and restores the guard bands.
    pub fn poison(&mut self, gpu: &Gpu) -> Result<()> {
        let len = self.memory.len();
        let poison = if self.each == 2 { vec![f32::from_bits(POISONED_PAIR); len] } else { poison(len) };
        Ok(gpu.stream.memcpy_htod(&poison, &mut self.memory)?)
    }

    /// Returns the output as a kernel's argument.
    pub fn view_mut(&mut self) -> CudaViewMut<'_, f32> {
        self.memory.slice_mut(self.band..self.band + self.len.div_ceil(self.each))
    }

    /// Returns the address of the output. The guard says until when work on the stream may write it.
    pub fn address_mut<'a>(&'a mut self, gpu: &'a Gpu) -> (u64, SyncOnDrop<'a>) {
        let (address, is_written) = self.memory.device_ptr_mut(&gpu.stream);
        (address + (self.band * size_of::<f32>()) as u64, is_written)
    }

    /// Returns the output, to read.
    pub fn view(&self) -> CudaView<'_, f32> {
        self.memory.slice(self.band..self.band + self.len.div_ceil(self.each))
    }

    /// Waits for the stream and copies results and guard bands back.
    pub fn download(&self, gpu: &Gpu) -> Result<Downloaded> {
        let mut values = gpu.stream.clone_dtoh(&self.memory)?;
        if self.each == 2 {
            values = values.into_iter().flat_map(of_pair).collect();
        }
        let after = values.split_off(self.each * self.band + self.len);
        let values_only = values.split_off(self.each * self.band);
        let breach = Breach::find(&values, &after);
        Ok(Downloaded { values: values_only, breach })
    }
}

/// Returns two bf16 values, the one at the lower address first.
fn of_pair(pair: f32) -> [f32; 2] {
    let bits = pair.to_bits();
    [bits << 16, bits & 0xffff_0000].map(|value| f32::from_bits(if value == POISONED_PAIR << 16 { POISON } else { value }))
}
