//! Boxes of tensors: what an H200 made of them, bit for bit, and how many sectors it moved.
//!
//! `tensor_copy.txt` has a line per case: the kernel of `tensor_copy.cu` (`L`oad, `S`tore, `R`educe), the function of a reduction, and the
//! arguments of `cuTensorMapEncodeTiled`; then the coordinates, the offset in shared memory and that of the tensor in its allocation; then the
//! result of encoding, whether the box arrived, and a hash of what is in shared memory (of a load) or in global memory afterward. Lines with
//! `E` only encode. Where the GPU faulted, its error is there instead.

use simt::tensor_map::{Element, Interleave, Swizzle, TensorMap};
use simt::{FindingKind, LaunchError};

use crate::common::{Gpu, Params};

const TENSOR_COPY: &str = include_str!("tensor_copy.ptx");
const CASES: &str = include_str!("tensor_copy.txt");

const GLOBAL_BYTES: usize = 1 << 17;
const REGION: usize = 1 << 15;
/// Where the words in shared memory begin to count.
const REGION_SEED: u32 = 1_000_003;

struct Case<'t> {
    line: &'t str,
    kernel: &'t str,
    reduction: u32,
    /// The map, if the numbers stand for one.
    map: Option<TensorMap>,
    rank: u32,
    at: [i32; 5],
    shared: u32,
    shift: u64,
    /// The result of encoding, and then of the kernel.
    result: Vec<&'t str>,
}

impl<'t> Case<'t> {
    fn parse(line: &'t str, base: u64) -> Self {
        let groups: Vec<Vec<&str>> = line.split('|').map(|group| group.split_whitespace().collect()).collect();
        let [what, extents, strides, of_box, steps, kinds, at, offsets, result] = groups.as_slice() else { panic!("{line}") };
        let wide = |group: &[&str], at: usize| group[at].parse::<u64>().expect("a number");
        let number = |group: &[&str], at: usize| wide(group, at) as u32;
        let shift = wide(offsets, 1);
        let map = || {
            Some(TensorMap {
                element: *Element::ALL.get(number(what, 2) as usize)?,
                rank: number(what, 3),
                address: base + shift,
                extents: std::array::from_fn(|at| wide(extents, at)),
                strides: std::array::from_fn(|at| wide(strides, at)),
                box_extents: std::array::from_fn(|at| number(of_box, at)),
                steps: std::array::from_fn(|at| number(steps, at)),
                interleave: *Interleave::ALL.get(number(kinds, 0) as usize)?,
                swizzle: *Swizzle::ALL.get(number(kinds, 1) as usize)?,
                fills_with_nan: match number(kinds, 2) {
                    0 => false,
                    1 => true,
                    _ => return None,
                },
            })
        };
        Self {
            line,
            kernel: what[0],
            reduction: number(what, 1),
            map: map(),
            rank: number(what, 3),
            at: std::array::from_fn(|index| at[index].parse().expect("a number")),
            shared: number(offsets, 0),
            shift,
            result: result.clone(),
        }
    }
}

fn pattern(index: u32) -> u32 {
    let x = index.wrapping_mul(2_654_435_761).wrapping_add(12345);
    let x = (x ^ x >> 15).wrapping_mul(2_246_822_519);
    x ^ x >> 13
}

/// Returns an element to reduce: of floats a whole number from -8 to 8.
fn element(element: Element, index: u32) -> Vec<u8> {
    let value = (pattern(index) % 17) as i32 - 8;
    let single = (value as f32).to_bits();
    let to_f16 = |bits: u32| {
        let exponent = (bits >> 23 & 0xff).wrapping_sub(127 - 15);
        if value == 0 { 0 } else { (bits >> 16 & 0x8000 | exponent << 10 | bits >> 13 & 0x3ff) as u16 }
    };
    match element {
        Element::F16 => to_f16(single).to_le_bytes().to_vec(),
        Element::Bf16 => ((single >> 16) as u16).to_le_bytes().to_vec(),
        Element::F64 => f64::from(value).to_le_bytes().to_vec(),
        element if element.is_float() => single.to_le_bytes().to_vec(),
        element => (0..element.bytes()).map(|byte| (pattern(index * 8 + byte) >> 7) as u8).collect(),
    }
}

fn hash(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

/// Returns the contents of global and shared memory before a kernel.
fn inputs(case: &Case<'_>) -> [Vec<u8>; 2] {
    let words = |bytes: usize, seed: u32| (0..bytes as u32 / 4).flat_map(|index| pattern(index + seed).to_le_bytes()).collect();
    match (case.kernel, case.map.map(|map| map.element)) {
        ("R", Some(kind)) => [(GLOBAL_BYTES, 0), (REGION, REGION_SEED)]
            .map(|(bytes, seed)| (0..bytes as u32 / kind.bytes()).flat_map(|index| element(kind, index + seed)).collect()),
        ("S", _) => [vec![0xa5; GLOBAL_BYTES], words(REGION, REGION_SEED)],
        _ => [words(GLOBAL_BYTES, 0), words(REGION, REGION_SEED)],
    }
}

/// Runs the case's kernel; what it leaves, or why it did not end.
fn run(gpu: &Gpu, base: u64, case: &Case<'_>) -> Result<(Vec<u8>, bool), FindingKind> {
    let map = case.map.expect("the map could be encoded");
    let [global, shared] = inputs(case);
    gpu.memory.write(base, &global).expect("it was allocated");
    let words = REGION as u32 / 4;
    let params = Params::new().aligned(map.encode(), 64);
    let (kernel, params, out) = match case.kernel {
        "L" => {
            let out = gpu.poisoned::<u8>(REGION + 4);
            let bytes = map.box_bytes() as u32;
            ("load", params.with(case.rank).with(case.at).with(case.shared).with(bytes).with(words).with(out), out)
        }
        "S" => ("store", params.with(case.rank).with(case.at).with(case.shared).with(words).with(gpu.buffer(&shared)), base),
        _ => ("reduce", params.with(case.reduction).with(case.at).with(case.shared).with(words).with(gpu.buffer(&shared)), base),
    };
    match gpu.try_launch(kernel, 1, 128, REGION as u32, &params) {
        Ok(report) => {
            assert_eq!(report.findings, [], "{}", case.line);
            let done = case.kernel != "L" || gpu.read::<u32>(out + REGION as u64, 1) == [1];
            Ok((gpu.read(out, if case.kernel == "L" { REGION } else { GLOBAL_BYTES }), done))
        }
        Err(LaunchError::Fault { finding, .. }) => Err(finding.kind),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn maps_are_refused_as_the_driver_of_an_h200_refuses_them() {
    let mut counts = [0; 2];
    for line in CASES.lines() {
        let case = Case::parse(line, 1 << 20);
        let accepted = case.map.is_some_and(|map| map.check().is_ok());
        let expected = case.result[0] == "0" || case.result[0] == "fault";
        assert_eq!(accepted, expected, "{line}: {:?}", case.map.map(|map| map.check()));
        counts[usize::from(accepted)] += 1;
    }
    assert!(counts[0] > 50 && counts[1] > 150, "{counts:?}");
}

#[test]
fn boxes_are_what_an_h200_makes_of_them() {
    let gpu = Gpu::load(TENSOR_COPY);
    let base = gpu.poisoned::<u8>(GLOBAL_BYTES);
    let mut wrong = Vec::new();
    let mut counts = [0; 2];
    for line in CASES.lines() {
        let case = Case::parse(line, base);
        assert!(case.shift < 64);
        match (case.kernel, case.result.as_slice()) {
            ("E", _) | (_, [_, "0", "0"]) => {}
            (_, ["0", done, expected]) => {
                counts[0] += 1;
                match run(&gpu, base, &case) {
                    Ok((bytes, arrived)) if hash(&bytes) == *expected && arrived == (*done == "1") => {}
                    other => wrong.push((line, other.map(|(_, arrived)| arrived))),
                }
            }
            (_, ["fault", "cudaErrorIllegalInstruction"]) => {
                counts[1] += 1;
                if !matches!(run(&gpu, base, &case), Err(FindingKind::InvalidBulkCopy { .. })) {
                    wrong.push((line, Ok(true)));
                }
            }
            _ => panic!("{line}"),
        }
    }
    assert!(wrong.is_empty(), "{} of {counts:?} differ: {wrong:#?}", wrong.len());
    assert!(counts[0] > 150 && counts[1] > 20, "{counts:?}");
}

/// Sums as an H200 computes them: the element, what is added, and the sum.
///
/// PTX ISA, `red`: an addition of f32 in global memory flushes subnormal numbers. It says no such thing of `cp.reduce.async.bulk`, which does so only
/// for a map of the type `FLOAT32_FTZ` or `TFLOAT32_FTZ` (65,536 sums of each type tried).
#[test]
fn reductions_keep_subnormal_numbers_unless_their_type_flushes() {
    let ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128], .param .u64 to, .param .u32 value)\n{\n\
               .reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n.shared .align 128 .b8 s[16];\nld.param.u32 %r1, [value];\nld.param.u64 %rd1, [to];\n\
               mov.b64 %rd2, map;\ncvta.param.u64 %rd2, %rd2;\nmov.u32 %r2, 0;\nst.shared.v4.u32 [s], {%r1, %r1, %r1, %r1};\nfence.proxy.async.shared::cta;\nREDUCE\n\
               cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n";
    let of_map = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%rd2, {%r2, %r2}], [s];";
    let plain = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [s], 16;";
    let kept =
        [[0x047a_0182, 0x847a_0180, 0x100], [0x003b_c03e, 0x01f2_bd40, 0x0200_d6a8], [0x0006_5ad4, 0x8058_ab09, 0x8052_5035]];
    let flushed =
        [[0x81ca_fc8f, 0x01b6_e029, 0x8000_0000], [0x0068_2576, 0x00dd_421f, 0x00dd_421f], [0x7fb2_c553, 0x7f95_3543, 0x7fff_ffff]];
    for (element, reduce, sums) in [
        (Element::F32, of_map, kept),
        (Element::Tf32, of_map, kept),
        (Element::F32, plain, kept),
        (Element::F32Ftz, of_map, flushed),
        (Element::Tf32Ftz, of_map, flushed),
    ] {
        let gpu = Gpu::load(&ptx.replace("REDUCE", reduce));
        for [old, value, sum] in sums {
            let to = gpu.buffer(&[old; 4]);
            let map = TensorMap {
                element,
                rank: 2,
                address: to,
                extents: [4, 1, 0, 0, 0],
                strides: [16, 0, 0, 0],
                box_extents: [4, 1, 0, 0, 0],
                steps: [1; 5],
                interleave: Interleave::None,
                swizzle: Swizzle::None,
                fills_with_nan: false,
            };
            let report = gpu.launch("k", 1, 1, 0, &Params::new().aligned(map.encode(), 64).with(to).with(value));
            assert_eq!((report.findings, gpu.read::<u32>(to, 4)), (vec![], vec![sum; 4]), "{element:?}, {old:x} + {value:x}");
        }
    }
}
