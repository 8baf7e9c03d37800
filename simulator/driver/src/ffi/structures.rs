//! The structures of the CUDA driver API that this driver reads.

use std::ffi::{c_int, c_uint};

use super::arguments::{HostBytes, In, UnifiedPtr};
use crate::handles::Handle;

/// `CUuuid`.
#[repr(transparent)]
pub struct Uuid(pub [u8; 16]);

/// `CUdevprop`.
#[repr(C)]
pub struct DeviceProperties {
    pub max_threads_per_block: c_int,
    pub max_threads_dim: [c_int; 3],
    pub max_grid_size: [c_int; 3],
    pub shared_mem_per_block: c_int,
    pub total_constant_memory: c_int,
    pub simd_width: c_int,
    pub mem_pitch: c_int,
    pub regs_per_block: c_int,
    pub clock_rate: c_int,
    pub texture_align: c_int,
}

/// One end of a `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemcpyEnd2D {
    pub x_in_bytes: usize,
    pub y: usize,
    pub memory_type: c_uint,
    pub host: HostBytes,
    pub device: UnifiedPtr,
    pub array: Handle,
    pub pitch: usize,
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Memcpy2D {
    pub source: MemcpyEnd2D,
    pub target: MemcpyEnd2D,
    pub width_in_bytes: usize,
    pub height: usize,
}

/// One end of a `CUDA_MEMCPY3D`. An address of the device is a plain number where the driver describes a copy to the program.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemcpyEnd3D<Device = UnifiedPtr> {
    pub x_in_bytes: usize,
    pub y: usize,
    pub z: usize,
    pub lod: usize,
    pub memory_type: c_uint,
    pub host: HostBytes,
    pub device: Device,
    pub array: Handle,
    /// The context in a `CUDA_MEMCPY3D_PEER`; otherwise reserved.
    pub context: Handle,
    pub pitch: usize,
    pub height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Memcpy3D<Device = UnifiedPtr> {
    pub source: MemcpyEnd3D<Device>,
    pub target: MemcpyEnd3D<Device>,
    pub width_in_bytes: usize,
    pub height: usize,
    pub depth: usize,
}

impl From<Memcpy2D> for Memcpy3D {
    /// Describes the copy as one of a single layer.
    fn from(Memcpy2D { source, target, width_in_bytes, height }: Memcpy2D) -> Self {
        let end = |MemcpyEnd2D { x_in_bytes, y, memory_type, host, device, array, pitch }: MemcpyEnd2D| MemcpyEnd3D {
            x_in_bytes,
            y,
            z: 0,
            lod: 0,
            memory_type,
            host,
            device,
            array,
            context: Handle::NULL,
            pitch,
            height: 0,
        };
        Self { source: end(source), target: end(target), width_in_bytes, height, depth: 1 }
    }
}

/// `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemLocation {
    pub kind: c_uint,
    pub id: c_int,
}

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemAccess {
    pub location: MemLocation,
    pub flags: c_uint,
}

/// `CUstreamBatchMemOpParams`, with the members of a wait or a write.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ValueOperation {
    pub operation: c_uint,
    pub address: u64,
    pub value: u64,
    pub flags: c_uint,
    pub alias: u64,
    pub padding: u64,
}

/// `CUdevResource`, with its only member.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Resource {
    pub kind: c_uint,
    pub padding: [u8; 92],
    pub multiprocessors: c_uint,
    pub rest: [c_uint; 11],
}

/// `CUDA_BATCH_MEM_OP_NODE_PARAMS`. The array is a plain address where the driver describes a node to the program.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BatchNode<Array = In<ValueOperation>> {
    pub context: Handle,
    pub count: c_uint,
    pub operations: Array,
    pub flags: c_uint,
}

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct MemoryProperties {
    pub kind: c_uint,
    pub handle_types: c_uint,
    pub location: MemLocation,
    pub win32_meta_data: usize,
    pub compression: u8,
    pub is_for_rdma: u8,
    pub usage: u16,
    pub reserved: [u8; 4],
}

/// `CUmemPoolProps`, as far as it is read here. Newer versions of CUDA use some of the reserved bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PoolProperties {
    pub alloc_type: c_uint,
    pub handle_types: c_uint,
    pub location: MemLocation,
    pub win32_security_attributes: usize,
    pub max_size: usize,
    pub reserved: [u8; 56],
}

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchConfigEx {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_mem_bytes: c_uint,
    pub stream: Handle,
    pub attributes: In<LaunchAttribute>,
    pub attribute_count: c_uint,
}

/// `CUlaunchAttribute`: a number that selects a member of the 64-byte union after it.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct LaunchAttribute {
    pub id: c_uint,
    pub pad: [u8; 4],
    pub value: [c_uint; 16],
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::size_of;

    #[test]
    fn structures_have_the_sizes_of_the_c_api() {
        use cudarc::driver::sys;
        assert_eq!(size_of::<Memcpy2D>(), size_of::<sys::CUDA_MEMCPY2D>());
        assert_eq!(size_of::<Memcpy3D>(), size_of::<sys::CUDA_MEMCPY3D>());
        // What the bindings for CUDA 12.0 do not have yet is compared with cuda.h of CUDA 12.9.
        assert_eq!(size_of::<Resource>(), 144);
        assert_eq!(size_of::<ValueOperation>(), size_of::<sys::CUstreamBatchMemOpParams>());
        assert_eq!(size_of::<BatchNode>(), size_of::<sys::CUDA_BATCH_MEM_OP_NODE_PARAMS>());
        assert_eq!(size_of::<MemoryProperties>(), size_of::<sys::CUmemAllocationProp>());
        assert_eq!(size_of::<PoolProperties>(), size_of::<sys::CUmemPoolProps>());
        assert_eq!(size_of::<LaunchConfigEx>(), size_of::<sys::CUlaunchConfig>());
        assert_eq!(size_of::<LaunchAttribute>(), size_of::<sys::CUlaunchAttribute>());
        assert_eq!(size_of::<MemLocation>(), size_of::<sys::CUmemLocation>());
        assert_eq!(size_of::<MemAccess>(), size_of::<sys::CUmemAccessDesc>());
        assert_eq!(size_of::<DeviceProperties>(), size_of::<sys::CUdevprop>());
        assert_eq!(size_of::<Uuid>(), size_of::<sys::CUuuid>());
    }
}

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayDescriptor {
    pub width: usize,
    pub height: usize,
    pub format: c_uint,
    pub channels: c_uint,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Array3DDescriptor {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: c_uint,
    pub channels: c_uint,
    pub flags: c_uint,
}

/// `CUDA_RESOURCE_DESC`: what a resource is, and a union that the kind decides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ResourceDescriptor {
    pub kind: c_uint,
    /// An array; or an address, then a format and a number of channels in one word, then up to three sizes.
    union: [u64; 16],
    pub flags: c_uint,
}

impl ResourceDescriptor {
    /// Describes an array, or a mipmapped array.
    pub fn of_array(kind: c_uint, array: Handle) -> Self {
        let mut union = [0; 16];
        union[0] = array.number();
        Self { kind, union, flags: 0 }
    }

    /// Describes memory as texels of a format, with up to three sizes.
    pub fn of_memory(kind: c_uint, address: u64, (format, channels): (c_uint, c_uint), sizes: &[usize]) -> Self {
        let mut union = [0; 16];
        (union[0], union[1]) = (address, u64::from(format) | u64::from(channels) << 32);
        for (size, given) in union[2..].iter_mut().zip(sizes) {
            *size = *given as u64;
        }
        Self { kind, union, flags: 0 }
    }

    /// Returns the array of an array.
    pub fn array(&self) -> Handle {
        Handle::from_number(self.union[0])
    }

    /// Returns the address, the format, and the number of channels of memory.
    pub fn memory(&self) -> (u64, c_uint, c_uint) {
        (self.union[0], self.union[1] as c_uint, (self.union[1] >> 32) as c_uint)
    }

    /// Returns the bytes of linear memory.
    pub fn linear_bytes(&self) -> usize {
        self.union[2] as usize
    }

    /// Returns width and height in texels, and the pitch in bytes.
    pub fn sides(&self) -> [usize; 3] {
        [self.union[2], self.union[3], self.union[4]].map(|side| side as usize)
    }
}

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TextureDescriptor {
    pub addressing: [c_uint; 3],
    pub filter: c_uint,
    pub flags: c_uint,
    pub max_anisotropy: c_uint,
    pub mipmap_filter: c_uint,
    pub mipmap_level_bias: f32,
    pub mipmap_levels: [f32; 2],
    pub border_color: [f32; 4],
    pub reserved: [c_int; 12],
}

/// `CUDA_RESOURCE_VIEW_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ResourceViewDescriptor {
    pub format: c_uint,
    pub extent: [usize; 3],
    pub levels: [c_uint; 2],
    pub layers: [c_uint; 2],
    pub reserved: [c_uint; 16],
}
