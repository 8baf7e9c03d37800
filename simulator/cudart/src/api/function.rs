//! Kernels as functions: what can be asked about them and set, and how many blocks a multiprocessor holds.

use std::ffi::{c_char, c_void};

use super::launch::Config;
use crate::driver::{self, LaunchConfig};
use crate::error::Result;
use crate::export::exports;
use crate::pointer::{Handle, Ptr};
use crate::registry;

/// `cudaFuncAttributes`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Attributes {
    shared_bytes: usize,
    constant_bytes: usize,
    local_bytes: usize,
    max_threads_per_block: i32,
    registers: i32,
    ptx_version: i32,
    binary_version: i32,
    cache_mode_ca: i32,
    max_dynamic_shared_bytes: i32,
    preferred_shared_carveout: i32,
    cluster_must_be_set: i32,
    required_cluster: [i32; 3],
    cluster_policy: i32,
    non_portable_cluster: i32,
    reserved: [i32; 16],
}

fn attributes(function: Handle) -> Result<Attributes> {
    let get = |attribute| Ptr::written(|value| driver::cuFuncGetAttribute(value, attribute, function));
    // Clusters came later than the rest, so an older driver does not know their attributes.
    let cluster = |attribute| get(attribute).unwrap_or_default();
    // The numbers are those of `CU_FUNC_ATTRIBUTE_…`.
    Ok(Attributes {
        max_threads_per_block: get(0)?,
        shared_bytes: get(1)? as usize,
        constant_bytes: get(2)? as usize,
        local_bytes: get(3)? as usize,
        registers: get(4)?,
        ptx_version: get(5)?,
        binary_version: get(6)?,
        cache_mode_ca: get(7)?,
        max_dynamic_shared_bytes: get(8)?,
        preferred_shared_carveout: get(9)?,
        cluster_must_be_set: cluster(10),
        required_cluster: [11, 12, 13].map(cluster),
        non_portable_cluster: cluster(14),
        cluster_policy: cluster(15),
        reserved: [0; 16],
    })
}

/// Asks the driver about the clusters of a launch.
fn clusters_of(
    ask: fn(Ptr<i32>, Handle, Ptr<LaunchConfig>) -> Result,
    answer: Ptr<i32>,
    stub: Ptr<c_void>,
    config: Ptr<Config>,
) -> Result {
    let mut config = config.read()?.of_driver()?;
    ask(answer, registry::function(stub)?, Ptr::to(&mut config))
}

fn resident_blocks(blocks: Ptr<i32>, stub: Ptr<c_void>, threads: i32, shared_bytes: usize, flags: u32) -> Result {
    let function = registry::function(stub)?;
    driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared_bytes, flags)
}

driver::functions! { fn cuFuncGetParamCount(function: Handle, count: Ptr<usize>); }

exports! {
    brief {
        cudaFuncGetAttributes(out: Ptr<Attributes>, stub: Ptr<c_void>) => out.fill(|| attributes(registry::function(stub)?));
        cudaGetFuncBySymbol(function: Ptr<Handle>, stub: Ptr<c_void>) => function.fill(|| registry::function(stub));
        cudaGetKernel(kernel: Ptr<Handle>, stub: Ptr<c_void>) => kernel.fill(|| registry::kernel(stub));
        cudaFuncSetAttribute(stub: Ptr<c_void>, attribute: u32, value: i32) =>
            driver::cuFuncSetAttribute(registry::function(stub)?, attribute, value);
        cudaFuncSetCacheConfig(stub: Ptr<c_void>, config: u32) => driver::cuFuncSetCacheConfig(registry::function(stub)?, config);
        cudaFuncSetSharedMemConfig(stub: Ptr<c_void>, config: u32) =>
            driver::cuFuncSetSharedMemConfig(registry::function(stub)?, config);
        cudaFuncGetName(name: Ptr<Ptr<c_char>>, stub: Ptr<c_void>) => driver::cuFuncGetName(name, registry::function(stub)?);
        cudaFuncGetParamInfo(stub: Ptr<c_void>, index: usize, offset: Ptr<usize>, bytes: Ptr<usize>) =>
            driver::cuFuncGetParamInfo(registry::function(stub)?, index, offset, bytes);
        cudaFuncGetParamCount(stub: Ptr<c_void>, count: Ptr<usize>) => cuFuncGetParamCount(registry::function(stub)?, count);
        cudaOccupancyMaxActiveClusters(clusters: Ptr<i32>, stub: Ptr<c_void>, config: Ptr<Config>) =>
            clusters_of(driver::cuOccupancyMaxActiveClusters, clusters, stub, config);
        cudaOccupancyMaxPotentialClusterSize(size: Ptr<i32>, stub: Ptr<c_void>, config: Ptr<Config>) =>
            clusters_of(driver::cuOccupancyMaxPotentialClusterSize, size, stub, config);
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks: Ptr<i32>, stub: Ptr<c_void>, threads: i32, shared_bytes: usize) =>
            resident_blocks(blocks, stub, threads, shared_bytes, 0);
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            blocks: Ptr<i32>, stub: Ptr<c_void>, threads: i32, shared_bytes: usize, flags: u32,
        ) => resident_blocks(blocks, stub, threads, shared_bytes, flags);
        cudaOccupancyAvailableDynamicSMemPerBlock(bytes: Ptr<usize>, stub: Ptr<c_void>, blocks: i32, threads: i32) =>
            driver::cuOccupancyAvailableDynamicSMemPerBlock(bytes, registry::function(stub)?, blocks, threads);
    }

    // The compiler's own code ignores a failure of this function. The stub takes the place of the kernel, so that the launch fails for the
    // same reason.
    fn __cudaGetKernel(kernel: Ptr<Handle>, stub: Ptr<c_void>) {
        let found = registry::kernel(stub);
        kernel.put(found.unwrap_or(stub.address() as Handle))?;
        found.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_nvidias_headers() {
        assert_eq!(size_of::<Attributes>(), 144);
    }
}
