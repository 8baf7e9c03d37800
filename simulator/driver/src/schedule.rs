//! Which of the orders that CUDA allows the work of streams takes.
//!
//! Without a schedule, work is done when the call that enqueues it returns. A schedule lets work wait until something asks for it, and then
//! chooses by its number what runs next, so that the same number gives the same order again.

/// The order of a run, by its number.
///
/// Number 0 is the order of the calls. Of the others, every fourth is of one kind: work runs as late as possible, in the order of the
/// calls or the other way around; everything that is not awaited runs first; or chance decides each time.
#[derive(Debug, Default)]
pub struct Schedule {
    kind: Kind,
    state: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    AsCalled,
    Late,
    LateAndReversed,
    OthersFirst,
    Random,
}

impl Schedule {
    pub fn new(number: u64) -> Self {
        let kind = match number {
            0 => Kind::AsCalled,
            _ => [Kind::Late, Kind::LateAndReversed, Kind::OthersFirst, Kind::Random][((number - 1) % 4) as usize],
        };
        Self { kind, state: number }
    }

    /// Returns true if work runs when it is enqueued.
    pub fn is_as_called(&self) -> bool {
        self.kind == Kind::AsCalled
    }

    /// Returns true if something runs now although nothing waits for it.
    pub fn runs_early(&mut self) -> bool {
        self.kind == Kind::Random && self.below(4) == 0
    }

    /// Orders the work that can run: the first is tried first. `ready` is in the order of the calls, and says of each whether something
    /// waits for it.
    pub fn order(&mut self, mut ready: Vec<(usize, bool)>) -> Vec<usize> {
        match self.kind {
            Kind::AsCalled => {}
            Kind::Late => ready.sort_by_key(|(_, is_awaited)| !is_awaited),
            Kind::LateAndReversed => {
                ready.reverse();
                ready.sort_by_key(|(_, is_awaited)| !is_awaited);
            }
            Kind::OthersFirst => ready.sort_by_key(|(_, is_awaited)| *is_awaited),
            Kind::Random => {
                for last in (1..ready.len()).rev() {
                    let other = self.below(last as u64 + 1) as usize;
                    ready.swap(last, other);
                }
            }
        }
        ready.into_iter().map(|(index, _)| index).collect()
    }

    /// Returns the next number below a limit, by SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators",
    /// 2014).
    fn below(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_schedule_orders_work_in_its_way() {
        let order = |number| Schedule::new(number).order(vec![(0, false), (1, true), (2, false), (3, true)]);
        assert_eq!(order(0), [0, 1, 2, 3]);
        assert_eq!(order(1), [1, 3, 0, 2]);
        assert_eq!(order(2), [3, 1, 2, 0]);
        assert_eq!(order(3), [0, 2, 1, 3]);
        let mut random = order(4);
        assert_eq!(random, order(4), "the same number gives the same order");
        random.sort_unstable();
        assert_eq!(random, [0, 1, 2, 3]);
        let orders: std::collections::BTreeSet<_> = (1..40).map(|number| order(4 * number)).collect();
        assert!(orders.len() > 10, "{orders:?}");
    }

    #[test]
    fn only_chance_runs_what_nobody_waits_for() {
        let early = |number| {
            (0..100)
                .filter({
                    let mut schedule = Schedule::new(number);
                    move |_| schedule.runs_early()
                })
                .count()
        };
        assert_eq!([early(1), early(2), early(3)], [0, 0, 0]);
        assert!((10..40).contains(&early(4)), "{}", early(4));
    }
}
