//! The launches of a stage as a file, so that a page can repeat them: source, PTX, arguments, and the bytes that they point to.
//!
//! The driver writes each launch of the process that simulates for explanations (`SIMCUDA_LAUNCHES`). Here they become one small file.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use driver::launch_files::{LaunchFile, launches_in};
use driver::variables::LAUNCHES;
use kernels::Source;
use ptx::{edit, parse, to_line_end};
use serde_json::{Value, json};
use simt::Dim3;

use crate::root;

/// Most bytes of a file, which a reader's browser fetches.
const MOST_BYTES: usize = 100_000;

/// The folder of the files, from the root of the repository. `cargo book` copies them into the book.
pub const FOLDER: &str = "target/book-lab/launches";

/// Makes a stage's file from the driver's files of its launches. Removes those files. Fails if the result is too large for a page.
pub fn save(file: &str, stage: &str, profile: &str, least_bytes: u64, source: &Source) -> Result<()> {
    let folder = LAUNCHES.path().with_context(|| format!("{LAUNCHES} is not set"))?;
    let launches = launches_in(&folder).own_files()?.into_iter().map(|path| {
        let written = serde_json::from_slice(&fs::read(&path)?)?;
        fs::remove_file(&path)?;
        launch(written)
    });
    let launches = launches.collect::<Result<Vec<_>>>()?;
    ensure!(!launches.is_empty(), "the driver wrote no launch of {stage}, so that a page cannot repeat it");
    let headers = source.headers.iter().map(|header| json!({ "name": header.name, "text": header.text })).collect::<Vec<_>>();
    let source = json!({ "path": source.path, "text": source.cuda, "headers": headers });
    let json = json!({ "stage": stage, "profile": profile, "least_bytes": least_bytes, "source": source, "launches": launches })
        .to_string();
    ensure!(json.len() <= MOST_BYTES, "{file} has {} bytes, more than {MOST_BYTES}; choose a smaller `size`", json.len());
    let folder = root().join(FOLDER);
    fs::create_dir_all(&folder)?;
    write(&folder.join(file), json.as_bytes())
}

/// Returns a launch as a page reads it: its module without the kernels that are not launched, and memory in few words.
fn launch(LaunchFile { kernel, config, cooperative, arguments, buffers, variables, ptx, .. }: LaunchFile) -> Result<Value> {
    let extents = |Dim3 { x, y, z }: Dim3| [x, y, z];
    let ptx = only(&ptx, &kernel)?;
    let kept: BTreeSet<String> = parse(&ptx)?.variables.iter().map(|variable| variable.name.to_string()).collect();
    let variables = variables.into_iter().filter(|it| kept.contains(&it.name));
    Ok(json!({
        "kernel": kernel,
        "grid": extents(config.grid),
        "block": extents(config.block),
        "shared": config.dynamic_shared_bytes,
        "cooperative": cooperative,
        "arguments": arguments,
        "buffers": buffers.iter().map(|hex| contents(hex)).collect::<Vec<_>>(),
        "variables": variables.map(|it| json!({ "name": it.name, "contents": contents(&it.bytes) })).collect::<Vec<_>>(),
        "ptx": ptx,
    }))
}

/// Writes a file atomically. The book may be rendered several times in parallel.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let part = path.with_extension(format!("{}.part", std::process::id()));
    fs::write(&part, bytes).with_context(|| part.display().to_string())?;
    Ok(fs::rename(part, path)?)
}

/// Returns a module without other kernels, and without what only they use.
fn only(ptx: &str, kernel: &str) -> Result<String> {
    let module = parse(ptx)?;
    let others = module.functions.iter().filter(|function| function.is_kernel && function.name != kernel);
    let text = edit(ptx, others.map(|function| (to_line_end(ptx, function.span.clone()), String::new())).collect());
    let module = parse(&text)?;
    let unused = module.unused_variables().map(|variable| (to_line_end(&text, variable.span.clone()), String::new()));
    Ok(edit(&text, unused.collect()))
}

/// Returns bytes of memory, in hexadecimal digits, as a page reads them: their number and the word, if all words are the same.
fn contents(hex: &str) -> Value {
    let is_filled = |word: &&str| hex.len().is_multiple_of(8) && hex.as_bytes().chunks(8).all(|other| other == word.as_bytes());
    match hex.get(..8).filter(is_filled).and_then(|word| u32::from_str_radix(word, 16).ok()) {
        Some(word) => json!({ "bytes": hex.len() / 2, "word": word.swap_bytes() }),
        None => json!({ "hex": hex }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_holds_one_word_takes_no_room() {
        assert_eq!(contents("0000c07f0000c07f"), json!({ "bytes": 8, "word": 0x7fc0_0000 }));
        assert_eq!(contents(&("01020304".repeat(2) + "05")), json!({ "hex": "010203040102030405" }));
        assert_eq!(contents(""), json!({ "hex": "" }));
    }

    #[test]
    fn only_the_kernel_that_is_launched_stays() {
        let text = only(kernels::conv_naive::SOURCE.ptx, "naive").unwrap();
        let module = parse(&text).unwrap();
        assert_eq!(module.kernels().map(|kernel| kernel.name).collect::<Vec<_>>(), ["naive"]);
        assert_eq!(module.files.len(), 1);
    }
}
