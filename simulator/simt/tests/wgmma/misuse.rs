//! The findings of the checks about `wgmma`, and what the checks accept: `misuse.cu`, next to the PTX that NVRTC 12.0 makes of it (`compute_90a`,
//! `-lineinfo`). The rules are from the PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"; each test gives its rule in short.

use ptx::finding::wgmma::{DescriptorDefect, RegisterUse};
use simt::{Finding, FindingKind, LaunchError, LaunchOptions, LoadError, Module, Severity, WarpOrder, WgmmaMisuse};

use super::{THREADS, plain};
use crate::common::{Gpu, Params};

const MISUSE: &str = include_str!("misuse.ptx");
const SOURCE: &str = include_str!("misuse.cu");

/// Bytes of shared memory of the kernels, and where B starts.
const BYTES: u32 = 64 * 32 + 8 * 32;
const OF_B: u32 = 64 * 32;

/// Returns the findings of a kernel, or the one that ended it.
fn try_run(gpu: &Gpu, kernel: &str, threads: u32, first: Params, last: Params) -> Vec<Finding> {
    let input = gpu.buffer(&vec![1.0_f32; 512]);
    let output = gpu.poisoned::<f32>(1024);
    let mut params = first.with(input).with(output);
    params.0.extend_from_slice(&last.0);
    match gpu.try_launch(kernel, 1, threads, 0, &params) {
        Ok(report) => report.findings,
        Err(LaunchError::Fault { finding, .. }) => vec![*finding],
        Err(other) => panic!("{kernel}: {other}"),
    }
}

fn misuse(finding: &Finding) -> &WgmmaMisuse {
    match &finding.kind {
        FindingKind::Wgmma(misuse) => misuse,
        _ => panic!("{finding}"),
    }
}

fn line(number: u32) -> &'static str {
    SOURCE.lines().nth(number as usize - 1).expect("a line of the source").trim()
}

/// Runs both kernels of a pair with the warps in many orders. The right one has no findings. Those of the wrong one are given to `check`.
#[track_caller]
fn pair(kernel: &str, check: impl Fn(&[Finding])) {
    for (number, order) in std::iter::once(WarpOrder::Ascending).chain((0..12).map(WarpOrder::Shuffled)).enumerate() {
        let options = LaunchOptions { warp_order: order, workers: Some(1 + number % 2), ..LaunchOptions::default() };
        let gpu = Gpu::with_options(MISUSE, options);
        let right = try_run(&gpu, &format!("k_{kernel}"), THREADS, Params::new(), Params::new());
        assert_eq!(right, [], "{kernel}");
        let wrong = try_run(&gpu, &format!("k_{kernel}_wrong"), THREADS, Params::new(), Params::new());
        assert_ne!(wrong, [], "{kernel}, {order:?}");
        for finding in &wrong {
            let text = finding.to_string();
            assert!(text.contains("misuse.cu:") && text.contains("PTX line"), "{text}");
        }
        check(&wrong);
    }
}

/// Returns a finding's line of CUDA C, and its other side's.
fn lines(finding: &Finding) -> [&'static str; 2] {
    let other = misuse(finding).other_location();
    [Some(&finding.location), other]
        .map(|location| location.and_then(|location| location.source.as_ref()).map_or("", |source| line(source.line)))
}

/// wgmma.mma_async, wgmma.wait_group: the registers of D and A must not be accessed before the wait for the product.
#[test]
fn registers_of_an_unfinished_product_are_left_alone() {
    for (kernel, expected, access) in [
        ("read_sum", RegisterUse::ReadsSum, "if (WRONG) out[threadIdx.x] = d[0];"),
        ("write_sum", RegisterUse::WritesSum, "asm volatile(\"mov.f32 %0, 0f40A00000;\""),
        ("write_factor", RegisterUse::WritesFactor, "asm volatile(\"mov.u32 %0, 5;\""),
        ("chain", RegisterUse::ReadsSum, ""),
    ] {
        pair(kernel, |wrong| {
            let in_use = wrong
                .iter()
                .find(|finding| matches!(misuse(finding), WgmmaMisuse::RegisterInUse { usage, .. } if *usage == expected));
            let finding = in_use.unwrap_or_else(|| panic!("{kernel}: {wrong:?}"));
            let [at, product] = lines(finding);
            assert!(at.contains(access) && product.contains("MULTIPLY"), "{finding}");
            assert_eq!(finding.kind.severity(), Severity::Error);
        });
    }
}

/// wgmma.fence: needed before the first product of a warpgroup, and between an access to a register of D or A and a product that uses it.
#[test]
fn a_fence_is_between_an_access_to_a_register_and_its_product() {
    pair("first_fence", |wrong| {
        assert!(matches!(misuse(&wrong[0]), WgmmaMisuse::Unfenced { access: None, .. }), "{}", wrong[0]);
        assert!(lines(&wrong[0])[0].contains("MULTIPLY"));
    });
    pair("later_fence", |wrong| {
        assert!(matches!(misuse(&wrong[0]), WgmmaMisuse::Unfenced { access: Some(_), moves: false }), "{}", wrong[0]);
        assert!(lines(&wrong[0])[1].contains("d[i] *= 2.0f"), "{}", wrong[0]);
        assert_eq!(wrong[0].kind.severity(), Severity::Error);
    });
    // What only a compiler may have moved is a warning.
    pair("late_zero", |wrong| {
        assert!(matches!(misuse(&wrong[0]), WgmmaMisuse::Unfenced { access: Some(_), moves: true }), "{}", wrong[0]);
        assert_eq!(wrong[0].kind.severity(), Severity::Warning);
    });
}

/// wgmma.mma_async reads shared memory until it is complete. Only wgmma.wait_group tells the warp that it is.
#[test]
fn operands_of_an_unfinished_product_are_left_alone() {
    for (kernel, access) in
        [("own_store", "s_factors[threadIdx.x * 4] = 9.0f"), ("copied_over", "cp.async.cg"), ("overwrite", "s_factors[BYTES_A / 4")]
    {
        pair(kernel, |wrong| {
            let [at, product] = wrong
                .iter()
                .find_map(|finding| match &finding.kind {
                    FindingKind::Wgmma(WgmmaMisuse::SharedInUse { .. }) => Some(lines(finding)),
                    _ => None,
                })
                .unwrap_or_else(|| panic!("{kernel}: {wrong:?}"));
            assert!(at.contains(access) && product.contains("MULTIPLY"), "{kernel}: {wrong:?}");
        });
    }
}

/// wgmma.commit_group "creates a new wgmma-group per warpgroup". It is complete as a whole: the wait of one warp is enough to overwrite
/// what the others multiplied, as CUTLASS's pipelines for clusters do. It tells nothing of what those loaded before.
#[test]
fn a_wait_of_one_warp_is_for_the_products_of_its_warpgroup() {
    pair("of_another_warp", |wrong| {
        for finding in wrong {
            let FindingKind::Race { other, .. } = &finding.kind else { panic!("{finding}") };
            let places = [&finding.location, &other.location].map(|place| line(place.source.as_ref().expect("a line").line));
            assert!(places.iter().any(|line| line.contains("out[512] =")), "{finding}");
        }
    });
}

/// wgmma.commit_group, wgmma.wait_group: nothing else tells that a product is complete.
#[test]
fn products_are_committed_and_waited_for() {
    for (kernel, was_committed) in [("no_commit", false), ("no_wait", true)] {
        pair(kernel, |wrong| {
            let is_abandoned =
                |finding: &&Finding| matches!(misuse(finding), WgmmaMisuse::Abandoned { committed } if *committed == was_committed);
            let finding = wrong.iter().find(is_abandoned).unwrap_or_else(|| panic!("{kernel}: {wrong:?}"));
            assert!(lines(finding)[0].contains("MULTIPLY"), "{finding}");
            assert_eq!(finding.times, 4, "once for each warp");
        });
    }
}

/// wgmma.mma_async: all threads of the warpgroup execute the same instruction, with the same descriptors.
#[test]
fn the_warps_of_a_warpgroup_execute_the_same_products() {
    pair("missing_warp", |wrong| {
        assert!(matches!(misuse(&wrong[0]), WgmmaMisuse::Disagreement { other: None }), "{}", wrong[0]);
        assert!(lines(&wrong[0])[0].contains("MULTIPLY"), "{}", wrong[0]);
    });
    pair("two_descriptors", |wrong| {
        let differs = wrong.iter().find(|finding| matches!(misuse(finding), WgmmaMisuse::Disagreement { other: Some(_) }));
        let finding = differs.unwrap_or_else(|| panic!("{wrong:?}"));
        assert!(finding.to_string().contains("and load by thread"), "{finding}");
    });
    let gpu = Gpu::load(MISUSE);
    for (threads, is_right) in [(32, false), (96, false), (127, false)] {
        let found = try_run(&gpu, "k_chain", threads, Params::new(), Params::new());
        let expected = WgmmaMisuse::NoWarpgroup { threads: threads.into() };
        assert_eq!(
            found.iter().any(|finding| finding.kind == FindingKind::Wgmma(expected.clone())),
            !is_right,
            "{threads}: {found:?}"
        );
    }
}

/// Matrix Descriptor Format: the fields, and the bits that are zero. Matrices start where the pattern of swizzling does.
#[test]
fn descriptors_describe_matrices_in_shared_memory() {
    let gpu = Gpu::load(MISUSE);
    let (a, b) = (plain(0, 128, 256), plain(OF_B, 128, 256));
    let run = |a: u64, b: u64, of_lane: u32| {
        try_run(&gpu, "k_descriptors", THREADS, Params::new().with(a).with(b), Params::new().with(of_lane))
    };
    assert_eq!(run(a, b, 0), []);
    let swizzled = |start: u32, base_offset: u64| plain(start, 16, 1024) | base_offset << 49 | 1 << 62;
    let outside = |address: u32| DescriptorDefect::OutOfBounds { address, bytes: BYTES };
    for (a, b, of_lane, expected) in [
        (a, b, 1, Some(DescriptorDefect::NotUniform)),
        (a, plain(OF_B + 16, 128, 256), 0, Some(outside(BYTES))),
        (a, plain(OF_B, 256, 256), 0, Some(outside(BYTES))),
        (a, plain(0x3_fff0, 128, 256), 0, Some(outside(0x3_fff0))),
        (plain(0, 128, 512), b, 0, Some(outside(2560))),
        (a | 1 << 14, b, 0, Some(DescriptorDefect::ReservedBits)),
        (a, b | 1 << 52, 0, Some(DescriptorDefect::ReservedBits)),
        (a, swizzled(0, 0), 0, None),
        // The next k of the same rows.
        (a, swizzled(32, 0), 0, None),
        (a, swizzled(1024, 0), 0, None),
        (a, swizzled(128, 0), 0, Some(DescriptorDefect::Misaligned { address: 128, unit: 1024 })),
        (a, swizzled(128, 1), 0, None),
        (a, swizzled(0, 3), 0, Some(DescriptorDefect::Misaligned { address: 0, unit: 1024 })),
    ] {
        let found = run(a, b, of_lane);
        let defect = found.first().map(|finding| match misuse(finding) {
            WgmmaMisuse::Descriptor { defect, .. } => *defect,
            other => panic!("{other}"),
        });
        assert_eq!(defect, expected, "{a:x} {b:x}: {found:?}");
    }
}

#[test]
fn only_sm_90a_has_wgmma() {
    for (target, has_it) in [("sm_90a", true), ("sm_90", false), ("sm_100a", false), ("sm_80", false)] {
        let ptx = format!(
            ".version 8.0\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\nwgmma.fence.sync.aligned;\nret;\n}}\n"
        );
        match Module::parse(&ptx) {
            Ok(_) => assert!(has_it, "{target}"),
            Err(LoadError::Syntax { message, line: 6 }) if !has_it => {
                assert!(message.contains("needs .target sm_90a") && message.contains(target), "{message}");
            }
            Err(other) => panic!("{target}: {other}"),
        }
    }
}
