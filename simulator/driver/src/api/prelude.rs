//! The vocabulary of every module with exported functions: how one is defined, what it is given and works on, and what it returns.

pub(super) use std::ffi::{c_char, c_int, c_void};
pub(super) use std::sync::Arc;

pub(super) use parking_lot::Mutex;

pub(super) use super::context::{self, Context};
pub(super) use crate::driver::{DEVICE, Driver, driver, driver_of, find};
pub(super) use crate::export::exports;
pub(super) use crate::ffi::{DeviceId, DevicePtr, HostBytes, In, Out, Text};
pub(super) use crate::handles::{Handle, kind};
pub(super) use crate::result::{CuResult, Failure, Result, refuse};
