//! The rest of the API of CUDA 12 and CUDA 13: features that this library does not have, refused as on a device without them.
//!
//! None of these functions reads its arguments, so none declares them: in the C calling convention, on every 64-bit target, a function may
//! leave its arguments unread.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Mutex;

use crate::context::lock;
use crate::error::{Code, Result};
use crate::export::exports;

/// Names the function on standard error, once, because a program that sees only 801 cannot tell which of its calls failed.
fn refuse(function: &'static str, feature: &str, instead: &str) -> Result {
    static NAMED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let is_silent = std::env::var_os("SIMCUDA_REPORT").is_some_and(|report| report == "off");
    if lock(&NAMED).insert(function) && !is_silent {
        let _ = writeln!(std::io::stderr(), "simcuda: {function}: {feature} are not supported by this runtime library; {instead}");
    }
    Err(Code::NOT_SUPPORTED)
}

/// Exports functions that refuse, grouped by feature, each group with what to do instead.
macro_rules! refused {
    ($($feature:literal, $instead:literal: $($name:ident)*;)*) => {
        exports! {
            $($(fn $name() { refuse(stringify!($name), $feature, $instead) })*)*
        }
    };
}

refused! {
    "graphs", "launch the kernels on a stream":
        cudaDeviceGetGraphMemAttribute cudaDeviceGraphMemTrim cudaDeviceSetGraphMemAttribute cudaGraphAddChildGraphNode
        cudaGraphAddDependencies cudaGraphAddDependencies_v2 cudaGraphAddEmptyNode cudaGraphAddEventRecordNode
        cudaGraphAddEventWaitNode cudaGraphAddExternalSemaphoresSignalNode cudaGraphAddExternalSemaphoresWaitNode
        cudaGraphAddHostNode cudaGraphAddKernelNode cudaGraphAddMemAllocNode cudaGraphAddMemFreeNode cudaGraphAddMemcpyNode
        cudaGraphAddMemcpyNode1D cudaGraphAddMemcpyNodeFromSymbol cudaGraphAddMemcpyNodeToSymbol cudaGraphAddMemsetNode
        cudaGraphAddNode cudaGraphAddNode_v2 cudaGraphChildGraphNodeGetGraph cudaGraphClone cudaGraphConditionalHandleCreate
        cudaGraphCreate cudaGraphDebugDotPrint cudaGraphDestroy cudaGraphDestroyNode cudaGraphEventRecordNodeGetEvent
        cudaGraphEventRecordNodeSetEvent cudaGraphEventWaitNodeGetEvent cudaGraphEventWaitNodeSetEvent
        cudaGraphExecChildGraphNodeSetParams cudaGraphExecDestroy cudaGraphExecEventRecordNodeSetEvent
        cudaGraphExecEventWaitNodeSetEvent cudaGraphExecExternalSemaphoresSignalNodeSetParams
        cudaGraphExecExternalSemaphoresWaitNodeSetParams cudaGraphExecGetFlags cudaGraphExecHostNodeSetParams
        cudaGraphExecKernelNodeSetParams cudaGraphExecMemcpyNodeSetParams cudaGraphExecMemcpyNodeSetParams1D
        cudaGraphExecMemcpyNodeSetParamsFromSymbol cudaGraphExecMemcpyNodeSetParamsToSymbol cudaGraphExecMemsetNodeSetParams
        cudaGraphExecNodeSetParams cudaGraphExecUpdate cudaGraphExternalSemaphoresSignalNodeGetParams
        cudaGraphExternalSemaphoresSignalNodeSetParams cudaGraphExternalSemaphoresWaitNodeGetParams
        cudaGraphExternalSemaphoresWaitNodeSetParams cudaGraphGetEdges cudaGraphGetEdges_v2 cudaGraphGetNodes
        cudaGraphGetRootNodes cudaGraphHostNodeGetParams cudaGraphHostNodeSetParams cudaGraphInstantiate
        cudaGraphInstantiateWithFlags cudaGraphInstantiateWithParams cudaGraphInstantiateWithParams_ptsz
        cudaGraphKernelNodeCopyAttributes cudaGraphKernelNodeGetAttribute cudaGraphKernelNodeGetParams
        cudaGraphKernelNodeSetAttribute cudaGraphKernelNodeSetParams cudaGraphLaunch cudaGraphLaunch_ptsz
        cudaGraphMemAllocNodeGetParams cudaGraphMemFreeNodeGetParams cudaGraphMemcpyNodeGetParams cudaGraphMemcpyNodeSetParams
        cudaGraphMemcpyNodeSetParams1D cudaGraphMemcpyNodeSetParamsFromSymbol cudaGraphMemcpyNodeSetParamsToSymbol
        cudaGraphMemsetNodeGetParams cudaGraphMemsetNodeSetParams cudaGraphNodeFindInClone cudaGraphNodeGetDependencies
        cudaGraphNodeGetDependencies_v2 cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_v2 cudaGraphNodeGetEnabled
        cudaGraphNodeGetType cudaGraphNodeSetEnabled cudaGraphNodeSetParams cudaGraphReleaseUserObject cudaGraphRemoveDependencies
        cudaGraphRemoveDependencies_v2 cudaGraphRetainUserObject cudaGraphUpload cudaGraphUpload_ptsz cudaStreamBeginCapture
        cudaStreamBeginCaptureToGraph cudaStreamBeginCaptureToGraph_ptsz cudaStreamBeginCapture_ptsz cudaStreamEndCapture
        cudaStreamEndCapture_ptsz cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_ptsz cudaStreamGetCaptureInfo_v2
        cudaStreamGetCaptureInfo_v2_ptsz cudaStreamGetCaptureInfo_v3 cudaStreamGetCaptureInfo_v3_ptsz
        cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_ptsz cudaStreamUpdateCaptureDependencies_v2
        cudaStreamUpdateCaptureDependencies_v2_ptsz cudaUserObjectCreate cudaUserObjectRelease cudaUserObjectRetain;

    "graphics", "copy through memory of the device or the host":
        cudaEGLStreamConsumerAcquireFrame cudaEGLStreamConsumerConnect cudaEGLStreamConsumerConnectWithFlags
        cudaEGLStreamConsumerDisconnect cudaEGLStreamConsumerReleaseFrame cudaEGLStreamProducerConnect
        cudaEGLStreamProducerDisconnect cudaEGLStreamProducerPresentFrame cudaEGLStreamProducerReturnFrame
        cudaEventCreateFromEGLSync cudaGLGetDevices cudaGLMapBufferObject cudaGLMapBufferObjectAsync cudaGLRegisterBufferObject
        cudaGLSetBufferObjectMapFlags cudaGLSetGLDevice cudaGLUnmapBufferObject cudaGLUnmapBufferObjectAsync
        cudaGLUnregisterBufferObject cudaGraphicsEGLRegisterImage cudaGraphicsGLRegisterBuffer cudaGraphicsGLRegisterImage
        cudaGraphicsMapResources cudaGraphicsResourceGetMappedEglFrame cudaGraphicsResourceGetMappedMipmappedArray
        cudaGraphicsResourceGetMappedPointer cudaGraphicsResourceSetMapFlags cudaGraphicsSubResourceGetMappedArray
        cudaGraphicsUnmapResources cudaGraphicsUnregisterResource cudaGraphicsVDPAURegisterOutputSurface
        cudaGraphicsVDPAURegisterVideoSurface cudaVDPAUGetDevice cudaVDPAUSetVDPAUDevice;

    "memory and semaphores of other APIs", "copy through memory of the host":
        cudaDestroyExternalMemory cudaDestroyExternalSemaphore cudaDeviceFlushGPUDirectRDMAWrites cudaDeviceGetNvSciSyncAttributes
        cudaExternalMemoryGetMappedBuffer cudaExternalMemoryGetMappedMipmappedArray cudaImportExternalMemory
        cudaImportExternalSemaphore cudaSignalExternalSemaphoresAsync cudaSignalExternalSemaphoresAsync_ptsz
        cudaSignalExternalSemaphoresAsync_v2 cudaSignalExternalSemaphoresAsync_v2_ptsz cudaWaitExternalSemaphoresAsync
        cudaWaitExternalSemaphoresAsync_ptsz cudaWaitExternalSemaphoresAsync_v2 cudaWaitExternalSemaphoresAsync_v2_ptsz;

    "sharing between processes", "use one process, or copy through memory of the host":
        cudaIpcCloseMemHandle cudaIpcGetEventHandle cudaIpcGetMemHandle cudaIpcOpenEventHandle cudaIpcOpenMemHandle
        cudaMemPoolExportPointer cudaMemPoolExportToShareableHandle cudaMemPoolImportFromShareableHandle cudaMemPoolImportPointer;

    "batches of copies and hints", "copy one by one":
        cudaMemDiscardAndPrefetchBatchAsync cudaMemDiscardAndPrefetchBatchAsync_ptsz cudaMemDiscardBatchAsync
        cudaMemDiscardBatchAsync_ptsz cudaMemPrefetchBatchAsync cudaMemPrefetchBatchAsync_ptsz cudaMemRangeGetAttribute
        cudaMemRangeGetAttributes cudaMemcpy3DBatchAsync cudaMemcpy3DBatchAsync_ptsz cudaMemcpyBatchAsync
        cudaMemcpyBatchAsync_ptsz;

    "arrays, textures and surfaces", "read from global memory":
        cudaArrayGetInfo cudaArrayGetMemoryRequirements cudaArrayGetPlane cudaArrayGetSparseProperties
        cudaCreateSurfaceObject cudaCreateTextureObject cudaDestroySurfaceObject cudaDestroyTextureObject
        cudaDeviceGetTexture1DLinearMaxWidth cudaFreeArray cudaFreeMipmappedArray cudaGetChannelDesc cudaGetMipmappedArrayLevel
        cudaGetSurfaceObjectResourceDesc cudaGetTextureObjectResourceDesc cudaGetTextureObjectResourceViewDesc
        cudaGetTextureObjectTextureDesc cudaMalloc3DArray cudaMallocArray cudaMallocMipmappedArray cudaMemcpy2DArrayToArray
        cudaMemcpy2DArrayToArray_ptds cudaMemcpy2DFromArray cudaMemcpy2DFromArrayAsync cudaMemcpy2DFromArrayAsync_ptsz
        cudaMemcpy2DFromArray_ptds cudaMemcpy2DToArray cudaMemcpy2DToArrayAsync cudaMemcpy2DToArrayAsync_ptsz
        cudaMemcpy2DToArray_ptds cudaMemcpyArrayToArray cudaMemcpyArrayToArray_ptds cudaMemcpyFromArray cudaMemcpyFromArrayAsync
        cudaMemcpyFromArrayAsync_ptsz cudaMemcpyFromArray_ptds cudaMemcpyToArray cudaMemcpyToArrayAsync
        cudaMemcpyToArrayAsync_ptsz cudaMemcpyToArray_ptds cudaMipmappedArrayGetMemoryRequirements
        cudaMipmappedArrayGetSparseProperties;

    "several devices", "use the first":
        cudaDeviceDisablePeerAccess cudaDeviceEnablePeerAccess cudaDeviceGetHostAtomicCapabilities
        cudaDeviceGetP2PAtomicCapabilities cudaLaunchCooperativeKernelMultiDevice cudaMemcpy3DPeer cudaMemcpy3DPeerAsync
        cudaMemcpy3DPeerAsync_ptsz cudaMemcpy3DPeer_ptds;

    "notifications and logs", "read the report of the simulator":
        cudaDeviceRegisterAsyncNotification cudaDeviceUnregisterAsyncNotification cudaLogsCurrent cudaLogsDumpToFile
        cudaLogsDumpToMemory cudaLogsRegisterCallback cudaLogsUnregisterCallback;

    "tables of private functions, and functions with one address for the host and the device", "call public functions":
        __cudaGetProcAddress cudaGetExportTable cudaLibraryGetUnifiedFunction;

    "conversions for devices without f64", "use a device that has it":
        cudaSetDoubleForDevice cudaSetDoubleForHost;
}
