//! How operations are executed, some of which may have to wait: what has been done of them, and how they go on.

use std::collections::BTreeSet;

use super::event::Record;
use super::operation::{Graph, Operation, give_back};
use super::prelude::*;
use crate::graph_order::{GraphNode, GraphOrder};
use crate::queues::Progress;
use crate::timeline::{self, Task};
use crate::topology::NodeId;

/// An operation that is under way.
pub struct Run {
    operation: Operation,
    /// The record of an event that this waits for.
    record: Option<Record>,
    /// The number of operations on values that are done.
    done: usize,
    /// The rest of a graph.
    steps: Steps,
}

/// The nodes of a graph that have not been executed yet.
#[derive(Default)]
struct Steps {
    /// In an order that respects every edge.
    steps: Vec<Step>,
    open: BTreeSet<NodeId>,
}

/// A node of a graph that has not been executed yet.
struct Step {
    id: NodeId,
    dependencies: Vec<NodeId>,
    /// For those who look for races between nodes.
    node: Option<GraphNode>,
    run: Run,
}

impl Run {
    /// Begins. A wait is for what was enqueued before: a graph can record an event that it has waited for.
    pub fn new(operation: Operation) -> Result<Self> {
        let record = if let Operation::Wait(event) = &operation { Some(event.last()) } else { None };
        let steps = match &operation {
            Operation::Graph(graph) => Steps::of(graph, driver()?.queues.timeline.is_some())?,
            _ => Steps::default(),
        };
        Ok(Self { operation, record, done: 0, steps })
    }

    /// Goes on as far as it can.
    pub fn advance(&mut self, driver: &Driver) -> Result<Progress> {
        if let Some(context) = self.operation.context() {
            driver.handles.get::<Context>(context.handle).map_err(|_| CuResult::CONTEXT_IS_DESTROYED)?;
            context.check()?;
        }
        match &self.operation {
            Operation::Kernel(launch) => launch.run(driver)?,
            Operation::Copy(copy, _) => {
                copy.run(driver)?;
                driver.note_accesses(|| copy.accesses());
            }
            Operation::Fill(fill, _) => {
                fill.run(driver)?;
                driver.note_accesses(|| fill.accesses());
            }
            Operation::Host(call) => call.run(),
            Operation::Graph(_) => return self.steps.advance(driver),
            Operation::Empty => {}
            Operation::Wait(event) => {
                if self.record.as_ref().is_some_and(|record| !event.has_recorded(record)) {
                    return Ok(Progress::Waits("an event that another stream records".to_owned()));
                }
            }
            Operation::Record(event) => event.record_now(),
            Operation::Allocate(block) => driver.graph_memory.lock().allocate(block.address)?,
            Operation::Free(address) => give_back(driver, *address, driver.graph_memory.lock().free(*address)?),
            Operation::Values(values) => {
                while let Some(next) = values.operations.get(self.done) {
                    match next.run(driver)? {
                        Progress::Done => self.done += 1,
                        waits => return Ok(waits),
                    }
                }
            }
        }
        Ok(Progress::Done)
    }
}

impl Steps {
    fn of(graph: &Graph, with_places: bool) -> Result<Self> {
        let nodes = graph.nodes.lock();
        let order = nodes.order().map_err(|_| CuResult::INVALID_VALUE)?;
        let open = order.iter().copied().collect();
        let places = with_places.then(|| Arc::new(GraphOrder::new(order.iter().map(|id| (*id, nodes.dependencies(*id))))));
        let step = |id: NodeId| {
            let node = nodes.get(id)?;
            let operation = if node.is_enabled { node.operation.clone() } else { Operation::Empty };
            let node = places.as_ref().map(|order| {
                let Task { what, kernel, .. } = operation.task();
                GraphNode { id, order: order.clone(), what, kernel }
            });
            Some(Run::new(operation).map(|run| Step { id, dependencies: nodes.dependencies(id).to_vec(), node, run }))
        };
        Ok(Self { steps: order.into_iter().filter_map(step).collect::<Result<_>>()?, open })
    }

    /// Executes what does not depend on something that waits. A fault of a kernel ends it, as a later node would only fail as well.
    fn advance(&mut self, driver: &Driver) -> Result<Progress> {
        let mut waits_for = None;
        let mut left = Vec::new();
        for mut step in std::mem::take(&mut self.steps) {
            if step.dependencies.iter().any(|id| self.open.contains(id)) {
                left.push(step);
                continue;
            }
            let progress = match step.node.clone() {
                Some(node) => timeline::in_node(node, || step.run.advance(driver)),
                None => step.run.advance(driver),
            };
            match progress? {
                Progress::Done => {
                    self.open.remove(&step.id);
                    if step.run.operation.context().is_some_and(|context| context.check().is_err()) {
                        return Ok(Progress::Done);
                    }
                }
                Progress::Waits(what) => {
                    waits_for = Some(what);
                    left.push(step);
                }
            }
        }
        self.steps = left;
        Ok(waits_for.map_or(Progress::Done, Progress::Waits))
    }
}
