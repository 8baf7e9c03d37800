//! Device functions, their parameters and results, and generic pointers.

use bytemuck::{Pod, Zeroable};

use crate::common::{Params, every_way};

const FUNCTIONS: &str = include_str!("functions.ptx");

#[test]
fn structs_go_in_and_out_of_functions_by_value() {
    let base: Vec<[f32; 2]> = (0..40).map(|i| [(i % 3) as f32 - 1.0, (i % 4) as f32 - 2.0]).collect();
    let exponents: Vec<i32> = (0..40).map(|i| i % 6 - 1).collect();
    let power = |base: [f32; 2], exponent: i32| {
        (0..exponent).fold([1.0, 0.0], |[re, im]: [f32; 2], _| [re * base[0] - im * base[1], re * base[1] + im * base[0]])
    };
    let expected: Vec<[f32; 2]> =
        base.iter().zip(&exponents).map(|(b, e)| if *e >= 0 { power(*b, *e) } else { [-1.0, -1.0] }).collect();
    every_way(FUNCTIONS, |gpu| {
        let (base, exponents) = (gpu.buffer(&base), gpu.buffer(&exponents));
        let output = gpu.poisoned::<[f32; 2]>(40);
        let report = gpu.launch("powers", 1, 40, 0, &Params::new().with(base).with(exponents).with(output));
        assert_eq!(gpu.read::<[f32; 2]>(output, 40), expected);
        // Parameters of functions are registers in machine code.
        assert_eq!(report.counters.local_requests, 0);
    });
}

/// The CUDA struct, with explicit padding.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Mixed {
    tag: i8,
    padding: u8,
    small: i16,
    whole: i32,
    real: f64,
    bytes: [u8; 5],
    rest: [u8; 3],
}

#[test]
fn fields_of_every_width_survive_two_calls() {
    let inputs: Vec<Mixed> = (0..32)
        .map(|i| Mixed {
            tag: (i * 9) as i8,
            padding: 0,
            small: (i * 321 - 4000) as i16,
            whole: i * 1_000_003,
            real: f64::from(i) * 1.25 - 3.0,
            bytes: [i as u8, 250, 3 * i as u8, 7, 255],
            rest: [0; 3],
        })
        .collect();
    let change = |mut value: Mixed, by: i32| {
        if by >= 0 {
            value.tag = (i32::from(value.tag) + by) as i8;
            value.small = (i32::from(value.small) * by) as i16;
            value.whole -= by;
            value.real /= 2.0;
            for (i, byte) in value.bytes.iter_mut().enumerate() {
                *byte = (i32::from(*byte) + i as i32 * by) as u8;
            }
        }
        value
    };
    every_way(FUNCTIONS, |gpu| {
        let (input, output) = (gpu.buffer(&inputs), gpu.buffer(&[Mixed::zeroed(); 32]));
        gpu.launch("mixed", 1, 32, 0, &Params::new().with(input).with(output));
        for (i, (result, input)) in gpu.read::<Mixed>(output, 32).into_iter().zip(&inputs).enumerate() {
            let expected = change(change(*input, i as i32 - 3), 1);
            assert_eq!(Mixed { padding: 0, rest: [0; 3], ..result }, expected, "thread {i}");
        }
    });
}

#[test]
fn threads_that_exit_inside_a_function_are_gone_for_good() {
    // Odd threads call, and those below 16 end in the function. The others reconverge after the call, and at the barrier.
    let ptx = "
.version 8.0
.target sm_80
.address_size 64
.func leave(.param .b32 thread)
{
.reg .pred %p<2>; .reg .b32 %r<2>;
ld.param.u32 %r1, [thread];
setp.lt.u32 %p1, %r1, 16;
@%p1 exit;
ret;
}
.visible .entry kernel(.param .u64 output)
{
.reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %rd<3>;
ld.param.u64 %rd1, [output];
mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 4, %rd1;
and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;
@%p1 bra $even;
{ .param .b32 param0; st.param.b32 [param0], %r1; call.uni leave, (param0); }
mov.u32 %r3, 1;
bra $together;
$even:
mov.u32 %r3, 2;
$together:
activemask.b32 %r4;
bar.sync 0;
shl.b32 %r3, %r3, 30; xor.b32 %r4, %r4, %r3;
st.global.u32 [%rd1], %r4;
ret;
}
";
    every_way(ptx, |gpu| {
        let output = gpu.buffer(&[7_u32; 32]);
        gpu.launch("kernel", 1, 32, 0, &Params::new().with(output));
        let left = 0xffff_5555;
        let expected: Vec<u32> = (0..32)
            .map(|thread| match (thread % 2, thread < 16) {
                (0, _) => left ^ 2 << 30,
                (_, true) => 7,
                (_, false) => left ^ 1 << 30,
            })
            .collect();
        assert_eq!(gpu.read::<u32>(output, 32), expected);
    });
}

#[test]
fn a_generic_pointer_may_lead_to_any_memory() {
    every_way(FUNCTIONS, |gpu| {
        let output = gpu.buffer(&[0_f32; 128]);
        gpu.launch("anywhere", 1, 64, 0, &Params::new().with(output));
        let result = gpu.read::<f32>(output, 128);
        for i in 0..64_usize {
            let writer = 63 - i;
            let shared = if writer % 3 == 0 { 100.0 + writer as f32 } else { i as f32 };
            let expected = shared + 1000.0 * (2 * i) as f32 + 0.5 * (63 - i) as f32;
            assert_eq!(result[i], expected, "thread {i}");
            assert_eq!(result[64 + i], if i % 3 == 0 { 0.0 } else { 100.0 + i as f32 }, "thread {i}");
        }
    });
}
