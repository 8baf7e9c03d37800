//! Everything that can go wrong between a command line and a verified row, in one type.
//!
//! A message says what, where, expected and got, and what to try; [`Error::exit_code`] says whose fault it is.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use cudarc::driver::{DriverError, sys::CUresult};
use thiserror::Error;

use crate::device::Request;
use crate::probe::Unusable;
use crate::units::bytes;

/// What a fallible function of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run, or a part of it, did not work.
#[derive(Debug, Error)]
pub enum Error {
    /// `--device gpu` on a machine whose GPU cannot be used.
    #[error("no NVIDIA GPU can be used: {0}; try `--device sim`, and `cargo doctor` for what is missing")]
    NoGpu(Unusable),
    /// The text after `--device` names nothing.
    #[error("no device `{asked}`: {reason}")]
    UnknownDevice {
        /// What was asked for.
        asked: String,
        /// What could have been asked for.
        reason: String,
    },
    /// Two devices were asked for in one process, which can only ever load one driver.
    #[error("this process already runs on `{open}` and a process can load one driver only: start another one for `{asked}`")]
    DeviceTaken {
        /// What was asked for now.
        asked: Request,
        /// What was opened before.
        open: Request,
    },
    /// The simulator cannot be used.
    #[error(transparent)]
    Simulator(#[from] simcuda::client::Error),
    /// Something has loaded a CUDA driver into this process before the simulator could take its place.
    #[error("another CUDA driver was loaded before the simulator ({}): is one in LD_PRELOAD?", .simulator.display())]
    OtherDriver {
        /// The simulator's library.
        simulator: PathBuf,
    },
    /// A kernel of ours has no PTX to load.
    #[error("{path} has not been made yet: run `cargo ptx`")]
    NoPtx {
        /// Where the PTX belongs, from the root of the repository.
        path: String,
    },
    /// The device could not load the module of a kernel.
    #[error("{path} does not load on {device}: {reason}")]
    ModuleLoad {
        /// The source of the module, from the root of the repository.
        path: String,
        /// Name of the device.
        device: String,
        /// What the driver said.
        reason: String,
    },
    /// CUDA C did not compile, or a library of the CUDA toolkit is missing or failed.
    #[error(transparent)]
    Toolkit(#[from] toolkit::Error),
    /// A computation of this size cannot be.
    #[error("there is no run with {asked}: {reason}")]
    Size {
        /// What was asked for.
        asked: String,
        /// What is possible.
        reason: String,
    },
    /// The data do not fit in memory.
    #[error("this size needs {}, and {place} has {} free: try a smaller one", bytes(*.needed), bytes(*.available))]
    TooLarge {
        /// Which memory.
        place: &'static str,
        /// Bytes that the run takes.
        needed: u64,
        /// Bytes that are free.
        available: u64,
    },
    /// A sound that cannot be read.
    #[error("cannot use the sound {}: {reason}", path.display())]
    Sound {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Two sounds of different rates.
    #[error(
        "{input} has {input_rate} samples per second and {filter} has {filter_rate}: convert one of them to the rate of the other"
    )]
    SampleRates {
        /// The sound's file.
        input: String,
        /// Its samples per second.
        input_rate: u32,
        /// The filter's file.
        filter: String,
        /// Its samples per second.
        filter_rate: u32,
    },
    /// A filter that is longer than the sound.
    #[error(
        "the filter {filter} has {taps} samples and is longer than the input {input} with {frames}: swap the two, the result is the same"
    )]
    LongFilter {
        /// The filter's file.
        filter: String,
        /// Its samples.
        taps: usize,
        /// The sound's file.
        input: String,
        /// Its samples.
        frames: usize,
    },
    /// A picture that cannot be read.
    #[error("cannot use the picture {}: {reason}", path.display())]
    Picture {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A matrix that cannot be read.
    #[error("cannot use the matrix {}: {reason}", path.display())]
    Array {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A picture to search, and nothing to search for.
    #[error("what should be found in {}? add --template x,y,w,h for a part of it, or --template-file", input.display())]
    NoTemplate {
        /// The picture.
        input: PathBuf,
    },
    /// A picture that cannot be written.
    #[error("cannot write the resulting picture: {0}")]
    EncodePicture(String),
    /// A sound that cannot be written.
    #[error("cannot write the resulting sound: {0}")]
    Encode(String),
    /// A file that cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A call of the CUDA driver failed.
    #[error("the CUDA driver reports {}", describe(*.0))]
    Driver(#[from] DriverError),
}

impl Error {
    /// What the process should exit with: 1 for a kernel that is wrong, 2 for a wrong request or a machine that lacks something.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.exit_status())
    }

    /// The number behind [`Error::exit_code`].
    pub fn exit_status(&self) -> u8 {
        match self {
            Error::Toolkit(toolkit::Error::Compile { .. }) => 1,
            Error::Driver(error) if !is_environment(error.0) => 1,
            _ => 2,
        }
    }
}

/// Whether a driver's error tells of the machine and not of a kernel.
fn is_environment(result: CUresult) -> bool {
    matches!(
        result,
        CUresult::CUDA_ERROR_OUT_OF_MEMORY
            | CUresult::CUDA_ERROR_NO_DEVICE
            | CUresult::CUDA_ERROR_INVALID_DEVICE
            | CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE
            | CUresult::CUDA_ERROR_DEVICE_NOT_LICENSED
            | CUresult::CUDA_ERROR_SYSTEM_NOT_READY
            | CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
            | CUresult::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
            | CUresult::CUDA_ERROR_STUB_LIBRARY
    )
}

/// The driver's name for an error and its sentence about it, for example `CUDA_ERROR_OUT_OF_MEMORY (out of memory)`.
pub fn describe(error: DriverError) -> String {
    match error.error_string() {
        Ok(text) => format!("{:?} ({})", error.0, text.to_string_lossy()),
        Err(_) => format!("{:?}", error.0),
    }
}
