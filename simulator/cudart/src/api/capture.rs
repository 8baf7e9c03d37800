//! Stream capture: work that a program enqueues becomes nodes of a graph.

use std::ffi::c_void;

use crate::compat::Version;
use crate::export::exports;
use crate::pointer::{Handle, Ptr};

exports! {
    forward {
        cudaStreamBeginCapture cudaStreamBeginCapture_ptsz => ensure() cuStreamBeginCapture_v2(stream: Handle, mode: u32);
        cudaStreamBeginCaptureToGraph cudaStreamBeginCaptureToGraph_ptsz => ensure() cuStreamBeginCaptureToGraph(
            stream: Handle, graph: Handle, dependencies: Ptr<Handle>, data: Ptr<c_void>, count: usize, mode: u32,
        );
        cudaStreamEndCapture cudaStreamEndCapture_ptsz => ensure() cuStreamEndCapture(stream: Handle, graph: Ptr<Handle>);
        cudaStreamIsCapturing cudaStreamIsCapturing_ptsz => ensure() cuStreamIsCapturing(stream: Handle, status: Ptr<u32>);
        cudaThreadExchangeStreamCaptureMode => ensure() cuThreadExchangeStreamCaptureMode(mode: Ptr<u32>);
        cudaStreamGetCaptureInfo_v2 cudaStreamGetCaptureInfo_v2_ptsz => ensure() cuStreamGetCaptureInfo_v2(
            stream: Handle, status: Ptr<u32>, id: Ptr<u64>, graph: Ptr<Handle>, dependencies: Ptr<Ptr<Handle>>, count: Ptr<usize>,
        );
        cudaStreamGetCaptureInfo_v3 cudaStreamGetCaptureInfo_v3_ptsz => ensure() cuStreamGetCaptureInfo_v3(
            stream: Handle, status: Ptr<u32>, id: Ptr<u64>, graph: Ptr<Handle>, dependencies: Ptr<Ptr<Handle>>,
            data: Ptr<Ptr<c_void>>, count: Ptr<usize>,
        );
        cudaStreamUpdateCaptureDependencies_v2 cudaStreamUpdateCaptureDependencies_v2_ptsz => ensure()
            cuStreamUpdateCaptureDependencies_v2(stream: Handle, nodes: Ptr<Handle>, data: Ptr<c_void>, count: usize, flags: u32);
    }

    after {
        // CUDA 12 passes the first three arguments only.
        [cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_ptsz](
            stream: Handle, status: Ptr<u32>, id: Ptr<u64>, graph: Ptr<Handle>, dependencies: Ptr<Ptr<Handle>>,
            data: Ptr<Ptr<c_void>>, count: Ptr<usize>,
        ) => ensure(), match Version::current() {
            Version::Cuda12 => cuStreamGetCaptureInfo_v2(stream, status, id, Ptr::NULL, Ptr::NULL, Ptr::NULL),
            Version::Cuda13 => cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, data, count),
        };
        // CUDA 12 passes no data of edges.
        [cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_ptsz](
            stream: Handle, nodes: Ptr<Handle>, data: Ptr<c_void>, count: usize, flags: u32,
        ) => ensure(), match Version::current() {
            Version::Cuda12 => {
                cuStreamUpdateCaptureDependencies_v2(stream, nodes, Ptr::NULL, data.address() as usize, count as u32)
            }
            Version::Cuda13 => cuStreamUpdateCaptureDependencies_v2(stream, nodes, data, count, flags),
        };
    }
}
