//! Operations of streams on values in memory: writing one, and waiting for one.

use super::operation::{Operation, Values};
use super::prelude::*;
use super::stream;
use super::value_op::{self, ValueOp};
use crate::ffi::ValueOperation;

fn submit(stream: Handle, make: impl FnOnce(&Driver) -> Result<Vec<ValueOp>>) -> Result<()> {
    let context = stream::usable(stream)?;
    let operations = make(driver()?)?;
    if operations.is_empty() {
        return Ok(());
    }
    stream::submit(stream, Operation::Values(Values::new(operations, context)))
}

exports! {
    fn cuStreamWriteValue32 | cuStreamWriteValue32_v2(stream: Handle, address: DevicePtr, value: u32, flags: u32) also "_ptsz" =>
        submit(stream, |driver| Ok(vec![value_op::write(driver, address, 4, value.into(), flags)?]));
    fn cuStreamWriteValue64 | cuStreamWriteValue64_v2(stream: Handle, address: DevicePtr, value: u64, flags: u32) also "_ptsz" =>
        submit(stream, |driver| Ok(vec![value_op::write(driver, address, 8, value, flags)?]));
    fn cuStreamWaitValue32 | cuStreamWaitValue32_v2(stream: Handle, address: DevicePtr, value: u32, flags: u32) also "_ptsz" =>
        submit(stream, |driver| Ok(vec![value_op::wait(driver, address, 4, value.into(), flags)?]));
    fn cuStreamWaitValue64 | cuStreamWaitValue64_v2(stream: Handle, address: DevicePtr, value: u64, flags: u32) also "_ptsz" =>
        submit(stream, |driver| Ok(vec![value_op::wait(driver, address, 8, value, flags)?]));
    fn cuStreamBatchMemOp | cuStreamBatchMemOp_v2(stream: Handle, count: u32, operations: In<ValueOperation>, flags: u32) also "_ptsz" =>
        submit(stream, |_| value_op::batch(count, operations, flags));
}
