//! Products on tensor cores, and the matrices that `ldmatrix` and `stmatrix` move, compared with plain loops.

use bytemuck::{AnyBitPattern, NoUninit};
use simt::{FindingKind, LaunchError, LoadError, Module};

use crate::common::{Gpu, Numbers, Params, every_way};

const TENSOR: &str = include_str!("tensor.ptx");
const STORES: &str = include_str!("stores.ptx");

/// D = A B + C, all row by row; `k` products for each element of D.
fn product(k: usize, n: usize, a: &[f64], b: &[f64], c: &[f64]) -> Vec<f64> {
    let element = |i: usize| c[i] + (0..k).map(|j| a[i / n * k + j] * b[j * n + i % n]).sum::<f64>();
    (0..c.len()).map(element).collect()
}

/// Returns numbers that f16, bf16 and tf32 can represent. Sums of their products are exact.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut numbers = Numbers(seed);
    (0..count).map(|_| f64::from(numbers.small_float()) / 2.0).collect()
}

/// Returns a number as an f16. It is a multiple of 1/1024 below 2048 that f16 holds.
fn half(value: f64) -> u16 {
    if value == 0.0 {
        return 0;
    }
    let exponent = value.abs().log2().floor() as i32;
    let fraction = (value.abs() / 2_f64.powi(exponent) - 1.0) * 1024.0;
    assert_eq!(fraction.fract(), 0.0, "{value} is an f16");
    u16::from(value < 0.0) << 15 | ((exponent + 15) as u16) << 10 | fraction as u16
}

fn bfloat(value: f64) -> u16 {
    ((value as f32).to_bits() >> 16) as u16
}

/// The numbers in memory, and the expected result.
struct Case<In, Sum> {
    kernel: &'static str,
    m: usize,
    n: usize,
    k: usize,
    input: fn(f64) -> In,
    sum: fn(f64) -> Sum,
}

impl<In: NoUninit, Sum: NoUninit + AnyBitPattern + PartialEq + std::fmt::Debug> Case<In, Sum> {
    fn check(&self) {
        let Self { kernel, m, n, k, .. } = *self;
        let (a, b, c) = (numbers(3, m * k), numbers(5, k * n), numbers(7, m * n));
        let expected: Vec<Sum> = product(k, n, &a, &b, &c).into_iter().map(self.sum).collect();
        every_way(TENSOR, |gpu| {
            let (a, b) = (self.inputs(gpu, &a), self.inputs(gpu, &b));
            let c = gpu.buffer(&c.iter().copied().map(self.sum).collect::<Vec<_>>());
            let d = gpu.poisoned::<Sum>(m * n);
            let report = gpu.launch(kernel, 1, 32, 0, &Params::new().with(a).with(b).with(c).with(d));
            assert_eq!(gpu.read::<Sum>(d, m * n), expected, "{kernel}");
            assert_eq!(report.counters.tensor_multiply_adds, (m * n * k) as u64, "{kernel}");
            assert_eq!(report.counters.tensor_factor_bytes, (m * n * k * size_of::<In>()) as u64, "{kernel}");
        });
    }

    fn inputs(&self, gpu: &Gpu, values: &[f64]) -> u64 {
        gpu.buffer(&values.iter().copied().map(self.input).collect::<Vec<_>>())
    }
}

#[test]
fn products_of_every_float() {
    Case { kernel: "mma_f16", m: 16, n: 8, k: 16, input: half, sum: |x| x as f32 }.check();
    Case { kernel: "mma_f16_small", m: 16, n: 8, k: 8, input: half, sum: half }.check();
    Case { kernel: "mma_bf16", m: 16, n: 8, k: 8, input: bfloat, sum: |x| x as f32 }.check();
    Case { kernel: "mma_f64", m: 8, n: 8, k: 4, input: |x| x, sum: |x| x }.check();
    // A tf32 has the upper 19 bits of an f32; the other bits are ignored.
    let with_more_bits = |x: f64| f32::from_bits((x as f32).to_bits() | 0x1fff);
    Case { kernel: "mma_tf32", m: 16, n: 8, k: 8, input: with_more_bits, sum: |x| x as f32 }.check();
    Case { kernel: "wmma_tf32", m: 16, n: 16, k: 8, input: with_more_bits, sum: |x| x as f32 }.check();
}

/// Adds four products that are cut off if added with the fifth. If they are added before it, they are not.
#[test]
fn products_of_tf32_by_the_header_are_added_in_two_halves() {
    let small = 2_f32.powi(-13);
    let factors = [small, small, small, small, 1.0, 0.0, 0.0, 0.0];
    let a: Vec<f32> = (0..16 * 8).map(|i| factors[i % 8]).collect();
    let b: Vec<f32> = (0..8 * 16).map(|i| factors[i / 16]).collect();
    let c = vec![2_f32.powi(-24); 16 * 16];
    every_way(TENSOR, |gpu| {
        let (a, b, c, d) = (gpu.buffer(&a), gpu.buffer(&b), gpu.buffer(&c), gpu.poisoned::<f32>(256));
        gpu.launch("wmma_tf32", 1, 32, 0, &Params::new().with(a).with(b).with(c).with(d));
        assert_eq!(gpu.read::<f32>(d, 256), vec![1.0 + 2_f32.powi(-23); 256]);
    });
}

#[test]
fn products_of_bytes_wrap_round_or_saturate() {
    let mut numbers = Numbers(11);
    let a: Vec<i8> = (0..16 * 32).map(|_| numbers.below(256) as i8).collect();
    let b: Vec<u8> = (0..32 * 8).map(|_| numbers.below(256) as u8).collect();
    // Some sums leave the range of s32 at either end.
    let c: Vec<i32> = (0..16 * 8).map(|i| [0, i32::MAX - 5, i32::MIN + 5, -77][i % 4]).collect();
    let exact =
        |i: usize| i64::from(c[i]) + (0..32).map(|j| i64::from(a[i / 8 * 32 + j]) * i64::from(b[j * 8 + i % 8])).sum::<i64>();
    let wrapped: Vec<i32> = (0..128).map(|i| exact(i) as i32).collect();
    let saturated: Vec<i32> = (0..128).map(|i| exact(i).clamp(i32::MIN.into(), i32::MAX.into()) as i32).collect();
    assert_ne!(wrapped, saturated, "the inputs show the difference");
    every_way(TENSOR, |gpu| {
        let (a, b, c) = (gpu.buffer(&a), gpu.buffer(&b), gpu.buffer(&c));
        let (first, second) = (gpu.poisoned::<i32>(128), gpu.poisoned::<i32>(128));
        gpu.launch("mma_s8", 1, 32, 0, &Params::new().with(a).with(b).with(c).with(first).with(second));
        assert_eq!(gpu.read::<i32>(first, 128), wrapped);
        assert_eq!(gpu.read::<i32>(second, 128), saturated);
    });
}

/// Returns an 8-bit float of 0 to 3, of either sign.
fn quarter(number: &str, value: i32) -> u32 {
    let magnitude = match number {
        "e4m3" => [0x00, 0x38, 0x40, 0x44],
        _ => [0x00, 0x3c, 0x40, 0x42],
    };
    magnitude[value.unsigned_abs() as usize] | u32::from(value < 0) << 7
}

/// Places elements as the ISA's figures for 8 bits say. Those are the figures of integers.
#[test]
fn products_of_floats_of_8_bits() {
    for (k, a_number, b_number) in [(32, "e4m3", "e5m2"), (32, "e5m2", "e4m3"), (16, "e4m3", "e4m3"), (16, "e5m2", "e5m2")] {
        let mut numbers = Numbers(31);
        let mut factors = |count: usize| (0..count).map(|_| numbers.below(7) as i32 - 3).collect::<Vec<i32>>();
        let (a, b) = (factors(16 * k), factors(k * 8));
        let registers = [k / 8, k / 16];
        let names = |first: usize, count: usize| (first..first + count).map(|i| format!("%r{i}")).collect::<Vec<_>>().join(", ");
        let loads: String = (0..k / 8 + k / 16).map(|i| format!("ld.global.u32 %r{i}, [%rd2+{}];\n", 4 * i)).collect();
        let ptx = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry product(.param .u64 input, .param .u64 output)\n{{\n\
             .reg .b32 %r<8>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<6>;\nld.param.u64 %rd0, [input];\nld.param.u64 %rd1, [output];\n\
             mov.u32 %r7, %tid.x;\nmad.wide.u32 %rd2, %r7, {}, %rd0;\nmad.wide.u32 %rd3, %r7, 16, %rd1;\n{loads}mov.f32 %f0, 0f3f000000;\n\
             mma.sync.aligned.m16n8k{k}.row.col.f32.{a_number}.{b_number}.f32 {{%f1, %f2, %f3, %f4}}, {{{}}}, {{{}}}, {{%f0, %f0, %f0, %f0}};\n\
             st.global.v4.f32 [%rd3], {{%f1, %f2, %f3, %f4}};\nret;\n}}\n",
            4 * (registers[0] + registers[1]),
            names(0, registers[0]),
            names(registers[0], registers[1]),
        );
        let word = |elements: [u32; 4]| elements.iter().rev().fold(0, |word, element| word << 8 | element);
        let mut input = Vec::new();
        for lane in 0..32 {
            let (group, member) = (lane / 4, lane % 4);
            for register in 0..registers[0] {
                let (row, column) = (group + register % 2 * 8, member * 4 + register / 2 * 16);
                input.push(word(std::array::from_fn(|i| quarter(a_number, a[row * k + column + i]))));
            }
            for register in 0..registers[1] {
                let row = member * 4 + register * 16;
                input.push(word(std::array::from_fn(|i| quarter(b_number, b[(row + i) * 8 + group]))));
            }
        }
        let exact = |row: usize, column: usize| (0..k).map(|i| a[row * k + i] * b[i * 8 + column]).sum::<i32>() as f32 + 0.5;
        let held = |lane: usize, i: usize| exact(lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
        let expected: Vec<f32> = (0..128).map(|i| held(i / 4, i % 4)).collect();
        every_way(&ptx, |gpu| {
            let (input, output) = (gpu.buffer(&input), gpu.poisoned::<f32>(128));
            let report = gpu.launch("product", 1, 32, 0, &Params::new().with(input).with(output));
            assert_eq!(gpu.read::<f32>(output, 128), expected, "{k} {a_number} {b_number}");
            assert_eq!(report.counters.tensor_multiply_adds, 16 * 8 * k as u64);
        });
    }
    for refused in ["m16n8k32.row.col.f32.e4m3.e4m3.f16", "m16n8k32.row.col.f32.e4m3.s8.f32", "m16n8k8.row.col.f32.e4m3.e4m3.f32"] {
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{ .reg .b32 %r<9>; \
             mma.sync.aligned.{refused} {{%r1, %r2, %r3, %r4}}, {{%r1, %r2, %r3, %r4}}, {{%r1, %r2}}, {{%r1, %r2, %r3, %r4}}; ret; }}\n"
        );
        let message = Module::parse(&text).expect_err("a refusal").to_string();
        assert!(message.contains("not supported"), "{refused}: {message}");
    }
}

/// Returns a matrix with `extra` elements after each row or column. No product reads them.
fn laid_out<T: Copy>(values: &[f64], rows: usize, by_rows: bool, extra: usize, of: impl Fn(f64) -> T) -> Vec<T> {
    let columns = values.len() / rows;
    let (lines, length) = if by_rows { (rows, columns) } else { (columns, rows) };
    let at = |line: usize, i: usize| if by_rows { values[line * columns + i] } else { values[i * columns + line] };
    let element = |line: usize, i: usize| of(if i < length { at(line, i) } else { 99.0 });
    (0..lines).flat_map(|line| (0..length + extra).map(move |i| (line, i))).map(|(line, i)| element(line, i)).collect()
}

/// A kernel of `mma.h`: which of A, B and the sums are stored by rows, and the factor of the sums.
struct Wide<In, Sum> {
    case: Case<In, Sum>,
    by_rows: [bool; 3],
    factor: f64,
    whole: bool,
}

impl<In: NoUninit, Sum: NoUninit + AnyBitPattern + PartialEq + std::fmt::Debug> Wide<In, Sum> {
    fn check(&self) {
        let Case { kernel, m, n, k, input, sum } = self.case;
        let integers = |values: Vec<f64>| if self.whole { values.iter().map(|x| (x * 2.0).abs()).collect() } else { values };
        let (a, b, c) = (integers(numbers(13, m * k)), integers(numbers(17, k * n)), integers(numbers(19, m * n)));
        let [a_by_rows, b_by_rows, sums_by_rows] = self.by_rows;
        let d: Vec<f64> = product(k, n, &a, &b, &c).iter().map(|x| x * self.factor).collect();
        let expected = laid_out(&d, m, sums_by_rows, 0, sum);
        for extra in [0, 16] {
            every_way(TENSOR, |gpu| {
                let a = gpu.buffer(&laid_out(&a, m, a_by_rows, extra, input));
                let b = gpu.buffer(&laid_out(&b, k, b_by_rows, extra, input));
                let c = gpu.buffer(&laid_out(&c, m, sums_by_rows, 0, sum));
                let d = gpu.poisoned::<Sum>(m * n);
                gpu.launch(kernel, 1, 32, 0, &Params::new().with(a).with(b).with(c).with(d).with(extra as i32));
                assert_eq!(gpu.read::<Sum>(d, m * n), expected, "{kernel}, {extra} elements between the lines");
            });
        }
    }
}

#[test]
#[rustfmt::skip]
fn products_by_the_header_of_every_shape_and_layout() {
    let single = |x: f64| x as f32;
    let integer = |x: f64| x as i32;
    let byte = |x: f64| x as u8;
    Wide { case: Case { kernel: "wmma_f16", m: 16, n: 16, k: 16, input: half, sum: single }, by_rows: [true, false, true], factor: 2.0, whole: false }.check();
    Wide { case: Case { kernel: "wmma_f16_columns", m: 16, n: 16, k: 16, input: half, sum: half }, by_rows: [false, true, false], factor: 1.0, whole: false }.check();
    Wide { case: Case { kernel: "wmma_f16_tall", m: 32, n: 8, k: 16, input: half, sum: single }, by_rows: [true, true, true], factor: 2.0, whole: false }.check();
    Wide { case: Case { kernel: "wmma_f16_wide", m: 8, n: 32, k: 16, input: half, sum: half }, by_rows: [true, false, true], factor: 1.0, whole: false }.check();
    Wide { case: Case { kernel: "wmma_bf16", m: 16, n: 16, k: 16, input: bfloat, sum: single }, by_rows: [false, false, true], factor: 2.0, whole: false }.check();
    Wide { case: Case { kernel: "wmma_s8", m: 16, n: 16, k: 16, input: byte, sum: integer }, by_rows: [true, false, false], factor: 2.0, whole: true }.check();
    Wide { case: Case { kernel: "wmma_u8_tall", m: 32, n: 8, k: 16, input: byte, sum: integer }, by_rows: [false, true, true], factor: 2.0, whole: true }.check();
    Wide { case: Case { kernel: "wmma_s8_wide", m: 8, n: 32, k: 16, input: byte, sum: integer }, by_rows: [true, false, true], factor: 2.0, whole: true }.check();
    Wide { case: Case { kernel: "wmma_f64", m: 8, n: 8, k: 4, input: |x| x, sum: |x| x }, by_rows: [true, false, true], factor: 2.0, whole: false }.check();
}

#[test]
fn tiles_come_by_ldmatrix() {
    let k = 64;
    let (a, b) = (numbers(23, 16 * k), numbers(29, k * 16));
    let expected: Vec<f32> = product(k, 16, &a, &b, &[0.0; 256]).into_iter().map(|x| x as f32).collect();
    every_way(TENSOR, |gpu| {
        let halves = |values: &[f64]| gpu.buffer(&values.iter().copied().map(half).collect::<Vec<_>>());
        let (a, b, d) = (halves(&a), halves(&b), gpu.poisoned::<f32>(256));
        let report = gpu.launch("tile_product", 1, 32, 0, &Params::new().with(a).with(b).with(d).with(k as i32));
        assert_eq!(gpu.read::<f32>(d, 256), expected);
        assert_eq!(report.counters.tensor_multiply_adds, 16 * 16 * k as u64);
        // Two loads of four matrices per tile; the padding keeps the rows of a matrix in different banks.
        assert_eq!(report.counters.shared_load_requests, 2 * (k as u64 / 16));
        assert_eq!(report.counters.shared_load_wavefronts, 8 * (k as u64 / 16));
        assert_eq!(report.counters.shared_load_wavefronts_ideal, 8 * (k as u64 / 16));
    });
}

/// Returns the elements of an 8 x 8 matrix in a lane: two neighbors in a row, or in a column.
fn pair(matrix: impl Fn(usize, usize) -> u16, lane: usize, of_columns: bool) -> u32 {
    let (line, first) = (lane / 4, lane % 4 * 2);
    let at = |i: usize| u32::from(if of_columns { matrix(i, line) } else { matrix(line, i) });
    at(first) | at(first + 1) << 16
}

#[test]
fn each_lane_gets_its_pair_of_each_matrix() {
    // With a pitch of 8, the 8 rows of a matrix are contiguous. With 64, they are all in the same four banks.
    for (pitch, per_matrix) in [(8, 1), (16, 2), (24, 1), (64, 8)] {
        let input: Vec<u16> = (0..32 * pitch).map(|i| (i * 7 + 1) as u16).collect();
        let rows = &input;
        let pairs = |matrix: usize, of_columns: bool| {
            let element = move |row: usize, column: usize| rows[(matrix * 8 + row) * pitch + column];
            (0..32).map(move |lane| pair(element, lane, of_columns))
        };
        let expected: Vec<u32> = pairs(0, false)
            .chain((0..2).flat_map(|matrix| pairs(matrix, true)))
            .chain((0..4).flat_map(|matrix| pairs(matrix, false)))
            .chain((0..4).flat_map(|matrix| pairs(matrix, true)))
            .chain(pairs(0, true))
            .collect();
        every_way(TENSOR, |gpu| {
            let (input, output) = (gpu.buffer(&input), gpu.poisoned::<u32>(12 * 32));
            let params = Params::new().with(input).with(output).with(pitch as i32);
            let report = gpu.launch("load_matrices", 1, 32, 64 * pitch as u32, &params);
            assert_eq!(gpu.read::<u32>(output, 12 * 32), expected, "pitch {pitch}");
            let counters = report.counters;
            assert_eq!(counters.shared_load_requests, 4);
            assert_eq!(counters.shared_load_wavefronts, 11 * per_matrix, "pitch {pitch}");
            assert_eq!(counters.shared_load_wavefronts_ideal, 11);
            assert_eq!(counters.warp_exchanges, 1, "movmatrix");
        });
    }
}

#[test]
fn stmatrix_puts_each_pair_back() {
    let rows: Vec<u16> = (0..256).map(|i| i * 11 + 3).collect();
    for by_columns in [false, true] {
        let held = (0..4).flat_map(|matrix| {
            let rows = &rows;
            (0..32).map(move |lane| pair(|row, column| rows[matrix * 64 + row * 8 + column], lane, by_columns))
        });
        let held: Vec<u32> = held.collect();
        // CUTLASS writes the count before the shape.
        let stores = if by_columns { STORES } else { &STORES.replace(".m8n8.x4", ".x4.m8n8") };
        every_way(stores, |gpu| {
            let (input, output) = (gpu.buffer(&held), gpu.poisoned::<u16>(256));
            let params = Params::new().with(input).with(output).with(i32::from(by_columns));
            let report = gpu.launch("store_matrices", 1, 32, 0, &params);
            assert_eq!(gpu.read::<u16>(output, 256), rows);
            assert_eq!((report.counters.shared_store_requests, report.counters.shared_store_wavefronts), (1, 4));
        });
    }
}

#[test]
fn part_of_a_warp_cannot_use_a_tensor_core() {
    let gpu = Gpu::load(TENSOR);
    let output = gpu.poisoned::<u32>(32);
    match gpu.try_launch("half_a_warp", 1, 32, 0, &Params::new().with(output)) {
        Err(LaunchError::Fault { finding, .. }) => {
            assert_eq!((finding.kind, finding.lanes), (FindingKind::PartialWarp, 16));
            assert_eq!(finding.location.source.map(|source| source.file), Some("tensor.cu".to_owned()));
        }
        other => panic!("expected a finding, got {other:?}"),
    }
}

#[test]
fn an_instruction_newer_than_the_target_is_refused() {
    for (ptx, was, target, opcode, since) in
        [(TENSOR, "sm_80", "sm_75", "mma.sync.aligned.m16n8k16", "sm_80"), (STORES, "sm_90", "sm_80", "stmatrix", "sm_90")]
    {
        let old = ptx.replace(&format!(".target {was}"), &format!(".target {target}"));
        match Module::parse(&old) {
            Err(LoadError::Syntax { line, message }) => {
                assert!(message.contains(opcode) && message.contains(since), "{message}");
                assert!(ptx.lines().nth(line as usize - 1).unwrap().contains(opcode), "line {line}");
            }
            other => panic!("expected a refusal, got {:?}", other.map(|_| ())),
        }
    }
}
