//! Stream capture: which streams are captured, into which graph, and what a thread may do meanwhile.
//!
//! A *capture sequence* begins in one stream. Other streams join it when they wait for an event of the sequence. This module has the rules;
//! it does not know what is in the graph.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::thread::{self, ThreadId};

use crate::handles::Handle;
use crate::result::{CuResult, Result, refuse};
use crate::topology::NodeId;

/// A stream, by what tells it from all others: a handle, or the context and the thread for the stream of each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamKey {
    pub handle: Handle,
    pub context: Handle,
    /// Only for the stream that each thread has.
    pub thread: Option<ThreadId>,
}

/// The calls that a capture forbids, with the numbers of `CUstreamCaptureMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Global,
    ThreadLocal,
    Relaxed,
}

impl Mode {
    pub fn from_number(number: u32) -> Result<Self> {
        match number {
            0 => Ok(Mode::Global),
            1 => Ok(Mode::ThreadLocal),
            2 => Ok(Mode::Relaxed),
            _ => CuResult::INVALID_VALUE.err(),
        }
    }
}

thread_local! {
    /// How this thread treats captures. CUDA defines it per thread.
    static THREAD_MODE: Cell<Mode> = const { Cell::new(Mode::Global) };
}

/// Changes how this thread treats captures, and returns how it did before.
pub fn exchange_thread_mode(mode: Mode) -> Mode {
    THREAD_MODE.replace(mode)
}

/// The nodes that an event captures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    pub sequence: u64,
    pub nodes: Vec<NodeId>,
}

/// The answers to a program that asks about a capturing stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub sequence: u64,
    pub invalidated: bool,
    pub graph: Handle,
    /// The nodes that the next captured node will depend on.
    pub dependencies: Vec<NodeId>,
}

pub struct Start {
    pub stream: StreamKey,
    /// True if the legacy stream waits for this stream.
    pub is_blocking: bool,
    pub mode: Mode,
    pub graph: Handle,
    /// True if the graph goes if the capture fails, because it was made for it.
    pub owns_graph: bool,
    pub dependencies: Vec<NodeId>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    pub graph: Handle,
    pub owns_graph: bool,
    /// Why there is no usable graph.
    pub failure: Option<CuResult>,
}

#[derive(Default)]
pub struct Captures {
    begun: u64,
    sequences: BTreeMap<u64, Sequence>,
    members: HashMap<StreamKey, Member>,
}

struct Sequence {
    start: Start,
    invalidated: bool,
    thread: ThreadId,
}

/// A stream that is being captured.
struct Member {
    sequence: u64,
    is_blocking: bool,
    dependencies: Vec<NodeId>,
    /// The dependencies as last shown to the program. They stay where they are until the program asks again.
    listed: Vec<Handle>,
}

impl Captures {
    pub fn begin(&mut self, start: Start) -> Result<()> {
        let Start { stream, is_blocking, .. } = start;
        refuse!(ILLEGAL_STATE if self.members.contains_key(&stream));
        self.begun += 1;
        let id = self.begun;
        let dependencies = start.dependencies.clone();
        self.members.insert(stream, Member { sequence: id, is_blocking, dependencies, listed: Vec::new() });
        self.sequences.insert(id, Sequence { start, invalidated: false, thread: thread::current().id() });
        Ok(())
    }

    /// Ends the sequence that began in this stream. `unjoined` says whether some of the first nodes do not run before any of the second.
    pub fn end(&mut self, stream: StreamKey, unjoined: impl FnOnce(Handle, &[NodeId], &[NodeId]) -> bool) -> Result<Ended> {
        let member = self.members.get(&stream).ok_or(CuResult::ILLEGAL_STATE)?;
        let id = member.sequence;
        let sequence = &self.sequences[&id];
        refuse!(STREAM_CAPTURE_UNMATCHED if sequence.start.stream != stream);
        let own = member.dependencies.clone();
        let others = self.members.iter().filter(|(key, other)| other.sequence == id && **key != stream);
        let others: Vec<NodeId> = others.flat_map(|(_, other)| other.dependencies.iter().copied()).collect();
        let failure = if sequence.start.mode != Mode::Relaxed && sequence.thread != thread::current().id() {
            // It is over all the same, as with the driver of an H200 (580.159).
            Some(CuResult::STREAM_CAPTURE_WRONG_THREAD)
        } else if sequence.invalidated {
            Some(CuResult::STREAM_CAPTURE_INVALIDATED)
        } else if unjoined(sequence.start.graph, &others, &own) {
            Some(CuResult::STREAM_CAPTURE_UNJOINED)
        } else {
            None
        };
        let ended = Ended { graph: sequence.start.graph, owns_graph: sequence.start.owns_graph, failure };
        self.drop_sequence(id);
        Ok(ended)
    }

    pub fn status(&self, stream: StreamKey) -> Option<Status> {
        let member = self.members.get(&stream)?;
        let sequence = &self.sequences[&member.sequence];
        Some(Status {
            sequence: member.sequence,
            invalidated: sequence.invalidated,
            graph: sequence.start.graph,
            dependencies: member.dependencies.clone(),
        })
    }

    /// Adds a node to the graph of a capturing stream. `add` makes the node, after the nodes that it is given. Returns `None` if the stream
    /// is not capturing.
    pub fn add<T>(&mut self, stream: StreamKey, add: impl FnOnce(Handle, &[NodeId]) -> Result<(NodeId, T)>) -> Option<Result<T>> {
        let Self { sequences, members, .. } = self;
        let member = members.get_mut(&stream)?;
        let sequence = &sequences[&member.sequence];
        if sequence.invalidated {
            return Some(CuResult::STREAM_CAPTURE_INVALIDATED.err());
        }
        Some(add(sequence.start.graph, &member.dependencies).map(|(node, made)| {
            member.dependencies = vec![node];
            made
        }))
    }

    /// Returns true if a capture adds nodes to this graph.
    pub fn is_target(&self, graph: Handle) -> bool {
        self.sequences.values().any(|sequence| sequence.start.graph == graph)
    }

    /// Returns what an event captures that is recorded in this stream; `None` if the stream is not capturing.
    pub fn record(&self, stream: StreamKey) -> Result<Option<Captured>> {
        match self.status(stream) {
            None => Ok(None),
            Some(Status { invalidated: true, .. }) => CuResult::STREAM_CAPTURE_INVALIDATED.err(),
            Some(status) => Ok(Some(Captured { sequence: status.sequence, nodes: status.dependencies })),
        }
    }

    /// Makes a stream wait for an event of a sequence. A stream that is not capturing joins the sequence.
    pub fn wait(&mut self, stream: StreamKey, is_blocking: bool, event: &Captured) -> Result<()> {
        // The event is left over from a sequence that has ended.
        let sequence = self.sequences.get(&event.sequence).ok_or(CuResult::CAPTURED_EVENT)?;
        let is_valid = !sequence.invalidated;
        match self.members.get_mut(&stream) {
            Some(member) if member.sequence != event.sequence => {
                let other = member.sequence;
                self.invalidate_all([other, event.sequence]);
                CuResult::STREAM_CAPTURE_MERGE.err()
            }
            _ if !is_valid => CuResult::STREAM_CAPTURE_INVALIDATED.err(),
            Some(member) => {
                let new = event.nodes.iter().filter(|&node| !member.dependencies.contains(node));
                let new: Vec<NodeId> = new.copied().collect();
                member.dependencies.extend(new);
                Ok(())
            }
            None => {
                let dependencies = event.nodes.clone();
                let member = Member { sequence: event.sequence, is_blocking, dependencies, listed: Vec::new() };
                self.members.insert(stream, member);
                Ok(())
            }
        }
    }

    pub fn set_dependencies(&mut self, stream: StreamKey, dependencies: Vec<NodeId>) -> Result<()> {
        let member = self.members.get_mut(&stream).ok_or(CuResult::ILLEGAL_STATE)?;
        member.dependencies = dependencies;
        Ok(())
    }

    /// Keeps a list of handles for the program, and returns its address. The list stays until the next one.
    pub fn list(&mut self, stream: StreamKey, handles: Vec<Handle>) -> *const Handle {
        match self.members.get_mut(&stream) {
            Some(member) => {
                member.listed = handles;
                member.listed.as_ptr()
            }
            None => std::ptr::null(),
        }
    }

    /// Invalidates the sequence of a stream, if it is capturing. Returns whether it is.
    pub fn invalidate(&mut self, stream: StreamKey) -> bool {
        let sequence = self.members.get(&stream).map(|member| member.sequence);
        self.invalidate_all(sequence);
        sequence.is_some()
    }

    /// Returns true if the legacy stream would wait for a capture.
    pub fn blocks_legacy(&self, context: Handle) -> bool {
        !self.of_context(context, true).is_empty()
    }

    /// Refuses the legacy stream while it would wait for a capture. This invalidates the capture.
    pub fn use_legacy(&mut self, context: Handle) -> Result<()> {
        let sequences = self.of_context(context, true);
        let reason = "the default stream waits for the capturing stream; use another stream, or capture one made with CU_STREAM_NON_BLOCKING";
        self.refuse(sequences, CuResult::STREAM_CAPTURE_IMPLICIT, reason)
    }

    /// Refuses to wait for a context that is capturing. This invalidates the capture.
    pub fn use_context(&mut self, context: Handle) -> Result<()> {
        let sequences = self.of_context(context, false);
        let reason = "a stream of this context is being captured, and nothing of it has run; end the capture first";
        self.refuse(sequences, CuResult::STREAM_CAPTURE_UNSUPPORTED, reason)
    }

    /// Refuses a call if a capture sequence forbids it to this thread. No capture sees the call. The sequence becomes invalid.
    pub fn check_safe(&mut self) -> Result<()> {
        let (thread, mode) = (thread::current().id(), THREAD_MODE.get());
        let forbids = |sequence: &Sequence| match (mode, sequence.start.mode) {
            (Mode::Relaxed, _) | (_, Mode::Relaxed) => false,
            (Mode::Global, Mode::Global) => true,
            (_, Mode::Global | Mode::ThreadLocal) => sequence.thread == thread,
        };
        let sequences: Vec<u64> = self.sequences.iter().filter(|(_, sequence)| forbids(sequence)).map(|(&id, _)| id).collect();
        let reason = "a capture does not see this call and forbids it by its mode; make the call before the capture begins";
        self.refuse(sequences, CuResult::STREAM_CAPTURE_UNSUPPORTED, reason)
    }

    /// Forgets a stream that is destroyed. A sequence ends with the stream that it began in, and returns the graph that was made for it. The
    /// work of any other stream must still be joined. NVIDIA's sample graphMemoryNodes destroys a stream that is.
    pub fn forget_stream(&mut self, stream: StreamKey) -> Option<Handle> {
        let member = self.members.get_mut(&stream)?;
        member.is_blocking = false;
        let (id, start) = (member.sequence, &self.sequences.get(&member.sequence)?.start);
        if start.stream != stream {
            return None;
        }
        let owned = start.owns_graph.then_some(start.graph);
        self.drop_sequence(id);
        owned
    }

    /// Forgets the sequences with a stream of a context that is destroyed.
    pub fn forget_context(&mut self, context: Handle) {
        for sequence in self.of_context(context, false) {
            self.drop_sequence(sequence);
        }
    }

    /// Makes the result of these sequences unusable.
    pub fn invalidate_all(&mut self, sequences: impl IntoIterator<Item = u64>) {
        for id in sequences {
            if let Some(sequence) = self.sequences.get_mut(&id) {
                sequence.invalidated = true;
            }
        }
    }

    /// Refuses a call, and invalidates these sequences because of it; allows the call if there are none.
    fn refuse(&mut self, sequences: Vec<u64>, code: CuResult, reason: &str) -> Result<()> {
        let is_allowed = sequences.is_empty();
        self.invalidate_all(sequences);
        if is_allowed { Ok(()) } else { Err(code.because(reason)) }
    }

    fn drop_sequence(&mut self, id: u64) {
        self.sequences.remove(&id);
        self.members.retain(|_, member| member.sequence != id);
    }

    /// Returns the sequences that a stream of this context is part of.
    fn of_context(&self, context: Handle, only_blocking: bool) -> Vec<u64> {
        let members = self.members.iter();
        let members = members.filter(|(key, member)| key.context == context && (member.is_blocking || !only_blocking));
        members.map(|(_, member)| member.sequence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handles::Handles;
    use crate::topology::Topology;
    use parking_lot::Mutex;

    struct Bench {
        captures: Mutex<Captures>,
        graph: Topology<()>,
        handle: Handle,
        streams: [StreamKey; 3],
    }

    fn bench() -> Bench {
        let handles = Handles::default();
        let context = handles.reserve();
        let streams = [(); 3].map(|()| StreamKey { handle: handles.reserve(), context, thread: None });
        Bench { captures: Mutex::default(), graph: Topology::default(), handle: handles.reserve(), streams }
    }

    impl Bench {
        fn begin(&self, stream: usize, mode: Mode) -> Result<()> {
            self.captures.lock().begin(Start {
                stream: self.streams[stream],
                is_blocking: stream == 0,
                mode,
                graph: self.handle,
                owns_graph: true,
                dependencies: Vec::new(),
            })
        }

        fn add(&mut self, stream: usize) -> Option<Result<()>> {
            let graph = &mut self.graph;
            self.captures.lock().add(self.streams[stream], |_, dependencies| Ok((graph.add((), dependencies).unwrap(), ())))
        }

        fn record(&self, stream: usize) -> Captured {
            self.captures.lock().record(self.streams[stream]).unwrap().unwrap()
        }

        fn wait(&self, stream: usize, event: &Captured) -> Result<()> {
            self.captures.lock().wait(self.streams[stream], false, event)
        }

        fn end(&self, stream: usize) -> Result<Option<CuResult>> {
            let unjoined = |_, others: &[NodeId], own: &[NodeId]| {
                let joined = self.graph.ancestors(own);
                others.iter().any(|node| !joined.contains(node))
            };
            self.captures.lock().end(self.streams[stream], unjoined).map(|ended| ended.failure)
        }
    }

    fn code(result: Result<()>) -> CuResult {
        result.map_or_else(|failure| failure.code, |()| CuResult::SUCCESS)
    }

    #[test]
    fn a_fork_must_be_joined() {
        for joined in [true, false] {
            let mut bench = bench();
            bench.begin(0, Mode::Global).unwrap();
            bench.add(0).unwrap().unwrap();
            assert!(bench.add(1).is_none(), "not yet part of the sequence");
            bench.wait(1, &bench.record(0)).unwrap();
            bench.add(1).unwrap().unwrap();
            bench.add(0).unwrap().unwrap();
            if joined {
                bench.wait(0, &bench.record(1)).unwrap();
            }
            assert_eq!(bench.graph.edges().len(), 2);
            let expected = if joined { None } else { Some(CuResult::STREAM_CAPTURE_UNJOINED) };
            assert_eq!(bench.end(0).unwrap(), expected);
            assert!(bench.add(0).is_none() && bench.add(1).is_none());
        }
    }

    #[test]
    fn sequences_do_not_merge() {
        let bench = bench();
        bench.begin(0, Mode::Relaxed).unwrap();
        bench.begin(1, Mode::Relaxed).unwrap();
        assert_eq!(code(bench.begin(1, Mode::Relaxed)), CuResult::ILLEGAL_STATE);
        let event = bench.record(0);
        assert_eq!(code(bench.wait(1, &event)), CuResult::STREAM_CAPTURE_MERGE);
        assert_eq!(bench.end(0).unwrap(), Some(CuResult::STREAM_CAPTURE_INVALIDATED));
        assert_eq!(bench.end(1).unwrap(), Some(CuResult::STREAM_CAPTURE_INVALIDATED));
        assert_eq!(code(bench.wait(1, &event)), CuResult::CAPTURED_EVENT, "its sequence has ended");
    }

    #[test]
    fn only_the_stream_and_the_thread_that_began_a_sequence_end_it() {
        let bench = bench();
        assert_eq!(bench.end(0).unwrap_err().code, CuResult::ILLEGAL_STATE);
        bench.begin(0, Mode::ThreadLocal).unwrap();
        bench.wait(1, &bench.record(0)).unwrap();
        assert_eq!(bench.end(1).unwrap_err().code, CuResult::STREAM_CAPTURE_UNMATCHED);
        let elsewhere = |bench: &Bench| std::thread::scope(|scope| scope.spawn(|| bench.end(0)).join().unwrap());
        assert_eq!(elsewhere(&bench).unwrap(), Some(CuResult::STREAM_CAPTURE_WRONG_THREAD));
        assert_eq!(bench.end(0).unwrap_err().code, CuResult::ILLEGAL_STATE, "it has ended it");
        bench.begin(0, Mode::Relaxed).unwrap();
        assert_eq!(elsewhere(&bench).unwrap(), None);
    }

    #[test]
    fn calls_that_no_capture_sees_are_refused_by_both_modes() {
        use Mode::*;
        let refused = |sequence, thread, same_thread: bool| {
            let bench = bench();
            bench.begin(0, sequence).unwrap();
            let check = || {
                let before = exchange_thread_mode(thread);
                let checked = bench.captures.lock().check_safe();
                exchange_thread_mode(before);
                code(checked) != CuResult::SUCCESS
            };
            let refused = if same_thread { check() } else { std::thread::scope(|scope| scope.spawn(check).join().unwrap()) };
            assert_eq!(bench.end(0).unwrap().is_some(), refused, "a refused call invalidates");
            refused
        };
        for (sequence, thread, own, other) in [
            (Global, Global, true, true),
            (Global, ThreadLocal, true, false),
            (Global, Relaxed, false, false),
            (ThreadLocal, Global, true, false),
            (ThreadLocal, ThreadLocal, true, false),
            (Relaxed, Global, false, false),
        ] {
            assert_eq!(refused(sequence, thread, true), own, "{sequence:?} {thread:?} on the same thread");
            assert_eq!(refused(sequence, thread, false), other, "{sequence:?} {thread:?} on another thread");
        }
    }

    #[test]
    fn the_legacy_stream_is_blocked_by_blocking_streams_only() {
        let bench = bench();
        let context = bench.streams[0].context;
        bench.begin(1, Mode::Relaxed).unwrap();
        assert!(!bench.captures.lock().blocks_legacy(context));
        bench.captures.lock().use_legacy(context).unwrap();
        bench.begin(0, Mode::Relaxed).unwrap();
        assert!(bench.captures.lock().blocks_legacy(context));
        assert_eq!(code(bench.captures.lock().use_legacy(context)), CuResult::STREAM_CAPTURE_IMPLICIT);
        assert_eq!(bench.end(0).unwrap(), Some(CuResult::STREAM_CAPTURE_INVALIDATED));
        assert_eq!(bench.end(1).unwrap(), None);
    }

    #[test]
    fn a_stream_may_be_destroyed_once_it_is_joined() {
        for joined in [true, false] {
            let mut bench = bench();
            bench.begin(0, Mode::Relaxed).unwrap();
            bench.wait(1, &bench.record(0)).unwrap();
            bench.add(1).unwrap().unwrap();
            if joined {
                bench.wait(0, &bench.record(1)).unwrap();
            }
            assert_eq!(bench.captures.lock().forget_stream(bench.streams[1]), None);
            let expected = if joined { None } else { Some(CuResult::STREAM_CAPTURE_UNJOINED) };
            assert_eq!(bench.end(0).unwrap(), expected);
        }
        let bench = bench();
        bench.begin(0, Mode::Relaxed).unwrap();
        assert_eq!(bench.captures.lock().forget_stream(bench.streams[0]), Some(bench.handle));
        assert!(bench.captures.lock().status(bench.streams[0]).is_none());
    }
}
