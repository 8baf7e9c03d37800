//! Records the instructions of one warp and the registers that they change, for callers that step through a kernel.
//!
//! A launch without a [`StepRecord`](crate::steps::StepRecord) pays for one test of a flag per instruction.

use super::core::Core;
use alu::registers::Registers;

impl Core<'_> {
    /// Records that the warp is about to execute an instruction. The warp has executed `executed` others in this turn. The changes
    /// by the instruction before it are known now.
    #[cold]
    #[inline(never)]
    pub fn record(&mut self, registers: &Registers, at: u32, active: u32, executed: u64) {
        let (program, map) = (self.machine.program, self.machine.map);
        let Some(recording) = &mut self.own.recording else { return };
        recording.finish(program, registers);
        let origin = program.origins[at as usize];
        // The decoder adds instructions of its own. Their effect belongs to the instruction of PTX before them.
        if origin.counts {
            let number =
                recording.begin(program, registers, || map.location(origin), (active, self.own.fuel.saturating_sub(executed)));
            self.check(|watch, warp| watch.follow(warp, number));
        }
    }
}
