//! An explanation as data, for a page that draws its own tables: the same lines, cells and divisions that the text shows.

use simt::bound::Unit;
use simt::{AccessSample, Counters};

use super::grid::Grid;
use super::working::Working;
use super::{Explanation, listing, occupancy, picture, wavefronts};

/// A file of a kernel with the counts of its lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The kernel.
    pub kernel: String,
    /// The number of resident blocks, and their limit.
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
    /// A cell for each column.
    pub cells: Vec<Option<String>>,
    /// True if no other line of the stage needs more of what limits it.
    pub is_hottest: bool,
}

impl Explanation<'_> {
    /// Returns each file of each kernel.
    pub fn listings(&self) -> Vec<Listing> {
        let limit = self.bound().binding().map(|part| part.unit);
        let heat = |counters: &Counters| match limit {
            Some(Unit::L1Shared | Unit::L2 | Unit::Dram) => wavefronts(counters),
            _ => counters.ptx_instructions,
        };
        let most = self.kernels.iter().flat_map(|kernel| kernel.lines.values()).map(heat).max().filter(|most| *most > 0);
        let mut listings = Vec::new();
        for kernel in &self.kernels {
            for file in kernel.files() {
                let counted = kernel.counted(file);
                let (columns, cells) = listing::columns(counted.iter().map(|(_, counters)| *counters), &kernel.counters);
                let lines = counted.into_iter().zip(cells).map(|((number, counters), cells)| ListedLine {
                    number,
                    cells,
                    is_hottest: most == Some(heat(counters)),
                });
                listings.push(Listing {
                    kernel: kernel.name.to_owned(),
                    occupancy: occupancy(kernel.occupancy),
                    file: file.to_owned(),
                    columns,
                    lines: lines.collect(),
                });
            }
        }
        listings
    }

    /// Returns the pictured requests of a kernel's first warp. Each has its cost in words and a key to compare costs.
    pub fn requests(&self, kernel: &str) -> Vec<(&AccessSample, String, (u32, u32))> {
        let kernel = self.kernels.iter().find(|known| known.name == kernel);
        let request = |sample| {
            let grid = Grid::of(sample, self.rules())?;
            Some((sample, picture::summary(&grid, sample), grid.cost.weight()))
        };
        kernel.into_iter().flat_map(|kernel| kernel.samples).filter_map(request).collect()
    }

    /// Returns the bound with its working. Returns `None` if nothing counted takes a GPU any time.
    pub fn working(&self) -> Option<Working> {
        Working::of(&self.bound(), self.profile)
    }
}
