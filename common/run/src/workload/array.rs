//! An input array in the memory of a device, whatever its numbers are.

use bytemuck::{Pod, cast_slice, pod_collect_to_vec};
use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr};

use crate::{Gpu, Result};

/// An array in the memory of a device, as bytes.
pub trait DeviceArray {
    /// Returns its address, valid on the stream where we enqueue everything.
    fn address(&self, gpu: &Gpu) -> u64;

    /// Returns true if it holds these bytes.
    fn holds(&self, gpu: &Gpu, bytes: &[u8]) -> Result<bool>;

    /// Overwrites it.
    fn write(&mut self, gpu: &Gpu, bytes: &[u8]) -> Result<()>;
}

impl<T: DeviceRepr + Pod> DeviceArray for CudaSlice<T> {
    fn address(&self, gpu: &Gpu) -> u64 {
        self.device_ptr(&gpu.stream).0
    }

    fn holds(&self, gpu: &Gpu, bytes: &[u8]) -> Result<bool> {
        Ok(cast_slice::<T, u8>(&gpu.stream.clone_dtoh(self)?) == bytes)
    }

    fn write(&mut self, gpu: &Gpu, bytes: &[u8]) -> Result<()> {
        Ok(gpu.stream.memcpy_htod(&pod_collect_to_vec::<u8, T>(bytes), self)?)
    }
}

/// Implements what a workload says of its buffers: these fields are the inputs, and `output` is the output.
macro_rules! arrays {
    ($($input:ident),*) => {
        fn output(buffers: &mut Buffers) -> &mut $crate::guard::Guarded {
            &mut buffers.output
        }

        fn input_arrays(buffers: &mut Buffers) -> Vec<&mut dyn $crate::workload::array::DeviceArray> {
            vec![$(&mut buffers.$input),*]
        }
    };
}

pub(super) use arrays;
