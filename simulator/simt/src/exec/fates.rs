//! Which elements of a load matter to the program. The answer is the same every time, so it is computed once.

use std::collections::HashMap;

use ptx::program::{Action, Exchange, Program, is_stored, used_elements};

/// The answers so far, by instruction.
#[derive(Debug, Default)]
pub struct Fates {
    bytes: HashMap<u32, u32>,
    stored: HashMap<u32, bool>,
}

impl Fates {
    /// Returns the bytes that the program uses of a lane's load. There is one bit for each; if it is not a plain load, all are set.
    #[cold]
    pub fn used_bytes(&mut self, program: &Program, pc: u32) -> u32 {
        *self.bytes.entry(pc).or_insert_with(|| {
            let Action::Load(index) = program.code[pc as usize].action else { return u32::MAX };
            let (width, used) = (program.accesses[index as usize].width, used_elements(program, pc));
            (0..32).filter(|byte| used >> (byte / width) & 1 != 0).fold(0, |bytes, byte| bytes | 1 << byte)
        })
    }

    /// Returns true if every lane stores the shuffle result at `pc`.
    pub fn is_stored(&mut self, program: &Program, pc: u32) -> bool {
        *self.stored.entry(pc).or_insert_with(|| match program.code[pc as usize].action {
            Action::Exchange(Exchange::Shuffle { destination, .. }) => is_stored(program, pc, destination),
            _ => false,
        })
    }
}
