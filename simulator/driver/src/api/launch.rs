//! Launching kernels.
//!
//! A launch returns what is wrong with the launch itself. It does not return what the kernel does wrong: by then the launch has succeeded,
//! and the fault sticks to the [context](super::context).

use simt::Dim3;

use super::attribute::{self, *};
use super::function::Function;
use super::kernel::{Launch, Shape, dim, pack, pack_each};
use super::operation::Operation;
use super::prelude::*;
use super::{library, stream};
use crate::ffi::{LaunchAttribute, LaunchConfigEx};

/// Launches a kernel in a stream. `pack` returns its parameters, laid out as the kernel expects them.
pub fn launch(handle: Handle, shape: Shape, stream: Handle, pack: impl FnOnce(&Function) -> Result<Vec<u8>>) -> Result<()> {
    let (driver, context) = context::current()?;
    let function = library::function(handle)?;
    refuse!(INVALID_HANDLE if stream::context_of(stream)?.handle != context.handle || function.context.handle != context.handle);
    let mut launch = Launch::new(driver, handle, function, shape, pack)?;
    if stream::is_capturing(stream)? {
        launch.set_priority(stream::priority(stream)?);
    } else {
        launch.textures = Some(driver.textures.lock().clone());
    }
    stream::submit(stream, Operation::Kernel(launch))
}

/// Reads the shape of a launch, and ignores attributes without effect here. A launch with programmatic stream serialization may begin
/// before the one in front of it has ended; here it never does, but the search for races between streams knows that it may.
pub fn read_shape(config: &LaunchConfigEx) -> Result<Shape> {
    let (mut is_cooperative, mut begins_early, mut cluster, mut preferred) = (false, false, None, None);
    for LaunchAttribute { id, value, .. } in config.attributes.read_all(config.attribute_count as usize)? {
        let unsupported = |what: &str| {
            Err(CuResult::NOT_SUPPORTED.because(format!("{what} are not supported by the simulator; launch without them")))
        };
        match id {
            COOPERATIVE if value[0] != 0 => is_cooperative = true,
            PROGRAMMATIC_STREAM => begins_early = value[0] != 0,
            // Zeros ask for nothing.
            CLUSTER_DIMENSION if value[..3] != [0; 3] => cluster = Some(dim([value[0], value[1], value[2]])),
            // A larger size that the GPU may take instead, and need not.
            PREFERRED_CLUSTER_DIMENSION => preferred = Some(dim([value[0], value[1], value[2]])),
            PROGRAMMATIC_EVENT | COMPLETION_EVENT => return unsupported("events inside a launch"),
            DEVICE_UPDATABLE => return unsupported("nodes that the device updates"),
            // A policy of streams, not an attribute of launches.
            SYNCHRONIZATION_POLICY => refuse!(INVALID_VALUE),
            0..=attribute::LAST => {}
            id => return Err(CuResult::INVALID_VALUE.because(format!("launches have no attribute {id}"))),
        }
    }
    // A preference must be a multiple of the size that it replaces.
    let is_multiple = |preferred: Dim3, of: Dim3| {
        let extents = [(preferred.x, of.x), (preferred.y, of.y), (preferred.z, of.z)];
        extents.into_iter().all(|(preferred, of)| preferred > 0 && preferred.is_multiple_of(of))
    };
    match (preferred, cluster) {
        (Some(preferred), Some(cluster)) if is_multiple(preferred, cluster) => {}
        (Some(_), _) => return Err(CuResult::INVALID_CLUSTER_SIZE.because("a preferred cluster must be a multiple of the cluster")),
        (None, _) => {}
    }
    Ok(Shape { is_cooperative, cluster, begins_early, ..Shape::of(config.grid, config.block, config.shared_mem_bytes) })
}

exports! {
    fn cuLaunchKernel(
        function: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        dynamic_shared_bytes: u32, stream: Handle, values: In<HostBytes>, extra: In<HostBytes>,
    ) also "_ptsz" {
        let shape = Shape::of([grid_x, grid_y, grid_z], [block_x, block_y, block_z], dynamic_shared_bytes);
        launch(function, shape, stream, |function| pack(function, values, extra))
    }

    fn cuLaunchKernelEx(config: In<LaunchConfigEx>, function: Handle, values: In<HostBytes>, extra: In<HostBytes>) also "_ptsz" {
        context::current()?;
        let config = config.read()?;
        launch(function, read_shape(&config)?, config.stream, |function| pack(function, values, extra))
    }

    fn cuLaunchCooperativeKernel(
        function: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        dynamic_shared_bytes: u32, stream: Handle, values: In<HostBytes>,
    ) also "_ptsz" {
        let shape = Shape::of([grid_x, grid_y, grid_z], [block_x, block_y, block_z], dynamic_shared_bytes);
        launch(function, Shape { is_cooperative: true, ..shape }, stream, |function| pack_each(function, values))
    }

    fn cuLaunchCooperativeKernelMultiDevice(_launches: Out<c_void>, _count: u32, _flags: u32) =>
        context::current().and(Err(CuResult::NOT_SUPPORTED.because("the simulator has one device; launch on that one")));
}
