//! Lines of CUDA C: from nodes of metadata to `.file` and `.loc`.

use crate::error::Place;
use crate::ir::{Module, Node};

/// Longest chain of scopes and of inlined calls.
const LONGEST: usize = 64;

/// A place with the number of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

/// The files of a module, numbered as they are met.
pub struct Files<'m> {
    module: &'m Module,
    pub names: Vec<String>,
}

impl<'m> Files<'m> {
    pub fn new(module: &'m Module) -> Self {
        Self { module, names: Vec::new() }
    }

    /// Returns a node's place and those of the calls that inlined it. The innermost one comes first; each has the name of its function.
    pub fn chain(&mut self, node: u32) -> Vec<(Location, String)> {
        let mut chain = Vec::new();
        let mut at = Some(node);
        while let Some(Node::Location { line, column, scope, inlined_at }) = at.and_then(|at| self.module.nodes.get(&at)) {
            let (file, name) = self.scope(*scope);
            let Some(file) = file else { break };
            let file = self.number(file);
            chain.push((Location { file, line: *line, column: *column }, name));
            at = *inlined_at;
            if chain.len() >= LONGEST {
                break;
            }
        }
        chain
    }

    fn number(&mut self, name: String) -> u32 {
        let known = self.names.iter().position(|known| *known == name);
        let index = known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        index as u32 + 1
    }

    /// Returns the file of a scope and the name of its function.
    fn scope(&self, scope: Option<u32>) -> (Option<String>, String) {
        let (mut file, mut at) = (None, scope);
        for _ in 0..LONGEST {
            let Some(Node::Scope { file: own, scope, name }) = at.and_then(|at| self.module.nodes.get(&at)) else { break };
            file = file.or_else(|| file_name(self.module, *own));
            if scope.is_none() {
                return (file, name.clone());
            }
            at = *scope;
        }
        (file, String::new())
    }
}

fn file_name(module: &Module, node: Option<u32>) -> Option<String> {
    match module.nodes.get(&node?)? {
        Node::File { name, directory } if directory.is_empty() || name.starts_with('/') || name.starts_with('<') => {
            Some(name.clone())
        }
        Node::File { name, directory } => Some(format!("{directory}/{name}")),
        _ => None,
    }
}

/// Returns a node's place in the source code, for a message: the outermost one.
pub fn place(module: &Module, node: Option<u32>) -> Option<Place> {
    let mut files = Files::new(module);
    let (location, _) = files.chain(node?).pop()?;
    let file = files.names.get(location.file as usize - 1)?.clone();
    Some(Place { file, line: location.line, column: location.column })
}
