//! Looking up exports by name, for programs that do not link against the driver.

use super::prelude::*;
use crate::export::Export;

/// `CU_GET_PROC_ADDRESS_SUCCESS` and `_SYMBOL_NOT_FOUND`
const FOUND: u32 = 0;
const NOT_FOUND: u32 = 1;

/// `CU_GET_PROC_ADDRESS_LEGACY_STREAM` and `_PER_THREAD_DEFAULT_STREAM`
const LEGACY: u64 = 1;
const PER_THREAD: u64 = 2;

/// Plain names that came to mean the form with `_v2`. Before that version of CUDA, they meant the form without a suffix.
const SECOND_SINCE: [(i32, &str); 6] = [
    (
        12000,
        "cuGetProcAddress cuGraphAddKernelNode cuGraphExecKernelNodeSetParams cuGraphExecUpdate cuGraphKernelNodeGetParams \
         cuGraphKernelNodeSetParams",
    ),
    (12050, "cuStreamGetCtx"),
    (12080, "cuEventElapsedTime"),
    (
        13000,
        "cuCtxGetDevice cuCtxSynchronize cuGraphAddDependencies cuGraphAddNode cuGraphGetEdges cuGraphNodeGetDependencies \
         cuGraphNodeGetDependentNodes cuGraphRemoveDependencies cuMemAdvise cuMemPrefetchAsync cuMemcpy3DBatchAsync cuMemcpyBatchAsync \
         cuStreamUpdateCaptureDependencies",
    ),
    (13010, "cuLaunchHostFunc cuMulticastBindAddr cuMulticastBindMem"),
    (13040, "cuGraphNodeSetParams"),
];

/// Other names whose plain form changed its meaning: plain name, version, suffix before that version, suffix from then on.
const CHANGED: [(&str, i32, &str, &str); 3] = [
    ("cuCtxCreate", 13000, "_v2", "_v4"),
    ("cuGraphInstantiate", 12000, "_v2", "WithFlags"),
    ("cuStreamGetCaptureInfo", 13000, "_v2", "_v3"),
];

/// A name whose plain form changed its meaning a third time.
const THIRD_SINCE: (i32, &str) = (13040, "cuGraphAddNode");

/// Suffixes to try for a plain name, newest first. The forms that match have the same meaning in every version of CUDA 12 and 13.
const SUFFIXES: [&str; 3] = ["_v3", "_v2", ""];

/// Lists the exports of modules.
macro_rules! exports_of {
    ($($($module:ident)::+)*) => { [EXPORTS, $(super::$($module)::+::EXPORTS),*] };
}

/// Returns every function that the library exports.
pub fn every_export() -> impl Iterator<Item = &'static Export> {
    exports_of! {
        array capture context copy core_dump device event fill function graph graph::attributes graph::by_type graph::dot graph::executable
        graph::nodes green init ipc launch library linker memory module occupancy older pointer pool primary reference refused stream
        tensor_map texture user_object value virtual_memory
    }
    .into_iter()
    .flatten()
    .copied()
    .flatten()
}

fn exact(name: &str) -> Option<&'static Export> {
    every_export().find(|export| export.name == name)
}

/// Finds the function that a plain name means in this CUDA version. A name with a suffix means nothing.
fn find(name: &str, version: i32) -> Option<&'static Export> {
    if name.rsplit_once("_v").is_some_and(|(_, suffix)| suffix.parse::<u32>().is_ok()) {
        return None;
    }
    if THIRD_SINCE.1 == name && version >= THIRD_SINCE.0 {
        return exact(&format!("{name}_v3"));
    }
    let second = SECOND_SINCE.iter().find(|(_, names)| names.split_whitespace().any(|changed| changed == name));
    let changed = CHANGED.iter().find(|(changed, ..)| *changed == name).map(|&(_, since, before, after)| (since, before, after));
    match changed.or(second.map(|&(since, _)| (since, "", "_v2"))) {
        Some((since, before, after)) => exact(&format!("{name}{}", if version >= since { after } else { before })),
        None => SUFFIXES.iter().find_map(|suffix| exact(&format!("{name}{suffix}"))),
    }
}

fn get(symbol: Text, function: Out<*mut c_void>, version: i32, flags: u64, status: Option<Out<u32>>) -> Result<()> {
    function.check()?;
    refuse!(INVALID_VALUE if flags & !(LEGACY | PER_THREAD) != 0 || flags == LEGACY | PER_THREAD);
    let name = symbol.read()?;
    let per_thread = |export: &Export| export.per_thread.filter(|_| flags == PER_THREAD);
    let found = find(&name, version).map(|export| per_thread(export).map_or(export.address, |(_, address)| address));
    let status = status.filter(|status| !status.is_null());
    if let Some(status) = status {
        status.put_if_asked(if found.is_some() { FOUND } else { NOT_FOUND });
    }
    function.put(found.map_or(std::ptr::null_mut(), |address| address as *mut c_void))?;
    match (found, status) {
        (None, None) => Err(CuResult::NOT_FOUND.because(format!("this driver has no function {name}"))),
        _ => Ok(()),
    }
}

exports! {
    fn cuGetProcAddress(symbol: Text, function: Out<*mut c_void>, version: i32, flags: u64) =>
        get(symbol, function, version, flags, None);

    /// Succeeds for an unknown name, which the status says.
    fn cuGetProcAddress_v2(symbol: Text, function: Out<*mut c_void>, version: i32, flags: u64, status: Out<u32>) =>
        get(symbol, function, version, flags, Some(status));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_function_is_listed_once() {
        let mut seen = BTreeSet::new();
        for export in every_export() {
            assert!(seen.insert(export.name), "{} is listed twice", export.name);
        }
    }

    #[test]
    fn a_plain_name_means_the_form_for_the_callers_version() {
        let same = |name, version, wanted| assert_eq!(find(name, version).unwrap().name, wanted, "{name} {version}");
        same("cuMemAlloc", 12000, "cuMemAlloc_v2");
        same("cuCtxCreate", 12090, "cuCtxCreate_v2");
        same("cuCtxCreate", 13000, "cuCtxCreate_v4");
        same("cuMemPrefetchAsync", 12020, "cuMemPrefetchAsync");
        same("cuGraphInstantiate", 12000, "cuGraphInstantiateWithFlags");
        same("cuGraphAddDependencies", 12080, "cuGraphAddDependencies");
        same("cuStreamGetCaptureInfo", 12080, "cuStreamGetCaptureInfo_v2");
        // The newer form has one more parameter.
        same("cuStreamGetCtx", 12040, "cuStreamGetCtx");
        same("cuStreamGetCtx", 12050, "cuStreamGetCtx_v2");
        same("cuLaunchHostFunc", 13000, "cuLaunchHostFunc");
        same("cuLaunchHostFunc", 13010, "cuLaunchHostFunc_v2");
        for (version, wanted) in [(12020, "cuGraphAddNode"), (13000, "cuGraphAddNode_v2"), (13040, "cuGraphAddNode_v3")] {
            same("cuGraphAddNode", version, wanted);
        }
        same("cuInit", 2000, "cuInit");
        assert!(find("cuMemAlloc_v2", 12000).is_none());
        assert!(find("cuMakeCoffee", 12000).is_none());
    }

    #[test]
    fn everything_that_cudarc_calls_is_there() {
        // What cudarc 0.19.10 calls in its `result` and `safe` layers, for all versions of CUDA. It panics if a function is missing.
        let called = "
            cuCtxCreate_v3 cuCtxCreate_v4 cuCtxDestroy_v2 cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetLimit
            cuCtxGetStreamPriorityRange cuCtxSetCacheConfig cuCtxSetCurrent cuCtxSetFlags cuCtxSetLimit cuCtxSynchronize
            cuDestroyExternalMemory cuDeviceGet cuDeviceGetAttribute cuDeviceGetCount cuDeviceGetDefaultMemPool
            cuDeviceGetMemPool cuDeviceGetName cuDeviceGetUuid cuDeviceGetUuid_v2 cuDevicePrimaryCtxRelease_v2
            cuDevicePrimaryCtxRetain cuDeviceSetMemPool cuDeviceTotalMem_v2 cuEventCreate cuEventDestroy_v2
            cuEventElapsedTime cuEventElapsedTime_v2 cuEventQuery cuEventRecord cuEventSynchronize
            cuExternalMemoryGetMappedBuffer cuFuncGetAttribute cuFuncSetAttribute cuFuncSetCacheConfig cuGetErrorName
            cuGetErrorString cuGraphDestroy cuGraphExecDestroy cuGraphInstantiateWithFlags cuGraphLaunch cuGraphUpload
            cuImportExternalMemory cuInit cuLaunchCooperativeKernel cuLaunchHostFunc cuLaunchKernel cuMemAdvise_v2
            cuMemAllocAsync cuMemAllocFromPoolAsync cuMemAllocManaged cuMemAlloc_v2 cuMemFreeAsync cuMemFreeHost
            cuMemFree_v2 cuMemGetInfo_v2 cuMemHostAlloc cuMemPoolCreate cuMemPoolDestroy cuMemPoolGetAttribute
            cuMemPoolSetAttribute cuMemPoolTrimTo cuMemPrefetchAsync_v2 cuMemcpyDtoDAsync_v2 cuMemcpyDtoD_v2
            cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2 cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemcpyPeerAsync cuMemsetD8Async
            cuMemsetD8_v2 cuModuleGetFunction cuModuleGetGlobal_v2 cuModuleLoad cuModuleLoadData cuModuleUnload
            cuOccupancyAvailableDynamicSMemPerBlock cuOccupancyMaxActiveBlocksPerMultiprocessor
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuOccupancyMaxActiveClusters
            cuOccupancyMaxPotentialBlockSize cuOccupancyMaxPotentialBlockSizeWithFlags cuOccupancyMaxPotentialClusterSize
            cuProfilerStart cuProfilerStop cuStreamAttachMemAsync cuStreamBeginCapture_v2 cuStreamCreate
            cuStreamCreateWithPriority cuStreamDestroy_v2 cuStreamEndCapture cuStreamIsCapturing cuStreamSynchronize
            cuStreamWaitEvent
        ";
        for name in called.split_whitespace() {
            assert!(exact(name).is_some(), "{name} is missing");
        }
    }
}
