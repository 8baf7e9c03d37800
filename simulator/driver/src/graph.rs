//! Graphs and the capture of streams into graphs, which this driver does not have: what could be captured has been executed by the time
//! the call returns. Asking whether a stream captures works, because libraries ask before they do anything else.

use std::cell::Cell;
use std::ffi::c_void;

use crate::context;
use crate::error::{CuResult, Result};
use crate::ffi::{Handle, In, Out};
use crate::state::driver;
use crate::stream;

/// `CU_STREAM_CAPTURE_STATUS_NONE`
const NOT_CAPTURING: u32 = 0;
/// The highest value of `CUstreamCaptureMode`.
const LAST_CAPTURE_MODE: u32 = 2;

thread_local! {
    /// What this thread may do while a stream captures: kept and given back.
    static CAPTURE_MODE: Cell<u32> = const { Cell::new(0) };
}

/// Refuses what would make a graph.
fn refuse() -> Result<()> {
    context::current()?;
    Err(CuResult::NOT_SUPPORTED.because("graphs and the capture of streams are not supported"))
}

/// Refuses what takes a graph: there is none, so no handle can be one.
fn no_graph() -> Result<()> {
    driver()?;
    CuResult::INVALID_VALUE.err()
}

fn put_status(stream: Handle, status: Out<u32>) -> Result<()> {
    driver()?;
    stream::context_of(stream)?.check()?;
    status.put(NOT_CAPTURING)
}

crate::exports! {
    fn cuStreamIsCapturing(stream: Handle, status: Out<u32>) {
        put_status(stream, status)
    }

    fn cuStreamGetCaptureInfo(stream: Handle, status: Out<u32>, _id: Out<u64>) {
        put_status(stream, status)
    }

    fn cuStreamGetCaptureInfo_v2(
        stream: Handle,
        status: Out<u32>,
        _id: Out<u64>,
        _graph: Out<Handle>,
        _dependencies: Out<In<Handle>>,
        _dependency_count: Out<usize>,
    ) {
        put_status(stream, status)
    }

    fn cuThreadExchangeStreamCaptureMode(mode: Out<u32>) {
        driver()?;
        let new = mode.as_in().read()?;
        if new > LAST_CAPTURE_MODE {
            return CuResult::INVALID_VALUE.err();
        }
        mode.put(CAPTURE_MODE.replace(new))
    }

    fn cuStreamBeginCapture_v2(stream: Handle, _mode: u32) {
        if stream::is_legacy(stream) {
            context::current()?;
            return CuResult::STREAM_CAPTURE_UNSUPPORTED.err();
        }
        stream::any(stream)?;
        refuse()
    }

    /// No stream captures, so none can end its capture.
    fn cuStreamEndCapture(stream: Handle, graph: Out<Handle>) {
        context::current()?;
        stream::any(stream)?;
        graph.put_if_asked(Handle::NULL);
        CuResult::ILLEGAL_STATE.err()
    }

    fn cuGraphCreate(_graph: Out<Handle>, _flags: u32) {
        refuse()
    }

    fn cuGraphDestroy(_graph: Handle) {
        no_graph()
    }

    fn cuGraphInstantiateWithFlags(_executable: Out<Handle>, _graph: Handle, _flags: u64) {
        no_graph()
    }

    fn cuGraphInstantiateWithParams(_executable: Out<Handle>, _graph: Handle, _parameters: Out<c_void>) {
        no_graph()
    }

    fn cuGraphExecDestroy(_executable: Handle) {
        no_graph()
    }

    fn cuGraphUpload(_executable: Handle, _stream: Handle) {
        no_graph()
    }

    fn cuGraphLaunch(_executable: Handle, _stream: Handle) {
        no_graph()
    }

    fn cuGraphClone(_clone: Out<Handle>, _graph: Handle) {
        no_graph()
    }
}
