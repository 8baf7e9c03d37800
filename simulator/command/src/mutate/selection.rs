//! Which mutants are run, in which order.

use std::collections::BTreeMap;

use driver::mutants::Listed;

use super::equivalent::Equivalents;

/// The mutants that the user asked for.
#[derive(Debug)]
pub struct Selection<'a> {
    /// Those that a run can notice.
    pub covered: Vec<&'a Listed>,
    /// Those that are known to make no difference.
    pub equivalent: Vec<&'a Listed>,
    /// Those in code that is not executed.
    pub not_covered: Vec<&'a Listed>,
}

impl<'a> Selection<'a> {
    /// Sorts those that `asked_for` chooses.
    pub fn new(mutants: &'a [Listed], equivalents: &Equivalents, asked_for: impl Fn(&Listed) -> bool) -> Self {
        let chosen = mutants.iter().filter(|mutant| asked_for(mutant));
        let (equivalent, others): (_, Vec<_>) = chosen.partition(|mutant| equivalents.contains(&mutant.id));
        let (covered, not_covered) = others.into_iter().partition(|mutant| mutant.covered);
        Self { covered, equivalent, not_covered }
    }

    /// Chooses a sample of the covered mutants, or all of them. Compilers unroll loops and inline functions, so one line of source can become
    /// hundreds of instructions: the sample takes one mutant for each operator and line before a second one for any.
    ///
    /// The order depends on the seed and the names of the mutants alone. A mutant that is new takes nothing but its own place.
    pub fn sample(&self, most: Option<u32>, seed: u64) -> Vec<&'a Listed> {
        let mut ordered = self.covered.clone();
        let Some(most) = most else { return ordered };
        ordered.sort_by_cached_key(|mutant| (hash(seed, &mutant.id), mutant.id.as_str()));
        let mut seen: BTreeMap<_, u32> = BTreeMap::new();
        let mut rounds: Vec<(u32, &Listed)> = Vec::new();
        for mutant in ordered {
            let place = (&mutant.function, mutant.operator, mutant.source.as_ref().map_or(mutant.ptx_line, |source| source.line));
            let round = seen.entry(place).or_default();
            rounds.push((*round, mutant));
            *round += 1;
        }
        rounds.sort_by_key(|(round, _)| *round);
        rounds.into_iter().map(|(_, mutant)| mutant).take(most as usize).collect()
    }
}

/// Hashes the seed and the name with FNV-1a. The result is mixed as in SplitMix64, because FNV-1a alone hardly spreads its last bytes.
fn hash(seed: u64, name: &str) -> u64 {
    let bytes = seed.to_le_bytes().into_iter().chain(name.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use driver::mutants::Operator;

    use super::*;

    fn mutants() -> Vec<Listed> {
        let mutant = |number: u32| Listed {
            id: format!("k@0/remove-guard/{number}"),
            function: "k".to_owned(),
            operator: Operator::RemoveGuard,
            instruction: String::new(),
            change: String::new(),
            // Eight instructions on one line, and two on lines of their own.
            ptx_line: number.max(8),
            source: None,
            covered: true,
        };
        (1..=10).map(mutant).collect()
    }

    #[test]
    fn a_sample_takes_every_line_before_it_takes_one_twice() {
        let mutants = mutants();
        let selection = Selection::new(&mutants, &Equivalents::default(), |_| true);
        for seed in 0..20 {
            let mut lines: Vec<u32> = selection.sample(Some(3), seed).iter().map(|mutant| mutant.ptx_line).collect();
            lines.sort_unstable();
            assert_eq!(lines, [8, 9, 10]);
        }
        assert_eq!(selection.sample(Some(100), 1).len(), 10);
        assert_eq!(selection.sample(None, 1).len(), 10);
    }

    #[test]
    fn a_seed_gives_the_same_sample_again_and_another_seed_another() {
        let mutants = mutants();
        let selection = Selection::new(&mutants, &Equivalents::default(), |_| true);
        let ids = |seed| selection.sample(Some(5), seed).iter().map(|mutant| mutant.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(1), ids(1));
        assert!((2..20).any(|seed| ids(seed) != ids(1)));
        let fewer = &mutants[..9];
        let left = Selection::new(fewer, &Equivalents::default(), |_| true);
        let mut expected: Vec<_> = selection.sample(Some(100), 1);
        expected.retain(|mutant| mutant.id != mutants[9].id);
        assert_eq!(left.sample(Some(100), 1), expected);
    }
}
