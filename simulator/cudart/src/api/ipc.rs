//! Sharing memory and events between processes.

use crate::driver::functions;
use crate::export::exports;
use crate::pointer::{Address, Handle, Ptr};

/// `cudaIpcMemHandle_t`, `cudaIpcEventHandle_t` and `cudaMemPoolPtrExportData`, which are the driver's.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Token([u8; 64]);

functions! {
    fn cuMemPoolExportToShareableHandle(shareable: Ptr<i32>, pool: Handle, kind: u32, flags: u64);
    fn cuMemPoolImportFromShareableHandle(pool: Ptr<Handle>, shareable: Handle, kind: u32, flags: u64);
}

exports! {
    forward {
        cudaIpcGetMemHandle => ensure() cuIpcGetMemHandle(handle: Ptr<Token>, address: Address);
        cudaIpcOpenMemHandle => ensure() cuIpcOpenMemHandle_v2(address: Ptr<Address>, handle: Token, flags: u32);
        cudaIpcCloseMemHandle => ensure() cuIpcCloseMemHandle(address: Address);
        cudaIpcGetEventHandle => ensure() cuIpcGetEventHandle(handle: Ptr<Token>, event: Handle);
        cudaIpcOpenEventHandle => ensure() cuIpcOpenEventHandle(event: Ptr<Handle>, handle: Token);
        cudaMemPoolExportPointer => ensure() cuMemPoolExportPointer(data: Ptr<Token>, address: Address);
        cudaMemPoolImportPointer => ensure() cuMemPoolImportPointer(address: Ptr<Address>, pool: Handle, data: Ptr<Token>);
    }

    after {
        cudaMemPoolExportToShareableHandle(shareable: Ptr<i32>, pool: Handle, kind: u32, flags: u32) => ensure(),
            cuMemPoolExportToShareableHandle(shareable, pool, kind, flags.into());
        cudaMemPoolImportFromShareableHandle(pool: Ptr<Handle>, shareable: Handle, kind: u32, flags: u32) => ensure(),
            cuMemPoolImportFromShareableHandle(pool, shareable, kind, flags.into());
    }
}
