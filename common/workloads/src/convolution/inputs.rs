//! A signal and a filter: random, given, or sounds.

use std::fmt;
use std::sync::OnceLock;

use super::size::{MOST_SAMPLES, Size};
use crate::error::{NoSuchSize, Result};
use crate::origin::Origin;
use crate::problem::Problem;
use oracles::Oracle;
use oracles::random::{generator, values};

/// A convolution with its inputs.
pub struct Convolution {
    pub(super) signal: Vec<f32>,
    pub(super) filter: Vec<f32>,
    pub(super) origin: Origin,
    pub(super) oracle: OnceLock<Oracle>,
}

impl Convolution {
    /// Generates inputs, the same for the same seed on every machine. The numbers are chosen so that a
    /// mistake shows: neighbors differ, both signs occur, and magnitudes are in 0.5..1.
    ///
    /// A missing tap changes an output by at least `0.5 * 0.5`, which is above the tolerance of nine outputs in ten at the
    /// original's 32768 taps, and of every output at a few thousand. If magnitudes could be near zero, a missing tap could go unnoticed; with
    /// only one sign, the tolerance would have to be far larger.
    pub fn random(size: Size, seed: u64) -> Self {
        let mut generator = generator(seed);
        let signal = values(&mut generator, size.samples() as usize);
        let filter = values(&mut generator, size.taps as usize);
        Self { signal, filter, origin: Origin::Seed(seed), oracle: OnceLock::new() }
    }

    /// Takes inputs as given, for the sum in the module's documentation.
    /// Fails when the filter is empty or longer than the signal.
    pub fn new(signal: Vec<f32>, filter: Vec<f32>) -> Result<Self> {
        let (samples, taps) = (signal.len() as u64, filter.len() as u64);
        if taps == 0 || taps > samples || samples > MOST_SAMPLES {
            let reason = format!(
                "a filter needs at least 1 tap; a signal needs at least as many samples as the filter has taps, and at most {MOST_SAMPLES}"
            );
            return Err(NoSuchSize::new(format!("{samples} samples and {taps} taps"), reason));
        }
        Ok(Self { signal, filter, origin: Origin::Given, oracle: OnceLock::new() })
    }

    /// Replaces the origin of the data.
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Returns the number of outputs.
    pub fn outputs(&self) -> u32 {
        (self.signal.len() - self.filter.len() + 1) as u32
    }

    /// Returns the number of filter values, and of multiply-adds per output.
    pub fn taps(&self) -> u32 {
        self.filter.len() as u32
    }

    /// Returns the `outputs + taps - 1` samples.
    pub fn signal(&self) -> &[f32] {
        &self.signal
    }

    /// Returns the `taps` filter values.
    pub fn filter(&self) -> &[f32] {
        &self.filter
    }
}

/// Shows the sizes and the first few values: enough to repeat a failed test, without a million numbers.
impl fmt::Debug for Convolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = |values: &[f32]| values[..values.len().min(8)].to_vec();
        let (signal, filter) = (first(&self.signal), first(&self.filter));
        write!(f, "{}, signal {signal:?} …, filter {filter:?} …", self.describe())
    }
}
