//! One chip in figures: what its data sheet would say, from the simulator's profile, next to what the chapters measured on it.

use std::fmt::Write;

use anyhow::{Context, Result};
use common::units;
use simt::Profile;
use simt::bound::Rates;

use crate::archive::Archive;
use crate::directive::nearest;

/// Bytes of a register, of a lane of f32, and of a bank's word.
const WORD: u64 = 4;
/// Banks of shared memory from compute capability 2.0 on: words of one pass.
const BANKS: u64 = 32;

/// Draws the tables of a GPU, which is named by its folder of records: its units, its levels of memory, and the ceilings measured on it.
///
/// # Errors
///
/// When there is no profile of it.
pub fn chip(archive: &Archive, device: &str) -> Result<String> {
    let name = device.trim_start_matches("nvidia-");
    let chip = Profile::named(name).with_context(|| {
        format!("there is no profile {name}{}", nearest(name, Profile::all().iter().map(|profile| profile.name)))
    })?;
    Ok(format!(
        "What there is, and what it can do:\n\n{}\nWhere data can be, from near to far:\n\n{}\nWhat was measured:\n\n{}",
        parts(chip),
        levels(chip),
        measured(archive, device)
    ))
}

/// What there is of each thing.
fn parts(chip: &Profile) -> String {
    let rates = Rates::of(chip.compute_capability);
    let rows = [
        ("multiprocessors (SM)", chip.multiprocessors.to_string()),
        ("… schedulers of each; a scheduler starts one instruction of one warp per clock", rates.issue.to_string()),
        ("… f32 multiply-adds of each per clock", rates.f32.to_string()),
        ("… passes of each through its 32 banks of L1 and shared memory per clock", rates.passes.to_string()),
        (
            "… threads that it holds at most",
            format!("{}, which are {} warps", chip.max_threads_per_sm, chip.max_threads_per_sm / 32),
        ),
        ("… blocks that it holds at most", chip.max_blocks_per_sm.to_string()),
        ("threads of a block at most", chip.max_threads_per_block.to_string()),
        ("clock", format!("{} GHz", units::significant(f64::from(chip.clock_khz) / 1e6))),
        ("f32 arithmetic, if every unit starts a multiply-add in every clock", units::flops(most_flops(chip))),
    ];
    let mut table = format!(
        "| {}, compute capability {}.{} | |\n|---|---|\n",
        chip.product, chip.compute_capability.0, chip.compute_capability.1
    );
    for (what, figure) in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| {what} | {figure} |");
    }
    table
}

/// Where data can be, from near to far.
fn levels(chip: &Profile) -> String {
    let rates = Rates::of(chip.compute_capability);
    let each = |bytes_per_clock: f64| f64::from(chip.multiprocessors) * bytes_per_clock * f64::from(chip.clock_khz) * 1e3;
    let working =
        |bytes_per_clock: f64| format!("{} ({bytes_per_clock} B per clock and SM)", units::bandwidth(each(bytes_per_clock)));
    let rows = [
        (
            "registers",
            "a thread",
            format!("{} per SM", units::bytes(u64::from(chip.registers_per_sm) * WORD)),
            "what the arithmetic needs".to_owned(),
        ),
        (
            "shared memory",
            "a block",
            format!("up to {} per SM", units::bytes(chip.shared_bytes_per_sm.into())),
            working(rates.passes * (BANKS * WORD) as f64),
        ),
        ("L1 cache", "a multiprocessor", "the same memory".to_owned(), "the same banks".to_owned()),
        ("L2 cache", "the chip", units::bytes(chip.l2_bytes), rates.l2_bytes.map_or_else(String::new, working)),
        ("device memory", "the chip", units::bytes(chip.memory_bytes), units::bandwidth(memory_rate(chip))),
    ];
    let mut table = "| level | belongs to | size | at most |\n|---|---|---|---|\n".to_owned();
    for (level, owner, size, rate) in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| {level} | {owner} | {size} | {rate} |");
    }
    table
}

/// The ceilings that the chapters' runs measured at their headline size.
fn measured(archive: &Archive, device: &str) -> String {
    let mut table =
        "| run | f32 multiply-adds | copy, read and written bytes together | `dp4a` | date |\n|---|---:|---:|---:|---|\n"
            .to_owned();
    let mut on = String::new();
    for run in archive.runs_where(|run| run.record.ceilings.is_some() && run.name == format!("{device}/{}", run.record.chapter)) {
        let record = run.record;
        let Some(ceilings) = record.ceilings else { continue };
        let dp4a = ceilings.byte_multiply_adds.map_or_else(String::new, units::multiply_adds);
        let date = run.day();
        let (flops, copy) = (units::flops(ceilings.flops), units::bandwidth(ceilings.bytes_per_s));
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{}`{} | {flops} | {copy} | {dp4a} | {date} |", record.chapter, run.ceilings_note());
        on = format!("{}; driver {}; {}", record.device.name, record.device.driver, record.device.compiler);
    }
    let _ = writeln!(table, "\n*{on}. Records: `book/results/{device}/*.json`.*");
    table
}

/// f32 operations per second, a multiply-add being two.
fn most_flops(chip: &Profile) -> f64 {
    2.0 * f64::from(chip.multiprocessors) * f64::from(chip.f32_lanes_per_sm) * f64::from(chip.clock_khz) * 1e3
}

/// Bytes per second of the memory's interface, which transfers twice in a clock.
fn memory_rate(chip: &Profile) -> f64 {
    2.0 * f64::from(chip.memory_clock_khz) * 1e3 * f64::from(chip.memory_bus_bits) / 8.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_and_the_lanes_give_the_rate_of_the_data_sheet() {
        // 67 TFLOP/s and 4.8 TB/s: NVIDIA's data sheet of the H200 SXM.
        let chip = Profile::named("h200").unwrap();
        assert_eq!(units::flops(most_flops(chip)), "66.9 TFLOP/s");
        assert_eq!(units::bandwidth(memory_rate(chip)), "4.81 TB/s");
    }
}
