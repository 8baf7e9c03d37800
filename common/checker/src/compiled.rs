//! Facts about a learner's kernel that its compiled code tells better than its text.

use std::collections::HashMap;

use ptx::ast::{Initializer, Instruction, Module, Operand, Statement, Type};

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
        // Some compilers write one word, and some write its bytes. What is zero at the end may be left out.
        let Type::Bytes(width) = variable.ty else { return None };
        let mut value = 0_u64;
        for (element, place) in variable.init.iter().zip(0_u32..) {
            let Initializer::Bits(bits) = element else { return None };
            value |= bits.checked_shl(place * 8 * width).unwrap_or(0);
        }
        Some((name, value as u32))
    };
    manifest.constants().into_iter().filter_map(value).collect()
}

/// Returns the lines of the text at which compiled code goes back.
///
/// That is a jump to a place on the way to it. A place further up in the code is not always on the way.
pub fn loops(module: &Module<'_>, path: &str) -> Vec<u32> {
    let bodies = module.functions.iter().filter_map(|function| function.body.as_deref());
    let of_text = |branch: &Instruction<'_>| {
        let (file, line) = branch.source?;
        module.files.iter().any(|(number, name)| *number == file && *name == path).then_some(line)
    };
    bodies.flat_map(back_edges).filter_map(of_text).collect()
}

/// Returns the jumps to a place on the way to them.
fn back_edges<'b, 't>(body: &'b [Statement<'t>]) -> Vec<&'b Instruction<'t>> {
    let label =
        |(at, statement): (usize, &Statement<'t>)| if let Statement::Label(name) = statement { Some((*name, at)) } else { None };
    let labels: HashMap<&str, usize> = body.iter().enumerate().filter_map(label).collect();
    let successors = |at: usize| -> Vec<usize> {
        let (mut target, mut ends) = (None, false);
        if let Statement::Instruction(instruction) = &body[at] {
            let is_jump = instruction.opcode.starts_with("bra");
            if let (true, Some(Operand::Name(label))) = (is_jump, instruction.operands.first()) {
                target = labels.get(label).copied();
            }
            ends = instruction.guard.is_none() && (is_jump || matches!(instruction.opcode, "ret" | "exit" | "trap"));
        }
        let next = (!ends && at + 1 < body.len()).then_some(at + 1);
        target.into_iter().chain(next).collect()
    };
    let (mut is_seen, mut is_on_way) = (vec![false; body.len()], vec![false; body.len()]);
    let (mut way, mut found) = (Vec::new(), Vec::new());
    let mut enter = (!body.is_empty()).then_some(0);
    loop {
        if let Some(at) = enter.take() {
            (is_seen[at], is_on_way[at]) = (true, true);
            way.push((at, successors(at)));
        }
        let Some((at, left)) = way.last_mut() else { return found };
        match left.pop() {
            Some(next) if !is_seen[next] => enter = Some(next),
            Some(next) => {
                if let (true, Statement::Instruction(branch)) = (is_on_way[next], &body[*at]) {
                    found.push(branch);
                }
            }
            None => {
                is_on_way[*at] = false;
                way.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_the_launch_are_read_whole() {
        let manifest = include_str!("../../../chapters/01-conv-naive/exercises/1-first-kernel/exercise.toml");
        let manifest = Manifest::parse(&manifest.replace("by = 256", "by = \"N\"")).unwrap_or_else(|error| panic!("{error}"));
        // As NVRTC, as clang, and as both of them write it if it is zero.
        for (declared, expected) in [(".u32 launch_N = 386", 386), (".b8 launch_N[4] = {130, 1}", 386), (".u32 launch_N", 0)] {
            let text = format!(".version 8.0\n.target sm_80\n.address_size 64\n.visible .const .align 4 {declared};\n");
            assert_eq!(constants(&manifest, &ptx::parse(&text).unwrap()), [("N", expected)], "{declared}");
        }
    }

    #[test]
    fn only_a_jump_to_a_place_on_the_way_goes_back() {
        // From line 5 the loop goes back to A. The jump of line 9 leads up to B, which is not on the way to it.
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"x.cu\"\n.visible .entry k() {\n.reg .pred %p1;\n\
                    .loc 1 3 0\n@%p1 bra $C;\nbra.uni $A;\n$B:\nret;\n$A:\n.loc 1 5 0\n@%p1 bra $A;\nret;\n$C:\n.loc 1 9 0\nbra.uni $B;\n}\n";
        let module = ptx::parse(text).unwrap();
        assert_eq!(loops(&module, "x.cu"), [5]);
        assert_eq!(loops(&module, "y.cu"), [] as [u32; 0]);
    }
}
