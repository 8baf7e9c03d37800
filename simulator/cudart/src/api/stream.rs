//! Streams, and functions of the host in them.

use std::ffi::c_void;

use crate::export::exports;
use crate::pointer::{Address, Handle, Ptr};

exports! {
    forward {
        cudaStreamCreateWithFlags => ensure() cuStreamCreate(stream: Ptr<Handle>, flags: u32);
        cudaStreamCreateWithPriority => ensure() cuStreamCreateWithPriority(stream: Ptr<Handle>, flags: u32, priority: i32);
        cudaStreamDestroy => ensure() cuStreamDestroy_v2(stream: Handle);
        cudaStreamSynchronize cudaStreamSynchronize_ptsz => ensure() cuStreamSynchronize(stream: Handle);
        cudaStreamQuery cudaStreamQuery_ptsz => ensure() cuStreamQuery(stream: Handle);
        cudaStreamWaitEvent cudaStreamWaitEvent_ptsz => ensure() cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32);
        cudaStreamGetPriority cudaStreamGetPriority_ptsz => ensure() cuStreamGetPriority(stream: Handle, priority: Ptr<i32>);
        cudaStreamGetFlags cudaStreamGetFlags_ptsz => ensure() cuStreamGetFlags(stream: Handle, flags: Ptr<u32>);
        cudaStreamGetId cudaStreamGetId_ptsz => ensure() cuStreamGetId(stream: Handle, id: Ptr<u64>);
        cudaStreamGetDevice cudaStreamGetDevice_ptsz => ensure() cuStreamGetDevice(stream: Handle, device: Ptr<i32>);
        cudaStreamGetAttribute cudaStreamGetAttribute_ptsz => ensure()
            cuStreamGetAttribute(stream: Handle, attribute: u32, value: Ptr<c_void>);
        cudaStreamSetAttribute cudaStreamSetAttribute_ptsz => ensure()
            cuStreamSetAttribute(stream: Handle, attribute: u32, value: Ptr<c_void>);
        cudaStreamCopyAttributes cudaStreamCopyAttributes_ptsz => ensure() cuStreamCopyAttributes(target: Handle, source: Handle);
        cudaStreamAttachMemAsync cudaStreamAttachMemAsync_ptsz => ensure()
            cuStreamAttachMemAsync(stream: Handle, address: Address, bytes: usize, flags: u32);
        // The driver calls the function with an error of its own, which has the same number here.
        cudaStreamAddCallback cudaStreamAddCallback_ptsz => ensure()
            cuStreamAddCallback(stream: Handle, callback: Ptr<c_void>, data: Ptr<c_void>, flags: u32);
        cudaLaunchHostFunc cudaLaunchHostFunc_ptsz => ensure()
            cuLaunchHostFunc(stream: Handle, function: Ptr<c_void>, data: Ptr<c_void>);
        cudaLaunchHostFunc_v2 cudaLaunchHostFunc_v2_ptsz => ensure()
            cuLaunchHostFunc_v2(stream: Handle, function: Ptr<c_void>, data: Ptr<c_void>, waiting: u32);
        cudaStreamIsCapturing cudaStreamIsCapturing_ptsz => ensure() cuStreamIsCapturing(stream: Handle, status: Ptr<u32>);
        cudaThreadExchangeStreamCaptureMode => ensure() cuThreadExchangeStreamCaptureMode(mode: Ptr<u32>);
    }

    after {
        cudaStreamCreate(stream: Ptr<Handle>) => ensure(), cuStreamCreate(stream, 0);
    }
}
