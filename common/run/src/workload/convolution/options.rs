//! The command-line options that only convolutions have, and the run that they ask for.

use std::path::PathBuf;

use clap::Args;

use super::sounds::{Length, of_sounds};
use crate::atomic_file::AtomicFile;
use crate::audio::{Sound, Unread};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::workload::{Delivery, Plan, check_memory};
use workloads::Problem;
use workloads::convolution::{Convolution, SEED_SIZE, Size, TEACHING_SIZE};

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

/// The run that the command line asks for.
pub(super) fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Convolution>> {
    if let (Some(input), Some(filter), Some(output)) = (&options.input, &options.filter, &options.output) {
        // Before the long run, so that nobody waits for a result that cannot be written.
        let file = AtomicFile::create(output)?;
        let (input, filter) = (Sound::open(input)?, Sound::open(filter)?);
        let length = |sound: &Unread| Length { name: sound.name.clone(), rate: sound.rate, frames: sound.frames };
        // Before gigabytes of samples are read that do not fit.
        check_memory(Length::together(&length(&input), &length(&filter))?.footprint(), gpu)?;
        let (input, filter) = (input.read()?, filter.read()?);
        let parts = of_sounds(&input, &filter)?;
        check_memory(parts[0].footprint(), gpu)?;
        let delivery = WetSound { file, rate: input.rate };
        return Ok(Plan { parts, delivery: Some(Box::new(delivery)) });
    }
    let size = options.size.unwrap_or(if gpu.is_simulated() { TEACHING_SIZE } else { SEED_SIZE });
    check_memory(size.footprint(), gpu)?;
    Ok(Plan { parts: vec![Convolution::random(size, seed)], delivery: None })
}

/// The result file of a run with `--output`.
struct WetSound {
    file: AtomicFile,
    rate: u32,
}

impl Delivery<Convolution> for WetSound {
    fn deliver(mut self: Box<Self>, _: &[Convolution], outputs: &[Vec<f32>]) -> Result<String> {
        let path = self.file.path().display().to_string();
        let peak = crate::audio::write(&mut self.file, outputs, self.rate)?;
        self.file.commit()?;
        let clips = if peak > 1.0 { "; a player will clip it, lower its gain first" } else { "" };
        Ok(format!("wrote {path}: {} channel(s) at {} Hz, peak {peak:.2}{clips}", outputs.len(), self.rate))
    }
}
