//! One-dimensional convolution on a device, and its command line.

mod sounds;

use std::path::PathBuf;

use clap::Args;
use cudarc::driver::CudaSlice;

use super::array::arrays;
use super::{Plan, Workload, check_memory, size_for};
use crate::device::guard::Guarded;
use crate::files::atomic_file::AtomicFile;
use crate::files::audio::{self, Length, Sound};
use crate::{Gpu, Result};
use workloads::Problem;

pub use sounds::of_sounds;
pub use workloads::convolution::{Convolution, SEED_SIZE, Size, TEACHING_SIZE};

/// The command-line options that only convolutions have.
#[derive(Clone, Debug, Default, Args)]
pub struct Options {
    /// Outputs and taps, for example 4096x512; `seed` is the original tutorial's 294912x32768
    #[arg(long, value_name = "OUTPUTSxTAPS")]
    pub size: Option<Size>,
    /// Sound to convolve, a WAV file of one or two channels
    #[arg(long, value_name = "WAV", requires_all = ["filter", "output"], conflicts_with = "size")]
    pub input: Option<PathBuf>,
    /// Impulse response to convolve it with, for example that of a room
    #[arg(long, value_name = "WAV", requires_all = ["input", "output"])]
    pub filter: Option<PathBuf>,
    /// Where to write the result, as 32-bit float WAV
    #[arg(long, value_name = "WAV", requires_all = ["input", "filter"])]
    pub output: Option<PathBuf>,
}

/// The arrays of a convolution on a device.
pub struct Buffers {
    /// The `outputs + taps - 1` samples.
    pub signal: CudaSlice<f32>,
    /// The `taps` filter values.
    pub filter: CudaSlice<f32>,
    /// The outputs.
    pub output: Guarded,
}

impl Workload for Convolution {
    type Options = Options;
    type Buffers = Buffers;
    arrays!(signal, filter);

    fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>> {
        let (Some(input), Some(filter), Some(output)) = (&options.input, &options.filter, &options.output) else {
            let size = size_for(gpu, options.size, [TEACHING_SIZE, SEED_SIZE], |size| size.footprint())?;
            return Plan::of(Self::random(size, seed), None, gpu);
        };
        // Before the long run, so that the user does not wait for a result that cannot be written.
        let file = AtomicFile::create(output)?;
        let (input, filter) = (Sound::open(input)?, Sound::open(filter)?);
        // Before gigabytes of samples are read that do not fit.
        check_memory(Length::together(&input.length, &filter.length)?.footprint(), gpu)?;
        let (input, filter) = (input.read()?, filter.read()?);
        let parts = of_sounds(&input, &filter)?;
        check_memory(parts[0].footprint(), gpu)?;
        Ok(Plan { parts, delivery: Some(Box::new(move |_, outputs| write_sound(file, outputs, input.rate))) })
    }

    fn upload(&self, gpu: &Gpu) -> Result<Buffers> {
        Ok(Buffers {
            signal: gpu.stream.clone_htod(self.signal())?,
            filter: gpu.stream.clone_htod(self.filter())?,
            output: Guarded::new(gpu, self.output_len())?,
        })
    }
}

/// Writes the channels of the result.
fn write_sound(mut file: AtomicFile, channels: &[Vec<f32>], rate: u32) -> Result<String> {
    let path = file.path().display().to_string();
    let peak = audio::write(&mut file, channels, rate)?;
    file.commit()?;
    let clips = if peak > 1.0 { "; a player will clip it, lower its gain first" } else { "" };
    Ok(format!("wrote {path}: {} channel(s) at {rate} Hz, peak {peak:.2}{clips}", channels.len()))
}
