//! Functions: the kernels of a module, and what a program can ask about them and set.

use std::ffi::CString;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use simt::{ClusterBounds, Dim3, Kernel, Profile};

use super::context::{LAST_CACHE_CONFIG, LAST_SHARED_CONFIG, check_config};
use super::image::LoadedImage;
use super::prelude::*;
use crate::name::readable;
use crate::occupancy::{self, BlockNeeds, Occupancy};

/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` and `_PREFERRED_SHARED_MEMORY_CARVEOUT`
const MAX_DYNAMIC_SHARED: u32 = 8;
const CARVEOUT: u32 = 9;
/// `CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET`, `_REQUIRED_CLUSTER_WIDTH`, `_HEIGHT` and `_DEPTH`,
/// `_NON_PORTABLE_CLUSTER_SIZE_ALLOWED` and `_CLUSTER_SCHEDULING_POLICY_PREFERENCE`
const CLUSTER_MUST_BE_SET: u32 = 10;
const REQUIRED_CLUSTER: u32 = 11;
const LAST_REQUIRED_CLUSTER: u32 = 13;
const NON_PORTABLE_CLUSTER: u32 = 14;
const CLUSTER_POLICY: u32 = 15;
/// `CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING`
const LAST_CLUSTER_POLICY: i32 = 2;

/// A kernel of a loaded module.
#[derive(Debug)]
pub struct Function {
    pub handle: Handle,
    pub context: Arc<Context>,
    pub image: Arc<LoadedImage>,
    name: CString,
    module: Handle,
    /// Dynamic shared memory that the program opted in to; negative if it has not opted in.
    opted_in_shared: AtomicI32,
    carveout: AtomicI32,
    /// The extents of the clusters that the program requires; zeros if it requires none.
    required_cluster: [AtomicI32; 3],
    large_clusters: AtomicI32,
    cluster_policy: AtomicI32,
    pub old_launch: Mutex<OldLaunch>,
}

/// Parameters that a program stores in a function, as in CUDA 3.
#[derive(Clone, Debug)]
pub struct OldLaunch {
    pub block: [u32; 3],
    pub shared_bytes: u32,
    pub parameters: Vec<u8>,
}

impl Default for OldLaunch {
    fn default() -> Self {
        Self { block: [1; 3], shared_bytes: 0, parameters: Vec::new() }
    }
}

/// The most bytes of parameters in an old launch.
pub const PARAMETER_BYTES: usize = 4096;

/// The registers of a kernel whose PTX does not state them (`CU_FUNC_ATTRIBUTE_NUM_REGS`). This is a placeholder, not a
/// measurement. With 32 registers, every generation from Kepler on can fill a multiprocessor with threads, so a program that divides by
/// this number still works.
const UNKNOWN_REGISTERS: u32 = 32;

kind!(Function: INVALID_HANDLE, of its context);

impl Function {
    pub fn new(handle: Handle, module: Handle, context: Arc<Context>, image: Arc<LoadedImage>, name: String) -> Self {
        Self {
            handle,
            context,
            image,
            name: CString::new(name).unwrap_or_default(),
            module,
            opted_in_shared: AtomicI32::new(-1),
            carveout: AtomicI32::new(-1),
            required_cluster: Default::default(),
            large_clusters: AtomicI32::new(0),
            cluster_policy: AtomicI32::new(0),
            old_launch: Mutex::default(),
        }
    }

    pub fn name(&self) -> &str {
        self.name.to_str().unwrap_or_default()
    }

    pub fn kernel(&self) -> &Kernel {
        self.image.image().kernel(self.name()).expect("a function is only made for a kernel of its module")
    }

    /// Returns how much dynamic shared memory a launch may use: what the program opted in to, or else what every block may have.
    pub fn max_dynamic_shared(&self, profile: &Profile) -> u32 {
        let opted_in = self.opted_in_shared.load(Relaxed);
        let default = profile.shared_bytes_per_block.saturating_sub(self.kernel().static_shared_bytes());
        u32::try_from(opted_in).unwrap_or(default)
    }

    /// Returns the registers per thread, if the PTX states them.
    pub fn registers_per_thread(&self) -> Option<u32> {
        self.image.registers_per_thread(self.name())
    }

    pub fn needs(&self, threads: u32, dynamic_shared_bytes: u64) -> BlockNeeds {
        let static_shared = u64::from(self.kernel().static_shared_bytes());
        BlockNeeds {
            threads,
            registers_per_thread: self.registers_per_thread(),
            shared_bytes: static_shared.saturating_add(dynamic_shared_bytes),
        }
    }

    /// Returns how blocks of this kernel fill a multiprocessor.
    pub fn occupancy(&self, profile: &Profile, threads: u32, dynamic_shared_bytes: u64) -> Occupancy {
        Occupancy::of(profile, self.needs(threads, dynamic_shared_bytes))
    }

    /// Returns the most threads per block that the device and kernel allow.
    pub fn max_threads_by_bounds(&self, profile: &Profile) -> u32 {
        let limit = profile.max_threads_per_block;
        self.kernel().max_threads().map_or(limit, |threads| threads.min(limit))
    }

    /// Returns the most threads per block that the registers allow, if known.
    pub fn max_threads_by_registers(&self, profile: &Profile) -> Option<u32> {
        occupancy::max_threads_by_registers(profile, self.registers_per_thread()?)
    }

    pub fn max_threads(&self, profile: &Profile) -> u32 {
        let by_bounds = self.max_threads_by_bounds(profile);
        self.max_threads_by_registers(profile).map_or(by_bounds, |threads| threads.min(by_bounds))
    }

    /// Returns the rules for clusters, from the kernel's text or the program.
    pub fn cluster_bounds(&self) -> ClusterBounds {
        let bounds = self.kernel().cluster();
        let [x, y, z] = self.required_cluster.each_ref().map(|extent| extent.load(Relaxed) as u32);
        let set = (x > 0 && y > 0 && z > 0).then(|| Dim3::new(x, y, z));
        ClusterBounds { required: bounds.required.or(set), ..bounds }
    }

    /// Returns true if clusters may have more than 8 blocks.
    pub fn allows_large_clusters(&self) -> bool {
        self.large_clusters.load(Relaxed) != 0
    }

    pub fn attribute(&self, attribute: u32, profile: &Profile) -> Option<i32> {
        let kernel = self.kernel();
        let module = self.image.image().module();
        let version = |(major, minor): (u32, u32)| (major * 10 + minor) as i32;
        Some(match attribute {
            0 => self.max_threads(profile) as i32,
            1 => kernel.static_shared_bytes() as i32,
            2 => module.variables().iter().filter(|variable| variable.space == simt::Space::Const).map(|v| v.bytes as i32).sum(),
            3 => kernel.local_bytes() as i32,
            4 => self.registers_per_thread().unwrap_or(UNKNOWN_REGISTERS) as i32,
            5 => version(module.target()),
            6 => version(profile.compute_capability),
            7 => 0, // compiled to cache global loads
            MAX_DYNAMIC_SHARED => self.max_dynamic_shared(profile) as i32,
            CARVEOUT => self.carveout.load(Relaxed),
            CLUSTER_MUST_BE_SET => {
                let bounds = kernel.cluster();
                i32::from(bounds.explicit || bounds.required.is_some())
            }
            REQUIRED_CLUSTER..=LAST_REQUIRED_CLUSTER => {
                let place = (attribute - REQUIRED_CLUSTER) as usize;
                let of_text = kernel.cluster().required.map(|Dim3 { x, y, z }| [x, y, z][place] as i32);
                of_text.unwrap_or_else(|| self.required_cluster[place].load(Relaxed))
            }
            NON_PORTABLE_CLUSTER => self.large_clusters.load(Relaxed),
            CLUSTER_POLICY => self.cluster_policy.load(Relaxed),
            _ => return None,
        })
    }

    pub fn set_attribute(&self, attribute: u32, value: i32, profile: &Profile) -> Result<()> {
        match attribute {
            MAX_DYNAMIC_SHARED => {
                let limit = profile.shared_bytes_per_block_optin.saturating_sub(self.kernel().static_shared_bytes());
                refuse!(
                    INVALID_VALUE if !u32::try_from(value).is_ok_and(|value| value <= limit),
                    "kernel {}: {value} bytes of dynamic shared memory requested, at most {limit} are possible",
                    readable(self.name())
                );
                self.opted_in_shared.store(value, Relaxed);
            }
            CARVEOUT if (-1..=100).contains(&value) => self.carveout.store(value, Relaxed),
            NON_PORTABLE_CLUSTER => self.large_clusters.store(i32::from(value != 0), Relaxed),
            // A preference for where blocks run, which has no effect here.
            CLUSTER_POLICY if (0..=LAST_CLUSTER_POLICY).contains(&value) => self.cluster_policy.store(value, Relaxed),
            // What the kernel's text requires cannot be changed.
            REQUIRED_CLUSTER..=LAST_REQUIRED_CLUSTER if self.kernel().cluster().required.is_none() && value >= 0 => {
                self.required_cluster[(attribute - REQUIRED_CLUSTER) as usize].store(value, Relaxed);
            }
            _ => refuse!(INVALID_VALUE),
        }
        Ok(())
    }
}

/// Returns the function with this handle. Refuses one in a context that a fault left unusable.
pub fn get(handle: Handle) -> Result<Arc<Function>> {
    let function: Arc<Function> = find(handle)?;
    function.context.check()?;
    Ok(function)
}

/// Writes the offset and the size in bytes of a kernel's parameter.
pub fn put_parameter(kernel: &Kernel, index: usize, offset: Out<usize>, bytes: Out<usize>) -> Result<()> {
    offset.check()?;
    let parameter = kernel.params().get(index).ok_or(CuResult::INVALID_VALUE)?;
    bytes.put_if_asked(parameter.bytes);
    offset.put(parameter.offset)
}

exports! {
    fn cuFuncGetAttribute(value: Out<i32>, attribute: u32, function: Handle) {
        let function = get(function)?;
        value.put_made(|| Ok(function.attribute(attribute, driver()?.profile).ok_or(CuResult::INVALID_VALUE)?))
    }

    fn cuFuncSetAttribute(function: Handle, attribute: u32, value: i32) =>
        get(function)?.set_attribute(attribute, value, driver()?.profile);

    /// A preference, which a driver may ignore. This one does.
    fn cuFuncSetCacheConfig(function: Handle, config: u32) => get(function).and_then(|_| check_config(config, LAST_CACHE_CONFIG));
    fn cuFuncSetSharedMemConfig(function: Handle, config: u32) =>
        get(function).and_then(|_| check_config(config, LAST_SHARED_CONFIG));
    fn cuFuncGetModule(module: Out<Handle>, function: Handle) => module.put(get(function)?.module);

    /// The text lives as long as the module.
    fn cuFuncGetName(name: Out<*const c_char>, function: Handle) => name.put(get(function)?.name.as_ptr());
    fn cuFuncGetParamInfo(function: Handle, index: usize, offset: Out<usize>, bytes: Out<usize>) =>
        put_parameter(get(function)?.kernel(), index, offset, bytes);
    fn cuFuncGetParamCount(function: Handle, count: Out<usize>) => count.put(get(function)?.kernel().params().len());

    /// `CU_FUNCTION_LOADING_STATE_LOADED`
    fn cuFuncIsLoaded(state: Out<u32>, function: Handle) => get(function).and_then(|_| state.put(1));
    fn cuFuncLoad(function: Handle) => get(function).map(drop);
}
