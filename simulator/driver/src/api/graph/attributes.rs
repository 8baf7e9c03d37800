//! Attributes of kernel nodes. Most only affect speed: they are stored and returned.

use simt::Dim3;

use crate::api::attribute::{self, CLUSTER_DIMENSION, COOPERATIVE, SYNCHRONIZATION_POLICY, Value};
use crate::api::kernel::Launch;
use crate::api::operation::{NodeRef, Operation};
use crate::api::prelude::*;

/// Calls `look` with the launch of a kernel node.
fn with_launch<T>(node: Handle, look: impl FnOnce(&mut Launch) -> Result<T>) -> Result<T> {
    find::<NodeRef>(node)?.with(|node| match &mut node.operation {
        Operation::Kernel(launch) => look(launch),
        _ => CuResult::INVALID_VALUE.err(),
    })
}

fn value_of(launch: &Launch, attribute: u32) -> Value {
    let mut value = launch.attributes.get(&attribute).copied().unwrap_or([0; 64]);
    if let (CLUSTER_DIMENSION, Some(cluster)) = (attribute, launch.shape.cluster) {
        for (place, extent) in value.chunks_exact_mut(4).zip([cluster.x, cluster.y, cluster.z]) {
            place.copy_from_slice(&extent.to_ne_bytes());
        }
    }
    if attribute == COOPERATIVE {
        value[0] = u8::from(launch.shape.is_cooperative);
    }
    value
}

fn set(launch: &mut Launch, attribute: u32, value: Value) -> Result<()> {
    let is_zero = value == [0; 64];
    match attribute {
        COOPERATIVE => return launch.set_groups(driver()?, !is_zero, launch.shape.cluster),
        CLUSTER_DIMENSION => {
            let extent = |at: usize| value[at..at + 4].try_into().map_or(0, u32::from_ne_bytes);
            let cluster = (!is_zero).then(|| Dim3::new(extent(0), extent(4), extent(8)));
            launch.set_groups(driver()?, launch.shape.is_cooperative, cluster)?;
        }
        _ => {}
    }
    launch.attributes.insert(attribute, value);
    Ok(())
}

exports! {
    fn cuGraphKernelNodeGetAttribute(node: Handle, attribute: u32, value: HostBytes) {
        let found = with_launch(node, |launch| Ok(value_of(launch, attribute)))?;
        refuse!(INVALID_VALUE if attribute == SYNCHRONIZATION_POLICY);
        attribute::write(attribute, value, &found)
    }

    fn cuGraphKernelNodeSetAttribute(node: Handle, attribute: u32, value: HostBytes) {
        refuse!(INVALID_VALUE if attribute == SYNCHRONIZATION_POLICY);
        let given = attribute::read(attribute, value)?;
        with_launch(node, |launch| set(launch, attribute, given))
    }

    fn cuGraphKernelNodeCopyAttributes(target: Handle, source: Handle) {
        let (shape, attributes) = with_launch(source, |launch| Ok((launch.shape, launch.attributes.clone())))?;
        with_launch(target, |launch| {
            launch.set_groups(driver()?, shape.is_cooperative, shape.cluster)?;
            launch.attributes = attributes;
            Ok(())
        })
    }
}
