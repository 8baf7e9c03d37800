//! Operations that may have to wait: what has been done of them, and how they go on.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::context::Context;
use super::event::Record;
use super::operation::{Graph, Operation};
use super::value_op::ValueOp;
use crate::driver::{Driver, driver};
use crate::graph_order::{GraphNode, GraphOrder};
use crate::queues::{Progress, Task};
use crate::result::{CuResult, Result};
use crate::timeline;
use crate::topology::NodeId;

/// An operation that is under way.
pub enum Run {
    /// Not begun.
    Operation(Operation),
    /// A wait for this record of an event.
    Event(Operation, Record),
    Values(VecDeque<ValueOp>, Arc<Context>),
    Graph(Steps),
}

/// The nodes of a graph that have not been executed yet.
pub struct Steps {
    /// In an order that respects every edge.
    steps: Vec<Step>,
    open: BTreeSet<NodeId>,
}

/// A node of a graph that has not been executed yet.
pub struct Step {
    id: NodeId,
    dependencies: Vec<NodeId>,
    /// For those who look for races between nodes.
    node: Option<GraphNode>,
    run: Run,
}

impl Run {
    /// Begins. What it waits for is what was enqueued before: a graph can record an event that it has waited for.
    pub fn new(operation: Operation) -> Result<Self> {
        Ok(match operation {
            Operation::Values(values) => Run::Values(values.operations.iter().copied().collect(), values.context),
            Operation::Graph(graph) => Run::Graph(Steps::of(&graph, driver()?.queues.timeline.is_some())?),
            Operation::Wait(event) => {
                let record = event.last();
                Run::Event(Operation::Wait(event), record)
            }
            other => Run::Operation(other),
        })
    }

    /// Goes on as far as it can.
    pub fn advance(&mut self, driver: &Driver) -> Result<Progress> {
        match self {
            Run::Operation(operation) => operation.run(driver).map(|()| Progress::Done),
            Run::Event(Operation::Wait(event), record) if !event.has_recorded(record) => {
                Ok(Progress::Waits("an event that another stream records".to_owned()))
            }
            Run::Event(..) => Ok(Progress::Done),
            Run::Values(operations, context) => {
                check(driver, context)?;
                while let Some(next) = operations.front() {
                    match next.run(driver)? {
                        Progress::Done => drop(operations.pop_front()),
                        waits => return Ok(waits),
                    }
                }
                Ok(Progress::Done)
            }
            Run::Graph(steps) => steps.advance(driver),
        }
    }

    /// The context that this runs in, if it runs on the device.
    fn context(&self) -> Option<&Arc<Context>> {
        match self {
            Run::Operation(operation) => operation.context(),
            Run::Values(_, context) => Some(context),
            _ => None,
        }
    }
}

fn check(driver: &Driver, context: &Arc<Context>) -> Result<()> {
    driver.handles.get::<Context>(context.handle).map_err(|_| CuResult::CONTEXT_IS_DESTROYED)?;
    context.check()
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
                    if step.run.context().is_some_and(|context| context.check().is_err()) {
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
