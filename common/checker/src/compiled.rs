//! Facts about a learner's kernel that its compiled code tells better than its text.

use ptx::ast::{Initializer, Module, Operand, Statement};

use crate::manifest::{LAUNCH, Manifest};

/// Registers of PTX that say where and when a kernel runs.
const SURROUNDINGS: [&str; 8] = ["%clock", "%globaltimer", "%smid", "%nsmid", "%warpid", "%nwarpid", "%gridid", "%pm"];

/// Returns a register by which a kernel depends on the run.
pub fn surroundings(ptx: &str) -> Option<&'static str> {
    SURROUNDINGS.into_iter().find(|register| ptx.contains(register))
}

/// Returns the values of the constants that the launch depends on.
pub fn constants<'m>(manifest: &'m Manifest, module: &Module<'_>) -> Vec<(&'m str, u32)> {
    let value = |name: &'m str| {
        let variable = module.variables.iter().find(|variable| variable.name.strip_prefix(LAUNCH) == Some(name))?;
        match variable.init.first() {
            Some(Initializer::Bits(bits)) => Some((name, *bits as u32)),
            // Nothing is said of a zero.
            None => Some((name, 0)),
            Some(Initializer::Address { .. }) => None,
        }
    };
    manifest.constants().into_iter().filter_map(value).collect()
}

/// Returns the lines of the text at which compiled code goes back.
pub fn loops(module: &Module<'_>, path: &str) -> Vec<u32> {
    let mut lines = Vec::new();
    for function in &module.functions {
        let mut labels = Vec::new();
        for statement in function.body.iter().flatten() {
            match statement {
                Statement::Label(label) => labels.push(*label),
                Statement::Instruction(branch) if branch.opcode.starts_with("bra") => {
                    let goes_back = matches!(branch.operands.first(), Some(Operand::Name(label)) if labels.contains(label));
                    let (file, line) = branch.source.unwrap_or_default();
                    if goes_back && module.files.iter().any(|(number, name)| *number == file && *name == path) {
                        lines.push(line);
                    }
                }
                _ => {}
            }
        }
    }
    lines
}
