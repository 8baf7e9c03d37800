//! `cudaDeviceProp`, the structure that describes a device.
//!
//! Its fields are a table here, because CUDA 12 and CUDA 13 have different ones, in the same order. Most have the value of an attribute of
//! the device.

use std::ffi::c_void;

use crate::compat::Field::{self, In, Int, Size, Zero};
use crate::compat::{FIELDS, LAST_OF_11, Version};
use crate::context;
use crate::driver;
use crate::error::{Code, Result};
use crate::export::exports;
use crate::pointer::Ptr;

/// The bytes of a device's name.
const NAME_BYTES: usize = 256;

/// Returns the bytes of the structure.
fn structure(fields: &[Field], version: Version, device: i32) -> Result<Vec<u8>> {
    let attribute = |number: u32| match Ptr::written(|value| driver::cuDeviceGetAttribute(value, number, device)) {
        // The driver is older than the attribute.
        Err(Code::INVALID_VALUE) => Ok(0),
        found => found,
    };
    let mut bytes: Vec<u8> = Vec::new();
    for &field in fields {
        match field {
            Field::Name => {
                let mut name = [0_u8; NAME_BYTES];
                driver::cuDeviceGetName(Ptr::to(&mut name).cast(), NAME_BYTES as i32, device)?;
                bytes.extend(name);
            }
            Field::Uuid => bytes.extend(Ptr::written(|uuid| driver::cuDeviceGetUuid_v2(uuid, device))?),
            Field::TotalMemory | Size(_) => {
                let size = match field {
                    Size(number) => attribute(number)? as usize,
                    _ => Ptr::written(|total| driver::cuDeviceTotalMem_v2(total, device))?,
                };
                align(&mut bytes);
                bytes.extend(size.to_ne_bytes());
            }
            In(only, _) if only != version => {}
            Int(numbers) | In(_, numbers) => {
                for &number in numbers {
                    bytes.extend(if number == 0 { 0 } else { attribute(number)? }.to_ne_bytes());
                }
            }
            Zero(in_12, in_13) => {
                let count = if version == Version::Cuda12 { in_12 } else { in_13 };
                bytes.resize(bytes.len() + count, 0);
            }
        }
    }
    align(&mut bytes);
    Ok(bytes)
}

/// Adds zeros up to where a `size_t` may be.
fn align(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(size_of::<usize>()), 0);
}

fn put(properties: Ptr<c_void>, fields: &[Field], version: Version, device: i32) -> Result {
    properties.check()?;
    context::check_device(device)?;
    for (index, byte) in structure(fields, version, device)?.into_iter().enumerate() {
        properties.offset_bytes(index).put(byte)?;
    }
    Ok(())
}

exports! {
    // Without a suffix, CUDA 12 has the structure of CUDA 11, for programs that were compiled with its headers.
    fn cudaGetDeviceProperties(properties: Ptr<c_void>, device: i32) {
        match Version::current() {
            Version::Cuda12 => {
                let end = FIELDS.iter().position(|&field| field == LAST_OF_11).map_or(FIELDS.len(), |last| last + 1);
                put(properties, &FIELDS[..end], Version::Cuda12, device)
            }
            Version::Cuda13 => put(properties, FIELDS, Version::Cuda13, device),
        }
    }

    fn cudaGetDeviceProperties_v2(properties: Ptr<c_void>, device: i32) {
        put(properties, FIELDS, Version::Cuda12, device)
    }
}
