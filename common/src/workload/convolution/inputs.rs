//! A signal and a filter: random, given, or sounds.

use std::fmt;
use std::sync::OnceLock;

use oracles::Oracle;
use oracles::random::{generator, values};
use serde_json::json;

use super::size::{MOST_SAMPLES, Size};
use crate::audio::Sound;
use crate::error::{Error, Result};
use crate::workload::Workload;
use crate::workload::origin::Origin;

/// A convolution with its inputs.
pub struct Convolution {
    pub(super) signal: Vec<f32>,
    pub(super) filter: Vec<f32>,
    pub(super) origin: Origin,
    pub(super) oracle: OnceLock<Oracle>,
}

impl Convolution {
    /// Inputs from a random generator, the same for the same seed on every machine. The numbers are chosen so that a mistake shows: neighbors
    /// differ, both signs occur, and magnitudes are in 0.5..1.
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

    /// Inputs as given, for the sum in the module's documentation.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] when the filter is empty or longer than the signal.
    pub fn new(signal: Vec<f32>, filter: Vec<f32>) -> Result<Self> {
        let (samples, taps) = (signal.len() as u64, filter.len() as u64);
        if taps == 0 || taps > samples || samples > MOST_SAMPLES {
            return Err(Error::Size {
                asked: format!("{samples} samples and {taps} taps"),
                reason: format!("a filter has 1 tap or more, and a signal as many samples at least and {MOST_SAMPLES} at most"),
            });
        }
        Ok(Self { signal, filter, origin: Origin::Given, oracle: OnceLock::new() })
    }

    /// One computation per channel of the result: `sound` convolved with `filter`, as long as both together less one sample.
    ///
    /// The sum needs samples before the first and after the last, which are silence, and a convolution runs through its filter
    /// backwards. A filter of one channel serves every channel of the sound, and a sound of one channel gets one result per
    /// channel of the filter.
    ///
    /// # Errors
    ///
    /// When the two do not fit together.
    pub fn of_sounds(sound: &Sound, filter: &Sound) -> Result<Vec<Self>> {
        let length = |sound: &Sound| Length { name: sound.name.clone(), rate: sound.rate, frames: sound.frames() };
        Length::together(&length(sound), &length(filter))?;
        let taps = filter.frames();
        let channels = sound.channels.len().max(filter.channels.len());
        let convolve = |channel: usize| {
            let silence = vec![0.0; taps - 1];
            let signal = [&silence[..], &sound.channels[channel % sound.channels.len()], &silence].concat();
            let filter_channel = &filter.channels[channel % filter.channels.len()];
            let of_many = if channels > 1 { format!(", channel {} of {channels}", channel + 1) } else { String::new() };
            let origin = Origin::Files {
                words: format!("{} through {}{of_many}", sound.name, filter.name),
                names: vec![("input", json!(sound.name)), ("filter", json!(filter.name)), ("channel", json!(channel + 1))],
            };
            let filter = filter_channel.iter().rev().copied().collect();
            Self { signal, filter, origin, oracle: OnceLock::new() }
        };
        Ok((0..channels).map(convolve).collect())
    }

    /// Number of outputs.
    pub fn outputs(&self) -> u32 {
        (self.signal.len() - self.filter.len() + 1) as u32
    }

    /// Number of filter values, and of multiply-adds per output.
    pub fn taps(&self) -> u32 {
        self.filter.len() as u32
    }

    /// The `outputs + taps - 1` samples.
    pub fn signal(&self) -> &[f32] {
        &self.signal
    }

    /// The `taps` filter values.
    pub fn filter(&self) -> &[f32] {
        &self.filter
    }
}

/// What can be known of a sound before it is read.
pub(super) struct Length {
    /// The file's name.
    pub name: String,
    /// Frames per second.
    pub rate: u32,
    /// Samples per channel.
    pub frames: usize,
}

impl Length {
    /// The size of each convolution of two sounds.
    ///
    /// # Errors
    ///
    /// When the two do not fit together.
    pub fn together(sound: &Self, filter: &Self) -> Result<Size> {
        if sound.rate != filter.rate {
            return Err(Error::Mismatched(format!(
                "{} has {} samples per second, but {} has {}: convert one of them to the other's rate",
                sound.name, sound.rate, filter.name, filter.rate
            )));
        }
        let (frames, taps) = (sound.frames as u64, filter.frames as u64);
        if taps > frames {
            return Err(Error::Mismatched(format!(
                "the filter {} ({taps} samples) is longer than the input {} ({frames} samples): swap them, the result is the same",
                filter.name, sound.name
            )));
        }
        let samples = frames + 2 * (taps - 1);
        match (u32::try_from(frames + taps - 1), u32::try_from(taps)) {
            (Ok(outputs), Ok(taps)) if samples <= MOST_SAMPLES => Ok(Size { outputs, taps }),
            _ => Err(Error::Size {
                asked: format!("{} of {frames} samples with a filter of {taps}", sound.name),
                reason: format!("with its silence before and after it must have {MOST_SAMPLES} samples at most"),
            }),
        }
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
