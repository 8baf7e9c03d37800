//! The order of the work of streams, whatever order it happens to run in: races between streams, and between streams and the host.
//!
//! Each piece of work is a [`Moment`] with a vector clock: for each stream, up to which of its moments everything is over before this one
//! begins. Clocks pass along streams, from the record of an event to a wait for it, through the legacy stream, and through the host, which
//! learns a clock when it waits, and passes it on to all that it enqueues from then on. All threads of the host count as one, so a race
//! that only their order hides is not seen, and none is made up. (Vector clocks as in "FastTrack" by Flanagan and Freund, 2009.)
//!
//! Two moments race if neither is before the other, they access the same bytes, and one of them writes: CUDA C++ Programming Guide,
//! "Asynchronous Concurrent Execution": operations in different streams "may execute out of order with respect to one another or
//! concurrently". Two nodes of one launch of a graph are compared in the same way; edges order them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use simt::{Accessed, Accesses, VClock};

use crate::graph_order::{self, GraphNode};
use crate::position::{Awaited, Position};

/// Moments whose accesses are kept. A program that never waits must not grow because of them; what comes later is compared with these only.
const KEPT: usize = 4096;

/// A piece of work, as far as its order depends on it.
#[derive(Debug, Default)]
pub struct Task {
    /// In a few words, for people.
    pub what: String,
    /// The kernel, if it is one.
    pub kernel: Option<String>,
    /// The moments that it waits for besides those of its stream.
    pub after: Vec<Arc<Moment>>,
    /// True if it waits for a value in memory.
    pub is_told: bool,
    /// True if it can announce its end to others without an event.
    pub tells: bool,
    /// True if it is a launch that may begin before the one in front of it has ended, and that does not wait for it.
    pub begins_early: bool,
    /// True if it is a launch that lets such a one begin.
    pub lets_next_begin: bool,
    pub work: Work,
}

/// Kernels and copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// All of them.
    pub all: u32,
    /// The longest row of them in which each must wait for the one before.
    pub in_a_row: u32,
}

impl Work {
    /// A kernel or a copy.
    pub const ONE: Self = Self { all: 1, in_a_row: 1 };

    pub(crate) fn is_none(&self) -> bool {
        self.all == 0
    }

    /// Adds work that waits for nothing of this.
    pub fn add_beside(&mut self, other: Self) {
        self.all += other.all;
        self.in_a_row = self.in_a_row.max(other.in_a_row);
    }
}

impl Task {
    /// Work that only its stream orders.
    pub fn of(what: &str) -> Self {
        Self { what: what.to_owned(), ..Self::default() }
    }
}

#[derive(Debug)]
pub struct Moment {
    pub position: Position,
    /// Its stream, by order of first use, and its number there.
    stream: u32,
    number: u32,
    /// Without what it waits for, which is in `after`.
    task: Task,
    /// The moments before it, and what the host knew when it enqueued it.
    after: Mutex<Vec<Arc<Moment>>>,
    known: Clock,
    /// Set when it runs.
    clock: Mutex<Option<Clock>>,
    is_over: AtomicBool,
}

/// All that is over at some point.
#[derive(Clone, Debug, Default)]
struct Clock {
    /// For each stream, up to which of its moments.
    moments: VClock,
    /// The longest row of kernels and copies among them.
    in_a_row: u32,
}

impl Clock {
    fn join(&mut self, other: &Self) {
        self.moments.join(&other.moments);
        self.in_a_row = self.in_a_row.max(other.in_a_row);
    }
}

impl Moment {
    fn is_before(&self, clock: &Clock) -> bool {
        clock.moments.at(self.stream) >= self.number
    }

    fn clock(&self) -> Option<Clock> {
        self.clock.lock().clone()
    }

    /// Returns true for a launch that may begin before its predecessor ends.
    ///
    /// PTX ISA 9.0, `griddepcontrol`: if the prerequisite grid uses `launch_dependents`, "the dependent grid must" use `wait` "to ensure
    /// correct functional execution".
    fn overlaps(&self, earlier: &Self) -> bool {
        let is_next = self.stream == earlier.stream && self.number == earlier.number + 1;
        is_next && self.task.begins_early && earlier.task.lets_next_begin
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Acquire)
    }

    /// Describes it, or a node of it if it is a graph.
    fn describe(&self, nodes: &[GraphNode]) -> String {
        let node = nodes.last().map(|node| format!("{} in ", node.what)).unwrap_or_default();
        match self.stream {
            _ if self.position.is_legacy => format!("{node}{} on the default stream", self.task.what),
            stream => format!("{node}{} on stream {stream}", self.task.what),
        }
    }
}

/// Two unordered moments that access the same bytes, one of which writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRace {
    /// The kernel, if one of them is.
    pub kernel: Option<String>,
    /// Descriptions of both.
    pub work: String,
    pub message: String,
    /// Bytes that both access: the first address, and how many from there on.
    pub address: u64,
    pub bytes: u64,
}

/// All moments that can still race.
#[derive(Debug, Default)]
pub struct Timeline {
    /// The last moment of each stream.
    last: Vec<(Position, Arc<Moment>)>,
    /// The moments that the host has waited for.
    host: Clock,
    /// The moments that work has told other work through values in memory.
    told: Clock,
    /// The accesses of moments that ran.
    accessed: Vec<Done>,
    /// Moments that have not run yet.
    waiting: usize,
    /// All work so far.
    pub work: Work,
    seen: BTreeSet<(String, String)>,
}

/// The accesses of a moment, or of a graph's innermost node.
#[derive(Debug)]
struct Done {
    moment: Arc<Moment>,
    nodes: Vec<GraphNode>,
    accessed: Vec<Accessed>,
}

impl Done {
    fn describe(&self) -> String {
        self.moment.describe(&self.nodes)
    }

    fn kernel(&self) -> Option<String> {
        self.nodes.last().map_or(&self.moment.task.kernel, |node| &node.kernel).clone()
    }

    /// Returns true if a clock or a graph orders the two.
    fn is_ordered(&self, other: &Self, clock: &Clock) -> bool {
        match Arc::ptr_eq(&self.moment, &other.moment) {
            true => graph_order::are_ordered(&self.nodes, &other.nodes),
            false => self.moment.is_before(clock) && !other.moment.overlaps(&self.moment),
        }
    }
}

thread_local! {
    /// The moment that runs on this thread.
    static CURRENT: RefCell<Option<Arc<Moment>>> = const { RefCell::new(None) };
    /// The nodes of graphs that run on this thread, the outermost first.
    static NODES: RefCell<Vec<GraphNode>> = const { RefCell::new(Vec::new()) };
}

/// Does what a node of a graph does.
pub fn in_node<T>(node: GraphNode, run: impl FnOnce() -> T) -> T {
    NODES.with_borrow_mut(|nodes| nodes.push(node));
    let result = run();
    NODES.with_borrow_mut(Vec::pop);
    result
}

impl Timeline {
    pub fn enqueue(&mut self, position: Position, mut task: Task) -> Arc<Moment> {
        let mut after: Vec<_> =
            self.last.iter().filter(|(other, _)| position.is_after(other)).map(|(_, moment)| moment.clone()).collect();
        after.append(&mut task.after);
        let own = self.last.iter().position(|(other, _)| other.stream == position.stream);
        let (stream, number) = match own {
            Some(own) => (self.last[own].1.stream, self.last[own].1.number + 1),
            None if position.is_legacy && self.last.iter().all(|(_, moment)| moment.stream > 0) => (0, 1),
            // The default stream of the first context has its number whether it is used or not.
            None => (1 + self.last.iter().filter(|(_, moment)| moment.stream > 0).count() as u32, 1),
        };
        let moment = Arc::new(Moment {
            position,
            stream,
            number,
            task,
            after: after.into(),
            known: self.host.clone(),
            clock: Mutex::default(),
            is_over: false.into(),
        });
        match own {
            Some(own) => self.last[own] = (position, moment.clone()),
            None => self.last.push((position, moment.clone())),
        }
        self.waiting += 1;
        moment
    }

    /// Begins a moment, or goes on with it. What runs on this thread until [`end`](Self::end) belongs to it.
    pub fn begin(&mut self, moment: &Arc<Moment>) {
        CURRENT.set(Some(moment.clone()));
        let mut clock = moment.known.clone();
        moment.after.lock().iter().filter_map(|earlier| earlier.clock()).for_each(|earlier| clock.join(&earlier));
        if moment.task.is_told {
            clock.join(&self.told);
        }
        clock.moments.advance(moment.stream, moment.number);
        clock.in_a_row += moment.task.work.in_a_row;
        self.work.in_a_row = self.work.in_a_row.max(clock.in_a_row);
        // A moment that has to wait begins more than once.
        if moment.clock.lock().replace(clock).is_none() {
            self.waiting = self.waiting.saturating_sub(1);
            self.work.all += moment.task.work.all;
        }
    }

    /// Ends what [`begin`](Self::begin) began. If the moment is over and can tell others, the host or other streams, it does.
    pub fn end(&mut self, moment: &Moment, is_over: bool) {
        CURRENT.set(None);
        if !is_over {
            return;
        }
        moment.after.lock().clear();
        moment.is_over.store(true, Release);
        if moment.task.tells
            && let Some(clock) = moment.clock()
        {
            self.told.join(&clock);
            self.host.join(&clock);
        }
    }

    /// Notes that the host has waited for work.
    pub fn waited(&mut self, awaited: Awaited) {
        for (_, moment) in self.last.iter().filter(|(position, _)| awaited.contains(position)) {
            if let Some(clock) = moment.clock() {
                self.host.join(&clock);
            }
        }
        self.forget();
    }

    /// Notes that the host has waited for one moment.
    pub fn wait_for(&mut self, moment: &Moment) {
        if let Some(clock) = moment.clock() {
            self.host.join(&clock);
        }
        self.forget();
    }

    /// Notes accesses of the moment on this thread, and returns the races.
    pub fn access(&mut self, accessed: Vec<Accessed>) -> Vec<StreamRace> {
        let Some(moment) = CURRENT.with_borrow(Clone::clone) else { return Vec::new() };
        let Some(clock) = moment.clock() else { return Vec::new() };
        let mut races = Vec::new();
        let done = Done { moment, nodes: NODES.with_borrow(Clone::clone), accessed };
        for other in &self.accessed {
            if other.is_ordered(&done, &clock) || talk(&other.accessed, &done.accessed) {
                continue;
            }
            if let Some((address, bytes, first, second)) = conflict(&other.accessed, &done.accessed) {
                let verb = |accesses: Accesses| if accesses.writes() { "writes" } else { "reads" };
                let order = match Arc::ptr_eq(&other.moment, &done.moment) {
                    true => "no path of edges leads from one of the two nodes to the other",
                    false if done.moment.overlaps(&other.moment) => {
                        "the first may begin before the second has ended: it is launched with programmatic stream serialization, and executes no \
                         griddepcontrol.wait (cudaGridDependencySynchronize)"
                    }
                    false => "nothing orders the two: no event, no wait of the host, and no common stream",
                };
                let names = (other.describe(), done.describe());
                let message = format!("{} {} and {} {} the same bytes, and {order}", names.1, verb(second), names.0, verb(first));
                let kernel = done.kernel().or_else(|| other.kernel());
                let work = format!("{}\n{}", names.0, names.1);
                races.push((StreamRace { kernel, work, message, address, bytes }, names));
            }
        }
        let new = races.into_iter().filter_map(|(race, names)| self.seen.insert(names).then_some(race)).collect();
        if self.accessed.len() < KEPT {
            self.accessed.push(done);
        }
        new
    }

    /// Forgets the moments that nothing can race with any more.
    fn forget(&mut self) {
        if self.waiting == 0 {
            let host = &self.host;
            self.accessed.retain(|done| !done.moment.is_before(host));
        }
    }
}

/// Returns true if two moments may synchronize through memory: both have strong accesses to the same bytes, and one of them writes.
fn talk(first: &[Accessed], second: &[Accessed]) -> bool {
    overlap(first, second, |a, b| a.is_strong() && b.is_strong() && (a.writes() || b.writes())).is_some()
}

/// Returns the first bytes in both lists that conflict: address, bytes, and both kinds of access.
fn conflict(first: &[Accessed], second: &[Accessed]) -> Option<(u64, u64, Accesses, Accesses)> {
    overlap(first, second, Accesses::conflict)
}

/// Returns the first bytes in both lists whose accesses are as wanted. Both lists are in the order of the addresses.
fn overlap(
    first: &[Accessed],
    second: &[Accessed],
    is_wanted: impl Fn(Accesses, Accesses) -> bool,
) -> Option<(u64, u64, Accesses, Accesses)> {
    let (mut one, mut two) = (first.iter().peekable(), second.iter().peekable());
    while let (Some(a), Some(b)) = (one.peek(), two.peek()) {
        let start = a.address.max(b.address);
        let end = (a.address + a.bytes).min(b.address + b.bytes);
        if start < end && is_wanted(a.accesses, b.accesses) {
            return Some((start, end - start, a.accesses, b.accesses));
        }
        if a.address + a.bytes <= b.address + b.bytes {
            one.next().map(drop)
        } else {
            two.next().map(drop)
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::captures::StreamKey;
    use crate::handles::Handle;

    fn position(stream: u64, is_blocking: bool) -> Position {
        let key = StreamKey { handle: Handle::from_number(stream), context: Handle::from_number(1), thread: None };
        Position { stream: key, is_legacy: stream == 0, is_blocking, is_of_context: false }
    }

    fn accessed(address: u64, bytes: u64, accesses: Accesses) -> Vec<Accessed> {
        vec![Accessed { address, bytes, accesses }]
    }

    fn run(timeline: &mut Timeline, at: Position, extra: Option<Arc<Moment>>, bytes: Vec<Accessed>) -> (Arc<Moment>, usize) {
        let moment = timeline.enqueue(at, Task { after: extra.into_iter().collect(), ..Task::of("work") });
        timeline.begin(&moment);
        let races = timeline.access(bytes).len();
        timeline.end(&moment, true);
        (moment, races)
    }

    #[test]
    fn work_of_two_streams_races_unless_something_orders_it() {
        let write = || accessed(100, 8, Accesses::WRITTEN);
        let read = || accessed(104, 8, Accesses::READ);
        let (one, two) = (position(5, false), position(6, false));
        let races = |second: &dyn Fn(&mut Timeline, Arc<Moment>) -> usize| {
            let mut timeline = Timeline::default();
            let (first, _) = run(&mut timeline, one, None, write());
            second(&mut timeline, first)
        };
        assert_eq!(races(&|timeline, _| run(timeline, two, None, read()).1), 1);
        assert_eq!(races(&|timeline, _| run(timeline, one, None, read()).1), 0, "the same stream");
        assert_eq!(races(&|timeline, _| run(timeline, two, None, accessed(108, 8, Accesses::READ)).1), 0, "other bytes");
        assert_eq!(races(&|timeline, first| run(timeline, two, Some(first), read()).1), 0, "an event");
        assert_eq!(
            races(&|timeline, _| {
                timeline.waited(Awaited::Before(one));
                run(timeline, two, None, read()).1
            }),
            0,
            "the host waited"
        );
        assert_eq!(
            races(&|timeline, _| {
                timeline.waited(Awaited::Before(two));
                run(timeline, two, None, read()).1
            }),
            1,
            "the host waited for something else"
        );
    }

    #[test]
    fn every_context_has_a_default_stream_of_its_own() {
        let mut timeline = Timeline::default();
        let here = position(0, true);
        let there = Position { stream: StreamKey { context: Handle::from_number(2), ..here.stream }, ..here };
        run(&mut timeline, here, None, accessed(0, 4, Accesses::WRITTEN));
        assert_eq!(run(&mut timeline, there, None, accessed(0, 4, Accesses::READ)).1, 1);
    }

    #[test]
    fn the_legacy_stream_orders_blocking_streams_and_no_others() {
        for (is_blocking, expected) in [(true, 0), (false, 1)] {
            let mut timeline = Timeline::default();
            run(&mut timeline, position(5, is_blocking), None, accessed(0, 4, Accesses::WRITTEN));
            run(&mut timeline, position(0, true), None, Vec::new());
            let (_, races) = run(&mut timeline, position(6, is_blocking), None, accessed(0, 4, Accesses::READ));
            assert_eq!(races, expected, "blocking: {is_blocking}");
        }
    }
}
