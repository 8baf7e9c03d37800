//! An output on the device that shows what was never written, and what was written next to it.
//!
//! Before a stage runs, the output holds a NaN that no arithmetic produces. So an output that a kernel forgot cannot pass for one that it
//! computed, and a stage cannot pass with the results of the stage before it. On a GPU, the output is between two guard bands with the same
//! content, because nothing else stops a store past the end. The simulator knows where each allocation ends and names the line that writes
//! past it, which says more than a guard band can. There the output is an allocation of its own.

use cudarc::driver::{CudaSlice, CudaView, CudaViewMut};

use crate::error::Result;
use crate::gpu::Gpu;

/// Bits of the NaN that marks unwritten memory: a quiet NaN with a payload that arithmetic does not produce. CUDA's own NaN is
/// `0x7fffffff`, and that of x86 is `0xffc00000`.
pub const POISON: u32 = 0x7fc0_dead;

/// Elements of each guard band: 4 KiB, so that the output is aligned like an allocation of its own, and a whole block of threads that writes
/// past the end stays inside the band.
pub const BAND: usize = 1024;

/// An output of `len` values with its guard bands.
pub struct Guarded {
    memory: CudaSlice<f32>,
    band: usize,
    len: usize,
}

impl Guarded {
    /// Allocates `len` values: between guard bands on a GPU, and alone on the simulator.
    ///
    /// # Errors
    ///
    /// The driver's errors.
    pub fn new(gpu: &Gpu, len: usize) -> Result<Self> {
        Self::with_band(gpu, len, if gpu.is_simulated() { 0 } else { BAND })
    }

    /// Allocates `len` values between two guard bands of `band` elements.
    ///
    /// # Errors
    ///
    /// The driver's errors.
    pub fn with_band(gpu: &Gpu, len: usize, band: usize) -> Result<Self> {
        Ok(Self { memory: gpu.stream.clone_htod(&poison(len + 2 * band))?, band, len })
    }

    /// Overwrites every result, and restores the guard bands.
    ///
    /// # Errors
    ///
    /// The driver's errors.
    pub fn poison(&mut self, gpu: &Gpu) -> Result<()> {
        Ok(gpu.stream.memcpy_htod(&poison(self.memory.len()), &mut self.memory)?)
    }

    /// The output as a kernel's argument.
    pub fn view_mut(&mut self) -> CudaViewMut<'_, f32> {
        self.memory.slice_mut(self.band..self.band + self.len)
    }

    /// The output, to read.
    pub fn view(&self) -> CudaView<'_, f32> {
        self.memory.slice(self.band..self.band + self.len)
    }

    /// Waits for the stream, and copies results and guard bands to the host.
    ///
    /// # Errors
    ///
    /// The driver's errors, including those of earlier kernels.
    pub fn download(&self, gpu: &Gpu) -> Result<Downloaded> {
        let mut values = gpu.stream.clone_dtoh(&self.memory)?;
        let after = values.split_off(self.band + self.len);
        let values_only = values.split_off(self.band);
        let breach = Breach::find(&values, &after);
        Ok(Downloaded { values: values_only, breach })
    }
}

/// What a stage left on the device.
#[derive(Clone, Debug, PartialEq)]
pub struct Downloaded {
    /// The output.
    pub values: Vec<f32>,
    /// What it wrote outside the output, if anything.
    pub breach: Option<Breach>,
}

/// A store outside an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breach {
    /// How many elements of both guard bands changed.
    pub elements: usize,
    /// The changed element that is nearest to the output: -1 is the last one before it, 1 is the first one after it.
    pub nearest: i64,
}

impl Breach {
    /// Looks for changes in the bands before and after an output.
    fn find(before: &[f32], after: &[f32]) -> Option<Self> {
        let written = |value: &f32| value.to_bits() != POISON;
        let elements = before.iter().chain(after).filter(|value| written(value)).count();
        let past_end = after.iter().position(written).map(|distance| distance as i64 + 1);
        let before_start = before.iter().rev().position(written).map(|distance| -(distance as i64) - 1);
        past_end.or(before_start).map(|nearest| Self { elements, nearest })
    }
}

/// `len` unwritten values.
pub fn poison(len: usize) -> Vec<f32> {
    vec![f32::from_bits(POISON); len]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breach_is_found_on_either_side() {
        let clean = poison(4);
        let mut dirty = poison(4);
        dirty[1] = 0.0;
        dirty[2] = f32::NAN;
        assert_eq!(Breach::find(&clean, &clean), None);
        assert_eq!(Breach::find(&clean, &dirty), Some(Breach { elements: 2, nearest: 2 }));
        assert_eq!(Breach::find(&dirty, &clean), Some(Breach { elements: 2, nearest: -2 }));
    }
}
