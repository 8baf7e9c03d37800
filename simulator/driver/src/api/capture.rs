//! Stream capture: the functions that begin and end one, and that ask about one. [`crate::captures`] has the rules, and [`stream::submit`]
//! makes the nodes.

use super::graph::check_edge_data;
use super::operation::Graph;
use super::prelude::*;
use super::stream;
use crate::captures::{self, Ended, Mode, Start, Status};
use crate::ffi::EdgeData;
use crate::topology::NodeId;

/// `CU_STREAM_CAPTURE_STATUS_NONE`, `_ACTIVE` and `_INVALIDATED`
const NOT_CAPTURING: u32 = 0;
const ACTIVE: u32 = 1;
const INVALIDATED: u32 = 2;

/// `CU_STREAM_ADD_CAPTURE_DEPENDENCIES` and `CU_STREAM_SET_CAPTURE_DEPENDENCIES`
const ADD: u32 = 0;
const SET: u32 = 1;

/// The plain edges that [`put_info`] shows the program.
static PLAIN_EDGES: [EdgeData; 1024] = [EdgeData { from_port: 0, to_port: 0, edge_type: 0, reserved: [0; 5] }; 1024];

/// Begins a capture. Its nodes go to an existing graph, after some of its nodes, or to a new one.
fn begin(stream: Handle, mode: u32, target: Option<(Handle, Vec<NodeId>)>) -> Result<()> {
    let (driver, _) = context::current()?;
    refuse!(STREAM_CAPTURE_UNSUPPORTED if stream::is_legacy(stream));
    let key = stream::key(stream)?;
    stream::usable(stream)?;
    let mode = Mode::from_number(mode)?;
    let owns_graph = target.is_none();
    let (graph, dependencies) = target.unwrap_or_else(|| (Graph::create(driver).handle, Vec::new()));
    let begun = driver.captures.lock().begin(Start {
        stream: key,
        is_blocking: stream::is_blocking(stream)?,
        mode,
        graph,
        owns_graph,
        dependencies,
    });
    begun.inspect_err(|_| discard(driver, graph, owns_graph))
}

/// Destroys a graph that was made for a capture.
fn discard(driver: &Driver, graph: Handle, owns_graph: bool) {
    if owns_graph && let Ok(graph) = find::<Graph>(graph) {
        graph.unregister(driver);
    }
}

/// Returns what is known about a stream, if it is capturing. The legacy stream cannot be asked while it would have to wait for a capture.
fn status_of(stream: Handle) -> Result<Option<Status>> {
    let driver = driver()?;
    stream::context_of(stream)?.check()?;
    let key = stream::key(stream)?;
    refuse!(STREAM_CAPTURE_IMPLICIT if stream::is_legacy(stream) && driver.captures.lock().blocks_legacy(key.context));
    Ok(driver.captures.lock().status(key))
}

fn number_of(status: Option<&Status>) -> u32 {
    match status {
        None => NOT_CAPTURING,
        Some(status) if status.invalidated => INVALIDATED,
        Some(_) => ACTIVE,
    }
}

/// Where the details of a capture go.
struct Info {
    id: Out<u64>,
    graph: Out<Handle>,
    dependencies: Out<*const Handle>,
    data: Out<*const EdgeData>,
    count: Out<usize>,
}

fn put_info(stream: Handle, out: Out<u32>, info: &Info) -> Result<()> {
    let status = status_of(stream)?;
    out.put(number_of(status.as_ref()))?;
    let Some(status) = status.filter(|status| !status.invalidated) else { return Ok(()) };
    info.id.put_if_asked(status.sequence);
    info.graph.put_if_asked(status.graph);
    info.count.put_if_asked(status.dependencies.len());
    if !info.dependencies.is_null() {
        let handles = find::<Graph>(status.graph)?.handles(&status.dependencies);
        info.dependencies.put(driver()?.captures.lock().list(stream::key(stream)?, handles))?;
    }
    if !info.data.is_null() {
        refuse!(
            NOT_SUPPORTED if status.dependencies.len() > PLAIN_EDGES.len(),
            "a stream that depends on so many nodes has no data of edges; do not ask for it"
        );
        info.data.put(PLAIN_EDGES.as_ptr())?;
    }
    Ok(())
}

fn update_dependencies(stream: Handle, nodes: In<Handle>, count: usize, flags: u32) -> Result<()> {
    let driver = driver()?;
    let status = status_of(stream)?.ok_or(CuResult::ILLEGAL_STATE)?;
    refuse!(STREAM_CAPTURE_INVALIDATED if status.invalidated);
    let mut dependencies = match flags {
        ADD => status.dependencies,
        SET => Vec::new(),
        _ => refuse!(INVALID_VALUE),
    };
    let graph = find::<Graph>(status.graph)?;
    for id in graph.ids(&nodes.read_all(count)?)? {
        if !dependencies.contains(&id) {
            dependencies.push(id);
        }
    }
    driver.captures.lock().set_dependencies(stream::key(stream)?, dependencies)
}

exports! {
    fn cuStreamIsCapturing(stream: Handle, status: Out<u32>) also "_ptsz" => status.put(number_of(status_of(stream)?.as_ref()));
    fn cuStreamGetCaptureInfo(stream: Handle, status: Out<u32>, id: Out<u64>) also "_ptsz" =>
        put_info(stream, status, &Info { id, graph: Out::NULL, dependencies: Out::NULL, data: Out::NULL, count: Out::NULL });

    fn cuStreamGetCaptureInfo_v2(
        stream: Handle, status: Out<u32>, id: Out<u64>, graph: Out<Handle>, dependencies: Out<*const Handle>, count: Out<usize>,
    ) also "_ptsz" => put_info(stream, status, &Info { id, graph, dependencies, data: Out::NULL, count });

    fn cuStreamGetCaptureInfo_v3(
        stream: Handle, status: Out<u32>, id: Out<u64>, graph: Out<Handle>, dependencies: Out<*const Handle>,
        data: Out<*const EdgeData>, count: Out<usize>,
    ) also "_ptsz" => put_info(stream, status, &Info { id, graph, dependencies, data, count });

    fn cuThreadExchangeStreamCaptureMode(mode: Out<u32>) {
        driver()?;
        let new = Mode::from_number(mode.as_in().read()?)?;
        mode.put(captures::exchange_thread_mode(new) as u32)
    }

    fn cuStreamBeginCapture_v2 | cuStreamBeginCapture(stream: Handle, mode: u32) also "_ptsz" => begin(stream, mode, None);

    fn cuStreamBeginCaptureToGraph(
        stream: Handle, graph: Handle, dependencies: In<Handle>, data: In<EdgeData>, count: usize, mode: u32,
    ) also "_ptsz" {
        check_edge_data(data, count)?;
        let target = find::<Graph>(graph)?;
        let dependencies = target.ids(&dependencies.read_all(count)?)?;
        begin(stream, mode, Some((graph, dependencies)))
    }

    fn cuStreamEndCapture(stream: Handle, out: Out<Handle>) also "_ptsz" {
        let (driver, _) = context::current()?;
        let key = stream::key(stream)?;
        out.put_if_asked(Handle::NULL);
        let unjoined = |graph, others: &[NodeId], own: &[NodeId]| {
            find::<Graph>(graph).is_ok_and(|graph| {
                let nodes = graph.nodes.lock();
                let joined = nodes.ancestors(own);
                // A node that the program removed from the graph needs no joining.
                others.iter().any(|&id| nodes.get(id).is_some() && !joined.contains(&id))
            })
        };
        let Ended { graph, owns_graph, failure } = driver.captures.lock().end(key, unjoined)?;
        match failure {
            Some(failure) => {
                discard(driver, graph, owns_graph);
                if failure == CuResult::STREAM_CAPTURE_UNJOINED {
                    let reason = "a stream that joined the capture has work that this stream does not wait for; record an event there and wait for it";
                    return Err(failure.because(reason));
                }
                failure.err()
            }
            None => {
                out.put_if_asked(graph);
                Ok(())
            }
        }
    }

    fn cuStreamUpdateCaptureDependencies(stream: Handle, nodes: In<Handle>, count: usize, flags: u32) also "_ptsz" =>
        update_dependencies(stream, nodes, count, flags);
    fn cuStreamUpdateCaptureDependencies_v2(stream: Handle, nodes: In<Handle>, data: In<EdgeData>, count: usize, flags: u32) also "_ptsz" =>
        check_edge_data(data, count).and_then(|()| update_dependencies(stream, nodes, count, flags));
}
