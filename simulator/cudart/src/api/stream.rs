//! Streams, and functions of the host in them.

use std::ffi::c_void;

use crate::context;
use crate::driver;
use crate::export::exports;
use crate::pointer::{Address, Handle, Ptr};

exports! {
    fn cudaStreamCreate(stream: Ptr<Handle>) {
        context::ensure()?;
        driver::cuStreamCreate(stream, 0)
    }

    fn cudaStreamCreateWithFlags(stream: Ptr<Handle>, flags: u32) {
        context::ensure()?;
        driver::cuStreamCreate(stream, flags)
    }

    fn cudaStreamCreateWithPriority(stream: Ptr<Handle>, flags: u32, priority: i32) {
        context::ensure()?;
        driver::cuStreamCreateWithPriority(stream, flags, priority)
    }

    fn cudaStreamDestroy(stream: Handle) {
        context::ensure()?;
        driver::cuStreamDestroy_v2(stream)
    }

    fn [cudaStreamSynchronize cudaStreamSynchronize_ptsz](stream: Handle) {
        context::ensure()?;
        driver::cuStreamSynchronize(stream)
    }

    fn [cudaStreamQuery cudaStreamQuery_ptsz](stream: Handle) {
        context::ensure()?;
        driver::cuStreamQuery(stream)
    }

    fn [cudaStreamWaitEvent cudaStreamWaitEvent_ptsz](stream: Handle, event: Handle, flags: u32) {
        context::ensure()?;
        driver::cuStreamWaitEvent(stream, event, flags)
    }

    fn [cudaStreamGetPriority cudaStreamGetPriority_ptsz](stream: Handle, priority: Ptr<i32>) {
        context::ensure()?;
        driver::cuStreamGetPriority(stream, priority)
    }

    fn [cudaStreamGetFlags cudaStreamGetFlags_ptsz](stream: Handle, flags: Ptr<u32>) {
        context::ensure()?;
        driver::cuStreamGetFlags(stream, flags)
    }

    fn [cudaStreamGetId cudaStreamGetId_ptsz](stream: Handle, id: Ptr<u64>) {
        context::ensure()?;
        driver::cuStreamGetId(stream, id)
    }

    fn [cudaStreamGetDevice cudaStreamGetDevice_ptsz](stream: Handle, device: Ptr<i32>) {
        context::ensure()?;
        driver::cuStreamGetDevice(stream, device)
    }

    fn [cudaStreamGetAttribute cudaStreamGetAttribute_ptsz](stream: Handle, attribute: u32, value: Ptr<c_void>) {
        context::ensure()?;
        driver::cuStreamGetAttribute(stream, attribute, value)
    }

    fn [cudaStreamSetAttribute cudaStreamSetAttribute_ptsz](stream: Handle, attribute: u32, value: Ptr<c_void>) {
        context::ensure()?;
        driver::cuStreamSetAttribute(stream, attribute, value)
    }

    fn [cudaStreamCopyAttributes cudaStreamCopyAttributes_ptsz](target: Handle, source: Handle) {
        context::ensure()?;
        driver::cuStreamCopyAttributes(target, source)
    }

    fn [cudaStreamAttachMemAsync cudaStreamAttachMemAsync_ptsz](stream: Handle, address: Address, bytes: usize, flags: u32) {
        context::ensure()?;
        driver::cuStreamAttachMemAsync(stream, address, bytes, flags)
    }

    // The driver calls the function with an error of its own, which has the same number here.
    fn [cudaStreamAddCallback cudaStreamAddCallback_ptsz](
        stream: Handle,
        callback: Ptr<c_void>,
        data: Ptr<c_void>,
        flags: u32,
    ) {
        context::ensure()?;
        driver::cuStreamAddCallback(stream, callback, data, flags)
    }

    fn [cudaLaunchHostFunc cudaLaunchHostFunc_ptsz](stream: Handle, function: Ptr<c_void>, data: Ptr<c_void>) {
        context::ensure()?;
        driver::cuLaunchHostFunc(stream, function, data)
    }

    fn [cudaStreamIsCapturing cudaStreamIsCapturing_ptsz](stream: Handle, status: Ptr<u32>) {
        context::ensure()?;
        driver::cuStreamIsCapturing(stream, status)
    }

    fn cudaThreadExchangeStreamCaptureMode(mode: Ptr<u32>) {
        context::ensure()?;
        driver::cuThreadExchangeStreamCaptureMode(mode)
    }
}
