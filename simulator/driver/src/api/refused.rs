//! The rest of the API of CUDA 12: features that this driver does not have, refused as by a device without them.
//!
//! They exist because bindings look functions up by name and treat a missing one as a broken driver. None of them reads its arguments, so
//! none declares them: in the C calling convention, on every 64-bit target, a function may leave its arguments unread.

use crate::driver::driver;
use crate::export::exports;
use crate::result::{CuResult, Result};

fn refuse(feature: &str, instead: &str) -> Result<()> {
    driver()?;
    Err(CuResult::NOT_SUPPORTED.because(format!("{feature} are not supported by the simulator; {instead}")))
}

/// Exports functions that refuse, grouped by feature, each group with what to do instead.
macro_rules! refused {
    ($($feature:literal, $instead:literal: $($name:ident)*;)*) => {
        exports! {
            $($(fn $name() { refuse($feature, $instead) })*)*
        }
    };
}

refused! {
    "nodes with semaphores, operations on values in memory, or conditions", "use other nodes":
        cuGraphAddBatchMemOpNode cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode
        cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams cuGraphConditionalHandleCreate
        cuGraphExecBatchMemOpNodeSetParams cuGraphExecExternalSemaphoresSignalNodeSetParams
        cuGraphExecExternalSemaphoresWaitNodeSetParams cuGraphExternalSemaphoresSignalNodeGetParams
        cuGraphExternalSemaphoresSignalNodeSetParams cuGraphExternalSemaphoresWaitNodeGetParams
        cuGraphExternalSemaphoresWaitNodeSetParams;

    "mipmapped and sparse arrays, and texture references", "make a texture object of an array with cuTexObjectCreate":
        cuArrayGetMemoryRequirements cuArrayGetPlane cuArrayGetSparseProperties cuDeviceGetTexture1DLinearMaxWidth
        cuExternalMemoryGetMappedMipmappedArray cuGraphicsResourceGetMappedMipmappedArray
        cuGraphicsSubResourceGetMappedArray cuMemMapArrayAsync
        cuMipmappedArrayCreate cuMipmappedArrayDestroy
        cuMipmappedArrayGetLevel cuMipmappedArrayGetMemoryRequirements cuMipmappedArrayGetSparseProperties
        cuModuleGetSurfRef cuModuleGetTexRef cuParamSetTexRef
        cuSurfRefGetArray cuSurfRefSetArray
        cuTexRefCreate cuTexRefDestroy
        cuTexRefGetAddressMode cuTexRefGetAddress_v2 cuTexRefGetArray cuTexRefGetBorderColor cuTexRefGetFilterMode
        cuTexRefGetFlags cuTexRefGetFormat cuTexRefGetMaxAnisotropy cuTexRefGetMipmapFilterMode cuTexRefGetMipmapLevelBias
        cuTexRefGetMipmapLevelClamp cuTexRefGetMipmappedArray cuTexRefSetAddress2D_v3 cuTexRefSetAddressMode
        cuTexRefSetAddress_v2 cuTexRefSetArray cuTexRefSetBorderColor cuTexRefSetFilterMode cuTexRefSetFlags
        cuTexRefSetFormat cuTexRefSetMaxAnisotropy cuTexRefSetMipmapFilterMode cuTexRefSetMipmapLevelBias
        cuTexRefSetMipmapLevelClamp cuTexRefSetMipmappedArray;

    "graphics", "copy through memory of the device or the host":
        cuGraphicsMapResources cuGraphicsResourceGetMappedPointer_v2 cuGraphicsResourceSetMapFlags_v2
        cuGraphicsUnmapResources cuGraphicsUnregisterResource;

    "memory and semaphores of other APIs", "copy through memory of the host":
        cuDestroyExternalMemory cuDestroyExternalSemaphore cuDeviceGetLuid cuExternalMemoryGetMappedBuffer
        cuFlushGPUDirectRDMAWrites cuImportExternalMemory cuImportExternalSemaphore cuSignalExternalSemaphoresAsync
        cuWaitExternalSemaphoresAsync;

    "sharing between processes", "use one process, or copy through memory of the host":
        cuIpcCloseMemHandle cuIpcGetEventHandle cuIpcGetMemHandle cuIpcOpenEventHandle cuIpcOpenMemHandle cuIpcOpenMemHandle_v2
        cuMemPoolExportPointer cuMemPoolExportToShareableHandle cuMemPoolImportFromShareableHandle cuMemPoolImportPointer
        cuMulticastAddDevice cuMulticastBindAddr cuMulticastBindMem cuMulticastCreate cuMulticastGetGranularity
        cuMulticastUnbind;

    "virtual memory management", "allocate with cuMemAlloc or from a pool":
        cuMemAddressFree cuMemAddressReserve cuMemCreate cuMemExportToShareableHandle cuMemGetAccess
        cuMemGetAllocationGranularity cuMemGetAllocationPropertiesFromHandle cuMemGetHandleForAddressRange
        cuMemImportFromShareableHandle cuMemMap cuMemRelease cuMemRetainAllocationHandle cuMemSetAccess cuMemUnmap;

    "green contexts", "use an ordinary context":
        cuCtxFromGreenCtx cuCtxGetDevResource cuCtxGetExecAffinity cuCtxRecordEvent cuCtxWaitEvent cuDevResourceGenerateDesc
        cuDevSmResourceSplitByCount cuDeviceGetDevResource cuGreenCtxCreate cuGreenCtxDestroy cuGreenCtxGetDevResource
        cuGreenCtxRecordEvent cuGreenCtxStreamCreate cuGreenCtxWaitEvent cuStreamGetGreenCtx;

    "tables of private functions", "NVRTC works without, and a program with NVIDIA's runtime does not: build it with `nvcc -cudart shared`":
        cuGetExportTable;

    "operations on values in memory", "use events, or write from a kernel":
        cuStreamBatchMemOp cuStreamBatchMemOp_v2 cuStreamWaitValue32 cuStreamWaitValue32_v2 cuStreamWaitValue64
        cuStreamWaitValue64_v2 cuStreamWriteValue32 cuStreamWriteValue32_v2 cuStreamWriteValue64 cuStreamWriteValue64_v2;

    "tensor maps", "copy tiles with ordinary loads or cp.async":
        cuTensorMapEncodeIm2col cuTensorMapEncodeIm2colWide cuTensorMapEncodeTiled cuTensorMapReplaceAddress;

    "interfaces older than contexts that several threads share", "use the current context and cuLaunchKernel":
        cuCtxAttach cuCtxDetach cuProfilerInitialize;

    "features that no simulated device has", "take the path for devices without them":
        cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal cuCoredumpSetAttribute cuCoredumpSetAttributeGlobal
        cuDeviceRegisterAsyncNotification cuDeviceUnregisterAsyncNotification cuLogsCurrent cuLogsDumpToFile
        cuLogsDumpToMemory cuLogsRegisterCallback cuLogsUnregisterCallback cuMemBatchDecompressAsync
        cuMemcpy3DBatchAsync cuMemcpyBatchAsync;
}
