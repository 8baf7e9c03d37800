//! An output on the device that shows what was never written, and what was written beside it.
//!
//! Before a stage runs, the output holds a NaN that no arithmetic produces, so that a result which a kernel forgot cannot pass
//! for one that it computed, and so that a stage never passes with the results of the stage before. On a GPU the output lies
//! between two guard bands with the same content, because a store past the end hits no wall there. The simulator has walls: it
//! knows where each allocation ends and names the line that steps over, which says more than a guard band can. There the
//! output is an allocation of its own.

use cudarc::driver::{CudaSlice, CudaView, CudaViewMut};

use crate::error::Result;
use crate::gpu::Gpu;

/// Bits of the NaN that marks memory as not written: a quiet NaN with a payload that arithmetic does not make (CUDA's own NaN
/// is `0x7fffffff`, that of x86 `0xffc00000`).
pub const POISON: u32 = 0x7fc0_dead;

/// Elements of each guard band: 4 KiB, so that the output keeps the alignment that an allocation of its own would have, and
/// a whole block of threads that runs past the end still lands inside.
pub const BAND: usize = 1024;

/// An output of `len` values with its guard bands.
pub struct Guarded {
    memory: CudaSlice<f32>,
    band: usize,
    len: usize,
}

impl Guarded {
    /// Allocates room for `len` values: between guard bands on a GPU, exactly on the simulator.
    ///
    /// # Errors
    ///
    /// The driver's errors.
    pub fn new(gpu: &Gpu, len: usize) -> Result<Self> {
        Self::with_band(gpu, len, if gpu.is_simulated() { 0 } else { BAND })
    }

    /// Allocates room for `len` values between two bands of `band`.
    ///
    /// # Errors
    ///
    /// The driver's errors.
    pub fn with_band(gpu: &Gpu, len: usize, band: usize) -> Result<Self> {
        Ok(Self { memory: gpu.stream.clone_htod(&poison(len + 2 * band))?, band, len })
    }

    /// Forgets every result, and mends the guard bands.
    ///
    /// # Errors
    ///
    /// The driver's errors.
    pub fn poison(&mut self, gpu: &Gpu) -> Result<()> {
        Ok(gpu.stream.memcpy_htod(&poison(self.memory.len()), &mut self.memory)?)
    }

    /// The output, to give to a kernel.
    pub fn view_mut(&mut self) -> CudaViewMut<'_, f32> {
        self.memory.slice_mut(self.band..self.band + self.len)
    }

    /// The output, to copy from.
    pub fn view(&self) -> CudaView<'_, f32> {
        self.memory.slice(self.band..self.band + self.len)
    }

    /// Waits for the stream, and copies results and guard bands to the host.
    ///
    /// # Errors
    ///
    /// The driver's errors, those of the kernels before among them.
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
    /// What it wrote outside the output, if it did.
    pub breach: Option<Breach>,
}

/// A store outside an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Elements of both guard bands that changed.
    pub elements: usize,
    /// The changed element next to the output: negative before it, 1 is the first one after it.
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

/// `len` values that nobody wrote.
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
