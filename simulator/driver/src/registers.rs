//! Registers per thread, as stated in comments at the start of PTX.
//!
//! PTX does not say how many registers its machine code will use. A tool that makes PTX may know, and can write it before the first
//! directive, one line per architecture:
//!
//! ```text
//! // registers sm_90: naive 30, naive_strided 40
//! ```

use std::collections::BTreeMap;

/// Registers per thread, by the kernel's name.
pub type Registers = BTreeMap<String, u32>;

/// The most registers that a thread can have, on any GPU so far.
const MOST: u32 = 255;

/// Reads the comments for a GPU with this compute capability: those for its own architecture, or else for the latest one before it in
/// the same generation, whose code the GPU can execute. Comments of any other form are skipped.
pub fn read(ptx: &str, (major, minor): (u32, u32)) -> Registers {
    let head = ptx.lines().map(str::trim).take_while(|line| line.is_empty() || line.starts_with("//"));
    let stated = head.filter_map(|line| line.strip_prefix("// registers sm_")?.split_once(": "));
    let matching = stated.filter_map(|(target, list)| {
        let target: u32 = target.parse().ok()?;
        (target / 10 == major && target % 10 <= minor).then_some((target, list))
    });
    let (_, list) = matching.max_by_key(|(target, _)| *target).unwrap_or_default();
    let kernels = list.split(", ").filter_map(|entry| {
        let (name, count) = entry.split_once(' ')?;
        let count: u32 = count.parse().ok()?;
        (1..=MOST).contains(&count).then(|| (name.to_owned(), count))
    });
    kernels.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "// source: a.cu
// registers sm_75: naive 43, other 50

// registers sm_80: naive 31
// registers sm_89: naive 40
//
.version 8.0
// registers sm_90: naive 99
";

    #[test]
    fn the_line_for_the_architecture_counts_or_the_one_before_it() {
        let naive = |capability| read(PTX, capability).get("naive").copied();
        assert_eq!(read(PTX, (7, 5)), BTreeMap::from([("naive".to_owned(), 43), ("other".to_owned(), 50)]));
        assert_eq!([naive((8, 0)), naive((8, 6)), naive((8, 9))], [Some(31), Some(31), Some(40)]);
        assert_eq!([naive((7, 0)), naive((3, 0)), naive((1, 1))], [None; 3], "not for this generation");
        assert_eq!(naive((9, 0)), None, "comments after the first directive do not count");
    }

    #[test]
    fn other_comments_are_skipped() {
        for text in [
            "",
            "// registers sm_90",
            "// registers sm_x: a 1",
            "// registers sm_90: ",
            "// registers sm_90: a, b x, c 0, d 256, e -1",
        ] {
            assert_eq!(read(text, (9, 0)), BTreeMap::new(), "{text:?}");
        }
        assert_eq!(read("// registers sm_90: a, b 7", (9, 0)).len(), 1);
    }
}
