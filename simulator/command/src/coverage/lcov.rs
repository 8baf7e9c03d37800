//! The format of lcov, which genhtml, editors and Codecov read: <https://github.com/linux-test-project/lcov/blob/v1.16/man/geninfo.1#L453>.
//!
//! A function is a kernel, and its count is that of its launches. All other counts are those of lanes, which are threads.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::files::{Files, Share, SourceFile};

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
    let names: Vec<String> = file
        .kernels
        .iter()
        .enumerate()
        .map(|(index, kernel)| {
            let is_alone = file.kernels.iter().enumerate().all(|(other, known)| other == index || known.name != kernel.name);
            if is_alone { kernel.name.clone() } else { format!("{} (line {})", kernel.name, kernel.line) }
        })
        .collect();
    for (kernel, name) in file.kernels.iter().zip(&names) {
        writeln!(text, "FN:{},{name}", kernel.line)?;
    }
    for (kernel, name) in file.kernels.iter().zip(&names) {
        writeln!(text, "FNDA:{},{name}", kernel.launches)?;
    }
    let launched = file.kernels.iter().filter(|kernel| kernel.launches > 0).count();
    writeln!(text, "FNF:{}\nFNH:{launched}", file.kernels.len())?;
    let mut blocks: BTreeMap<u32, usize> = BTreeMap::new();
    for branch in &file.branches {
        let block = blocks.entry(branch.at.line).or_default();
        let reached = branch.ways.iter().any(|way| way.lanes > 0);
        for (number, way) in branch.ways.iter().enumerate() {
            let taken = if reached { way.lanes.to_string() } else { "-".to_owned() };
            writeln!(text, "BRDA:{},{block},{number},{taken}", branch.at.line)?;
        }
        *block += 1;
    }
    let Share { hit, all } = file.covered_ways();
    writeln!(text, "BRF:{all}\nBRH:{hit}")?;
    for (line, executed) in &file.lines {
        writeln!(text, "DA:{line},{}", executed.lanes)?;
    }
    let Share { hit, all } = file.covered_lines();
    writeln!(text, "LF:{all}\nLH:{hit}\nend_of_record")
}
