//! An explanation as data, for a page that draws its own tables: the same lines, cells and divisions that the text shows.

use run::units::{milliseconds, significant};
use simt::bound::{Unit, bound};
use simt::{AccessSample, Counters, LaunchConfig};

use super::grid::Grid;
use super::{Explanation, Kernel, listing, occupancy, picture, working};

/// A file of a kernel with the counts of its lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The kernel.
    pub kernel: String,
    /// Its launches, in order.
    pub launches: Vec<LaunchConfig>,
    /// How many blocks are resident, and what limits them.
    pub occupancy: String,
    /// The file.
    pub file: String,
    /// The title of each column of counts, on two lines.
    pub columns: Vec<[&'static str; 2]>,
    /// The lines that were counted.
    pub lines: Vec<ListedLine>,
}

/// A line with its counts.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedLine {
    /// Its number, from 1.
    pub number: u32,
    /// The counts.
    pub counters: Counters,
    /// A cell for each column.
    pub cells: Vec<Option<String>>,
    /// Whether no other line of the stage needs more of what limits it.
    pub is_hottest: bool,
}

/// A request of the first warp, in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Request<'a> {
    /// The request.
    pub sample: &'a AccessSample,
    /// Its cost.
    pub cost: String,
    /// A key to compare costs.
    pub weight: (u32, u32),
}

/// The bound with its working.
#[derive(Clone, Debug, PartialEq)]
pub struct Working {
    /// The limit of the stage.
    pub limit: String,
    /// The GPU, and the SMs and the clock that the divisions take.
    pub gpu: String,
    /// The least time.
    pub least: String,
    /// The titles of the columns.
    pub titles: [&'static str; 5],
    /// The parts that are not negligible, longest time first.
    pub parts: Vec<[String; 5]>,
    /// The names of the others.
    pub negligible: Vec<String>,
    /// Work that a compiler may remove, which is not in the bound.
    pub as_written: Vec<[String; 5]>,
}

impl Explanation<'_> {
    /// Each file of each kernel.
    pub fn listings(&self) -> Vec<Listing> {
        let limit = bound(&self.total(), self.least_bytes, self.profile).binding().map(|part| part.unit);
        let heat = |kernel: &Kernel<'_>, line, counters: &Counters| match limit {
            Some(Unit::L1Shared | Unit::L2 | Unit::Dram) => kernel.wavefronts(line),
            _ => counters.ptx_instructions,
        };
        let all =
            || self.kernels.iter().flat_map(|kernel| kernel.lines.iter().map(move |(line, counters)| heat(kernel, line, counters)));
        let most = all().max().filter(|most| *most > 0);
        let mut listings = Vec::new();
        for kernel in &self.kernels {
            for file in kernel.files() {
                let of_file = kernel.lines.iter().filter_map(|(line, counters)| {
                    let at = line.as_ref().filter(|at| at.file == file)?;
                    Some((at.line, line, counters))
                });
                let mut counted: Vec<_> = of_file.collect();
                counted.sort_by_key(|(number, ..)| *number);
                let (columns, cells) = listing::columns(counted.iter().map(|(.., counters)| *counters), &kernel.counters);
                let lines = counted.iter().zip(cells).map(|((number, line, counters), cells)| ListedLine {
                    number: *number,
                    counters: **counters,
                    cells,
                    is_hottest: most.is_some_and(|most| heat(kernel, line, counters) == most),
                });
                listings.push(Listing {
                    kernel: kernel.name.to_owned(),
                    launches: kernel.launches.clone(),
                    occupancy: occupancy(kernel.occupancy),
                    file: file.to_owned(),
                    columns,
                    lines: lines.collect(),
                });
            }
        }
        listings
    }

    /// The requests of the first warp of a kernel that have a picture.
    pub fn requests(&self, kernel: &str) -> Vec<Request<'_>> {
        let kernel = self.kernels.iter().find(|known| known.name == kernel);
        let request = |sample| {
            let grid = Grid::of(sample, self.rules())?;
            Some(Request { sample, cost: picture::summary(&grid, sample), weight: grid.cost.weight() })
        };
        kernel.into_iter().flat_map(|kernel| kernel.samples).filter_map(request).collect()
    }

    /// The bound with its working; `None` if nothing was counted that takes a GPU any time.
    pub fn working(&self) -> Option<Working> {
        let bound = bound(&self.total(), self.least_bytes, self.profile);
        let limit = bound.binding()?;
        let (large, small) = working::by_size(&bound, limit);
        let clock_ghz = f64::from(self.profile.clock_khz) / 1e6;
        Some(Working {
            limit: limit.unit.to_string(),
            gpu: format!(
                "{}, with {} multiprocessors (SMs) at {} GHz",
                self.profile.product,
                self.profile.multiprocessors,
                significant(clock_ghz)
            ),
            least: milliseconds(limit.least_ms),
            titles: working::TITLES,
            parts: large.iter().map(|part| working::cells(part, limit.least_ms)).collect(),
            negligible: small.iter().map(|part| part.unit.to_string()).collect(),
            as_written: bound.as_written.iter().map(|part| working::cells(part, limit.least_ms)).collect(),
        })
    }
}
