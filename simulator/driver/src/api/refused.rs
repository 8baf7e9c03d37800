//! The rest of the API of CUDA 13: features that this driver does not have, refused as by a device without them.
//!
//! They exist because bindings look functions up by name and treat a missing one as a broken driver. None of them reads its arguments, so
//! none declares them: in the C calling convention, on every 64-bit target, a function may leave its arguments unread.

use super::prelude::*;

fn refuse(feature: &str, instead: &str) -> Result<()> {
    driver()?;
    Err(CuResult::NOT_SUPPORTED.because(format!("{feature} are not supported by the simulator; {instead}")))
}

/// A feature that this driver does not have.
pub struct Refused {
    pub feature: &'static str,
    pub instead: &'static str,
    /// The functions of the feature.
    pub functions: &'static [&'static str],
}

/// Exports functions that refuse, by feature, each with an alternative.
macro_rules! refused {
    ($($feature:literal, $instead:literal: $($name:ident)*;)*) => {
        exports! {
            $($(fn $name() { refuse($feature, $instead) })*)*
        }

        /// All that is refused.
        pub const REFUSED: &[Refused] =
            &[$(Refused { feature: $feature, instead: $instead, functions: &[$(stringify!($name)),*] }),*];
    };
}

refused! {
    "nodes with semaphores or conditions", "use other nodes":
        cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode cuGraphConditionalHandleCreate
        cuGraphExecExternalSemaphoresSignalNodeSetParams cuGraphExecExternalSemaphoresWaitNodeSetParams
        cuGraphExternalSemaphoresSignalNodeGetParams cuGraphExternalSemaphoresSignalNodeSetParams
        cuGraphExternalSemaphoresWaitNodeGetParams cuGraphExternalSemaphoresWaitNodeSetParams;

    "nodes that are described by CUDA 13.2 or later", "add and change nodes by the functions of CUDA 13.0":
        cuGraphAddNode_v3 cuGraphNodeGetParams cuGraphNodeSetParams_v2 cuStreamBeginRecaptureToGraph cuStreamBeginRecaptureToGraph_ptsz;

    "numbers of graphs and nodes", "keep their handles":
        cuGraphExecGetId cuGraphGetId cuGraphNodeGetContainingGraph cuGraphNodeGetLocalId cuGraphNodeGetToolsId;

    "sparse and planar arrays", "make an array without these flags":
        cuArrayGetMemoryRequirements cuArrayGetPlane cuArrayGetSparseProperties cuMemMapArrayAsync cuMemMapArrayAsync_ptsz
        cuMipmappedArrayGetMemoryRequirements cuMipmappedArrayGetSparseProperties;

    "arrays of other APIs", "copy through memory of the host":
        cuExternalMemoryGetMappedMipmappedArray cuGraphicsResourceGetMappedMipmappedArray
        cuGraphicsSubResourceGetMappedArray;

    "graphics", "copy through memory of the device or the host":
        cuGraphicsMapResources cuGraphicsMapResources_ptsz cuGraphicsResourceGetMappedPointer_v2
        cuGraphicsResourceSetMapFlags cuGraphicsResourceSetMapFlags_v2 cuGraphicsUnmapResources
        cuGraphicsUnmapResources_ptsz cuGraphicsUnregisterResource;

    "memory and semaphores of other APIs", "copy through memory of the host":
        cuDestroyExternalMemory cuDestroyExternalSemaphore cuDeviceGetLuid cuDeviceGetNvSciSyncAttributes
        cuExternalMemoryGetMappedBuffer cuFlushGPUDirectRDMAWrites cuImportExternalMemory cuImportExternalSemaphore
        cuSignalExternalSemaphoresAsync cuSignalExternalSemaphoresAsync_ptsz cuWaitExternalSemaphoresAsync
        cuWaitExternalSemaphoresAsync_ptsz;

    "multicast objects", "copy to each device":
        cuMulticastAddDevice cuMulticastBindAddr cuMulticastBindMem cuMulticastCreate cuMulticastGetGranularity
        cuMulticastBindAddr_v2 cuMulticastBindMem_v2 cuMulticastUnbind;

    "logical endpoints", "copy to each device":
        cuLogicalEndpointAddDevice cuLogicalEndpointBindAddr cuLogicalEndpointBindMem cuLogicalEndpointCreate cuLogicalEndpointDestroy
        cuLogicalEndpointExport cuLogicalEndpointGetLimits cuLogicalEndpointIdRelease cuLogicalEndpointIdReserve cuLogicalEndpointImport
        cuLogicalEndpointQuery cuLogicalEndpointUnbind;

    "shares of multiprocessors by groups", "split them with cuDevSmResourceSplitByCount, and ask the context for its share":
        cuDevSmResourceSplit cuStreamGetDevResource cuStreamGetDevResource_ptsz;

    "memory whose contents are given up", "free the memory, or leave it as it is":
        cuMemDiscardAndPrefetchBatchAsync cuMemDiscardAndPrefetchBatchAsync_ptsz cuMemDiscardBatchAsync cuMemDiscardBatchAsync_ptsz;

    "handles for ranges of addresses", "share memory from cuMemCreate with cuMemExportToShareableHandle":
        cuMemGetHandleForAddressRange;

    "contexts with execution affinity", "use a green context for a share of the multiprocessors":
        cuCtxGetExecAffinity;

    "tables of private functions", "NVRTC works without. A program that contains NVIDIA's runtime does not: start it with `simcuda run`, which replaces that runtime unless its symbols were removed (as in most wheels), or build it with `nvcc -cudart shared`":
        cuGetExportTable;

    "tensor maps of images (im2col)", "copy boxes with cuTensorMapEncodeTiled":
        cuTensorMapEncodeIm2col cuTensorMapEncodeIm2colWide;

    "configuration files of profilers", "start and stop the profiler with cuProfilerStart and cuProfilerStop":
        cuProfilerInitialize;

    "checkpoints of processes", "save what the program needs itself":
        cuCheckpointOperationComplete cuCheckpointProcessCheckpoint cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState
        cuCheckpointProcessLock cuCheckpointProcessRestore cuCheckpointProcessUnlock;

    "features that no simulated device has", "take the path for devices without them":
        cuDeviceRegisterAsyncNotification cuDeviceUnregisterAsyncNotification cuLogsCurrent cuLogsDumpToFile
        cuLogsDumpToMemory cuLogsRegisterCallback cuLogsUnregisterCallback cuMemBatchDecompressAsync
        cuMemBatchDecompressAsync_ptsz cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_ptsz cuMemcpy3DBatchAsync_v2 cuMemcpy3DBatchAsync_v2_ptsz
        cuMemcpy3DWithAttributesAsync cuMemcpy3DWithAttributesAsync_ptsz cuFabricCpyBatchAsync cuFabricCpyBatchAsync_ptsz cuDeviceGetCliqueCount cuDeviceGetCliqueInfo
        cuDeviceGetHostAtomicCapabilities cuDeviceGetP2PAtomicCapabilities cuMemGetLocationInfo cuTensorMapSetAllocationClass
        cuStreamBeginCaptureToCig cuStreamBeginCaptureToCig_ptsz cuStreamEndCaptureToCig cuStreamEndCaptureToCig_ptsz
        cuCoredumpDeregisterCompleteCallback cuCoredumpDeregisterStartCallback cuCoredumpRegisterCompleteCallback
        cuCoredumpRegisterStartCallback;
}
