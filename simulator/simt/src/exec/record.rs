//! Records the instructions of one warp and the registers that they change, for callers that step through a kernel.
//!
//! A launch without a [`StepRecord`](crate::steps::StepRecord) pays for one test of a flag per instruction.

use super::core::Core;
use crate::registers::Registers;

impl Core<'_> {
    /// Records that the warp is about to execute an instruction. What the instruction before it has changed is known now.
    #[cold]
    #[inline(never)]
    pub fn record(&mut self, registers: &Registers, at: u32, active: u32) {
        let Some(mut recording) = self.recording.take() else { return };
        recording.finish(self.machine.program, registers);
        let origin = self.machine.program.origins[at as usize];
        // The decoder adds instructions of its own. Their effect belongs to the instruction of PTX before them.
        if !origin.counts || recording.record.begin(self.machine.map.location(origin), active) {
            self.recording = Some(recording);
        }
    }
}
