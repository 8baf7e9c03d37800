//! The format of lcov, which genhtml, editors and Codecov read: <https://github.com/linux-test-project/lcov/blob/v1.16/man/geninfo.1#L453>.
//!
//! A function is a kernel, and its count is that of its launches. All other counts are those of lanes, which are threads.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::files::{Files, KernelSummary, Shares, SourceFile, is_reached};

/// Returns the text of a file for lcov.
pub fn text(files: &Files) -> String {
    let mut text = String::new();
    for (path, file) in &files.files {
        record(&mut text, &path.to_string_lossy(), file).expect("a string takes everything");
    }
    text
}

fn record(text: &mut String, path: &str, file: &SourceFile) -> std::fmt::Result {
    writeln!(text, "TN:\nSF:{path}")?;
    // A name stands for one function of a file there, and two kernels may differ in their parameters only.
    let name = |kernel: &KernelSummary| match file.kernels.iter().filter(|other| other.name == kernel.name).count() {
        1 => kernel.name.clone(),
        _ => format!("{} (line {})", kernel.name, kernel.line),
    };
    for kernel in &file.kernels {
        writeln!(text, "FN:{},{}", kernel.line, name(kernel))?;
    }
    for kernel in &file.kernels {
        writeln!(text, "FNDA:{},{}", kernel.launches, name(kernel))?;
    }
    let launched = file.kernels.iter().filter(|kernel| kernel.launches > 0).count();
    writeln!(text, "FNF:{}\nFNH:{launched}", file.kernels.len())?;
    let mut blocks: BTreeMap<u32, usize> = BTreeMap::new();
    for branch in &file.branches {
        let block = blocks.entry(branch.at.line).or_default();
        for (number, way) in branch.ways.iter().enumerate() {
            let taken = if is_reached(branch) { way.lanes.to_string() } else { "-".to_owned() };
            writeln!(text, "BRDA:{},{block},{number},{taken}", branch.at.line)?;
        }
        *block += 1;
    }
    let Shares { lines, ways, .. } = file.shares();
    writeln!(text, "BRF:{}\nBRH:{}", ways.all, ways.hit)?;
    for (line, executed) in &file.lines {
        writeln!(text, "DA:{line},{}", executed.lanes)?;
    }
    writeln!(text, "LF:{}\nLH:{}\nend_of_record", lines.all, lines.hit)
}
