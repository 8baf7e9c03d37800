//! Graphs as text in the language of Graphviz.

use std::fmt::Write;

use crate::api::operation::{Graph, Operation};
use crate::api::prelude::*;

/// Describes a graph, with the graphs of its nodes as boxes.
fn describe(graph: &Graph, name: &str, text: &mut String) {
    let nodes = graph.nodes.lock();
    let kind = if graph.is_embedded { "subgraph" } else { "digraph" };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{kind} {name:?} {{");
    for (_, node) in nodes.nodes() {
        let _ = writeln!(text, "  {:?} [label={:?}];", id(node.handle), label(&node.operation));
    }
    for (from, to) in nodes.edges() {
        if let (Some(from), Some(to)) = (nodes.get(from), nodes.get(to)) {
            let _ = writeln!(text, "  {:?} -> {:?};", id(from.handle), id(to.handle));
        }
    }
    for (_, node) in nodes.nodes() {
        if let Some(inside) = node.operation.graph() {
            describe(inside, &format!("cluster_{}", id(node.handle)), text);
        }
    }
    text.push_str("}\n");
}

fn id(node: Handle) -> String {
    format!("node_{:x}", node.number())
}

/// Names what a node does, in the words of `CUgraphNodeType`.
fn label(operation: &Operation) -> String {
    let details = match operation {
        Operation::Kernel(launch) => {
            let (grid, block) = (launch.shape.config.grid, launch.shape.config.block);
            let name = launch.function.name();
            format!("\n{name}\n({},{},{}) ({},{},{})", grid.x, grid.y, grid.z, block.x, block.y, block.z)
        }
        Operation::Copy(copy, _) => format!("\n{:?} bytes", copy.extent),
        Operation::Fill(fill, _) => format!("\n{} of {} bytes at {:#x}", fill.width * fill.rows, fill.element_bytes, fill.target),
        Operation::Allocate(block) => format!("\n{} bytes at {:#x}", block.bytes, block.address),
        Operation::Free(address) => format!("\n{address:#x}"),
        Operation::Values(values) => format!("\n{} operations", values.operations.len()),
        _ => String::new(),
    };
    format!("{}{details}", operation.node_type().1)
}

exports! {
    /// The flags ask for more detail. The parameters of the nodes are always there, in short.
    fn cuGraphDebugDotPrint(graph: Handle, path: Text, _flags: u32) {
        let graph = find::<Graph>(graph)?;
        let path = path.read()?;
        let mut text = String::new();
        describe(&graph, "graph", &mut text);
        std::fs::write(&path, text).map_err(|error| CuResult::OPERATING_SYSTEM.because(format!("{path}: {error}")))
    }
}
