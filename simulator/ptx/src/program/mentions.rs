//! Finds the instructions that name a register of an asynchronous product.

use std::collections::BTreeMap;

use super::code::{Action, Program};
use super::registers::written;
use super::wgmma::{FactorA, Mention, Mentions};
use alu::registers::Reg;

/// Lists the instructions that name a register of a product. `named` holds ranges of the code, each with a register that its line of PTX
/// names, in the order of the code.
pub fn mentions(program: &Program, named: &[(u32, u32, Reg)]) -> Mentions {
    if program.wgmmas.is_empty() {
        return Mentions::default();
    }
    let mut slots = BTreeMap::new();
    for wgmma in &program.wgmmas {
        let of_a: &[Reg] = if let FactorA::Registers(registers) = &wgmma.a { registers } else { &[] };
        slots.extend(wgmma.d.iter().chain(of_a).map(|register| (*register, 0)));
    }
    slots.values_mut().zip(0..).for_each(|(slot, number)| *slot = number);
    let mut mentions = Mentions { registers: slots.keys().copied().collect(), ..Mentions::default() };
    let mut named = named.iter().peekable();
    for pc in 0..program.code.len() as u32 {
        mentions.first.push(mentions.all.len() as u32);
        while let Some((_, end, register)) = named.next_if(|(start, ..)| *start == pc) {
            let Some(slot) = slots.get(register) else { continue };
            let mut writes = false;
            for inst in &program.code[pc as usize..*end as usize] {
                written(program, inst, &mut |other, _| writes |= other == *register);
            }
            mentions.all.push(Mention { slot: *slot, writes });
        }
    }
    mentions.first.push(mentions.all.len() as u32);
    mentions
}

impl Program {
    /// Returns true if an instruction only moves a value between registers. Compilers place such instructions where they like.
    pub fn is_move(&self, pc: u32) -> bool {
        matches!(self.code[pc as usize].action, Action::Alu { alu, .. } if alu.row().spelling.starts_with("mov."))
    }
}
