//! Results of calls, and numbers to call with.

/// Kinds of things that calls return.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Memory,
    Module,
    Function,
    Stream,
    Event,
    Context,
    Graph,
    Node,
    Executable,
    Library,
    Kernel,
    Pool,
    Array,
    /// A texture or surface object.
    View,
    Link,
    /// Physical memory, to be mapped.
    Physical,
    /// An array with several levels.
    Mipmap,
}

/// The latest results of calls of each kind, alive or destroyed.
#[derive(Default)]
pub struct Given {
    latest: Vec<(Kind, usize)>,
    /// All of them, to be destroyed in the end.
    pub all: Vec<(Kind, usize)>,
}

impl Given {
    const KEPT: usize = 6;

    /// Lists the values that can be picked now.
    pub fn seen(&self) -> Self {
        Self { latest: self.latest.clone(), all: Vec::new() }
    }

    pub fn add(&mut self, kind: Kind, value: usize) {
        self.all.push((kind, value));
        if self.latest.iter().filter(|(other, _)| *other == kind).count() == Self::KEPT {
            let oldest = self.latest.iter().position(|(other, _)| *other == kind).expect("there are some");
            self.latest.remove(oldest);
        }
        self.latest.push((kind, value));
    }

    /// Picks a value, mostly of this kind. Sometimes it is of another kind, null, or a number that no call returned.
    pub fn pick(&self, kind: Kind, choice: u32) -> usize {
        let nth = choice as usize / 16;
        let fitting: Vec<usize> = match choice % 16 {
            0 => return 0,
            1 => return 0x0dea_dbee_fbad_f00d,
            2 => self.latest.iter().map(|(_, value)| *value).collect(),
            _ => self.latest.iter().filter(|(other, _)| *other == kind).map(|(_, value)| *value).collect(),
        };
        fitting.get(nth % fitting.len().max(1)).copied().unwrap_or(0)
    }
}

/// Returns a size: none, small, or absurd.
pub fn size(choice: u32) -> usize {
    [0, 1, 4, 64, 100, 4096, 1 << 20, 1 << 45, usize::MAX - 3, usize::MAX][choice as usize % 10]
}

/// Returns an extent of a grid: zero, small, or more than any grid can have. A grid of a size in between would really run, for a long time.
pub fn blocks(choice: u32) -> u32 {
    [0, 1, 1, 1, 2, 3, 7, 33, 1 << 31, u32::MAX][choice as usize % 10]
}

/// Returns an extent of a block.
pub fn threads(choice: u32) -> u32 {
    [0, 1, 1, 2, 3, 33, 256, 1024, 1025, u32::MAX][choice as usize % 10]
}
