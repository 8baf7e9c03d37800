//! Graphs and stream capture, which this driver does not have: an operation has already run by the time its call returns, so nothing is
//! left to capture. Asking whether a stream is capturing works, because libraries ask before they do anything else.

use std::cell::Cell;
use std::ffi::c_void;

use super::context;
use super::stream;
use crate::driver::driver;
use crate::export::exports;
use crate::ffi::{In, Out};
use crate::handles::Handle;
use crate::result::{CuResult, Result};

/// `CU_STREAM_CAPTURE_STATUS_NONE`
const NOT_CAPTURING: u32 = 0;
/// The highest value of `CUstreamCaptureMode`.
const LAST_CAPTURE_MODE: u32 = 2;

thread_local! {
    /// What this thread may do while a stream captures. It is only stored and returned. CUDA defines it per thread.
    static CAPTURE_MODE: Cell<u32> = const { Cell::new(0) };
}

/// Refuses to make a graph.
fn refuse() -> Result<()> {
    context::current()?;
    Err(CuResult::NOT_SUPPORTED
        .because("graphs and stream capture are not supported by the simulator; launch the kernels on a stream"))
}

/// Refuses a graph: none exists, so the handle is bad.
fn no_graph() -> Result<()> {
    driver()?;
    CuResult::INVALID_VALUE.err()
}

fn put_status(stream: Handle, status: Out<u32>) -> Result<()> {
    driver()?;
    stream::context_of(stream)?.check()?;
    status.put(NOT_CAPTURING)
}

exports! {
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

    /// No stream is capturing, so none can end its capture.
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
