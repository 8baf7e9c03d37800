//! Green contexts: names for the primary context, with a share of the multiprocessors each. The share is remembered and returned. It does
//! not change where blocks run.

use super::prelude::*;
use super::primary;
use super::stream;
use crate::ffi::Resource;

/// `CU_DEV_RESOURCE_TYPE_SM`
const MULTIPROCESSORS: u32 = 1;
/// `CU_GREEN_CTX_DEFAULT_STREAM`, which must be given.
const DEFAULT_STREAM: u32 = 1;
/// `CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING` and `_MAX_POTENTIAL_CLUSTER_SIZE`
const IGNORE_COSCHEDULING: u32 = 1;
const SPLIT_FLAGS: u32 = IGNORE_COSCHEDULING | 2;

pub struct Green {
    handle: Handle,
    /// The primary context's other name, which the program makes current.
    alias: Handle,
    multiprocessors: u32,
}

/// Resources for a green context, put together.
struct Description {
    multiprocessors: u32,
}

kind!(Green: INVALID_HANDLE);
kind!(Description: INVALID_VALUE);

fn resource(multiprocessors: u32) -> Resource {
    Resource { kind: MULTIPROCESSORS, padding: [0; 92], multiprocessors, rest: [0; 11] }
}

/// Writes the multiprocessors of something, the only kind of resource here.
fn put(out: Out<Resource>, kind: u32, multiprocessors: u32) -> Result<()> {
    out.check()?;
    refuse!(INVALID_RESOURCE_TYPE if kind != MULTIPROCESSORS);
    out.put(resource(multiprocessors))
}

fn count(resource: &Resource) -> Result<u32> {
    if resource.kind == MULTIPROCESSORS { Ok(resource.multiprocessors) } else { CuResult::INVALID_RESOURCE_TYPE.err() }
}

/// Returns the least number of multiprocessors of a share, and its unit.
fn granularity(driver: &Driver, flags: u32) -> (u32, u32) {
    match driver.profile.compute_capability.0 {
        ..=6 => (1, 1),
        _ if flags & IGNORE_COSCHEDULING != 0 => (2, 2),
        7 => (2, 2),
        8 => (4, 2),
        _ => (8, 8),
    }
}

/// Returns the green context whose other name this handle is.
fn of_alias(driver: &Driver, alias: Handle) -> Option<Arc<Green>> {
    let handle = driver.green_contexts.lock().iter().find(|(other, _)| *other == alias).map(|(_, handle)| *handle)?;
    driver.handles.get(handle).ok()
}

exports! {
    fn cuDeviceGetDevResource(device: DeviceId, resource: Out<Resource>, kind: u32) =>
        put(resource, kind, driver_of(device)?.profile.multiprocessors);

    fn cuCtxGetDevResource(context: Handle, resource: Out<Resource>, kind: u32) {
        let driver = driver()?;
        find::<Context>(context)?;
        let share = of_alias(driver, context).map_or(driver.profile.multiprocessors, |green| green.multiprocessors);
        put(resource, kind, share)
    }

    fn cuGreenCtxGetDevResource(green: Handle, resource: Out<Resource>, kind: u32) =>
        put(resource, kind, find::<Green>(green)?.multiprocessors);

    fn cuDevSmResourceSplitByCount(
        result: Out<Resource>, groups: Out<u32>, input: In<Resource>, remaining: Out<Resource>, flags: u32, least: u32,
    ) {
        let driver = driver()?;
        groups.check()?;
        let all = count(&input.read()?)?;
        refuse!(INVALID_VALUE if flags & !SPLIT_FLAGS != 0 || least > all);
        let (minimum, multiple) = granularity(driver, flags);
        let size = least.max(minimum).next_multiple_of(multiple);
        refuse!(INVALID_RESOURCE_CONFIGURATION if size > all);
        let possible = all / size;
        if result.is_null() {
            return groups.put(possible);
        }
        let made = groups.as_in().read()?.min(possible);
        (0..made as usize).try_for_each(|index| result.nth(index).put(resource(size)))?;
        groups.put(made)?;
        remaining.put_if_asked(resource(all - made * size));
        Ok(())
    }

    fn cuDevResourceGenerateDesc(description: Out<Handle>, resources: In<Resource>, count: u32) {
        let driver = driver()?;
        description.check()?;
        refuse!(INVALID_VALUE if count == 0);
        let shares = resources.read_all(count as usize)?.iter().map(self::count).collect::<Result<Vec<u32>>>()?;
        let handle = driver.handles.add(Description { multiprocessors: shares.into_iter().fold(0, u32::saturating_add) });
        description.put(handle)
    }

    /// Retains the primary context.
    fn cuGreenCtxCreate(green: Out<Handle>, description: Handle, device: DeviceId, flags: u32) {
        let driver = driver_of(device)?;
        green.check()?;
        refuse!(INVALID_VALUE if flags != DEFAULT_STREAM);
        let multiprocessors = driver.handles.get::<Description>(description)?.multiprocessors;
        refuse!(INVALID_RESOURCE_CONFIGURATION if multiprocessors == 0 || multiprocessors > driver.profile.multiprocessors);
        let primary = primary::retain(driver)?;
        let alias = driver.handles.reserve();
        driver.handles.insert_alias(alias, &primary, Some(primary.handle));
        let made = driver.handles.insert(|handle| Green { handle, alias, multiprocessors });
        driver.green_contexts.lock().push((alias, made.handle));
        green.put(made.handle)
    }

    fn cuGreenCtxDestroy(green: Handle) {
        let driver = driver()?;
        let removed = driver.handles.remove::<Green>(green)?;
        driver.green_contexts.lock().retain(|(alias, _)| *alias != removed.alias);
        // It is gone already if the primary context was reset.
        let _ = driver.handles.remove::<Context>(removed.alias);
        primary::release(DEVICE)
    }

    fn cuGreenCtxGetId(green: Handle, id: Out<u64>) => id.put(find::<Green>(green)?.handle.number());

    fn cuCtxFromGreenCtx(context: Out<Handle>, green: Handle) => context.put(find::<Green>(green)?.alias);

    fn cuGreenCtxStreamCreate(stream: Out<Handle>, green: Handle, flags: u32, priority: i32) {
        let driver = driver()?;
        stream.check()?;
        let green = find::<Green>(green)?;
        refuse!(INVALID_VALUE if flags != stream::NON_BLOCKING);
        stream.put(stream::make(driver, driver.handles.get(green.alias)?, green.alias, flags, priority))
    }

    fn cuStreamGetGreenCtx(stream: Handle, green: Out<Handle>) =>
        green.put(of_alias(driver()?, stream::made_in(stream)?).map_or(Handle::NULL, |green| green.handle));

    fn cuStreamGetCtx_v2(stream: Handle, context: Out<Handle>, green: Out<Handle>) also "_ptsz" {
        let driver = driver()?;
        context.check()?;
        green.check()?;
        let of_stream = stream::usable(stream)?.handle;
        let found = of_alias(driver, stream::made_in(stream)?);
        let (ordinary, green_one) = found.map_or((of_stream, Handle::NULL), |green| (Handle::NULL, green.handle));
        context.put(ordinary)?;
        green.put(green_one)
    }

    fn cuGreenCtxRecordEvent(green: Handle, event: Handle) => stream::record_context(find::<Green>(green)?.alias, event);
    fn cuGreenCtxWaitEvent(green: Handle, event: Handle) => stream::wait_in_context(find::<Green>(green)?.alias, event);
    fn cuCtxRecordEvent(context: Handle, event: Handle) => stream::record_context(context, event);
    fn cuCtxWaitEvent(context: Handle, event: Handle) => stream::wait_in_context(context, event);
}
