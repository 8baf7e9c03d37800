//! One request of a warp as a grid. It is 32 words wide, like a line of the L1 cache and like a row of banks.

use std::collections::{BTreeMap, BTreeSet};

use ptx::finding::AccessOp;
use simt::memory::rules::{Direction, Rules};
use simt::{AccessSample, Space};

/// Words of a row: banks of shared memory, or words of a line of 128 bytes.
pub const COLUMNS: usize = 32;
/// Words of a sector.
pub const SECTOR_WORDS: usize = 8;
/// Bytes of a word.
const WORD: u64 = 4;
/// Bytes of a row.
pub const ROW_BYTES: u64 = WORD * COLUMNS as u64;

/// The words that the lanes of a warp request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The memory.
    pub space: Space,
    /// The rows that some lane requests, in the order of addresses.
    pub rows: Vec<Row>,
    /// The cost of the request.
    pub cost: Cost,
    /// True if words in one column are in one bank and wait for each other: in shared memory, if each lane requests at most one word, on
    /// GPUs with 32 banks of a word.
    pub conflicts: bool,
    /// Bytes that the lanes request, each byte once.
    pub bytes_wanted: u64,
    /// The number of banks of shared memory.
    pub banks: usize,
}

/// A line of memory, or a row of the banks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Offset in bytes from the first row of the grid; in shared memory, from its start.
    pub offset: u64,
    /// A bit for each lane that requests the word.
    pub lanes: [u32; COLUMNS],
}

/// The cost of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// In global memory.
    Global {
        /// Sectors moved.
        sectors: u32,
        /// Sectors that the bytes would fill if they were contiguous.
        ideal: u32,
        /// Wavefronts of the L1 cache if it holds the data; for loads, on GPUs with that cache.
        l1_wavefronts: Option<u32>,
        /// Transactions, if they are not one per sector.
        transactions: Option<u32>,
    },
    /// In shared memory.
    Shared {
        /// Wavefronts.
        wavefronts: u32,
        /// Wavefronts without conflicts.
        ideal: u32,
    },
}

impl Cost {
    /// Returns the cost of a sample by a GPU generation's rules. Returns `None` for memory without such rules.
    pub fn of(sample: &AccessSample, rules: Rules) -> Option<Self> {
        let AccessSample { op, bytes, lanes, addresses, .. } = sample;
        match sample.space {
            Space::Global => {
                let request = rules.global(*lanes, *bytes, addresses);
                let (sectors, ideal) = (request.units, request.ideal);
                let l1_wavefronts = rules.l1_wavefronts(*lanes, *bytes, addresses);
                let l1_wavefronts = (*op == AccessOp::Load && l1_wavefronts > 0).then_some(l1_wavefronts);
                let transactions = (request.transactions != sectors).then_some(request.transactions);
                Some(Cost::Global { sectors, ideal, l1_wavefronts, transactions })
            }
            Space::Shared => {
                let direction = if *op == AccessOp::Load { Direction::Load } else { Direction::Store };
                let cost = rules.shared(direction, *lanes, *bytes, &addresses.map(|offset| offset as u32));
                Some(Cost::Shared { wavefronts: cost.units, ideal: cost.ideal })
            }
            _ => None,
        }
    }

    /// Returns a key to compare the requests of a line: wavefronts first, then sectors.
    pub fn weight(self) -> (u32, u32) {
        match self {
            Cost::Global { sectors, l1_wavefronts, .. } => (l1_wavefronts.unwrap_or(sectors), sectors),
            Cost::Shared { wavefronts, .. } => (wavefronts, 0),
        }
    }
}

impl Grid {
    /// Returns the grid of a sample; `None` for memory without sectors or banks.
    pub fn of(sample: &AccessSample, rules: Rules) -> Option<Self> {
        let cost = Cost::of(sample, rules)?;
        let mut words: BTreeMap<u64, u32> = BTreeMap::new();
        let mut bytes = BTreeSet::new();
        for lane in (0..32).filter(|lane| sample.lanes >> lane & 1 != 0) {
            let first = sample.addresses[lane];
            for byte in first..first + u64::from(sample.bytes) {
                *words.entry(byte / WORD).or_default() |= 1 << lane;
                bytes.insert(byte);
            }
        }
        let start = match sample.space {
            Space::Global => words.keys().next().map_or(0, |word| word * WORD / ROW_BYTES),
            _ => 0,
        };
        let mut rows: Vec<Row> = Vec::new();
        for (word, lanes) in words {
            let offset = (word * WORD / ROW_BYTES - start) * ROW_BYTES;
            if rows.last().is_none_or(|row| row.offset != offset) {
                rows.push(Row { offset, lanes: [0; COLUMNS] });
            }
            if let Some(row) = rows.last_mut() {
                row.lanes[word as usize % COLUMNS] = lanes;
            }
        }
        let conflicts = sample.space == Space::Shared && sample.bytes <= 4 && rules == Rules::Current;
        let banks = if matches!(rules, Rules::Tesla | Rules::TeslaSegments) { 16 } else { 32 };
        Some(Self { space: sample.space, rows, cost, conflicts, bytes_wanted: bytes.len() as u64, banks })
    }

    /// Returns each sector's first column, or every eighth bank, with its name.
    pub fn groups(&self) -> impl Iterator<Item = (usize, String)> {
        (0..COLUMNS).step_by(SECTOR_WORDS).map(|column| match self.space {
            Space::Global => (column, format!("sector {}", column / SECTOR_WORDS)),
            _ => (column, format!("bank {}", column % self.banks)),
        })
    }

    /// Returns true if several lanes request one word and nothing else.
    pub fn is_broadcast(&self) -> bool {
        let mut wanted = self.rows.iter().flat_map(|row| row.lanes).filter(|lanes| *lanes != 0);
        wanted.next().is_some_and(|lanes| lanes.count_ones() > 1) && wanted.next().is_none()
    }

    /// Counts the requested words of each bank.
    pub fn words_per_bank(&self) -> [u32; COLUMNS] {
        std::array::from_fn(|bank| self.rows.iter().filter(|row| row.lanes[bank] != 0).count() as u32)
    }
}

impl Row {
    /// Returns true if the word's sector is moved.
    pub fn is_moved(&self, column: usize) -> bool {
        let first = column / SECTOR_WORDS * SECTOR_WORDS;
        self.lanes[first..first + SECTOR_WORDS].iter().any(|lanes| *lanes != 0)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use simt::{Location, SourceLine};

    /// Returns a request of `bytes` per lane, lane `i` at `f(i)`.
    pub fn sample(space: Space, op: AccessOp, bytes: u32, lanes: u32, f: fn(u64) -> u64) -> AccessSample {
        let opcode = if op == AccessOp::Load { "ld" } else { "st" };
        let instruction = format!("{opcode}.{}.f32 %f1, [%rd1];", if space == Space::Global { "global" } else { "shared" });
        let source = Some(SourceLine { file: "kernels/cuda/x.cu".to_owned(), line: 7 });
        let location = Location { ptx_line: 40, instruction, source, inlined_at: None };
        AccessSample { location, space, variable: None, op, bytes, lanes, addresses: std::array::from_fn(|lane| f(lane as u64)) }
    }

    #[test]
    fn lanes_are_at_the_words_that_they_request() {
        let grid =
            Grid::of(&sample(Space::Global, AccessOp::Load, 4, u32::MAX, |lane| 0x1_0000 + 4 * lane + 4), Rules::Current).unwrap();
        assert_eq!(grid.rows.len(), 2);
        assert_eq!((grid.rows[0].lanes[0], grid.rows[0].lanes[1], grid.rows[0].lanes[31]), (0, 1, 1 << 30));
        assert_eq!((grid.rows[1].offset, grid.rows[1].lanes[0]), (128, 1 << 31));
        assert!(grid.rows[1].is_moved(7) && !grid.rows[1].is_moved(8));
        assert_eq!(grid.cost, Cost::Global { sectors: 5, ideal: 4, l1_wavefronts: Some(1), transactions: None });
        assert_eq!(grid.bytes_wanted, 128);
    }

    #[test]
    fn a_column_of_a_square_tile_is_one_bank() {
        let grid = Grid::of(&sample(Space::Shared, AccessOp::Store, 4, u32::MAX, |lane| 128 * lane + 8), Rules::Current).unwrap();
        assert_eq!(grid.rows.len(), 32);
        let mut banks = [0; COLUMNS];
        banks[2] = 32;
        assert_eq!(grid.words_per_bank(), banks);
        assert_eq!(grid.cost, Cost::Shared { wavefronts: 32, ideal: 1 });
    }

    #[test]
    fn the_first_gpus_have_other_rules() {
        let strided = sample(Space::Global, AccessOp::Load, 4, u32::MAX, |lane| 32 * lane);
        // Each lane's own transaction of 32 bytes; four lanes of a half-warp to a segment of 128.
        for (rules, sectors) in [(Rules::Tesla, 32), (Rules::TeslaSegments, 32)] {
            let Some(Cost::Global { sectors: got, l1_wavefronts: None, .. }) = Cost::of(&strided, rules) else {
                panic!("{rules:?}")
            };
            assert_eq!(got, sectors);
        }
        let column = sample(Space::Shared, AccessOp::Load, 4, u32::MAX, |lane| 64 * lane);
        assert!(!Grid::of(&column, Rules::Tesla).unwrap().conflicts);
        assert_eq!(Cost::of(&column, Rules::Tesla), Some(Cost::Shared { wavefronts: 32, ideal: 2 }));
    }

    #[test]
    fn small_elements_share_words_and_large_ones_take_several() {
        let bytes = Grid::of(&sample(Space::Global, AccessOp::Load, 1, 0xff, |lane| lane), Rules::Current).unwrap();
        assert_eq!((bytes.rows[0].lanes[0], bytes.rows[0].lanes[1], bytes.bytes_wanted), (0xf, 0xf0, 8));
        let vectors = Grid::of(&sample(Space::Global, AccessOp::Store, 16, 0b11, |lane| 16 * lane), Rules::Current).unwrap();
        assert_eq!(vectors.rows[0].lanes[..9], [1, 1, 1, 1, 2, 2, 2, 2, 0]);
        assert_eq!(vectors.cost, Cost::Global { sectors: 1, ideal: 1, l1_wavefronts: None, transactions: None });
    }
}
