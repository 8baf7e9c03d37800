//! The origin of instructions: lines of PTX, and of the CUDA C that it was compiled from.

use crate::finding::{Location, SourceLine};

/// The origin of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// Line of the PTX text.
    pub ptx_line: u32,
    /// Number of the file and line of CUDA source; line 0 means no line.
    pub source: Option<(u32, u32)>,
    /// The same for the place that an inlined function was called from.
    pub inlined_at: Option<(u32, u32)>,
    /// The instruction counts as one of PTX. The decoder may add instructions, and split one of PTX into several, of which one
    /// counts.
    pub counts: bool,
}

/// The lines of the text and the names of the files, to describe an [`Origin`].
#[derive(Debug)]
pub struct SourceMap {
    lines: Vec<String>,
    files: Vec<(u32, String)>,
}

impl SourceMap {
    pub fn new(text: &str, files: &[(u32, &str)]) -> Self {
        Self {
            lines: text.lines().map(str::to_owned).collect(),
            files: files.iter().map(|(index, name)| (*index, (*name).to_owned())).collect(),
        }
    }

    /// A line of CUDA source, given the number of its file.
    pub fn source_line(&self, (file, line): (u32, u32)) -> Option<SourceLine> {
        let (_, name) = self.files.iter().find(|(index, _)| *index == file)?;
        Some(SourceLine { file: name.clone(), line })
    }

    /// The location that an origin describes.
    pub fn location(&self, origin: Origin) -> Location {
        let line = self.lines.get(origin.ptx_line.saturating_sub(1) as usize).map_or("", String::as_str);
        let instruction = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let line_of = |place: Option<(u32, u32)>| place.and_then(|place| self.source_line(place));
        Location { ptx_line: origin.ptx_line, instruction, source: line_of(origin.source), inlined_at: line_of(origin.inlined_at) }
    }
}
