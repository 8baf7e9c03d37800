//! Everything that can go wrong between a command line and a verified row, in one type.
//!
//! A message says what happened, where, what was expected, and what to try. [`Error::exit_status`] says whose fault it is.

use std::io;
use std::path::PathBuf;

use cudarc::driver::{DriverError, sys::CUresult};
use thiserror::Error;
use workloads::NoSuchSize;

use crate::probe::Unusable;
use crate::request::{Request, UnknownDevice};
use crate::units::bytes;

/// The result of a fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run, or a part of it, did not work.
#[derive(Debug, Error)]
pub enum Error {
    /// `--device gpu` on a machine whose GPU cannot be used.
    #[error("no NVIDIA GPU can be used: {0}; try `--device sim`, or `cargo doctor` to see what is missing")]
    NoGpu(Unusable),
    /// `--device` with a text that names no device.
    #[error(transparent)]
    UnknownDevice(#[from] UnknownDevice),
    /// A second device in one process, which can load only one driver.
    #[error("this process already runs on `{open}`, and a process can load only one driver: start another one for `{asked}`")]
    DeviceTaken {
        /// The device that is wanted now.
        asked: Request,
        /// The device that is open.
        open: Request,
    },
    /// The simulator cannot be used.
    #[error(transparent)]
    Simulator(#[from] driver::client::Error),
    /// Something needs the details of every launch, and the simulator keeps those of the latest only.
    #[error("the stage launches too many kernels to show each: the details of {dropped} were dropped; choose a smaller `--size`")]
    LaunchesDropped {
        /// Launches without details.
        dropped: u64,
    },
    /// Another CUDA driver was loaded into this process before the simulator.
    #[error("another CUDA driver was loaded before the simulator ({}): is one in LD_PRELOAD?", .simulator.display())]
    OtherDriver {
        /// The simulator's library.
        simulator: PathBuf,
    },
    /// A source file without PTX to load.
    #[error("{path} does not exist yet: run `cargo ptx`")]
    NoPtx {
        /// The missing file, from the root of the repository.
        path: String,
    },
    /// The device did not load the module of a kernel.
    #[error("{path} does not load on {device}: {reason}")]
    ModuleLoad {
        /// The source of the module, from the root of the repository.
        path: String,
        /// Name of the device.
        device: String,
        /// The driver's reason.
        reason: String,
    },
    /// CUDA C did not compile, or a library of the CUDA toolkit is missing or failed.
    #[error(transparent)]
    Toolkit(#[from] compilers::Error),
    /// A size that no computation can have.
    #[error(transparent)]
    Size(#[from] NoSuchSize),
    /// The data does not fit in memory.
    #[error("this size needs {}, but {place} has only {} free: try a smaller one", bytes(*.needed), bytes(*.available))]
    TooLarge {
        /// Whose memory.
        place: &'static str,
        /// Bytes that the run needs.
        needed: u64,
        /// Bytes that are free.
        available: u64,
    },
    /// A file of inputs that cannot be read.
    #[error("cannot use the {what} {}: {reason}", path.display())]
    Input {
        /// The expected contents of the file.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Inputs that do not go together; says which, and what to change.
    #[error("{0}")]
    Mismatched(String),
    /// A result that cannot be written.
    #[error("cannot write the resulting {what}: {reason}")]
    Encode {
        /// The contents that the file would have.
        what: &'static str,
        /// Why not.
        reason: String,
    },
    /// A file that cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Standard output did not take the results.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
    /// A call of the CUDA driver failed.
    #[error("the CUDA driver reports {}", describe(*.0))]
    Driver(#[from] DriverError),
}

impl Error {
    /// The exit status of a process that fails with this error: 1 for a wrong kernel, 2 for a wrong request or an unfit machine.
    pub fn exit_status(&self) -> u8 {
        match self {
            Error::Toolkit(compilers::Error::Compile { .. }) => 1,
            Error::Driver(error) if !is_environment(error.0) => 1,
            _ => 2,
        }
    }

    /// Whether the reader of standard output has left, which is no failure: they have seen enough.
    pub fn is_broken_pipe(&self) -> bool {
        // Windows has three errors for it, and Rust's kind knows two of them.
        const PIPE_NOT_CONNECTED: i32 = 233;
        matches!(self, Error::Output(error)
            if error.kind() == io::ErrorKind::BrokenPipe || (cfg!(windows) && error.raw_os_error() == Some(PIPE_NOT_CONNECTED)))
    }
}

/// Whether a driver's error is about the machine and not about a kernel.
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
