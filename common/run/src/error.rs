//! Everything that can go wrong between a command line and a verified row, in one type.
//!
//! A message says what happened, where, what was expected, and what to try. [`Error::exit_status`] says whose fault it is.

use std::io;
use std::path::PathBuf;

use cudarc::driver::{DriverError, sys::CUresult};
use thiserror::Error;
use workloads::NoSuchSize;

use crate::device::probe::Unusable;
use crate::device::request::{Request, UnknownDevice};
use crate::units::bytes;

/// The result of a fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a run, or part of it, failed.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say what each variant and field is")]
pub enum Error {
    #[error("no NVIDIA GPU can be used: {0}; try `--device sim`, or `cargo doctor` to see what is missing")]
    NoGpu(Unusable),
    #[error(transparent)]
    UnknownDevice(#[from] UnknownDevice),
    #[error("this process already runs on `{open}`, and a process can load only one driver: start another one for `{asked}`")]
    DeviceTaken { asked: Request, open: Request },
    #[error(transparent)]
    Simulator(#[from] driver::client::Error),
    #[error("the stage launches too many kernels to show each: the details of {dropped} were dropped; choose a smaller `--size`")]
    LaunchesDropped { dropped: u64 },
    #[error("another CUDA driver was loaded before the simulator ({}): is one in LD_PRELOAD?", .simulator.display())]
    OtherDriver { simulator: PathBuf },
    #[error("{path} does not exist yet: run `cargo ptx`")]
    NoPtx { path: String },
    #[error("{path} does not load on {device}: {reason}")]
    ModuleLoad { path: String, device: String, reason: String },
    #[error(transparent)]
    Toolkit(#[from] compilers::Error),
    #[error(transparent)]
    Size(#[from] NoSuchSize),
    #[error("this size needs {}, but {place} has only {} free: try a smaller one", bytes(*.needed), bytes(*.available))]
    TooLarge { place: &'static str, needed: u64, available: u64 },
    #[error("cannot use the {what} {}: {reason}", path.display())]
    Input { what: &'static str, path: PathBuf, reason: String },
    #[error("{0}")]
    Mismatched(String),
    #[error("cannot write the resulting {what}: {reason}")]
    Encode { what: &'static str, reason: String },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
    #[error("the CUDA driver reports {}", describe(*.0))]
    Driver(#[from] DriverError),
}

impl Error {
    /// Returns a process's exit status for this error: 1 for a wrong kernel, 2 for a wrong request or an unfit machine.
    pub fn exit_status(&self) -> u8 {
        match self {
            Error::Toolkit(compilers::Error::Compile { .. }) => 1,
            Error::Driver(error) if !is_environment(error.0) => 1,
            _ => 2,
        }
    }

    /// Returns true if standard output's reader has left, which is no failure.
    pub fn is_broken_pipe(&self) -> bool {
        // Windows has three errors for it, and Rust's kind knows two of them.
        const PIPE_NOT_CONNECTED: i32 = 233;
        matches!(self, Error::Output(error)
            if error.kind() == io::ErrorKind::BrokenPipe || (cfg!(windows) && error.raw_os_error() == Some(PIPE_NOT_CONNECTED)))
    }
}

/// Returns true if a driver's error concerns the machine, not a kernel.
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

/// Returns an error's name and the driver's sentence, for example `CUDA_ERROR_OUT_OF_MEMORY (out of memory)`.
pub fn describe(error: DriverError) -> String {
    match error.error_string() {
        Ok(text) => format!("{:?} ({})", error.0, text.to_string_lossy()),
        Err(_) => format!("{:?}", error.0),
    }
}
