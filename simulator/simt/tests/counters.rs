//! The counters of a launch: the rules of `memory::rules` apply to every access of a kernel, and no access is skipped or counted
//! twice, whatever the simulator remembers from earlier accesses.

use std::fmt::Write;

use crate::common::{Gpu, Numbers, Params, every_way};
use proptest::prelude::*;
use simt::memory::rules::{Cost, Direction, Rules};
use simt::{Counters, LaunchOptions, LaunchReport};

const COUNTERS: &str = include_str!("programs/counters.ptx");
const PROGRAMS: &[&str] = &[include_str!("programs/convolution.ptx"), include_str!("programs/cooperation.ptx")];

/// Bytes of the memory that the generated kernels access.
const BYTES: u64 = 1 << 14;

/// Returns a generated kernel. In each of `rounds` rounds, every thread with a bit in its warp's mask accesses memory at an offset
/// from a table, which has one entry per round and thread. All rounds use the same instruction, so what it remembers from the last
/// round must not be used for this one.
fn indexed(access: &Kind) -> String {
    let Kind { space, direction, bytes, generic } = *access;
    let name = if generic { "" } else { space };
    let (vector, width, registers) = match bytes {
        1 => ("", 8, "%r5".to_owned()),
        2 => ("", 16, "%r5".to_owned()),
        4 => ("", 32, "%r5".to_owned()),
        8 => (".v2", 32, "{%r5, %r6}".to_owned()),
        16 => (".v4", 32, "{%r5, %r6, %r7, %r8}".to_owned()),
        _ => panic!("no access of {bytes} bytes"),
    };
    let name = if name.is_empty() { String::new() } else { format!(".{name}") };
    let operation = match direction {
        Direction::Load => format!("ld{name}{vector}.b{width} {registers}, [%rd6];"),
        Direction::Store => format!("st{name}{vector}.b{width} [%rd6], {registers};"),
    };
    let base = match (space, generic) {
        ("shared", false) => "mov.u64 %rd5, s_memory;",
        ("shared", true) => "mov.u64 %rd5, s_memory; cvta.shared.u64 %rd5, %rd5;",
        _ => "mov.u64 %rd5, %rd1;",
    };
    format!(
        "
.version 8.0
.target sm_80
.address_size 64
.visible .entry indexed(.param .u64 memory, .param .u64 offsets, .param .u64 masks, .param .u32 rounds)
{{
    .reg .pred %p<4>; .reg .b32 %r<30>; .reg .b64 %rd<10>;
    .shared .align 16 .b8 s_memory[{BYTES}];
    ld.param.u64 %rd1, [memory]; ld.param.u64 %rd2, [offsets]; ld.param.u64 %rd3, [masks]; ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, 0;
    {base}
    mov.u32 %r10, %laneid; shr.u32 %r11, %r2, 5; add.u32 %r12, %r3, 31; shr.u32 %r12, %r12, 5;
$again:
    setp.ge.u32 %p1, %r4, %r1;
    @%p1 bra $end;
    mad.lo.u32 %r13, %r4, %r3, %r2;
    mad.wide.u32 %rd7, %r13, 4, %rd2;
    ld.const.u32 %r14, [%rd7];
    mad.lo.u32 %r15, %r4, %r12, %r11;
    mad.wide.u32 %rd8, %r15, 4, %rd3;
    ld.const.u32 %r16, [%rd8];
    shr.u32 %r16, %r16, %r10; and.b32 %r16, %r16, 1;
    setp.ne.u32 %p2, %r16, 0;
    cvt.u64.u32 %rd9, %r14;
    add.u64 %rd6, %rd5, %rd9;
    @%p2 {operation}
    add.u32 %r4, %r4, 1;
    bra $again;
$end:
    ret;
}}
"
    )
}

/// The access of the generated kernel.
#[derive(Clone, Copy, Debug)]
struct Kind {
    space: &'static str,
    direction: Direction,
    /// Per lane.
    bytes: u32,
    /// Through a generic address.
    generic: bool,
}

/// The accesses of one warp in one round.
#[derive(Clone, Debug)]
struct Request {
    mask: u32,
    offsets: [u32; 32],
}

/// Runs the rounds of one block's warps and returns the report. `rounds[round][warp]`.
fn run(gpu: &Gpu, threads: u32, rounds: &[Vec<Request>]) -> LaunchReport {
    let memory = gpu.memory.allocate(BYTES, None).unwrap();
    let mut offsets = Vec::new();
    let mut masks = Vec::new();
    for round in rounds {
        for (warp, request) in round.iter().enumerate() {
            let lanes = (threads as usize - 32 * warp).min(32);
            offsets.extend_from_slice(&request.offsets[..lanes]);
            masks.push(request.mask);
        }
    }
    let params = Params::new().with(memory).with(gpu.buffer(&offsets)).with(gpu.buffer(&masks)).with(rounds.len() as u32);
    gpu.launch("indexed", 1, threads, 0, &params)
}

/// Returns the cost of the same accesses by the rules.
fn expected(rules: Rules, kind: &Kind, threads: u32, rounds: &[Vec<Request>]) -> Counters {
    let mut counters = Counters::default();
    for request in rounds.iter().flat_map(|round| round.iter().enumerate()) {
        let (warp, Request { mask, offsets }) = request;
        let lanes = (threads as usize - 32 * warp).min(32) as u32;
        let mask = mask & (u32::MAX >> (32 - lanes));
        if mask == 0 {
            continue;
        }
        if kind.space == "global" {
            // Allocations are aligned, so the sectors follow from the offset.
            let addresses = offsets.map(u64::from);
            let Cost { requests, transactions, units, ideal } = rules.global(mask, kind.bytes, &addresses);
            let bytes = u64::from(mask.count_ones() * kind.bytes);
            counters += match kind.direction {
                Direction::Load => Counters {
                    global_load_requests: requests.into(),
                    global_load_transactions: transactions.into(),
                    global_load_sectors: units.into(),
                    global_load_sectors_ideal: ideal.into(),
                    global_load_bytes: bytes,
                    global_load_wavefronts: rules.l1_wavefronts(mask, kind.bytes, &addresses).into(),
                    ..Counters::default()
                },
                Direction::Store => Counters {
                    global_store_requests: requests.into(),
                    global_store_transactions: transactions.into(),
                    global_store_sectors: units.into(),
                    global_store_sectors_ideal: ideal.into(),
                    global_store_bytes: bytes,
                    ..Counters::default()
                },
            };
        } else {
            let Cost { requests, units, ideal, .. } = rules.shared(kind.direction, mask, kind.bytes, offsets);
            counters += match kind.direction {
                Direction::Load => Counters {
                    shared_load_requests: requests.into(),
                    shared_load_wavefronts: units.into(),
                    shared_load_wavefronts_ideal: ideal.into(),
                    ..Counters::default()
                },
                Direction::Store => Counters {
                    shared_store_requests: requests.into(),
                    shared_store_wavefronts: units.into(),
                    shared_store_wavefronts_ideal: ideal.into(),
                    ..Counters::default()
                },
            };
        }
    }
    counters
}

/// Returns the counters of global and shared memory alone.
fn of_memory(counters: &Counters) -> Counters {
    Counters {
        global_load_requests: counters.global_load_requests,
        global_load_transactions: counters.global_load_transactions,
        global_load_sectors: counters.global_load_sectors,
        global_load_sectors_ideal: counters.global_load_sectors_ideal,
        global_load_bytes: counters.global_load_bytes,
        global_load_wavefronts: counters.global_load_wavefronts,
        global_store_requests: counters.global_store_requests,
        global_store_transactions: counters.global_store_transactions,
        global_store_sectors: counters.global_store_sectors,
        global_store_sectors_ideal: counters.global_store_sectors_ideal,
        global_store_bytes: counters.global_store_bytes,
        shared_load_requests: counters.shared_load_requests,
        shared_load_wavefronts: counters.shared_load_wavefronts,
        shared_load_wavefronts_ideal: counters.shared_load_wavefronts_ideal,
        shared_store_requests: counters.shared_store_requests,
        shared_store_wavefronts: counters.shared_store_wavefronts,
        shared_store_wavefronts_ideal: counters.shared_store_wavefronts_ideal,
        ..Counters::default()
    }
}

fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for space in ["global", "shared"] {
        for direction in [Direction::Load, Direction::Store] {
            for bytes in [1, 2, 4, 8, 16] {
                for generic in [false, true] {
                    kinds.push(Kind { space, direction, bytes, generic });
                }
            }
        }
    }
    kinds
}

/// A pattern's name, and the offset of lane `i`. The accesses have `w` bytes.
type Pattern = (&'static str, fn(u32, u32) -> u32);

const PATTERNS: &[Pattern] = &[
    ("side by side", |i, w| i * w),
    ("one further", |i, w| i * w + w),
    ("half a sector further", |i, w| i * w + 16),
    ("stride 2", |i, w| i * 2 * w),
    ("stride 3", |i, w| i * 3 * w),
    ("stride 32", |i, w| i * 32 * w % (BYTES as u32)),
    ("all the same", |_, _| 64),
    ("backwards", |i, w| (31 - i) * w),
    ("pairs", |i, w| i / 2 * w),
    ("two groups", |i, w| i / 16 * 4096 + i % 16 * w),
    ("one bank", |i, w| (i * 128 + w).next_multiple_of(w) % (BYTES as u32)),
    ("halves repeat", |i, w| i % 16 * w),
];

const MASKS: &[u32] = &[u32::MAX, 0xffff, 0xffff_0000, 0x5555_5555, 1, 1 << 31, 0, 0x8000_0001, 0x00ff_ff00];

/// One GPU of each generation of rules.
const GENERATIONS: [&str; 4] = ["h200", "gtx680", "gtx280", "9800gt"];

#[test]
fn known_patterns_cost_what_the_rules_say() {
    for (kind, profile) in kinds().into_iter().flat_map(|kind| GENERATIONS.map(|profile| (kind, profile))) {
        let gpu = Gpu::load(&indexed(&kind)).of_profile(profile);
        let rules = Rules::of(gpu.profile.compute_capability);
        for (name, offset) in PATTERNS {
            for mask in MASKS {
                let offsets = std::array::from_fn(|lane| offset(lane as u32, kind.bytes));
                let rounds = [vec![Request { mask: *mask, offsets }]];
                let report = run(&gpu, 32, &rounds);
                let expected = expected(rules, &kind, 32, &rounds);
                assert_eq!(of_memory(&report.counters), expected, "{profile}: {kind:?} {name}, mask {mask:#x}");
            }
        }
    }
}

#[test]
fn a_remembered_cost_is_not_taken_for_another_pattern() {
    let mut numbers = Numbers(4);
    for kind in kinds() {
        // Every pattern after every other one, with changing masks.
        let rounds: Vec<Vec<Request>> = (0..400)
            .map(|_| {
                (0..3)
                    .map(|_| {
                        let (_, offset) = PATTERNS[numbers.below(PATTERNS.len() as u64) as usize];
                        let mask = MASKS[numbers.below(MASKS.len() as u64) as usize];
                        // The whole pattern moves a little. Whether the cost changes depends on how far.
                        let moved = numbers.below(16) as u32 * kind.bytes;
                        Request {
                            mask,
                            offsets: std::array::from_fn(|lane| (offset(lane as u32, kind.bytes) + moved) % (BYTES as u32)),
                        }
                    })
                    .collect()
            })
            .collect();
        for profile in GENERATIONS {
            let gpu = Gpu::load(&indexed(&kind)).of_profile(profile);
            // The last warp has 8 lanes.
            let report = run(&gpu, 72, &rounds);
            let expected = expected(Rules::of(gpu.profile.compute_capability), &kind, 72, &rounds);
            assert_eq!(of_memory(&report.counters), expected, "{profile}: {kind:?}");
        }
    }
}

/// Lane offsets: near each other, or anywhere, aligned by the caller.
fn offsets() -> impl Strategy<Value = [u32; 32]> {
    prop_oneof![
        proptest::array::uniform32(0_u32..16),
        proptest::array::uniform32(0_u32..64),
        proptest::array::uniform32(0_u32..1024),
        (0_u32..64, 0_u32..32).prop_map(|(first, stride)| std::array::from_fn(|lane| first + lane as u32 * stride)),
    ]
}

fn mask() -> impl Strategy<Value = u32> {
    prop_oneof![Just(u32::MAX), Just(0), any::<u32>(), any::<u32>().prop_map(|bits| bits | bits >> 1)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_patterns_cost_what_the_rules_say(
        requests in proptest::collection::vec((mask(), offsets()), 1..12),
        kind in (0..kinds().len()).prop_map(|index| kinds()[index]),
        threads in 1_u32..=32,
        portable in any::<bool>(),
        profile in (0..GENERATIONS.len()).prop_map(|index| GENERATIONS[index]),
    ) {
        let align = |offset: u32| offset * kind.bytes % (BYTES as u32);
        let rounds: Vec<Vec<Request>> =
            requests.into_iter().map(|(mask, offsets)| vec![Request { mask, offsets: offsets.map(align) }]).collect();
        let gpu = Gpu::with_options(&indexed(&kind), LaunchOptions { portable, ..LaunchOptions::default() }).of_profile(profile);
        let report = run(&gpu, threads, &rounds);
        let expected = expected(Rules::of(gpu.profile.compute_capability), &kind, threads, &rounds);
        prop_assert_eq!(of_memory(&report.counters), expected);
    }
}

/// Neighboring threads that read neighboring bytes of shared memory: the first GPUs took four steps for each half of a warp,
/// because four of the bytes share a bank. Later ones take one for the whole warp.
#[test]
fn bytes_side_by_side_conflict_on_the_first_gpus_only() {
    let kind = Kind { space: "shared", direction: Direction::Load, bytes: 1, generic: false };
    for (profile, requests, steps) in [("h200", 1, 1), ("gtx680", 1, 1), ("gtx280", 2, 4), ("9800gt", 2, 4)] {
        let gpu = Gpu::load(&indexed(&kind)).of_profile(profile);
        let offsets = std::array::from_fn(|lane| lane as u32);
        let counters = run(&gpu, 32, &[vec![Request { mask: u32::MAX, offsets }]]).counters;
        assert_eq!(counters.shared_load_requests, requests, "{profile}");
        assert_eq!(counters.shared_load_wavefronts / counters.shared_load_requests, steps, "{profile}");
        assert_eq!(counters.bank_conflicts(), requests * (steps - 1), "{profile}");
    }
}

/// Sends one generic load to shared and global memory in turn. The distances are the same.
#[test]
fn a_generic_access_remembers_each_memory_for_itself() {
    let ptx = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry both(.param .u64 memory, .param .u32 rounds)
{
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
    .shared .align 16 .b8 s_memory[4096];
    ld.param.u64 %rd1, [memory]; ld.param.u32 %r1, [rounds];
    mov.u64 %rd2, s_memory; cvta.shared.u64 %rd2, %rd2;
    mov.u32 %r2, %laneid; mul.wide.u32 %rd3, %r2, 128;
    add.u64 %rd5, %rd2, %rd3; st.u32 [%rd5], %r2;
    mov.u32 %r3, 0;
$again:
    and.b32 %r4, %r3, 1;
    setp.eq.u32 %p1, %r4, 0;
    selp.b64 %rd4, %rd1, %rd2, %p1;
    add.u64 %rd4, %rd4, %rd3;
    ld.u32 %r5, [%rd4];
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, %r1;
    @%p2 bra $again;
    ret;
}
";
    every_way(ptx, |gpu| {
        let memory = gpu.buffer(&[0_u8; 4096]);
        let counters = gpu.launch("both", 1, 32, 0, &Params::new().with(memory).with(10_u32)).counters;
        // Lanes 128 bytes apart: 32 sectors, 4 of them needed; 32 words in one bank, one wavefront at best.
        assert_eq!((counters.global_load_requests, counters.shared_load_requests), (5, 5));
        assert_eq!((counters.global_load_sectors, counters.global_load_sectors_ideal), (5 * 32, 5 * 4));
        assert_eq!((counters.shared_load_wavefronts, counters.shared_load_wavefronts_ideal), (5 * 32, 5));
    });
}

#[test]
fn a_vector_add_is_counted_instruction_by_instruction() {
    every_way(COUNTERS, |gpu| {
        let n = 1000_u32;
        let inputs = vec![1.0_f32; n as usize];
        let (a, b, output) = (gpu.buffer(&inputs), gpu.buffer(&inputs), gpu.poisoned::<f32>(n as usize));
        let params = Params::new().with(a).with(b).with(output).with(n as i32);
        let counters = gpu.launch("vector_add", 8, 128, 0, &params).counters;
        // 31 full warps and one of 8 lanes; all are launched.
        assert_eq!((counters.global_load_requests, counters.global_store_requests), (64, 32));
        assert_eq!(counters.global_load_sectors, 2 * (31 * 4 + 1));
        assert_eq!(counters.global_store_sectors, 31 * 4 + 1);
        assert_eq!(counters.global_load_sectors_ideal, counters.global_load_sectors);
        assert_eq!((counters.global_load_bytes, counters.global_store_bytes), (8000, 4000));
        assert_eq!((counters.f32_other, counters.f32_fma), (1000, 0));
        // The guard makes only the last warp diverge.
        assert_eq!((counters.branches, counters.divergent_branches), (32, 1));
        assert_eq!(counters.bank_conflicts(), 0);
    });
}

#[test]
fn a_transposition_without_padding_conflicts_and_with_padding_does_not() {
    every_way(COUNTERS, |gpu| {
        let input: Vec<f32> = (0..64 * 64).map(|i| i as f32).collect();
        let (input, output) = (gpu.buffer(&input), gpu.poisoned::<f32>(64 * 64));
        for (kernel, wavefronts) in [("transpose", 32), ("transpose_padded", 1)] {
            let params = Params::new().with(input).with(output);
            let counters = gpu.launch(kernel, (2, 2), (32, 32), 0, &params).counters;
            let requests = 4 * 32;
            assert_eq!((counters.shared_load_requests, counters.shared_store_requests), (requests, requests));
            assert_eq!((counters.shared_load_wavefronts, counters.shared_store_wavefronts), (requests * wavefronts, requests));
            assert_eq!(counters.bank_conflicts(), requests * (wavefronts - 1), "{kernel}");
            assert_eq!(counters.global_store_sectors, requests * 4);
            assert_eq!(counters.barriers, requests);
            assert!(
                gpu.read::<f32>(output, 64 * 64).iter().enumerate().all(|(at, value)| *value == (at % 64 * 64 + at / 64) as f32)
            );
        }
    });
}

#[test]
fn multiply_adds_are_counted_by_their_kind() {
    every_way(COUNTERS, |gpu| {
        let outputs = [4, 8, 4, 4].map(|bytes| gpu.poisoned::<u8>(96 * bytes));
        let params = outputs.into_iter().fold(Params::new(), Params::with).with(1.5_f32).with(3_i32).with(2.5_f64);
        let counters = gpu.launch("kinds", 1, 96, 0, &params).counters;
        let threads = 96;
        assert_eq!((counters.f32_fma, counters.f32_other, counters.f64_ops), (2 * threads, threads, threads));
        assert_eq!((counters.dp4a, counters.special), (threads, threads));
        assert_eq!(counters.warp_exchanges, 2 * 3);
    });
}

/// Distinguishes factors of 24 bits from wider ones. A mask, a bit field, two shifts, a narrow load, or a loop of these limits a
/// factor to 24 bits. `__umul24` is compiled to the first of them, `__mul24` to the second (NVRTC 12.0).
#[test]
fn multiplications_in_24_bits_are_told_from_wider_ones() {
    for (factors, is_24) in [
        ("and.b32 %r3, %r1, 16777215; and.b32 %r4, %r2, 16777215; mul.lo.s32 %r5, %r3, %r4;", true),
        ("bfe.s32 %r3, %r1, 0, 24; bfe.s32 %r4, %r2, 0, 24; mad.lo.s32 %r5, %r3, %r4, %r1;", true),
        ("shl.b32 %r4, %r1, 8; shr.s32 %r3, %r4, 8; mul.lo.s32 %r5, %r3, -17;", true),
        ("shr.u32 %r3, %r1, 8; mul.lo.s32 %r5, %r3, 17;", true),
        ("ld.global.u8 %r3, [%rd1]; ld.global.u16 %r4, [%rd1]; mul.lo.s32 %r5, %r3, %r4;", true),
        ("ld.global.s8 %r3, [%rd1]; ld.global.s16 %r4, [%rd1]; mul.lo.s32 %r5, %r3, %r4;", true),
        ("mul24.lo.u32 %r5, %r1, %r2;", true),
        ("mad24.lo.s32 %r5, %r1, %r2, %r1;", true),
        ("and.b32 %r3, %r1, 255; setp.eq.u32 %p1, %r2, 0; @%p1 mov.u32 %r3, 3; mul.lo.s32 %r5, %r3, %r3;", true),
        ("mul.lo.s32 %r5, %r1, %r2;", false),
        ("and.b32 %r3, %r1, 33554431; and.b32 %r4, %r2, 16777215; mul.lo.s32 %r5, %r3, %r4;", false),
        ("and.b32 %r3, %r1, 16777215; mul.lo.s32 %r5, %r3, %r2;", false),
        // 2^23 fits without a sign, -1 only with one.
        ("bfe.s32 %r3, %r1, 0, 24; and.b32 %r4, %r2, 16777215; mul.lo.s32 %r5, %r3, %r4;", false),
        ("bfe.s32 %r3, %r1, 0, 25; mul.lo.s32 %r5, %r3, 17;", false),
        ("shl.b32 %r4, %r1, 7; shr.s32 %r3, %r4, 7; mul.lo.s32 %r5, %r3, 17;", false),
        ("and.b32 %r3, %r1, 255; setp.eq.u32 %p1, %r2, 0; @%p1 mov.u32 %r3, %r2; mul.lo.s32 %r5, %r3, %r3;", false),
        ("and.b32 %r3, %r1, 255; add.u32 %r3, %r3, %r2; mul.lo.s32 %r5, %r3, 17;", false),
    ] {
        let ptx = format!(
            ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry multiply(.param .u64 memory)\n{{\n.reg .pred %p<2>; \
             .reg .b32 %r<6>; .reg .b64 %rd<2>;\nld.param.u64 %rd1, [memory]; ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd1];\n\
             {factors}\nst.global.u32 [%rd1], %r5; ret;\n}}\n"
        );
        let gpu = Gpu::load(&ptx);
        let counters = gpu.launch("multiply", 1, 1, 0, &Params::new().with(gpu.buffer(&[7_u32]))).counters;
        assert_eq!((counters.int_mad, counters.int_mul24), (1, is_24.into()), "{factors}");
    }
}

#[test]
fn a_straight_line_executes_each_of_its_instructions_once() {
    let mut body = String::new();
    let mut lines = 0;
    for line in 0..200 {
        // An instruction that the decoder splits into several counts as one.
        let text = match line % 10 {
            0 => "mov.b64 {%r1, %r2}, %rd1;",
            1 => "setp.lt.and.s32 %p1|%p2, %r1, %r2, %p3;",
            2 => "mov.u32 %r3, %tid.x;",
            3 => "@%p1 add.s32 %r1, %r1, %r3;",
            4 => "cvta.shared.u64 %rd2, %rd1;",
            5 => "fma.rn.f32 %f1, %f2, %f3, %f1;",
            6 => "ld.param.v2.u32 {%r4, %r5}, [pair];",
            7 => "bar.warp.sync 0xffffffff;",
            8 => "membar.gl;",
            _ => "selp.b32 %r1, %r2, %r3, %p2;",
        };
        writeln!(body, "    {text}").unwrap();
        lines += 1;
    }
    let ptx = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry line(.param .align 8 .b8 pair[8])\n{{\n    .reg .pred %p<4>; .reg .b32 %r<6>; \
         .reg .b64 %rd<3>; .reg .f32 %f<4>;\n{body}    ret;\n}}\n"
    );
    every_way(&ptx, |gpu| {
        for (blocks, threads) in [(1, 1), (1, 32), (3, 40)] {
            let report = gpu.launch("line", blocks, threads, 0, &Params::new().with(0_u64));
            let warps = u64::from(blocks * threads.div_ceil(32));
            assert_eq!(report.counters.ptx_instructions, (lines + 1) * warps, "{blocks} blocks of {threads}");
            // Predicates are all false here, so that the guarded instructions act in no lane.
            assert_eq!(report.counters.ptx_thread_instructions, (lines + 1 - 20) * u64::from(blocks * threads));
        }
    });
}

#[test]
fn the_lines_of_a_kernel_sum_up_to_the_whole() {
    let launch = |gpu: &Gpu| {
        let (input, output) = (gpu.buffer(&[1.0_f32; 4096]), gpu.poisoned::<f32>(4096));
        let params = |n: i32| Params::new().with(input).with(input).with(output).with(n);
        vec![
            gpu.launch("vector_add", 9, 96, 0, &params(800)),
            gpu.launch("transpose", (2, 2), (32, 32), 0, &Params::new().with(input).with(output)),
        ]
    };
    let mut reports = Vec::new();
    every_way(COUNTERS, |gpu| {
        launch(gpu);
    });
    let gpu = Gpu::load(COUNTERS);
    reports.extend(launch(&gpu));
    let gpu = Gpu::load(PROGRAMS[0]);
    let (signal, filter, output) = (gpu.buffer(&[1.0_f32; 2000]), gpu.buffer(&[1.0_f32; 300]), gpu.poisoned::<f32>(1000));
    let params = Params::new().with(signal).with(filter).with(output).with(1000_i32).with(300_i32);
    reports.push(gpu.launch("naive", 4, 256, 0, &params));
    reports.push(gpu.launch("tiled", 4, 256, 0, &params));
    let gpu = Gpu::load(PROGRAMS[1]);
    let params = Params::new().with(gpu.buffer(&[1_i32; 400])).with(gpu.buffer(&[0_i32; 4]));
    reports.push(gpu.launch("tree_sum", 4, 100, 400, &params));
    for report in reports {
        let mut sum = Counters::default();
        for line in &report.lines {
            sum += line.counters;
        }
        assert_eq!(sum, report.counters, "{}", report.kernel);
        assert!(report.lines.len() > 3, "{} has several lines", report.kernel);
        assert!(report.lines.is_sorted_by_key(|line| line.source.clone()), "{}", report.kernel);
    }
}

#[test]
fn the_line_of_the_inner_loop_has_its_multiply_adds() {
    let gpu = Gpu::load(PROGRAMS[0]);
    let (signal, filter, output) = (gpu.buffer(&[1.0_f32; 2000]), gpu.buffer(&[1.0_f32; 300]), gpu.poisoned::<f32>(1000));
    let params = Params::new().with(signal).with(filter).with(output).with(1000_i32).with(300_i32);
    let report = gpu.launch("naive", 4, 256, 0, &params);
    let source = include_str!("programs/convolution.cu");
    let inner = 1 + source.lines().position(|line| line.contains("sum += signal[i + k]")).unwrap() as u32;
    let line = report.lines.iter().find(|line| line.source.as_ref().is_some_and(|source| source.line == inner)).unwrap();
    assert_eq!(line.counters.f32_fma, 1000 * 300);
    assert_eq!(line.counters.global_load_requests, 2 * 32 * 300);
}
