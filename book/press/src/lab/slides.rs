//! Experiments with sliders. Without scripts a page has a table of some settings, which is made here by running the kernel; with them, the reader
//! moves the sliders, and `book/lab/slides/NAME.mjs` runs the same kernel in the page. A test in a browser compares the rows of both.

use std::collections::BTreeSet;
use std::fmt::Display;

use anyhow::{Context, Result};
use inspect::explain::limit_name;
use kernels::{Source, slides};
use ptx::finding::AccessOp;
use ptx::register_counts;
use run::units::significant;
use serde_json::{Value as Json, json};
use simt::occupancy::{BlockNeeds, Occupancy};
use simt::{AccessSample, Counters, Profile, Space};
use simt_web::request::Launch;

use super::bench::Value::{Bytes, F32, Results, U32};
use super::bench::{launch, run};
use super::html::{escape, figure};
use crate::directive::named;

struct Slide {
    name: &'static str,
    title: &'static str,
    /// The instructions for a reader, in a sentence.
    about: &'static str,
    columns: &'static [&'static str],
    rows: fn(&Source) -> Result<Vec<Row>>,
}

/// A row: the settings of the controls, and the results.
struct Row {
    settings: Json,
    cells: Vec<String>,
}

impl Row {
    fn of(settings: Json, cells: &[&dyn Display]) -> Result<Self> {
        Ok(Self { settings, cells: cells.iter().map(ToString::to_string).collect() })
    }
}

const SLIDES: [Slide; 9] = [
    Slide {
        name: "barriers",
        title: "Two barriers and a padding",
        about: "A convolution reads its samples tile by tile from shared memory. Change the tile and its padding, and leave out a barrier.",
        columns: &["tile", "padding", "barriers", "wavefronts per shared load", "outputs", "found"],
        rows: barriers,
    },
    Slide {
        name: "bytes",
        title: "Bytes, words, and generations of GPUs",
        about: "The 32 lanes of a warp read a byte or a word each. Choose how far apart they are, and the generation of the GPU.",
        columns: &["lanes read", "GPU", "transactions with memory", "bytes moved", "wavefronts in shared memory"],
        rows: bytes,
    },
    Slide {
        name: "divergence",
        title: "Who takes the branch",
        about: "Four warps come to a branch with a loop on either path. Choose the lanes and the warps that take it.",
        columns: &["lanes that take it", "in warps", "instructions of warps", "lanes active, on average"],
        rows: divergence,
    },
    Slide {
        name: "occupancy",
        title: "Longer runs, more registers, fewer warps",
        about: "Each thread computes a run of outputs. A longer run loads less per multiply-add, and needs more registers.",
        columns: &["run", "block", "registers", "resident warps", "limited by", "loads per multiply-add"],
        rows: occupancy,
    },
    Slide {
        name: "shuffle",
        title: "Sums in registers, round by round",
        about: "Each of 32 lanes has a value. Choose the shuffle and the round, and see what each lane holds after it.",
        columns: &[
            "shuffle",
            "round",
            "lanes that add",
            "lanes with the total",
            "shuffles so far",
            "shared memory requests",
            "barriers",
        ],
        rows: shuffle,
    },
    Slide {
        name: "stride",
        title: "Stride and alignment",
        about: "Neighboring lanes read samples that are a stride apart. Change the stride and the first sample, and count sectors.",
        columns: &["stride", "first sample", "sectors of the first load", "bytes used", "bytes moved"],
        rows: stride,
    },
    Slide {
        name: "tile",
        title: "The shape of a tile",
        about: "A block loads the rows and the columns of its tile once, and computes all products of the two. Change its shape.",
        columns: &["rows", "columns", "loads per multiply-add", "multiply-adds per byte", "bytes moved per multiply-add"],
        rows: tile,
    },
    Slide {
        name: "tree",
        title: "A tree, round by round",
        about: "Each of 32 threads has a value. Choose which threads add and the round, and see what each thread holds after it.",
        columns: &[
            "tree by",
            "round",
            "threads that add",
            "threads with the total",
            "shared memory requests",
            "the same with 256 threads",
            "barriers",
        ],
        rows: tree,
    },
    Slide {
        name: "window",
        title: "Window and slices",
        about: "A thread adds up one window, then only what comes in and what goes out. The image has 64 columns of 256 outputs. Cut each column into slices, and there are more threads with more work in all.",
        columns: &["window", "slices", "threads", "outputs per thread", "loads per output"],
        rows: window,
    },
];

pub fn slide(name: &str) -> Result<String> {
    let slide = named(format_args!("there is no experiment {name}"), name, SLIDES.iter().map(|slide| (slide.name, slide)))?;
    let source = slides::named(name).with_context(|| format!("there is no book/lab/slides/{name}.cu"))?;
    let rows = (slide.rows)(source).with_context(|| format!("the experiment {name}"))?;
    let titles: String = slide.columns.iter().map(|title| format!("<th scope=\"col\">{}</th>", escape(title))).collect();
    let row = |Row { settings, cells }: &Row| {
        let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
        format!("<tr data-settings=\"{}\">{cells}</tr>\n", escape(&settings.to_string()))
    };
    let [title, about] = [slide.title, slide.about].map(escape);
    let rows: String = rows.iter().map(row).collect();
    let body = format!(
        "<figcaption><strong>{title}</strong></figcaption>\n<p>{about}</p>\n<div class=\"lab-scroll\"><table class=\"lab-numbers lab-settings\">\n\
         <thead><tr>{titles}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    );
    Ok(figure("slide", &[("slide", name)], &body))
}

/// Returns whole numbers, so that each sum is exact.
fn wave(count: usize, period: usize) -> Vec<f32> {
    (0..count).map(|index| (index * 7 % period) as f32 - (period / 2) as f32).collect()
}

/// Writes `a / b` as tables have it.
fn ratio(a: u64, b: u64) -> String {
    significant(a as f64 / b.max(1) as f64)
}

/// Returns how many bytes and sectors a sample's lanes request. Each byte counts once.
fn sectors(sample: &AccessSample) -> (usize, usize) {
    let active = (0..32).filter(|lane| sample.lanes >> lane & 1 != 0).map(|lane| sample.addresses[lane]);
    let bytes: BTreeSet<u64> = active.flat_map(|address| address..address + u64::from(sample.bytes)).collect();
    let sectors: BTreeSet<u64> = bytes.iter().map(|byte| byte / 32).collect();
    (bytes.len(), sectors.len())
}

fn stride(source: &Source) -> Result<Vec<Row>> {
    const OUTPUTS: u32 = 1024;
    const TAPS: u32 = 8;
    let row = |&(stride, first): &(u32, u32)| {
        let samples = wave((OUTPUTS + TAPS - 1 + first) as usize, 16);
        let filter = wave(TAPS as usize, 6);
        let launch = Launch { grid: [OUTPUTS.div_ceil(128 * stride), 1, 1], block: [128, 1, 1], ..launch("strided") };
        let sizes = [OUTPUTS, TAPS, stride, first].map(U32);
        let arguments = [F32(&samples), F32(&filter)].into_iter().chain(sizes).chain([Results(4 * OUTPUTS)]);
        let (launched, _) = run(source, launch, arguments)?;
        let is_load = |sample: &&AccessSample| sample.space == Space::Global && sample.op == AccessOp::Load;
        let loads = launched.report.samples.iter().filter(is_load).map(sectors);
        // The filter value is the same for all lanes.
        let (bytes, sectors) = loads.max_by_key(|(bytes, _)| *bytes).context("no load")?;
        Row::of(json!({ "stride": stride, "first": first }), &[&stride, &first, &sectors, &bytes, &(32 * sectors)])
    };
    [(1, 0), (1, 1), (2, 0), (4, 0), (8, 0), (32, 0), (3, 5)].iter().map(row).collect()
}

fn divergence(source: &Source) -> Result<Vec<Row>> {
    const STEPS: u32 = 16;
    let row = |&(lanes, warps): &(u32, u32)| {
        let launch = Launch { block: [128, 1, 1], ..launch("branch") };
        let (launched, _) = run(source, launch, [F32(&wave(128, 16)), U32(lanes), U32(warps), U32(STEPS), Results(4 * 128)])?;
        let Counters { ptx_instructions, ptx_thread_instructions, .. } = launched.report.counters;
        let active = ratio(ptx_thread_instructions, ptx_instructions);
        Row::of(json!({ "lanes": lanes, "warps": warps }), &[&set(lanes, 32), &set(warps, 4), &ptx_instructions, &active])
    };
    [(u32::MAX, 0b1111), (u32::MAX, 0b0101), (0xffff, 0b1111), (0x5555_5555, 0b1111), (1, 0b0001), (0, 0b1111)]
        .iter()
        .map(row)
        .collect()
}

/// Returns the members of a mask in words: how many, and which if they are few or neighbors.
fn set(mask: u32, of: u32) -> String {
    let members: Vec<String> = (0..of).filter(|member| mask >> member & 1 != 0).map(|member| member.to_string()).collect();
    match members.as_slice() {
        [] => "none".to_owned(),
        all if all.len() == of as usize => "all".to_owned(),
        [one] => format!("only {one}"),
        few if few.len() <= 4 => few.join(", "),
        [first, .., last] if mask.leading_zeros() + mask.trailing_zeros() + mask.count_ones() == u32::BITS => {
            format!("{first} to {last}")
        }
        many => format!("{} of {of}", many.len()),
    }
}

fn barriers(source: &Source) -> Result<Vec<Row>> {
    const OUTPUTS: u32 = 1000;
    const TAPS: u32 = 64;
    const BLOCK: u32 = 64;
    const RUN: u32 = 4;
    let signal = wave((OUTPUTS + TAPS - 1) as usize, 16);
    let filter = wave(TAPS as usize, 6);
    let expected: Vec<f32> = (0..OUTPUTS as usize).map(|i| (0..TAPS as usize).map(|j| signal[i + j] * filter[j]).sum()).collect();
    let row = |&(tile, padding, loads, sums): &(u32, u32, bool, bool)| {
        let samples = RUN * BLOCK + tile - 1;
        let launch = Launch {
            grid: [OUTPUTS.div_ceil(BLOCK * RUN), 1, 1],
            block: [BLOCK, 1, 1],
            shared: 4 * (samples + samples / 32 * padding),
            ..launch("tiled")
        };
        let sizes = [OUTPUTS, TAPS, tile, padding, loads.into(), sums.into()].map(U32);
        let arguments = [F32(&signal), F32(&filter)].into_iter().chain(sizes).chain([Results(4 * OUTPUTS)]);
        let (launched, results) = run(source, launch, arguments)?;
        let (results, _) = results.as_chunks::<4>();
        let wrong = results.iter().zip(&expected).filter(|(got, expected)| f32::from_le_bytes(**got) != **expected).count();
        let Counters { shared_load_wavefronts, shared_load_requests, .. } = launched.report.counters;
        let barriers = match (loads, sums) {
            (true, true) => "both",
            (true, false) => "only after the loads",
            (false, true) => "only after the sums",
            (false, false) => "none",
        };
        let wavefronts = ratio(shared_load_wavefronts, shared_load_requests);
        let outputs = if wrong == 0 { "right".to_owned() } else { format!("{wrong} wrong") };
        let found = if launched.findings.is_empty() { "nothing" } else { "a race" };
        let settings = json!({ "tile": tile, "padding": padding, "loads": loads, "sums": sums });
        Row::of(settings, &[&tile, &padding, &barriers, &wavefronts, &outputs, &found])
    };
    let right = [(32, 0), (32, 1), (32, 4)].map(|(tile, padding)| (tile, padding, true, true));
    let wrong = [(64, 1, true, false), (16, 1, true, false), (32, 1, false, true)];
    right.iter().chain(&wrong).map(row).collect()
}

fn occupancy(source: &Source) -> Result<Vec<Row>> {
    const OUTPUTS: u32 = 4096;
    const TAPS: u32 = 32;
    let profile = Profile::named("h200").context("the H200 is simulated")?;
    let registers = register_counts::read(source.ptx, profile.compute_capability);
    let row = |&(length, block): &(u32, u32)| {
        let kernel = format!("run_{length}");
        let signal = wave((OUTPUTS + TAPS + length) as usize, 16);
        let launch = Launch { grid: [OUTPUTS / (block * length), 1, 1], block: [block, 1, 1], ..launch(&kernel) };
        let (launched, _) = run(source, launch, [F32(&signal), F32(&wave(TAPS as usize, 6)), U32(TAPS), Results(4 * OUTPUTS)])?;
        let per_thread = registers.get(&kernel).copied();
        let needs = BlockNeeds { threads: block, registers_per_thread: per_thread, shared_bytes: 0 };
        let Occupancy { active_warps, max_warps, limits, .. } = Occupancy::of(profile, needs);
        let Counters { global_load_bytes, f32_fma, .. } = launched.report.counters;
        let per_thread = per_thread.map_or_else(String::new, |count| count.to_string());
        let (warps, loads) = (format!("{active_warps} of {max_warps}"), ratio(global_load_bytes / 4, f32_fma));
        let limits = limits.iter().map(limit_name).collect::<Vec<_>>().join(", ");
        let settings = json!({ "run": length, "block": block, "registers": 0 });
        Row::of(settings, &[&length, &block, &per_thread, &warps, &limits, &loads])
    };
    [(1, 128), (2, 128), (4, 128), (8, 128), (16, 128), (16, 32), (1, 32)].iter().map(row).collect()
}

fn bytes(source: &Source) -> Result<Vec<Row>> {
    let memory: Vec<u8> = (0..1024).map(|byte| byte as u8).collect();
    let row = |&(apart, profile): &(u32, &str)| {
        let words = apart == 0;
        let out = Results(if words { 128 } else { 32 });
        let arguments = if words { vec![Bytes(&memory), out] } else { vec![Bytes(&memory), U32(apart), out] };
        let launch = Launch { profile: profile.to_owned(), ..launch(if words { "words" } else { "bytes" }) };
        let (launched, _) = run(source, launch, arguments)?;
        let Counters { global_load_transactions, global_load_sectors, shared_load_wavefronts, .. } = launched.report.counters;
        let layout = match apart {
            0 => "words, side by side".to_owned(),
            1 => "bytes, side by side".to_owned(),
            _ => format!("bytes, {apart} apart"),
        };
        let settings = json!({ "apart": apart, "gpu": profile });
        let bytes = 32 * global_load_sectors;
        Row::of(settings, &[&layout, &profile, &global_load_transactions, &bytes, &shared_load_wavefronts])
    };
    let layouts = [1, 0, 4, 8].into_iter().flat_map(|apart| ["h200", "gtx680", "gtx280", "9800gt"].map(|profile| (apart, profile)));
    layouts.map(|setting| row(&setting)).collect()
}

fn window(source: &Source) -> Result<Vec<Row>> {
    const WIDTH: u32 = 64;
    const OUTPUTS: u32 = 256;
    let row = |&(window, slices): &(u32, u32)| {
        let rows = OUTPUTS.div_ceil(slices);
        let image = wave((WIDTH * (OUTPUTS + window - 1)) as usize, 16);
        let launch = Launch { grid: [1, slices, 1], block: [WIDTH, 1, 1], ..launch("column_sums") };
        let arguments = [F32(&image), U32(WIDTH), U32(OUTPUTS), U32(window), U32(rows), Results(4 * WIDTH * OUTPUTS)];
        let (launched, _) = run(source, launch, arguments)?;
        let loads = ratio(launched.report.counters.global_load_bytes / 4, u64::from(WIDTH * OUTPUTS));
        Row::of(json!({ "window": window, "slices": slices }), &[&window, &slices, &(WIDTH * slices), &rows, &loads])
    };
    [(15, 1), (15, 8), (15, 64), (15, 256), (63, 1), (63, 8), (63, 64)].iter().map(row).collect()
}

fn tile(source: &Source) -> Result<Vec<Row>> {
    const SIDE: u32 = 64;
    const DEPTH: u32 = 32;
    let (a, b) = (wave((SIDE * DEPTH) as usize, 16), wave((SIDE * DEPTH) as usize, 6));
    let row = |&(rows, columns): &(u32, u32)| {
        let launch = Launch {
            grid: [SIDE / columns, SIDE / rows, 1],
            block: [64, 1, 1],
            shared: 4 * DEPTH * (rows + columns),
            ..launch("product")
        };
        let (launched, _) = run(source, launch, [F32(&a), F32(&b), U32(SIDE), U32(rows), U32(columns), Results(4 * SIDE * SIDE)])?;
        let Counters { global_load_bytes, global_load_sectors, f32_fma, .. } = launched.report.counters;
        let (loads, reuse) = (ratio(global_load_bytes / 4, f32_fma), ratio(f32_fma, global_load_bytes));
        let moved = ratio(32 * global_load_sectors, f32_fma);
        Row::of(json!({ "rows": rows, "columns": columns }), &[&rows, &columns, &loads, &reuse, &moved])
    };
    [(2, 2), (4, 4), (8, 8), (16, 16), (32, 32), (64, 64), (2, 64), (64, 2)].iter().map(row).collect()
}

/// Adds up in some rounds. Returns the counts, and how many threads hold the total.
fn add_up(source: &Source, way: &str, rounds: u32, block: u32) -> Result<(Counters, usize)> {
    // With this period no wrong sum happens to be the total.
    let values: Vec<f32> = wave(block as usize, 17).into_iter().map(|value| value + 8.0).collect();
    let launch = Launch { block: [block, 1, 1], ..launch(way) };
    let (launched, held) = run(source, launch, [F32(&values), U32(rounds), Results(4 * block)])?;
    let total: f32 = values.iter().sum();
    let right = held.as_chunks::<4>().0.iter().filter(|sum| f32::from_le_bytes(**sum) == total).count();
    Ok((launched.report.counters, right))
}

/// Returns how many additions the last of some rounds made.
fn additions(source: &Source, way: &str, round: u32) -> Result<u64> {
    Ok(add_up(source, way, round, 32)?.0.f32_other - add_up(source, way, round - 1, 32)?.0.f32_other)
}

fn requests(counters: &Counters) -> u64 {
    counters.shared_load_requests + counters.shared_store_requests
}

fn tree(source: &Source) -> Result<Vec<Row>> {
    let row = |&(way, round): &(&str, u32)| {
        let (counters, right) = add_up(source, way, round, 32)?;
        let (wide, _) = add_up(source, way, round, 256)?;
        let counts = [additions(source, way, round)?, right as u64, requests(&counters), requests(&wide), counters.barriers];
        let [adds, right, requests, wide, barriers] = &counts;
        Row::of(json!({ "way": way, "round": round }), &[&way, &round, adds, right, requests, wide, barriers])
    };
    [("halves", 1), ("halves", 2), ("halves", 3), ("halves", 4), ("halves", 5), ("neighbors", 1), ("neighbors", 5)]
        .iter()
        .map(row)
        .collect()
}

fn shuffle(source: &Source) -> Result<Vec<Row>> {
    let row = |&(way, round): &(&str, u32)| {
        let (counters, right) = add_up(source, way, round, 32)?;
        let counts =
            [additions(source, way, round)?, right as u64, counters.warp_exchanges, requests(&counters), counters.barriers];
        let [adds, right, exchanges, requests, barriers] = &counts;
        let name = if way == "down" { "down" } else { "xor" };
        Row::of(json!({ "way": way, "round": round }), &[&name, &round, adds, right, exchanges, requests, barriers])
    };
    [("down", 1), ("down", 2), ("down", 3), ("down", 4), ("down", 5), ("exchange", 1), ("exchange", 5)].iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(name: &str) -> Vec<Vec<String>> {
        let slide = SLIDES.iter().find(|slide| slide.name == name).unwrap();
        (slide.rows)(slides::named(name).unwrap()).unwrap().into_iter().map(|row| row.cells).collect()
    }

    #[test]
    fn each_experiment_has_a_kernel_and_a_cell_for_each_column() {
        assert_eq!(slides::sources().count(), SLIDES.len());
        for Slide { name, columns, .. } in SLIDES {
            assert!(cells(name).iter().all(|row| row.len() == columns.len()), "{name}");
            assert!(!slide(name).unwrap().contains("\n\n"), "{name}: an empty line ends a block of HTML");
        }
    }

    #[test]
    fn the_numbers_are_those_of_the_formulas() {
        let column = |name: &str, column: usize| cells(name).into_iter().map(|row| row[column].clone()).collect::<Vec<_>>();
        assert_eq!(column("stride", 2), ["4", "5", "8", "16", "32", "32", "13"]);
        // (rows + columns) / (rows * columns).
        assert_eq!(column("tile", 2), ["1.00", "0.500", "0.250", "0.125", "0.0625", "0.0312", "0.516", "0.516"]);
        // (window + 2 * (rows - 1)) / rows.
        assert_eq!(column("window", 4), ["2.05", "2.41", "5.25", "15.0", "2.24", "3.91", "17.2"]);
        assert_eq!(column("barriers", 5), ["nothing", "nothing", "nothing", "nothing", "a race", "a race"]);
        // With padding the lanes of most loads are in 32 banks but for the last lane, which is in the bank of the first.
        assert_eq!(column("barriers", 3)[..2], ["4.00", "1.88"]);
        // Two loads and a store for each warp that adds; before and after the rounds, a store and a load for each warp.
        assert_eq!(column("tree", 2), ["16", "8", "4", "2", "1", "16", "1"]);
        assert_eq!(column("tree", 3), ["0", "0", "0", "0", "1", "0", "1"]);
        assert_eq!(column("tree", 4), ["5", "8", "11", "14", "17", "5", "17"]);
        assert_eq!(column("tree", 5), ["28", "34", "37", "40", "43", "40", "136"]);
        assert_eq!(column("tree", 6), ["1", "2", "3", "4", "5", "1", "5"]);
        assert_eq!(column("shuffle", 2), ["32"; 7]);
        assert_eq!(column("shuffle", 3), ["0", "0", "0", "0", "1", "0", "32"]);
        assert_eq!(column("shuffle", 4), ["1", "2", "3", "4", "5", "1", "5"]);
        assert_eq!([column("shuffle", 5), column("shuffle", 6)], [["0"; 7], ["0"; 7]]);
    }
}
