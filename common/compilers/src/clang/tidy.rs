//! clang's PTX in the shape of NVRTC's, where the difference would mislead a reader or a count.

use std::ops::Range;

use ptx::ast::{Instruction, Operand, Statement};
use ptx::{edit, parse};

/// The folder that clang is told to be in. It puts it before the names of files that have no folder of their own.
pub const FOLDER: &str = "/nowhere";

/// Names files as they were given and removes jumps over jumps. A text that is no PTX is left as it is.
pub fn tidied(text: &str) -> String {
    let Ok(module) = parse(text) else { return text.to_owned() };
    let plain = |(_, file): &(u32, &str)| Some((module.span_of(file), plain(file)?));
    let files = module.files.iter().filter_map(plain);
    let jumps = module.functions.iter().flat_map(|function| without_jumps_over_jumps(function.body.as_deref().unwrap_or_default()));
    edit(text, files.chain(jumps).collect())
}

/// Returns the name of a file as it was given.
fn plain(file: &str) -> Option<String> {
    Some(file.strip_prefix(FOLDER)?.trim_start_matches(['/', '\\']).to_owned())
}

/// Turns `@%p bra A; bra.uni B; A:` into `@!%p bra B; A:`. clang's back end for PTX cannot negate a condition, so most loops have two
/// jumps in each iteration. A GPU never sees the second: its assembler removes it. The simulator would count it.
fn without_jumps_over_jumps(body: &[Statement<'_>]) -> Vec<(Range<usize>, String)> {
    let mut edits = Vec::new();
    for (i, statement) in body.iter().enumerate() {
        let Statement::Instruction(first) = statement else { continue };
        let (Some(guard), Some(over)) = (first.guard, target(first)) else { continue };
        let mut after = body[i + 1..].iter().filter(|statement| !matches!(statement, Statement::Location { .. }));
        let Some(Statement::Instruction(second)) = after.next() else { continue };
        let (None, Some(to)) = (second.guard, target(second)) else { continue };
        let is_over = after.map_while(|statement| if let Statement::Label(label) = statement { Some(*label) } else { None });
        if is_over.into_iter().any(|label| label == over) {
            let not = if guard.negated { "" } else { "!" };
            edits.push((first.span.clone(), format!("@{not}{} bra {to};", guard.name)));
            edits.push((second.span.clone(), String::new()));
        }
    }
    edits
}

/// Returns the label that an instruction jumps to; `None` for other instructions.
fn target<'t>(instruction: &Instruction<'t>) -> Option<&'t str> {
    match (instruction.opcode, instruction.operands.as_slice()) {
        ("bra" | "bra.uni", [Operand::Name(label)]) => Some(label),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 8.0\n.target sm_50\n.address_size 64\n";

    fn tidied_body(body: &str) -> String {
        let module = |body: &str| format!("{HEAD}.visible .entry k()\n{{\n.reg .pred %p<3>;\n{body}ret;\n}}\n");
        let text = tidied(&module(body));
        let start = module("").len() - "ret;\n}\n".len();
        text[start..].trim_end_matches("ret;\n}\n").to_owned()
    }

    #[test]
    fn a_jump_over_a_jump_becomes_one() {
        for (written, expected) in [
            ("L: @%p1 bra A;\nbra.uni L;\nA: ", "L: @!%p1 bra L;\n\nA: "),
            ("L: @!%p1 bra \tA;\n.loc 1 2 3\nbra L;\n.loc 1 3 3\nB:\nA: ", "L: @%p1 bra L;\n.loc 1 2 3\n\n.loc 1 3 3\nB:\nA: "),
        ] {
            assert_eq!(tidied_body(written), expected);
        }
    }

    #[test]
    fn other_jumps_stay() {
        for body in [
            "A: @%p1 bra A;\nbra.uni B;\nB: ",
            "@%p1 bra A;\n@%p2 bra B;\nA: B: ",
            "@%p1 bra A;\nbra.uni B;\nmembar.cta;\nA: B: ",
            "@%p1 bra A;\nmembar.cta;\nbra.uni B;\nA: B: ",
        ] {
            assert_eq!(tidied_body(body), body);
        }
    }

    #[test]
    fn files_are_named_as_they_were_given() {
        let ptx = |file: &str| format!("{HEAD}.file 1 \"{file}\"\n");
        for (written, given) in [
            ("/nowhere/kernels/cuda/k.cu", "kernels/cuda/k.cu"),
            (r"/nowhere\k.cu", "k.cu"),
            ("/home/k.cu", "/home/k.cu"),
            (r"C:\\nowhere\\k.cu", r"C:\\nowhere\\k.cu"),
        ] {
            assert_eq!(tidied(&ptx(written)), ptx(given));
        }
        assert_eq!(tidied("no PTX"), "no PTX");
    }
}
