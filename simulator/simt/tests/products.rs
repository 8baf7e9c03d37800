//! Products of `mma` that are sparse, of four groups of lanes, or of integers of fewer than 8 bits.
//!
//! The fragments are filled by the formulas of the PTX ISA ("Matrix Fragments for mma", "Sparse matrix storage"), which this file states
//! itself. The metadata lie as CUTLASS's `host_reorder.h` puts them in memory.

use crate::common::{Gpu, Params};

const LANES: usize = 32;

/// The registers of one operand: a word for each lane.
type Registers = Vec<[u32; LANES]>;

/// A matrix of bits of elements, row by row.
struct Matrix {
    columns: usize,
    bits: Vec<u32>,
}

impl Matrix {
    fn new(rows: usize, columns: usize, mut element: impl FnMut(usize, usize) -> u32) -> Self {
        let bits = (0..rows * columns).map(|at| element(at / columns, at % columns)).collect();
        Self { columns, bits }
    }

    fn at(&self, row: usize, column: usize) -> u32 {
        self.bits[row * self.columns + column]
    }

    /// Returns the registers of a fragment. `place` tells row and column of an element of a lane.
    fn spread(&self, count: usize, width: usize, place: impl Fn(usize, usize) -> (usize, usize)) -> Registers {
        let per_register = 32 / width;
        let register = |register: usize| {
            std::array::from_fn(|lane| {
                (0..per_register).fold(0, |word, i| {
                    let (row, column) = place(lane, register * per_register + i);
                    word | self.at(row, column) << (i * width)
                })
            })
        };
        (0..count).map(register).collect()
    }

    /// Spreads A of `mma.m16n8`, or of `mma.m8n8` if it has 8 rows.
    fn as_a(&self, width: usize) -> Registers {
        let (per, rows) = (32 / width, self.bits.len() / self.columns);
        let place = |lane: usize, i: usize| {
            let register = i / per;
            (lane / 4 + register % (rows / 8) * 8, lane % 4 * per + i % per + register / (rows / 8) * 4 * per)
        };
        self.spread(rows * self.columns / LANES / per, width, place)
    }

    /// B of either, which has 8 columns.
    fn as_b(&self, width: usize) -> Registers {
        let per = 32 / width;
        let place = |lane: usize, i: usize| (lane % 4 * per + i % per + i / per * 4 * per, lane / 4);
        self.spread(self.bits.len() / LANES / per, width, place)
    }
}

/// Executes an instruction with operands D, A, B, C and `rest`.
///
/// Returns D. The rest may name `%metadata`.
fn product(opcode: &str, a: &Registers, b: &Registers, c: &Registers, rest: &str, metadata: &[u32; LANES]) -> Registers {
    let mut body = String::new();
    let mut read = |name: &str, first: usize, count: usize| {
        for register in 0..count {
            body += &format!("ld.global.b32 %{name}{register}, [%rd2+{}];\n", 128 * (first + register));
        }
        let names: Vec<_> = (0..count).map(|register| format!("%{name}{register}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let operands =
        [read("c", 0, c.len()), read("a", c.len(), a.len()), read("b", c.len() + a.len(), b.len()), read("c", 0, c.len())];
    let at = 128 * (a.len() + b.len() + c.len());
    body += &format!("ld.global.b32 %metadata, [%rd2+{at}];\n{opcode} {}{rest};\n", operands.join(", "));
    for register in 0..c.len() {
        body += &format!("st.global.b32 [%rd2+{}], %c{register};\n", 128 * register);
    }
    let ptx = format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 words) {{\n.reg .b32 %a<9>, %b<9>, %c<9>, %r<2>, %metadata; \
         .reg .b64 %rd<3>;\nld.param.u64 %rd1, [words]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2;\n{body}ret;\n}}\n"
    );
    let gpu = Gpu::load(&ptx);
    let words: Vec<u32> = [c, a, b].into_iter().flatten().chain([metadata]).flatten().copied().collect();
    let buffer = gpu.buffer(&words);
    gpu.launch("k", 1, LANES as u32, 0, &Params::new().with(buffer));
    gpu.read::<u32>(buffer, c.len() * LANES).chunks(LANES).map(|words| words.try_into().unwrap()).collect()
}

/// A linear congruential generator (Knuth, MMIX); the upper half of each state.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as usize % below
    }

    /// An element of a type. Floats are near 1, with all digits, unless they must be `whole`.
    fn element(&mut self, ty: &str, whole: bool) -> u32 {
        let (bits, number) = (self.next(1 << 31) as u32, self.next(7));
        match (ty, whole) {
            ("f16", false) => (bits & 0x83ff) | 0x3c00,
            ("bf16", false) => (bits & 0x807f) | 0x3f80,
            ("tf32", false) => (bits << 1 & 0x807f_e000) | 0x3f80_0000,
            ("f16", true) => [0, 0x3c00, 0x4000, 0x4200, 0xbc00, 0xc000, 0xc200][number],
            ("bf16", true) => [0, 0x3f80, 0x4000, 0x4040, 0xbf80, 0xc000, 0xc040][number],
            ("tf32", true) => [0, 0x3f80_0000, 0x4000_0000, 0x4040_0000, 0xbf80_0000, 0xc000_0000, 0xc040_0000][number],
            ("e4m3", _) => [0, 0x38, 0x40, 0x44, 0xb8, 0xc0, 0xc4][number],
            ("e5m2", _) => [0, 0x3c, 0x40, 0x42, 0xbc, 0xc0, 0xc2][number],
            ("s8" | "u8", _) => bits & 0xff,
            ("s4" | "u4", _) => bits & 15,
            (_, _) => bits & 1,
        }
    }
}

fn width(ty: &str) -> usize {
    ty.trim_start_matches(|c: char| c.is_ascii_lowercase()).parse().unwrap_or(8)
}

/// The dense products are those of the matrix with its zeros.
#[test]
fn a_sparse_product_is_that_of_the_matrix_with_its_zeros() {
    // The type of A and B, that of C, k of the sparse product and of the dense ones, and the numbers of selectors.
    for (ty, sum, k, dense_k, selectors) in [
        ("f16", "f32", 16, 16, 4),
        ("f16", "f16", 16, 16, 4),
        ("f16", "f32", 32, 16, 2),
        ("bf16", "f32", 16, 16, 4),
        ("bf16", "f32", 32, 16, 2),
        ("tf32", "f32", 8, 8, 4),
        ("tf32", "f32", 16, 8, 2),
        ("s8", "s32", 32, 32, 2),
        ("u8", "s32", 64, 32, 1),
        ("s4", "s32", 64, 64, 2),
        ("u4", "s32", 128, 64, 1),
        ("e4m3", "f32", 64, 32, 1),
        ("e5m2", "f32", 64, 32, 1),
    ] {
        let mut random = Random(k as u64);
        let bits = if ty == "tf32" { 32 } else { width(ty) };
        // In units of an index: an element, a pair of them, or half of one.
        let per_unit = if bits == 4 { 2 } else { 1 };
        let (per_element, chunk_of) = if ty == "tf32" { (2, 2) } else { (1, 4 * per_unit) };
        let mut dense = Matrix::new(16, k, |_, _| 0);
        let mut stored = Matrix::new(16, k / 2, |_, _| 0);
        let chunks = k / chunk_of;
        // The four bits of each row's chunks.
        let mut nibbles = vec![0_u32; 16 * chunks];
        for row in 0..16 {
            for chunk in 0..chunks {
                let (first, second) = match ty {
                    "tf32" => [(0, 1), (2, 3)][random.next(2)],
                    _ => [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)][random.next(6)],
                };
                nibbles[row * chunks + chunk] = (first | second << 2) as u32;
                for i in 0..chunk_of / 2 {
                    let value = random.element(ty, k != dense_k);
                    let unit = if i / per_unit == 0 { first } else { second };
                    dense.bits[row * k + chunk * chunk_of + unit / per_element * per_unit + i % per_unit] = value;
                    stored.bits[row * k / 2 + chunk * chunk_of / 2 + i] = value;
                }
            }
        }
        let b = Matrix::new(k, 8, |_, _| random.element(ty, k != dense_k));
        let sums = if sum == "f16" { 2 } else { 4 };
        let c: Registers = (0..sums)
            .map(|_| std::array::from_fn(|_| if sum == "f16" { random.element("f16", false) } else { 0x4000_0000 }))
            .collect();
        let mut expected = c.clone();
        for first in (0..k).step_by(dense_k) {
            let a = Matrix::new(16, dense_k, |row, column| dense.at(row, first + column));
            let b = Matrix::new(dense_k, 8, |row, column| b.at(first + row, column));
            let opcode = format!("mma.sync.aligned.m16n8k{dense_k}.row.col.{sum}.{ty}.{ty}.{sum}");
            expected = product(&opcode, &a.as_a(bits), &b.as_b(bits), &expected, "", &[0; LANES]);
        }
        for selector in 0..selectors {
            let lanes = 4 / selectors;
            let mut metadata = [0xffff_ffff; LANES];
            for (lane, word) in metadata.iter_mut().enumerate() {
                let (group, member) = (lane / 4, (lane % 4).wrapping_sub(selector * lanes));
                if member >= lanes {
                    continue;
                }
                let of = |row: usize, first: usize, count: usize| {
                    (0..count).fold(0, |word, i| word | nibbles[row * chunks + first + i] << (4 * i))
                };
                *word = match bits {
                    16 | 32 => of(group, member * 4, 4) | of(group + 8, member * 4, 4) << 16,
                    _ => of(group + member % 2 * 8, member / 2 * 8, 8),
                };
            }
            for name in ["sp", "sp::ordered_metadata"] {
                let opcode = format!("mma.{name}.sync.aligned.m16n8k{k}.row.col.{sum}.{ty}.{ty}.{sum}");
                let rest = format!(", %metadata, {selector}");
                let d = product(&opcode, &stored.as_a(bits), &b.as_b(bits), &c, &rest, &metadata);
                assert_eq!(d, expected, "{opcode}, selector {selector}");
            }
        }
    }
}

/// Lanes 0 to 3 and 16 to 19 are a pair.
#[test]
fn a_product_of_m8n8k4_is_four() {
    let mut random = Random(4);
    let number = |bits: u32| {
        [0.0, 1.0, 2.0, 3.0, -1.0, -2.0, -3.0]
            [[0, 0x3c00, 0x4000, 0x4200, 0xbc00, 0xc000, 0xc200].iter().position(|known| *known == bits).unwrap()]
    };
    for (sum, a_by_rows, b_by_rows) in [("f32", true, true), ("f32", true, false), ("f16", false, true), ("f16", false, false)] {
        let a: Vec<_> = (0..4).map(|_| Matrix::new(8, 4, |_, _| random.element("f16", true))).collect();
        let b: Vec<_> = (0..4).map(|_| Matrix::new(4, 8, |_, _| random.element("f16", true))).collect();
        let pair_of = |lane: usize| (lane / 4 % 4, lane % 4, if lane < 16 { 0 } else { 4 });
        let words = |element: &dyn Fn(usize, usize) -> u32| -> Registers {
            (0..2)
                .map(|register| std::array::from_fn(|lane| element(lane, 2 * register) | element(lane, 2 * register + 1) << 16))
                .collect()
        };
        let a_registers = words(&|lane, i| {
            let (pair, member, high) = pair_of(lane);
            if a_by_rows { a[pair].at(member + high, i) } else { a[pair].at(i + high, member) }
        });
        let b_registers = words(&|lane, i| {
            let (pair, member, high) = pair_of(lane);
            if b_by_rows { b[pair].at(member, i + high) } else { b[pair].at(i, member + high) }
        });
        let layout = |by_rows| if by_rows { "row" } else { "col" };
        let opcode = format!("mma.sync.aligned.m8n8k4.{}.{}.{sum}.f16.f16.{sum}", layout(a_by_rows), layout(b_by_rows));
        let zeros = vec![[0; LANES]; if sum == "f16" { 4 } else { 8 }];
        let d = product(&opcode, &a_registers, &b_registers, &zeros, "", &[0; LANES]);
        for (lane, i) in (0..LANES).flat_map(|lane| (0..8).map(move |i| (lane, i))) {
            let (pair, member, high) = pair_of(lane);
            let (row, column, found) = if sum == "f16" {
                (member + high, i, d[i / 2][lane] >> (i % 2 * 16) & 0xffff)
            } else {
                ((lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1), d[i][lane])
            };
            let expected: f32 = (0..4).map(|k| number(a[pair].at(row, k)) * number(b[pair].at(k, column))).sum();
            let expected = if sum == "f16" { u32::from(half_of(expected)) } else { expected.to_bits() };
            assert_eq!(found, expected, "{opcode}: lane {lane}, element {i}");
        }
    }
}

/// Returns a whole number of at most 11 bits as f16.
fn half_of(value: f32) -> u16 {
    let bits = value.to_bits();
    if value == 0.0 { 0 } else { ((bits >> 16 & 0x8000) | ((bits >> 13 & 0x3_ffff) - (112 << 10))) as u16 }
}

#[test]
fn products_of_a_few_bits_are_exact() {
    let mut random = Random(9);
    for (rows, k, a_type, b_type, op) in [
        (8, 32, "s4", "s4", ""),
        (8, 32, "u4", "s4", ""),
        (16, 32, "s4", "u4", ""),
        (16, 64, "u4", "u4", ""),
        (8, 128, "b1", "b1", ".xor.popc"),
        (16, 128, "b1", "b1", ".and.popc"),
        (16, 256, "b1", "b1", ".xor.popc"),
    ] {
        let bits = width(a_type);
        let a = Matrix::new(rows, k, |_, _| random.element(a_type, true));
        let b = Matrix::new(k, 8, |_, _| random.element(b_type, true));
        let c: Registers = (0..rows / 4).map(|i| [i as u32 * 1000; LANES]).collect();
        let opcode = format!("mma.sync.aligned.m{rows}n8k{k}.row.col.s32.{a_type}.{b_type}.s32{op}");
        let d = product(&opcode, &a.as_a(bits), &b.as_b(bits), &c, "", &[0; LANES]);
        let value = |bits: u32, ty: &str| if ty == "s4" && bits > 7 { bits as i32 - 16 } else { bits as i32 };
        for (register, words) in d.iter().enumerate() {
            for (lane, word) in words.iter().enumerate() {
                let (row, column) = (lane / 4 + register / 2 * 8, lane % 4 * 2 + register % 2);
                let products = (0..k).map(|i| match (a.at(row, i), b.at(i, column), op) {
                    (a, b, ".xor.popc") => (a ^ b) as i32,
                    (a, b, _) => value(a, a_type) * value(b, b_type),
                });
                assert_eq!(*word as i32, register as i32 * 1000 + products.sum::<i32>(), "{opcode}: {row}, {column}");
            }
        }
    }
}

/// Matrices of 1 and 4 bits go from memory to memory.
#[test]
fn wmma_loads_and_stores_matrices_of_a_few_bits() {
    let mut random = Random(5);
    for (k, ty, op) in [(32, "s4", ""), (32, "u4", ""), (128, "b1", ".xor.popc"), (128, "b1", ".and.popc")] {
        let bits = width(ty);
        let a = Matrix::new(8, k, |_, _| random.element(ty, true));
        let b = Matrix::new(8, k, |_, _| random.element(ty, true));
        let packed = |matrix: &Matrix| -> Vec<u32> {
            matrix
                .bits
                .chunks(32 / bits)
                .map(|chunk| chunk.iter().rev().fold(0, |word, bits_of| word << (bits % 32) | bits_of))
                .collect()
        };
        let ptx = format!(
            ".version 9.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 a, .param .u64 b, .param .u64 d) {{\n\
             .reg .b32 %r<9>; .reg .b64 %rd<4>;\nld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [d];\n\
             wmma.load.a.sync.aligned.row.m8n8k{k}.global.{ty} {{%r1}}, [%rd1], {k};\n\
             wmma.load.b.sync.aligned.col.m8n8k{k}.global.{ty} {{%r2}}, [%rd2], {k};\n\
             wmma.load.c.sync.aligned.row.m8n8k{k}.global.s32 {{%r3, %r4}}, [%rd3], 8;\n\
             wmma.mma{op}.sync.aligned.row.col.m8n8k{k}.s32.{ty}.{ty}.s32 {{%r5, %r6}}, {{%r1}}, {{%r2}}, {{%r3, %r4}};\n\
             wmma.store.d.sync.aligned.row.m8n8k{k}.global.s32 [%rd3], {{%r5, %r6}}, 8;\nret;\n}}\n"
        );
        let gpu = Gpu::load(&ptx);
        let d: Vec<i32> = (0..64).collect();
        let buffers = [gpu.buffer(&packed(&a)), gpu.buffer(&packed(&b)), gpu.buffer(&d)];
        let params = buffers.iter().fold(Params::new(), |params, buffer| params.with(*buffer));
        gpu.launch("k", 1, LANES as u32, 0, &params);
        let value = |bits: u32| if ty == "s4" && bits > 7 { bits as i32 - 16 } else { bits as i32 };
        for (at, found) in gpu.read::<i32>(buffers[2], 64).into_iter().enumerate() {
            let products = (0..k).map(|i| match (a.at(at / 8, i), b.at(at % 8, i), op) {
                (a, b, ".xor.popc") => (a ^ b) as i32,
                (a, b, _) => value(a) * value(b),
            });
            assert_eq!(found, at as i32 + products.sum::<i32>(), "{ty}{op}: element {at}");
        }
    }
}
