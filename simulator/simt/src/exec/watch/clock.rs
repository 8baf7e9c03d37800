//! Vector clocks: for each warp of a block, the time up to which everything that the warp did is known to have happened. The driver has
//! streams in place of warps.

/// A vector clock. Times never go back, and the last time is not zero, so that clocks with the same times are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VClock(Vec<u32>);

impl VClock {
    /// Returns the time of a warp; 0 if nothing is known of it.
    #[inline(always)]
    pub fn at(&self, warp: u32) -> u32 {
        self.0.get(warp as usize).copied().unwrap_or(0)
    }

    /// Sets the time of a warp. It is at least 1 and not before the warp's time so far.
    pub fn advance(&mut self, warp: u32, time: u32) {
        assert!(time > 0 && time >= self.at(warp), "the time of warp {warp} goes back from {} to {time}", self.at(warp));
        let index = warp as usize;
        if index >= self.0.len() {
            self.0.resize(index + 1, 0);
        }
        self.0[index] = time;
    }

    /// Takes the later time of the two clocks for each warp.
    pub fn join(&mut self, other: &Self) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (time, other) in self.0.iter_mut().zip(&other.0) {
            *time = (*time).max(*other);
        }
    }

    /// Returns true if it knows all that the other one knows.
    pub fn includes(&self, other: &Self) -> bool {
        (0..).zip(&other.0).all(|(warp, time)| *time <= self.at(warp))
    }

    /// Returns true if nothing is known of any warp.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Resets all times, at the start of a block.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(times: &[(u32, u32)]) -> VClock {
        let mut clock = VClock::default();
        times.iter().for_each(|(warp, time)| clock.advance(*warp, *time));
        clock
    }

    #[test]
    fn a_join_knows_what_either_clock_knows() {
        for (one, other, both) in [
            (vec![], vec![], vec![]),
            (vec![(0, 3)], vec![], vec![(0, 3)]),
            (vec![], vec![(2, 1)], vec![(2, 1)]),
            (vec![(0, 3), (1, 1)], vec![(0, 2), (1, 5)], vec![(0, 3), (1, 5)]),
            (vec![(0, 3)], vec![(4, 1)], vec![(0, 3), (4, 1)]),
        ] {
            let (mut forth, mut back) = (clock(&one), clock(&other));
            forth.join(&clock(&other));
            back.join(&clock(&one));
            assert_eq!((&forth, &back), (&clock(&both), &clock(&both)), "{one:?} and {other:?}");
            let again = forth.clone();
            forth.join(&again);
            assert_eq!(forth, again);
        }
    }

    #[test]
    fn nothing_is_known_of_a_warp_that_a_clock_does_not_mention() {
        let mut clock = clock(&[(3, 7)]);
        assert_eq!([0, 3, 31].map(|warp| clock.at(warp)), [0, 7, 0]);
        clock.clear();
        assert_eq!(clock, VClock::default());
    }
}
