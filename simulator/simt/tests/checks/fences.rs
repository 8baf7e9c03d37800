//! The checks of fences and flags between blocks: pairs of kernels in `fences.cu`. The rule is that of the PTX ISA 8.5, section 8.9.4,
//! "Memory synchronization": "A release pattern X synchronizes with an acquire pattern Y, if a write operation in X precedes a read operation in Y in
//! observation order, and the first operation in X and the last operation in Y are morally strong." Section 8.7 defines the last words: the
//! scope of each of the two operations must include the thread of the other.

use super::lines;
use crate::common::{Gpu, Params};
use ptx::finding::MissingOrder::{self, Acquire, FormalAcquire, FormalRelease, Release, Scope};
use simt::{Finding, FindingKind, LaunchOptions, Severity, WarpOrder};

const FENCES: &str = include_str!("fences.ptx");
const FENCES_SOURCE: &str = include_str!("fences.cu");
const BLOCKS: u32 = 6;

/// Launches a kernel of `fences.cu`, and returns its findings and output. If `cooperative`, its blocks run side by side.
fn run(kernel: &str, cooperative: bool, workers: usize, warp_order: WarpOrder) -> (Vec<Finding>, Vec<f32>) {
    run_of(FENCES, kernel, cooperative, workers, warp_order)
}

fn run_of(ptx: &str, kernel: &str, cooperative: bool, workers: usize, warp_order: WarpOrder) -> (Vec<Finding>, Vec<f32>) {
    let options = LaunchOptions { cooperative, workers: Some(workers), warp_order, ..LaunchOptions::default() };
    let gpu = Gpu::with_options(ptx, options);
    let count = BLOCKS * 64;
    let input: Vec<f32> = (0..count).map(|i| (i * 37 % 101) as f32).collect();
    let zeros = vec![0_u32; count as usize];
    let [input, data, flags, out] = [gpu.buffer(&input), gpu.buffer(&zeros), gpu.buffer(&zeros), gpu.buffer(&zeros)];
    let params = Params::new().with(input).with(data).with(flags).with(out);
    let report = gpu.launch(kernel, BLOCKS, 64, 0, &params);
    (report.findings, gpu.read(out, count as usize))
}

/// Runs a kernel with its warps in many orders. The number of workers varies, too, and blocks may run side by side.
fn in_every_order(kernel: &str) -> Vec<(Vec<Finding>, Vec<f32>)> {
    let is_cooperative = kernel.starts_with("grid_barrier");
    let orders = std::iter::once(WarpOrder::Ascending).chain((0..12).map(WarpOrder::Shuffled));
    let ways = orders.zip([(false, 1), (true, 1), (false, 2), (false, 5)].into_iter().cycle());
    ways.map(|(order, (cooperative, workers))| run(kernel, cooperative || is_cooperative, workers, order)).collect()
}

/// The missing synchronization between two lines, parts of which are given.
type Expected<'a> = &'a [(Option<MissingOrder>, &'a [&'a str])];

const SUMMED_BY_LAST: &[&str] = &["// stored", "// summed"];
const SUMMED_ALONG: &[&str] = &["data[own] = 2 * in[own]", "sum += data[other * THREADS"];

const REPLACED: &[&str] = &["// has read", "// replaces"];

#[test]
fn right_programs_are_left_alone_and_give_one_result_in_any_order() {
    for kernel in [
        "last_block",
        // By the memory model, there is no race between strong accesses. NVIDIA's guide has this program.
        "last_block_is_volatile",
        "chain",
        "chain_of_fences",
        "chain_of_fence_and_acquire",
        "relay",
        "lock",
        "count",
        "count_own",
        "grid_barrier",
    ] {
        let runs = in_every_order(kernel);
        for (findings, output) in &runs {
            assert_eq!(findings, &[], "{kernel}");
            assert_eq!(output, &runs[0].1, "{kernel}");
        }
    }
}

#[test]
fn missing_order_between_blocks_is_found_in_any_order_with_both_sides() {
    let cases: &[(&str, Expected<'_>)] = &[
        ("last_block_with_block_fence", &[(Some(Release), SUMMED_BY_LAST)]),
        ("last_block_with_block_fences", &[(Some(Release), SUMMED_BY_LAST)]),
        ("last_block_without_fences", &[(None, SUMMED_BY_LAST)]),
        ("last_block_without_acquire", &[(Some(FormalAcquire), SUMMED_BY_LAST)]),
        ("last_block_has_read_the_line", &[(Some(Acquire), SUMMED_BY_LAST)]),
        ("last_block_reads_volatile", &[(Some(FormalAcquire), SUMMED_BY_LAST)]),
        ("last_block_reads_volatile_without_release", &[(Some(Release), SUMMED_BY_LAST)]),
        ("last_block_with_block_acquire", &[(Some(FormalAcquire), SUMMED_BY_LAST)]),
        ("last_block_without_barrier", &[(Some(Release), SUMMED_BY_LAST)]),
        ("chain_with_release_in_block", &[(Some(Release), SUMMED_ALONG), (Some(Scope), &["st.release.cta", "ld.acquire.gpu"])]),
        ("chain_with_acquire_in_block", &[(Some(Acquire), SUMMED_ALONG), (Some(Scope), &["st.release.gpu", "ld.acquire.cta"])]),
        ("chain_with_block_fence", &[(Some(Release), SUMMED_ALONG)]),
        ("chain_with_block_fences", &[(Some(Release), SUMMED_ALONG)]),
        ("chain_without_acquire", &[(Some(Acquire), SUMMED_ALONG)]),
        ("chain_without_release", &[(Some(Release), SUMMED_ALONG)]),
        ("chain_with_plain_flag", &[(Some(Release), SUMMED_ALONG), (Some(Release), &["*flag = 1", "value = *(volatile"])]),
        ("chain_published_too_soon", &[(Some(Release), SUMMED_ALONG)]),
        ("replaces_what_was_read", &[(Some(FormalRelease), REPLACED)]),
        ("replaces_what_may_be_read", &[(Some(Release), REPLACED)]),
        ("replaces_without_waiting", &[(Some(Release), REPLACED)]),
        // The next block's store may overtake either of two loads.
        ("relay_passed_on_too_soon", &[(Some(Release), &["data[threadIdx.x] = before", "data[threadIdx.x ^ 32]"])]),
        ("lock_without_first_fence", &[(Some(Acquire), &["data[0] += in"]), (Some(FormalAcquire), &["data[0] += in"])]),
        ("lock_without_second_fence", &[(Some(Release), &["data[0] += in"])]),
        ("count_in_block", &[(Some(Scope), &["atomicAdd_block(flags"])]),
        ("grid_barrier_with_block_fences", &[(Some(Release), &["data[own] = in[own] + round", "out[own] = data[(own"])]),
    ];
    for (kernel, expected) in cases {
        for (findings, _) in in_every_order(kernel) {
            let mut found = vec![false; expected.len()];
            for finding in &findings {
                let FindingKind::Race { missing, same_block: false, .. } = &finding.kind else { panic!("{kernel}: {finding}") };
                let lines = lines(finding, FENCES_SOURCE);
                let fits = |parts: &[&str]| parts.iter().all(|part| lines.iter().any(|line| line.contains(part)));
                let which = expected.iter().position(|(wanted, parts)| wanted == missing && fits(parts));
                found[which.unwrap_or_else(|| panic!("{kernel}: {finding}"))] = true;
            }
            assert!(found.iter().all(|found| *found), "{kernel}: {expected:?}\n{findings:#?}");
        }
    }
}

/// PTX ISA 9.0, "Release and Acquire Patterns": a strong read is an acquire pattern only with a fence after it. An H100 read an old value in 1,238 of
/// 5,242,880 such reads by a plain load of a line that it had read before, and in none of a line that it had not, or by a volatile or relaxed load.
#[test]
fn an_access_that_begins_after_the_flag_came_and_passes_l1_needs_no_fence_on_gpus() {
    for (kernel, missing, severity) in [
        ("last_block_reads_volatile", FormalAcquire, Severity::Warning),
        ("volatile_after_flag", FormalAcquire, Severity::Warning),
        ("volatile_beside_flag", Acquire, Severity::Error),
        ("last_block_without_acquire", FormalAcquire, Severity::Warning),
        ("last_block_has_read_the_line", Acquire, Severity::Error),
        ("last_block_reads_volatile_without_release", Release, Severity::Error),
        // PTX ISA 9.0, "barrier": accesses before it are performed when it completes. So no later store changes what was read.
        ("replaces_what_was_read", FormalRelease, Severity::Warning),
        ("replaces_what_may_be_read", Release, Severity::Error),
        ("replaces_without_waiting", Release, Severity::Error),
    ] {
        let (findings, _) = run(kernel, false, 1, WarpOrder::Ascending);
        assert!(!findings.is_empty(), "{kernel}");
        for finding in &findings {
            let FindingKind::Race { missing: found, .. } = finding.kind else { panic!("{finding}") };
            assert_eq!((found, finding.kind.severity()), (Some(missing), severity), "{kernel}: {finding}");
            let is_formal = matches!(missing, FormalAcquire | FormalRelease);
            assert_eq!(finding.to_string().contains("Release and Acquire Patterns"), is_formal, "{finding}");
        }
    }
}

#[test]
fn a_race_of_blocks_is_told_with_both_sides_and_what_is_missing() {
    for (kernel, parts) in [
        (
            "last_block_with_block_fence",
            [
                "nothing between that orders them: the other block has not published its access with a fence or a release of GPU scope and a flag",
                "and store by block (0,0,0), thread (0,0,0)",
                "help: put __threadfence() between the access and the write to the flag; __threadfence_block()",
            ],
        ),
        (
            "chain_without_acquire",
            [
                "this block saw the flag that the other one set, but executed no fence of GPU scope after that",
                "in kernel chain_without_acquire, block (1,0,0)",
                "help: put __threadfence() between the read of the flag and the access",
            ],
        ),
        (
            // Whether the other block has published yet when this one reads depends on the order of the blocks.
            "chain_without_wait",
            [
                "the other block published its access, but this thread has not seen the flag",
                "in kernel chain_without_wait, block (1,0,0)",
                "help: let the thread read the flag",
            ],
        ),
    ] {
        let (findings, _) = run(kernel, false, 1, WarpOrder::Ascending);
        let text = findings.first().unwrap_or_else(|| panic!("nothing is found in {kernel}")).to_string();
        for part in parts {
            assert!(text.contains(part), "{part}\nis missing in\n{text}");
        }
    }
}

#[test]
fn the_scope_of_a_fence_is_known_wherever_it_is_written() {
    // libcu++ writes it first.
    for (fence, is_enough) in
        [("fence.acq_rel.cta;", false), ("fence.cta.acq_rel;", false), ("fence.acq_rel.gpu;", true), ("fence.gpu.acq_rel;", true)]
    {
        let ptx = FENCES.replace("membar.cta;", fence);
        let (found, _) = run_of(&ptx, "last_block_with_block_fences", false, 1, WarpOrder::Ascending);
        assert_eq!(found.is_empty(), is_enough, "{fence}: {found:?}");
    }
}
