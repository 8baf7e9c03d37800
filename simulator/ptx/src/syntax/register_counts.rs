//! Register counts: registers per thread, stated in comments at the start of PTX.
//!
//! PTX does not say how many registers its machine code will use. A program that makes PTX may know, and can say so before the
//! first directive, one line per architecture:
//!
//! ```text
//! // registers sm_90: naive 30, naive_strided 40
//! ```
//!
//! To every other reader this is a comment.

use std::collections::BTreeMap;

/// The most that a thread can have, on any GPU so far.
const MOST: u32 = 255;

/// Reads the comments for a GPU of this compute capability: those for its own architecture, or for the latest earlier one of the
/// same generation, whose code it executes. Registers per thread by kernel; malformed entries are skipped.
pub fn read(ptx: &str, (major, minor): (u32, u32)) -> BTreeMap<String, u32> {
    let head = ptx.lines().map(str::trim).take_while(|line| line.is_empty() || line.starts_with("//"));
    let lists = head.filter_map(|line| line.strip_prefix("// registers sm_")?.split_once(": "));
    let fitting = lists.filter_map(|(target, list)| {
        let target: u32 = target.parse().ok()?;
        (target / 10 == major && target % 10 <= minor).then_some((target, list))
    });
    let (_, list) = fitting.max_by_key(|(target, _)| *target).unwrap_or_default();
    let kernels = list.split(", ").filter_map(|entry| {
        let (name, count) = entry.split_once(' ')?;
        let count: u32 = count.parse().ok()?;
        (1..=MOST).contains(&count).then(|| (name.to_owned(), count))
    });
    kernels.collect()
}

/// Returns the comment for one architecture (`90` for `sm_90`), including its line end. It is empty when there is no kernel.
pub fn comment(architecture: u32, counts: &BTreeMap<String, u32>) -> String {
    let list: Vec<String> = counts.iter().map(|(kernel, count)| format!("{kernel} {count}")).collect();
    if list.is_empty() { String::new() } else { format!("// registers sm_{architecture}: {}\n", list.join(", ")) }
}
