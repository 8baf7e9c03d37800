//! Events.

use crate::context;
use crate::driver;
use crate::export::exports;
use crate::pointer::{Handle, Ptr};

exports! {
    fn cudaEventCreate(event: Ptr<Handle>) {
        context::ensure()?;
        driver::cuEventCreate(event, 0)
    }

    fn cudaEventCreateWithFlags(event: Ptr<Handle>, flags: u32) {
        context::ensure()?;
        driver::cuEventCreate(event, flags)
    }

    fn cudaEventDestroy(event: Handle) {
        context::ensure()?;
        driver::cuEventDestroy_v2(event)
    }

    fn [cudaEventRecord cudaEventRecord_ptsz](event: Handle, stream: Handle) {
        context::ensure()?;
        driver::cuEventRecordWithFlags(event, stream, 0)
    }

    fn [cudaEventRecordWithFlags cudaEventRecordWithFlags_ptsz](event: Handle, stream: Handle, flags: u32) {
        context::ensure()?;
        driver::cuEventRecordWithFlags(event, stream, flags)
    }

    fn cudaEventQuery(event: Handle) {
        context::ensure()?;
        driver::cuEventQuery(event)
    }

    fn cudaEventSynchronize(event: Handle) {
        context::ensure()?;
        driver::cuEventSynchronize(event)
    }

    fn [cudaEventElapsedTime cudaEventElapsedTime_v2](milliseconds: Ptr<f32>, start: Handle, end: Handle) {
        context::ensure()?;
        driver::cuEventElapsedTime(milliseconds, start, end)
    }
}
