//! The findings of the checks, and what the checks accept: pairs of kernels, one right and one wrong, in CUDA C (`*.cu`, next to the PTX that
//! NVRTC 12.0 makes of it) and in PTX. Each runs with its warps in many orders, because a race must be found in all of them.

mod bulk;
mod fences;
mod pair;

use crate::common::{Gpu, Params};
use ptx::finding::{Access, AccessOp};
use simt::{Finding, FindingKind, LaunchError, LaunchOptions, Severity, Space, WarpOrder};

const RACES: &str = include_str!("races.ptx");
const RACES_SOURCE: &str = include_str!("races.cu");
const MEMORY: &str = include_str!("memory.ptx");
const MEMORY_SOURCE: &str = include_str!("memory.cu");

const ORDERS: u64 = 24;

/// The expected findings of a kernel: the name of each, and parts of the lines of CUDA C where it occurs.
type Expected<'a> = &'a [(&'a str, &'a [&'a str])];

/// Returns a finding's kind in a word or two.
fn name(finding: &Finding) -> &'static str {
    match &finding.kind {
        FindingKind::Race { same_warp: true, .. } => "race in a warp",
        FindingKind::Race { access: Access { space: Space::Global, .. }, same_block: true, .. } => "race of warps in global memory",
        FindingKind::Race { access: Access { space: Space::Global, .. }, .. } => "race of blocks",
        FindingKind::Race { .. } => "race",
        FindingKind::Uninitialized { .. } => "uninitialized",
        FindingKind::EndedBeforeBarrier { .. } => "ended before a barrier",
        FindingKind::DifferentBarriers { .. } => "different barriers",
        _ => "fault",
    }
}

/// Returns the lines of CUDA C at the finding's places.
fn lines<'s>(finding: &Finding, source: &'s str) -> Vec<&'s str> {
    let other = match &finding.kind {
        FindingKind::Race { other, .. } => Some(&other.location),
        FindingKind::DifferentBarriers { other, .. } => Some(&**other),
        _ => None,
    };
    let locations = std::iter::once(&finding.location).chain(other);
    let line = |line: u32| source.lines().nth(line as usize - 1).expect("a line of the source");
    locations.map(|location| line(location.source.as_ref().expect("a CUDA line").line)).collect()
}

/// Runs a kernel in many ways. Returns the findings and the output of each run.
fn in_every_order(ptx: &str, launch: impl Fn(&Gpu) -> (Vec<Finding>, Vec<u32>)) -> Vec<(Vec<Finding>, Vec<u32>)> {
    let orders = std::iter::once(WarpOrder::Ascending).chain((0..ORDERS).map(WarpOrder::Shuffled));
    let ways = orders.zip([1, 2, 5].into_iter().cycle());
    let run = |(warp_order, workers)| {
        launch(&Gpu::with_options(ptx, LaunchOptions { warp_order, workers: Some(workers), ..LaunchOptions::default() }))
    };
    ways.map(run).collect()
}

#[track_caller]
fn assert_found(kernel: &str, findings: &[Finding], expected: Expected<'_>, source: &str) {
    let mut names: Vec<_> = findings.iter().map(name).collect();
    names.dedup();
    let mut expected_names: Vec<_> = expected.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    expected_names.sort_unstable();
    assert_eq!(names, expected_names, "{kernel}: {findings:#?}");
    for finding in findings {
        let (_, parts) = expected.iter().find(|(expected, _)| *expected == name(finding)).expect("its name was expected");
        let lines = lines(finding, source);
        let all = parts.iter().all(|part| lines.iter().any(|line| line.contains(part)));
        assert!(all, "{kernel}: {lines:?} where {parts:?} are expected\n{finding}");
    }
}

/// Runs a kernel of `races.cu`. Its parameters are an input and an output, and for some kernels a number of tiles.
fn race(gpu: &Gpu, kernel: &str, tiles: Option<u32>) -> (Vec<Finding>, Vec<u32>) {
    let input: Vec<f32> = (0..256).map(|i| (i * 37 % 101) as f32).collect();
    let (input, output) = (gpu.buffer(&input), gpu.poisoned::<u32>(256));
    let params = Params::new().with(input).with(output);
    let params = if let Some(tiles) = tiles { params.with(tiles) } else { params };
    let report = gpu.launch(kernel, 4, 64, 0, &params);
    (report.findings, gpu.read(output, 256))
}

#[test]
fn right_kernels_are_left_alone_and_give_one_result_in_any_order() {
    for (kernel, tiles) in [
        ("reversed", None),
        ("tiles", Some(4)),
        ("same_value", None),
        ("warp_sums", None),
        ("histogram", None),
        ("bytes", None),
        ("flag", None),
        ("producer", None),
    ] {
        let runs = in_every_order(RACES, |gpu| race(gpu, kernel, tiles));
        for (findings, output) in &runs {
            assert_eq!(findings, &[], "{kernel}");
            assert_eq!(output, &runs[0].1, "{kernel}");
        }
    }
}

#[test]
fn races_are_found_in_any_order_with_both_sides() {
    let cases: &[(&str, Option<u32>, Expected<'_>)] = &[
        ("reversed_without_barrier", None, &[("race", &["s_tile[threadIdx.x] = in", "= s_tile[THREADS"])]),
        ("tiles_without_second_barrier", Some(4), &[("race", &["s_tile[threadIdx.x] = in", "sum += s_tile[i]"])]),
        ("different_values", None, &[("race", &["s_last = threadIdx.x"])]),
        ("warp_sums_without_syncwarp", None, &[("race in a warp", &["sums["])]),
        ("histogram_without_barrier", None, &[("race", &["atomicAdd", "= s_bins[threadIdx.x]"])]),
        ("bytes_without_barrier", None, &[("race", &["s_bytes[threadIdx.x ^ 33] = in", "= s_bytes[threadIdx.x]"])]),
        ("flag_without_fences", None, &[("race", &["s_value[threadIdx.x] = in", "= s_value[threadIdx.x - 32]"])]),
        ("producer_without_barrier", None, &[("race", &["s_value[threadIdx.x] = in", "= s_value[threadIdx.x - 32]"])]),
    ];
    for (kernel, tiles, expected) in cases {
        for (findings, _) in in_every_order(RACES, |gpu| race(gpu, kernel, *tiles)) {
            // Which reads come before the write depends on the order. The race does not.
            let races: Vec<_> = findings.into_iter().filter(|finding| name(finding) != "uninitialized").collect();
            assert_found(kernel, &races, expected, RACES_SOURCE);
        }
    }
}

#[test]
fn a_launch_that_runs_until_a_defect_executes_no_later_block() {
    for (kernel, is_wrong) in [("reversed", false), ("reversed_without_barrier", true)] {
        let [whole, ended] = [false, true].map(|until_defect| {
            let options = LaunchOptions { until_defect, workers: Some(1), ..LaunchOptions::default() };
            let (findings, output) = race(&Gpu::with_options(RACES, options), kernel, None);
            assert_eq!(findings.is_empty(), !is_wrong, "{kernel}: {findings:#?}");
            output[192..].to_vec()
        });
        assert_eq!(whole != ended, is_wrong, "{kernel}");
    }
}

#[test]
fn a_lost_update_is_told_from_a_missing_barrier() {
    let counts = ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"count.cu\"\n.visible .entry k() {\n.reg .b32 %r<9>;\n\
                  .shared .align 4 .b8 s[256];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nand.b32 %r5, %r2, 4;\nmov.u32 %r3, s;\n\
                  add.s32 %r4, %r3, %r5;\nadd.s32 %r6, %r3, %r2;\nst.shared.u32 [%r6], %r1;\nbar.sync 0;\n\
                  .loc 1 7 0\nld.shared.u32 %r7, [%r4];\nadd.s32 %r7, %r7, 1;\nst.shared.u32 [%r4], %r7;\nret;\n}\n";
    let told = |text: &str| {
        let report = Gpu::load(text).launch("k", 1, 64, 0, &Params::new());
        let findings =
            report.findings.into_iter().filter(|finding| name(finding) == "race" && finding.to_string().contains("load of"));
        findings.map(|finding| finding.to_string()).collect::<Vec<_>>().join("\n")
    };
    assert!(told(counts).contains("use an atomic operation, such as atomicAdd()"), "{}", told(counts));
    // A value that another place gets, on the same line.
    let moved = told(&counts.replace("st.shared.u32 [%r4], %r7", "st.shared.u32 [%r6], %r7"));
    assert!(moved.contains("put __syncthreads() between") && !moved.contains("atomic operation"), "{moved}");
}

#[test]
fn a_race_is_told_with_threads_lines_and_what_to_do() {
    let (findings, _) = race(&Gpu::load(RACES), "reversed_without_barrier", None);
    let finding = findings.iter().find(|finding| name(finding) == "race").expect("a race");
    let text = finding.to_string();
    for part in [
        "data race on shared memory: store of 4 bytes at 0x80 in shared memory, at offset 128 of s_tile (256 bytes)",
        "load of the same bytes by another thread",
        "in kernel reversed_without_barrier, block (0,0,0), thread (32,0,0)",
        "races.cu:16, PTX line",
        "and load by thread (31,0,0)",
        "races.cu:17, PTX line",
        "help: put __syncthreads() between the two accesses",
    ] {
        assert!(text.contains(part), "{part}\nis missing in\n{text}");
    }
    assert_eq!(finding.kind.severity(), Severity::Error);
    assert!(finding.times > 4 * 32, "{}", finding.times);
}

#[test]
fn checks_can_be_switched_off() {
    let gpu = Gpu::with_options(RACES, LaunchOptions { checks: false, ..LaunchOptions::default() });
    assert_eq!(race(&gpu, "reversed_without_barrier", None).0, []);
}

/// A kernel of `memory.cu`, its parameters, and the expected findings.
struct Case<'a> {
    kernel: &'a str,
    params: &'a dyn Fn(&Gpu) -> Params,
    expected: Expected<'a>,
}

fn assert_cases(cases: &[Case<'_>]) {
    for Case { kernel, params, expected } in cases {
        for (findings, _) in in_every_order(MEMORY, |gpu| {
            let shared = if kernel.starts_with("dynamic") { 1024 } else { 0 };
            (gpu.launch(kernel, 4, 64, shared, &params(gpu)).findings, Vec::new())
        }) {
            assert_found(kernel, &findings, expected, MEMORY_SOURCE);
        }
    }
}

fn input(gpu: &Gpu) -> u64 {
    gpu.buffer(&(0..257).map(|i| i as f32).collect::<Vec<f32>>())
}

fn in_and_out(gpu: &Gpu) -> Params {
    Params::new().with(input(gpu)).with(gpu.poisoned::<f32>(256))
}

#[test]
fn what_nobody_wrote_is_found_when_it_is_read() {
    let unwritten = |gpu: &Gpu| {
        let address = gpu.memory.allocate(1024, None).expect("it fits");
        gpu.memory.write(address, &[0; 400]).expect("it was just allocated");
        Params::new().with(address).with(gpu.poisoned::<f32>(256))
    };
    assert_cases(&[
        Case { kernel: "with_halo", params: &in_and_out, expected: &[] },
        Case { kernel: "without_halo", params: &in_and_out, expected: &[("uninitialized", &["s_tile[threadIdx.x + 1]"])] },
        Case {
            kernel: "dynamic_without_writing",
            params: &|gpu| Params::new().with(gpu.poisoned::<f32>(64)),
            expected: &[("uninitialized", &["s_dynamic[threadIdx.x + 3]"])],
        },
        Case { kernel: "copy", params: &in_and_out, expected: &[] },
        Case { kernel: "copy", params: &unwritten, expected: &[("uninitialized", &["out[i] = in[i]"])] },
    ]);
}

#[test]
fn an_unwritten_place_is_told_with_its_allocation() {
    let gpu = Gpu::load(MEMORY);
    let address = gpu.memory.allocate(1024, None).expect("it fits");
    gpu.memory.write(address, &[0; 401]).expect("it was just allocated");
    let output = gpu.memory.allocate(1024, None).expect("it fits");
    let report = gpu.launch("copy", 4, 64, 0, &Params::new().with(address).with(output));
    let [finding] = report.findings.as_slice() else { panic!("{:?}", report.findings) };
    let FindingKind::Uninitialized { access, place } = &finding.kind else { panic!("{finding}") };
    assert_eq!((access.address - address, access.bytes, access.op), (400, 4, AccessOp::Load));
    assert_eq!(place.as_ref().map(|place| place.offset), Some(400));
    // Element 100 is thread 36 of the second block.
    assert_eq!((finding.block.x, finding.thread.x), (1, 36));
    assert!(finding.to_string().contains("at offset 400 of an allocation of 1024 bytes, where nothing was written"), "{finding}");
    // What the kernel wrote counts as written.
    let report = gpu.launch("copy", 4, 64, 0, &Params::new().with(output).with(address));
    assert_eq!(report.findings, []);
}

#[test]
fn a_copy_of_what_nobody_wrote_is_not_written() {
    let gpu = Gpu::load(MEMORY);
    let [from, to, output] = [(); 3].map(|()| gpu.memory.allocate(1024, None).expect("it fits"));
    let copied = |gpu: &Gpu| {
        gpu.memory.copy(to, from, 1024).expect("both were allocated");
        gpu.launch("copy", 4, 64, 0, &Params::new().with(to).with(output)).findings
    };
    gpu.memory.write(from, &[1; 700]).expect("it was allocated");
    assert_eq!(copied(&gpu).iter().map(name).collect::<Vec<_>>(), ["uninitialized"]);
    gpu.memory.fill(from + 700, 324, &[2]).expect("it was allocated");
    assert_eq!(copied(&gpu), []);
}

#[test]
fn threads_that_meet_in_one_place_are_found_unless_something_orders_them() {
    let one = |gpu: &Gpu| Params::new().with(input(gpu));
    let out = |gpu: &Gpu| Params::new().with(gpu.poisoned::<f32>(64));
    let zeros = |gpu: &Gpu| Params::new().with(gpu.buffer(&[0_u32; 16]));
    let counters = |gpu: &Gpu| {
        let [input, output] = [input(gpu), gpu.poisoned::<f32>(1)];
        Params::new().with(input).with(gpu.poisoned::<f32>(4)).with(gpu.buffer(&[0_u32])).with(output)
    };
    assert_cases(&[
        Case { kernel: "bytes_of_blocks", params: &out, expected: &[] },
        Case { kernel: "one_place_same_value", params: &out, expected: &[] },
        Case { kernel: "one_place_own_value", params: &out, expected: &[("race of blocks", &["out[0] = blockIdx.x"])] },
        Case { kernel: "shift_in_place", params: &one, expected: &[("race of blocks", &["next = data[i + 1]", "data[i] = next"])] },
        Case { kernel: "shift_out_of_place", params: &in_and_out, expected: &[] },
        Case { kernel: "overwritten_after_barrier", params: &in_and_out, expected: &[] },
        Case {
            kernel: "overwritten_without_barrier",
            params: &in_and_out,
            expected: &[("race of warps in global memory", &["= own[THREADS - 1]", "own[threadIdx.x] ="])],
        },
        Case { kernel: "rotated", params: &one, expected: &[] },
        Case {
            kernel: "rotated_without_syncwarp",
            params: &one,
            expected: &[("race in a warp", &["= own[(threadIdx.x + 1) % 32]", "own[threadIdx.x % 32] ="])],
        },
        Case { kernel: "one_place_of_lanes", params: &one, expected: &[("race in a warp", &["= threadIdx.x"])] },
        Case { kernel: "counted", params: &zeros, expected: &[] },
        Case {
            kernel: "counted_and_read",
            params: &zeros,
            expected: &[("race of blocks", &["atomicAdd", "= out[0]"]), ("race of warps in global memory", &["= out[0]"])],
        },
        Case { kernel: "last_block_adds", params: &counters, expected: &[] },
    ]);
}

#[test]
fn barriers_that_part_of_a_block_reaches_are_found() {
    let with_count = |threads: u32| move |gpu: &Gpu| in_and_out(gpu).with(threads);
    assert_cases(&[
        Case { kernel: "early_return", params: &with_count(64), expected: &[] },
        Case { kernel: "early_return", params: &with_count(50), expected: &[("ended before a barrier", &["__syncthreads"])] },
        Case { kernel: "early_return", params: &with_count(32), expected: &[("ended before a barrier", &["__syncthreads"])] },
        Case { kernel: "two_barriers", params: &in_and_out, expected: &[("different barriers", &["__syncthreads"])] },
    ]);
    // The other half goes around the barrier and ends. Only since compute capability 7.0 does nobody wait for it.
    for (findings, _) in in_every_order(MEMORY, |gpu| (gpu.launch("half_a_warp", 4, 64, 0, &in_and_out(gpu)).findings, Vec::new()))
    {
        assert!(findings.iter().any(|finding| name(finding) == "race"), "{findings:?}");
    }
    let gpu = Gpu::load(MEMORY).of_profile("gtx680");
    let half = gpu.try_launch("half_a_warp", 4, 64, 0, &in_and_out(&gpu));
    let Err(LaunchError::Fault { finding, .. }) = half else { panic!("{half:?}") };
    assert_eq!(finding.kind, FindingKind::DivergentBarrier { barrier: 0 });
}

/// Two warps exchange a word, with the barrier and without.
fn exchange(barrier: &str) -> String {
    format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry exchange(.param .u64 out)\n{{\n.shared .align 4 .b8 tile[256];\n\
         .reg .b32 %r<8>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\n\
         mov.u32 %r3, tile;\nadd.u32 %r4, %r3, %r2;\nst.shared.u32 [%r4], %r1;\n{barrier}\nxor.b32 %r5, %r4, 128;\n\
         ld.shared.u32 %r6, [%r5];\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r6;\nret;\n}}\n"
    )
}

#[test]
fn kernels_in_ptx_are_judged_alike() {
    for (barrier, expected) in [
        ("bar.sync 0;", &[][..]),
        ("barrier.sync 3, 64;", &[]),
        ("", &["race"]),
        ("bar.warp.sync 0xffffffff;", &["race"]),
        ("membar.cta;", &["race"]),
    ] {
        for (findings, _) in in_every_order(&exchange(barrier), |gpu| {
            let output = gpu.poisoned::<u32>(64);
            (gpu.launch("exchange", 1, 64, 0, &Params::new().with(output)).findings, Vec::new())
        }) {
            let races: Vec<_> = findings.iter().map(name).filter(|name| *name != "uninitialized").collect();
            assert_eq!(races, expected, "with {barrier:?}");
            // The PTX has no lines of CUDA, so the finding names the PTX lines of both sides.
            for finding in findings {
                assert_eq!(finding.location.source, None);
                assert!(finding.location.instruction.contains(".shared.u32"), "{finding}");
            }
        }
    }
}

#[test]
fn narrow_copies_and_wide_reads_of_them_have_places_of_their_own() {
    let text = |barrier: &str| {
        format!(
            ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry copies(.param .u64 in)\n{{\n.shared .align 16 .b8 tile[512];\n\
             .reg .b32 %r<9>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [in];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\n\
             mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd2, %rd1, %rd2;\nmov.u32 %r3, tile;\nadd.u32 %r4, %r3, %r2;\n\
             cp.async.ca.shared.global [%r4], [%rd2], 4;\ncp.async.wait_all;\n{barrier}\nand.b32 %r5, %r1, 31;\nshl.b32 %r5, %r5, 4;\n\
             add.u32 %r5, %r3, %r5;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r6, %r7, %r8, %r1}}, [%r5];\nret;\n}}\n"
        )
    };
    for (barrier, expected) in [("bar.sync 0;", &[][..]), ("", &["race", "race in a warp"])] {
        for (findings, _) in in_every_order(&text(barrier), |gpu| {
            let input = gpu.buffer(&[1_u32; 128]);
            (gpu.launch("copies", 1, 128, 0, &Params::new().with(input)).findings, Vec::new())
        }) {
            let races: Vec<_> = findings.iter().map(name).filter(|name| *name != "uninitialized").collect();
            assert!(races.is_empty() == expected.is_empty() && races.iter().all(|race| expected.contains(race)), "{findings:?}");
        }
    }
}

#[test]
fn a_copy_of_half_a_word_does_not_meet_an_addition_to_the_other_half() {
    let text = |offset: u32| {
        format!(
            ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry halves(.param .u64 in)\n{{\n.shared .align 16 .b8 tile[16];\n\
             .reg .pred %p<2>;\n.reg .b16 %h<3>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [in];\nmov.u32 %r1, %ctaid.x;\n\
             setp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, tile;\nmov.u32 %r3, 2;\nmov.u16 %h1, 15360;\n\
             @%p1 cp.async.ca.shared.global [%r2], [%rd1], 4, %r3;\n@!%p1 atom.global.add.noftz.f16 %h2, [%rd1+{offset}], %h1;\n\
             cp.async.wait_all;\nret;\n}}\n"
        )
    };
    for (offset, expected) in [(2, &[][..]), (0, &["race of blocks"])] {
        for (findings, _) in in_every_order(&text(offset), |gpu| {
            let input = gpu.buffer(&[0_u32]);
            (gpu.launch("halves", 2, 1, 0, &Params::new().with(input)).findings, Vec::new())
        }) {
            assert_eq!(findings.iter().map(name).collect::<Vec<_>>(), expected, "an addition at {offset}");
        }
    }
}
