//! Coverage of kernels whose lines and branches are counted here by hand: `programs/coverage.cu`, next to the PTX that NVRTC 12.0 makes of
//! it (`compute_70`, `-lineinfo`).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::{Extent, Gpu, Params};
use simt::coverage::{Branch, Coverage, CoverageCounts, Executed, Lines, Outcome, Way};
use simt::{LaunchError, LaunchOptions};

const PROGRAM: &str = include_str!("programs/coverage.ptx");
const FILE: &str = "coverage.cu";

/// A device that keeps the counts of one kernel.
struct Covered {
    gpu: Gpu,
    counts: Arc<CoverageCounts>,
    kernel: &'static str,
}

impl Covered {
    fn new(ptx: &str, kernel: &'static str, options: LaunchOptions) -> Self {
        let counts = Arc::new(CoverageCounts::default());
        let gpu = Gpu::with_options(ptx, LaunchOptions { coverage: Some(counts.clone()), ..options });
        Self { gpu, counts, kernel }
    }

    fn try_launch(&self, grid: impl Into<Extent>, block: impl Into<Extent>, params: &Params) -> Result<(), LaunchError> {
        self.gpu.try_launch(self.kernel, grid, block, 0, params).map(drop)
    }

    fn coverage_of(&self, lines: Lines<'_>) -> Coverage {
        Coverage::new(self.gpu.image.module(), self.kernel, &self.counts, lines).expect("the module has the kernel")
    }

    fn coverage(&self) -> Coverage {
        self.coverage_of(Lines::Source)
    }
}

/// Each line with its warps and lanes.
fn lines(coverage: &Coverage) -> Vec<(u32, u64, u64)> {
    let files: Vec<&String> = coverage.lines.keys().collect();
    assert_eq!(files, [FILE]);
    coverage.lines[FILE].iter().map(|(line, Executed { warps, lanes })| (*line, *warps, *lanes)).collect()
}

/// A branch: its line, its ways by where they lead to, its warps, and how often they diverged.
type Counted = (u32, Vec<(String, u64)>, u64, u64);

fn branches(coverage: &Coverage) -> Vec<Counted> {
    let way = |Way { outcome, lanes }: &Way| {
        let name = match outcome {
            Outcome::Goes(place) => place.line.to_string(),
            other => format!("{other:?}"),
        };
        (name, *lanes)
    };
    let branch = |Branch { at, ways, warps, diverged }: &Branch| (at.line, ways.iter().map(way).collect(), *warps, *diverged);
    coverage.branches.iter().map(branch).collect()
}

fn ways<const N: usize>(ways: [(&str, u64); N]) -> Vec<(String, u64)> {
    ways.map(|(name, lanes)| (name.to_owned(), lanes)).to_vec()
}

/// 128 threads, of which 100 have work: thread `i` makes `i % 5` iterations, 200 in all.
fn walk(covered: &Covered) {
    let counts: Vec<u32> = (0..100).map(|i| i % 5).collect();
    let (counts, output) = (covered.gpu.buffer(&counts), covered.gpu.buffer(&[0_u32; 103]));
    covered.try_launch(2, 64, &Params::new().with(counts).with(output).with(100_u32)).unwrap();
}

#[test]
fn loops_branches_early_returns_and_inlined_functions_are_counted() {
    for (workers, portable) in [(1, false), (2, false), (1, true)] {
        let covered = Covered::new(PROGRAM, "walk", LaunchOptions { workers: Some(workers), portable, ..LaunchOptions::default() });
        walk(&covered);
        let coverage = covered.coverage();
        assert_eq!((coverage.launches, coverage.at.as_ref().map(|at| at.line)), (1, Some(10)));
        let expected = [
            // Inlined twice: 100 threads ask twice, and every fifth has a large value. The last warp has four threads, with the values
            // 1 to 4 the first time and 3 to 0 the second time.
            (6, 8, 200),
            (7, 7, 40),
            (10, 4, 128),
            (12, 4, 128),
            // 28 threads return here.
            (13, 4, 128),
            // The condition after each iteration; each warp makes four.
            (17, 16, 200),
            (18, 16, 200),
            (19, 4, 100),
            (20, 4, 50),
            (22, 4, 50),
            (23, 4, 100),
            (24, 0, 0),
            (25, 4, 100),
            (26, 4, 100),
            // Lanes that went different ways at the last branch return separately, in three warps, and so do the 28 threads in the fourth.
            (27, 8, 128),
        ];
        assert_eq!(lines(&coverage), expected);
        let expected = [
            (6, ways([("7", 40), ("Ends", 160)]), 8, 7),
            (13, ways([("17", 100), ("27", 28)]), 4, 1),
            // Twenty threads never enter the loop, in three of the warps. In each warp lanes leave after each iteration.
            (17, ways([("18", 200), ("19", 100)]), 20, 15),
            (19, ways([("20", 50), ("22", 50)]), 4, 4),
            (23, ways([("24", 0), ("25", 100)]), 4, 0),
        ];
        assert_eq!(branches(&coverage), expected);
    }
}

#[test]
fn launches_and_processes_add_up() {
    let one = Covered::new(PROGRAM, "walk", LaunchOptions::default());
    walk(&one);
    let mut sum = one.coverage();
    sum.add(&one.coverage());
    let two = Covered::new(PROGRAM, "walk", LaunchOptions::default());
    (0..2).for_each(|_| walk(&two));
    assert_eq!(sum, two.coverage());
    assert_eq!((sum.launches, sum.lines[FILE][&18].lanes), (2, 400));
}

#[test]
fn divergence_is_told_from_warps_that_go_different_ways() {
    let covered = Covered::new(PROGRAM, "diverge", LaunchOptions::default());
    let output = covered.gpu.buffer(&[0_u32; 2]);
    covered.try_launch(1, 64, &Params::new().with(output)).unwrap();
    let coverage = covered.coverage();
    assert_eq!(lines(&coverage), [(30, 2, 64), (32, 2, 64), (33, 1, 32), (34, 2, 64), (35, 2, 20), (36, 4, 64)]);
    let expected = [(32, ways([("33", 32), ("34", 32)]), 2, 0), (34, ways([("35", 20), ("36", 44)]), 2, 2)];
    assert_eq!(branches(&coverage), expected);
}

#[test]
fn cases_that_never_happen_are_lines_without_executions() {
    let covered = Covered::new(PROGRAM, "choose", LaunchOptions::default());
    let output = covered.gpu.buffer(&[0_u32; 6]);
    // Threads 0 to 19 and the cases 2 to 7, 0 and 1: three threads each for cases 2 to 5, and two for cases 0 and 1.
    covered.try_launch(1, 20, &Params::new().with(output).with(2_u32)).unwrap();
    let executed: Vec<(u32, u64)> = lines(&covered.coverage()).into_iter().map(|(line, _, lanes)| (line, lanes)).collect();
    assert_eq!(executed, [(39, 20), (41, 20), (42, 2), (43, 2), (44, 3), (45, 3), (46, 3), (47, 3), (49, 20)]);

    let covered = Covered::new(PROGRAM, "choose", LaunchOptions::default());
    let output = covered.gpu.buffer(&[0_u32; 6]);
    covered.try_launch(1, 3, &Params::new().with(output).with(0_u32)).unwrap();
    let executed: Vec<(u32, u64)> = lines(&covered.coverage()).into_iter().map(|(line, _, lanes)| (line, lanes)).collect();
    assert_eq!(executed, [(39, 3), (41, 3), (42, 1), (43, 1), (44, 1), (45, 0), (46, 0), (47, 0), (49, 3)]);
}

#[test]
fn guards_count_the_lanes_that_they_hold_back() {
    for (limit, acts) in [(10, 10), (100, 64), (0, 0)] {
        let covered = Covered::new(PROGRAM, "guard", LaunchOptions::default());
        let output = covered.gpu.buffer(&[0_u32]);
        covered.try_launch(1, 64, &Params::new().with(output).with(limit)).unwrap();
        let coverage = covered.coverage();
        assert_eq!(branches(&coverage), [(54, ways([("Acts", acts), ("Skips", 64 - acts)]), 2, 0)]);
        assert!(coverage.branches[0].is_guard());
    }
}

#[test]
fn a_launch_that_fails_counts_up_to_its_end() {
    let covered = Covered::new(PROGRAM, "fail", LaunchOptions::default());
    let output = covered.gpu.buffer(&[0_u32; 2]);
    let failed = covered.try_launch(1, 64, &Params::new().with(output));
    assert!(matches!(failed, Err(LaunchError::Fault { .. })), "{failed:?}");
    let coverage = covered.coverage();
    // The second warp traps, so only the first one gets to line 63.
    assert_eq!(lines(&coverage), [(58, 2, 64), (60, 2, 64), (61, 2, 64), (62, 1, 32), (63, 1, 32), (64, 1, 32)]);
    assert_eq!(branches(&coverage), [(61, ways([("62", 32), ("63", 32)]), 2, 0)]);
}

#[test]
fn a_kernel_that_was_never_launched_has_all_its_lines_and_branches() {
    let covered = Covered::new(PROGRAM, "never_launched", LaunchOptions::default());
    let coverage = covered.coverage();
    assert_eq!(lines(&coverage), [(66, 0, 0), (68, 0, 0), (69, 0, 0), (70, 0, 0)]);
    assert_eq!(branches(&coverage), [(68, ways([("69", 0), ("70", 0)]), 0, 0)]);
    assert_eq!((coverage.launches, coverage.at.map(|at| at.line)), (0, Some(66)));
    assert_eq!(Coverage::new(covered.gpu.image.module(), "no such kernel", &covered.counts, Lines::Source), None);
}

/// Thread `i` makes `i` iterations. The condition is the first instruction of the loop, so lanes come to it in two ways.
const LOOP: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry repeat()
{
    .reg .pred %p<2>; .reg .b32 %r<3>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
    setp.ge.u32 %p1, %r2, %r1;
again:
    @%p1 bra done;
    add.u32 %r2, %r2, 1;
    setp.ge.u32 %p1, %r2, %r1;
    bra again;
done:
    ret;
}
";

#[test]
fn lanes_come_to_a_branch_from_before_it_and_by_other_branches() {
    let covered = Covered::new(LOOP, "repeat", LaunchOptions::default());
    covered.try_launch(1, 32, &Params::new()).unwrap();
    let coverage = covered.coverage_of(Lines::Ptx(FILE));
    // 0 + 1 + … + 31 iterations. In each of the first 31 executions one lane leaves, and then the last one does.
    assert_eq!(branches(&coverage), [(11, ways([("12", 496), ("16", 32)]), 32, 31)]);
    assert_eq!(coverage.lines[FILE][&11], Executed { warps: 32, lanes: 528 });
}

/// Without lines of CUDA C: a guarded return, then a branch by a table with three targets, two of them the same.
const TABLE: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry table(.param .u64 memory)
{
    .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 40;
    @%p1 ret;
    ld.param.u64 %rd1, [memory];
    rem.u32 %r2, %r1, 3;
targets: .branchtargets even, odd, even;
    brx.idx %r2, targets;
even:
    red.global.add.u32 [%rd1], 1;
    ret;
odd:
    red.global.add.u32 [%rd1], 2;
    @%p1 red.global.add.u32 [%rd1], 4;
    ret;
}
";

#[test]
fn without_lines_of_cuda_the_lines_of_ptx_are_covered() {
    let covered = Covered::new(TABLE, "table", LaunchOptions::default());
    let output = covered.gpu.buffer(&[0_u32]);
    covered.try_launch(1, 50, &Params::new().with(output)).unwrap();
    assert_eq!((covered.coverage().at, covered.coverage().lines), (None, BTreeMap::new()));
    let coverage = covered.coverage_of(Lines::Ptx(FILE));
    // Threads 0 to 39 pass line 9, and 13 of them have a remainder of 1.
    let executed: Vec<(u32, u64)> = lines(&coverage).into_iter().map(|(line, _, lanes)| (line, lanes)).collect();
    assert_eq!(
        executed,
        [(7, 50), (8, 50), (9, 50), (10, 40), (11, 40), (13, 40), (15, 27), (16, 27), (18, 13), (19, 0), (20, 13)]
    );
    let taken: Vec<_> = branches(&coverage).into_iter().map(|(line, ways, ..)| (line, ways)).collect();
    let expected =
        [(9, ways([("10", 40), ("Ends", 10)])), (13, ways([("15", 27), ("18", 13)])), (19, ways([("Acts", 0), ("Skips", 13)]))];
    assert_eq!(taken, expected);
}
