//! Events.

use crate::export::exports;
use crate::pointer::{Handle, Ptr};

exports! {
    forward {
        cudaEventCreateWithFlags => ensure() cuEventCreate(event: Ptr<Handle>, flags: u32);
        cudaEventDestroy => ensure() cuEventDestroy_v2(event: Handle);
        cudaEventRecordWithFlags cudaEventRecordWithFlags_ptsz => ensure()
            cuEventRecordWithFlags(event: Handle, stream: Handle, flags: u32);
        cudaEventQuery => ensure() cuEventQuery(event: Handle);
        cudaEventSynchronize => ensure() cuEventSynchronize(event: Handle);
        cudaEventElapsedTime cudaEventElapsedTime_v2 => ensure()
            cuEventElapsedTime(milliseconds: Ptr<f32>, start: Handle, end: Handle);
    }

    after {
        cudaEventCreate(event: Ptr<Handle>) => ensure(), cuEventCreate(event, 0);
        [cudaEventRecord cudaEventRecord_ptsz](event: Handle, stream: Handle) => ensure(), cuEventRecordWithFlags(event, stream, 0);
    }
}
