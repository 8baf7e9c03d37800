//! The vocabulary of every module with exported functions: how one is defined, what it is given, and what it returns.

pub(super) use crate::driver::{Driver, driver, driver_of, find};
pub(super) use crate::export::exports;
pub(super) use crate::ffi::{DeviceId, DevicePtr, HostBytes, In, Out, Text};
pub(super) use crate::handles::{Handle, kind};
pub(super) use crate::result::{CuResult, Failure, Result, refuse};
