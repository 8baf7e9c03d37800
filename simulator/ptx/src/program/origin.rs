//! The origin of instructions: lines of PTX, and of the CUDA C that it was compiled from.

use crate::finding::{Location, SourceLine};

/// The origin of an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin {
    /// Line of the PTX text.
    pub ptx_line: u32,
    /// Number of the file and line of CUDA source; line 0 means no line.
    pub source: Option<(u32, u32)>,
    /// Column of that line; 0 means none.
    pub column: u32,
    /// File, line and column of the call that was inlined, for the code of an inlined function.
    pub call: Option<(u32, u32, u32)>,
    /// The same for the place that an inlined function was called from.
    pub inlined_at: Option<(u32, u32)>,
    /// The instruction counts as one of PTX. The decoder may add instructions, and split one of PTX into several, of which one
    /// counts.
    pub counts: bool,
}

/// The text's lines and the files' names, to describe an [`Origin`].
#[derive(Debug)]
pub struct SourceMap {
    lines: Vec<String>,
    files: Vec<(u32, String)>,
}

impl SourceMap {
    pub fn new(text: &str, files: &[(u32, &str)]) -> Self {
        Self {
            lines: text.lines().map(str::to_owned).collect(),
            files: files.iter().map(|(index, name)| (*index, unescaped(name))).collect(),
        }
    }

    /// Returns the text, with a line feed after each line.
    pub fn text(&self) -> String {
        self.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }

    /// Returns a line of CUDA source, given the number of its file.
    pub fn source_line(&self, (file, line): (u32, u32)) -> Option<SourceLine> {
        let (_, name) = self.files.iter().find(|(index, _)| *index == file)?;
        Some(SourceLine { file: name.clone(), line })
    }

    /// Returns the location that an origin describes.
    pub fn location(&self, origin: Origin) -> Location {
        let line = self.lines.get(origin.ptx_line.saturating_sub(1) as usize).map_or("", String::as_str);
        let instruction = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let line_of = |place: Option<(u32, u32)>| place.and_then(|place| self.source_line(place));
        Location { ptx_line: origin.ptx_line, instruction, source: line_of(origin.source), inlined_at: line_of(origin.inlined_at) }
    }
}

/// Returns a file's name as its owner knows it. NVRTC writes a byte that is not ASCII as a backslash and three octal digits, and has a
/// backslash before some other characters, as C does.
fn unescaped(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let (byte, length) = match (first, after) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..]) => ((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), 3),
            (b'\\', [b't', ..]) => (b'\t', 1),
            (b'\\', [b'n', ..]) => (b'\n', 1),
            (b'\\', [other @ (b'\\' | b'"'), ..]) => (*other, 1),
            _ => (first, 0),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second is what NVRTC 12.0 writes for the first.
    #[test]
    fn names_are_read_as_nvrtc_writes_them() {
        for (name, written) in [
            ("/tmp/mein Gerät/ü.cu", r"/tmp/mein Ger\303\244t/\303\274.cu"),
            (r#"a "q" \b 日本.cu"#, r#"a \"q\" \\b \346\227\245\346\234\254.cu"#),
            ("tab\tx.cu", r"tab\tx.cu"),
            (r"C:\303\new.cu", r"C:\\303\\new.cu"),
            ("plain.cu", "plain.cu"),
            ("mein Gerät.cu", "mein Gerät.cu"),
            (r"at the end\", r"at the end\"),
        ] {
            let map = SourceMap::new("", &[(1, written)]);
            assert_eq!(map.source_line((1, 5)), Some(SourceLine { file: name.to_owned(), line: 5 }));
        }
    }
}
