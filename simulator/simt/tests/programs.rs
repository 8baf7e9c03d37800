//! Whole programs: CUDA C in `programs/*.cu`, the PTX that NVRTC 12.0 makes of it (`compute_70`, `-lineinfo`) beside it, and here the
//! same computation in Rust. Every program runs with one and two workers, with and without vector instructions.

mod common;

use bytemuck::{Pod, Zeroable};
use common::{Numbers, Params, every_way};

const DIVERGENCE: &str = include_str!("programs/divergence.ptx");
const FUNCTIONS: &str = include_str!("programs/functions.ptx");
const MEMORY: &str = include_str!("programs/memory.ptx");
const COOPERATION: &str = include_str!("programs/cooperation.ptx");
const NUMBERS: &str = include_str!("programs/numbers.ptx");
const POLLS: &str = include_str!("programs/polls.ptx");
const EARLY_RETURN: &str = include_str!("programs/early_return.ptx");
const CONVOLUTION: &str = include_str!("programs/convolution.ptx");

mod divergence {
    use super::*;

    #[test]
    fn threads_that_are_left_after_an_early_return_meet_at_the_next_barrier() {
        let inputs: Vec<i32> = (0..64).map(|i| i * 5 % 8).collect();
        let stored = |t: usize| if (4..=5).contains(&inputs[t]) { 10 * inputs[t] } else { 0 };
        let expected: Vec<i32> = (0..64).map(|t| if inputs[t] > 5 { -1 } else { stored(t ^ 1) + 1 }).collect();
        every_way(EARLY_RETURN, |gpu| {
            let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(64));
            gpu.launch("early_return", 1, 64, 0, &Params::new().with(input).with(output));
            assert_eq!(gpu.read::<i32>(output, 64), expected);
        });
    }

    #[test]
    fn lanes_leave_a_loop_at_their_own_trip_count() {
        let starts: Vec<u32> = (1..=200).collect();
        let steps = |start: u32| {
            let (mut value, mut count) = (start, 0);
            while value != 1 && count < 100 {
                value = if value % 2 == 1 { 3 * value + 1 } else { value / 2 };
                count += 1;
            }
            count
        };
        let expected: Vec<u32> = starts.iter().map(|start| steps(*start)).collect();
        every_way(DIVERGENCE, |gpu| {
            let (input, output) = (gpu.buffer(&starts), gpu.poisoned::<u32>(200));
            let report = gpu.launch("trip_counts", 4, 64, 0, &Params::new().with(input).with(100_u32).with(output).with(200_u32));
            assert_eq!(gpu.read::<u32>(output, 200), expected);
            assert!(report.counters.divergent_branches > 0);
        });
    }

    #[test]
    fn ifs_in_loops_in_ifs_meet_inside_out() {
        let inputs: Vec<i32> = (0..300).map(|i| i * 37 % 1024).collect();
        let compute = |seed: i32| {
            let mut sum = 0_i32;
            for outer in 0..(seed & 7) {
                if seed >> outer & 1 != 0 {
                    for inner in outer..10 {
                        if inner == (seed & 3) + 4 {
                            break;
                        }
                        if (inner ^ seed) & 1 != 0 {
                            continue;
                        }
                        sum += inner * 3;
                    }
                } else if outer == 5 {
                    sum ^= 0x55;
                    continue;
                } else {
                    sum -= outer;
                }
                sum = sum * 2 + 1;
            }
            sum
        };
        let expected: Vec<i32> = inputs.iter().map(|seed| compute(*seed)).collect();
        every_way(DIVERGENCE, |gpu| {
            let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(300));
            gpu.launch("nested", 3, 128, 0, &Params::new().with(input).with(output).with(300_i32));
            assert_eq!(gpu.read::<i32>(output, 300), expected);
        });
    }

    #[test]
    fn every_case_of_a_switch_is_taken_by_its_lanes() {
        let inputs: Vec<i32> = (0..100).map(|i| i * i % 97).collect();
        let compute = |value: i32| match value % 9 {
            0 => value + 1,
            1 => value * 2 + 7,
            2 => 7,
            3 => -value,
            4 => 12345,
            5 => value << 3,
            6 => value ^ 0x0f0f,
            7 => (0..value % 5).map(|k| k * value).sum(),
            _ => -1,
        };
        let expected: Vec<i32> = inputs.iter().map(|value| compute(*value)).collect();
        every_way(DIVERGENCE, |gpu| {
            let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(100));
            gpu.launch("switches", 2, 64, 0, &Params::new().with(input).with(output).with(100_i32));
            assert_eq!(gpu.read::<i32>(output, 100), expected);
        });
    }

    #[test]
    fn lanes_are_alone_in_their_branch_and_together_behind_it() {
        every_way(DIVERGENCE, |gpu| {
            let (inside, after) = (gpu.poisoned::<u32>(20), gpu.poisoned::<u32>(20));
            gpu.launch("reconverge", 1, 20, 0, &Params::new().with(inside).with(after));
            let third = |rest: u32| (0..20).filter(|lane| lane % 3 == rest).fold(0, |mask, lane| mask | 1 << lane);
            let expected: Vec<u32> = (0..20).map(|lane| third(lane % 3) ^ 1 << (lane % 3)).collect();
            assert_eq!(gpu.read::<u32>(inside, 20), expected);
            assert_eq!(gpu.read::<u32>(after, 20), [0xf_ffff; 20]);
        });
    }

    #[test]
    fn a_trap_that_is_not_taken_keeps_no_lane_from_the_barrier() {
        let inputs: Vec<i32> = (0..64).map(|i| i * 5 % 17).collect();
        let expected: i32 =
            (0..3).flat_map(|round| inputs.iter().map(move |v| if (v + round) % 2 == 1 { *v } else { 2 * v })).sum();
        every_way(DIVERGENCE, |gpu| {
            let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(64));
            gpu.launch("checked", 1, 64, 0, &Params::new().with(input).with(output));
            assert_eq!(gpu.read::<i32>(output, 64), [expected; 64]);
        });
    }
}

mod functions {
    use super::*;

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

    /// As the CUDA struct, its padding spelled out.
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
        // Odd threads call; those of them below 16 end there. The others meet behind the call, and at the barrier.
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
}

mod memory {
    use super::*;

    #[test]
    fn constants_have_their_initial_values_and_those_of_the_host() {
        let taps: Vec<f32> = (0..16).map(|i| i as f32 * 0.25).collect();
        every_way(MEMORY, |gpu| {
            let (address, bytes) = gpu.image.variable("c_taps").expect("a variable of the module");
            assert_eq!(bytes, 64);
            gpu.memory.write(address, bytemuck::cast_slice(&taps)).unwrap();
            let output = gpu.poisoned::<f32>(64);
            let report = gpu.launch("constants", 1, 64, 0, &Params::new().with(output));
            let table = [3, 1, 4, 1, 5, 9, 2, 6];
            let expected: Vec<f32> = (0..64).map(|i| 2.5 * table[i % 8] as f32 + taps[i % 16] + taps[3]).collect();
            assert_eq!(gpu.read::<f32>(output, 64), expected);
            assert!(report.counters.const_load_requests > 0);
            let (counter, _) = gpu.image.variable("g_counter").expect("a variable of the module");
            assert_eq!(gpu.read::<i32>(counter, 1), [12], "7, and 5 added through a pointer that the module initialised");
        });
    }

    #[test]
    fn local_arrays_belong_to_their_thread() {
        let mut numbers = Numbers(9);
        let index: Vec<i32> = (0..32).map(|_| numbers.below(1000) as i32).collect();
        let compute = |i: usize| {
            let mut values: Vec<i32> = (0..17).map(|k| k * k + i as i32).collect();
            for k in 0..40 {
                let a = index[(i + k) % 32] as usize % 17;
                let b = index[(i * 7 + k) % 32] as usize % 17;
                let kept = values[a];
                values[a] = values[b] + 1;
                values[b] = kept;
            }
            values.iter().zip(1..).map(|(value, k)| k * value).sum::<i32>()
        };
        every_way(MEMORY, |gpu| {
            let (input, output) = (gpu.buffer(&index), gpu.poisoned::<i32>(50));
            let report = gpu.launch("local_array", 1, 50, 0, &Params::new().with(input).with(output).with(40_i32));
            assert_eq!(gpu.read::<i32>(output, 50), (0..50).map(compute).collect::<Vec<_>>());
            assert!(report.counters.local_requests > 0);
        });
    }

    #[test]
    fn static_and_dynamic_shared_memory_do_not_overlap() {
        for threads in [1_u32, 33, 96, 128] {
            let n = threads as usize;
            let inputs: Vec<f32> = (0..3 * n).map(|i| (i * 7 % 11) as f32).collect();
            let mut expected = Vec::new();
            for block in inputs.chunks(n) {
                let mut values = block.to_vec();
                for _ in 0..4 {
                    let sums: Vec<f32> = (0..n).map(|i| values[n - 1 - i] + values[i]).collect();
                    values = (0..n).map(|i| sums[(i + 1) % n]).collect();
                }
                expected.extend(values);
            }
            every_way(MEMORY, |gpu| {
                let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<f32>(3 * n));
                let params = Params::new().with(input).with(output).with(4_i32);
                let report = gpu.launch("reverse_sum", 3, threads, 4 * threads, &params);
                assert_eq!(gpu.read::<f32>(output, 3 * n), expected, "{threads} threads");
                let warps = u64::from(threads.div_ceil(32));
                assert_eq!(report.counters.barriers, 3 * 4 * 2 * warps, "{threads} threads");
            });
        }
    }

    #[test]
    fn vectors_of_every_width_load_and_store() {
        let a: Vec<[f32; 2]> = (0..32).map(|i| [i as f32, 100.0 - i as f32]).collect();
        let b: Vec<[f32; 4]> = (0..32).map(|i| [1.0, 2.0, 3.0, 4.0].map(|k| k * i as f32)).collect();
        let c: Vec<[u8; 4]> = (0..32).map(|i| [i, i * 3, 255 - i, 100 + i]).collect();
        let d: Vec<[u16; 2]> = (0..32).map(|i| [i * 2000, 65535 - i]).collect();
        let e: Vec<[f64; 2]> = (0..32).map(|i| [f64::from(i) * 0.125, -f64::from(i)]).collect();
        let f: Vec<[u32; 2]> = (0..32).map(|i| [u32::MAX - i, i << 28]).collect();
        every_way(MEMORY, |gpu| {
            let inputs = [gpu.buffer(&a), gpu.buffer(&b), gpu.buffer(&c), gpu.buffer(&d), gpu.buffer(&e), gpu.buffer(&f)];
            let outputs = [16, 4, 4, 16, 8].map(|bytes| gpu.poisoned::<u8>(32 * bytes));
            let params = inputs.into_iter().chain(outputs).fold(Params::new(), Params::with);
            gpu.launch("vectors", 1, 32, 0, &params);
            let [out_f, out_c, out_s, out_d, out_u] = outputs;
            for i in 0..32 {
                let at = |base: u64, bytes: u64| base + i as u64 * bytes;
                let (x, y, z, s, t, u) = (a[i], b[31 - i], c[i], d[i], e[i], f[i]);
                assert_eq!(gpu.read::<[f32; 4]>(at(out_f, 16), 1), [[x[1] + y[3], x[0] - y[2], y[1], y[0]]]);
                assert_eq!(gpu.read::<[u8; 4]>(at(out_c, 4), 1), [[z[3], z[2].wrapping_add(1), z[1] ^ z[0], 255 - z[0]]]);
                assert_eq!(gpu.read::<[u16; 2]>(at(out_s, 4), 1), [[s[1], s[0].wrapping_add(s[1])]]);
                assert_eq!(gpu.read::<[f64; 2]>(at(out_d, 16), 1), [[t[1] * 2.0, t[0] - t[1]]]);
                assert_eq!(gpu.read::<[u32; 2]>(at(out_u, 8), 1), [[u[1], u[0].wrapping_add(1)]]);
            }
        });
    }

    #[test]
    fn vectors_and_narrow_elements_cross_shared_memory() {
        let inputs: Vec<[f32; 4]> = (0..32).map(|i| [1.0, -2.0, 3.5, 10.0].map(|k| k * i as f32)).collect();
        let bytes: Vec<[u8; 4]> = (0..32).map(|i| [i, 2 * i, 200 + i, 255 - i]).collect();
        every_way(MEMORY, |gpu| {
            let (input, input_bytes) = (gpu.buffer(&inputs), gpu.buffer(&bytes));
            let (output, output_bytes) = (gpu.poisoned::<[f32; 4]>(32), gpu.poisoned::<[u8; 4]>(32));
            let params = [input, input_bytes, output, output_bytes].into_iter().fold(Params::new(), Params::with);
            gpu.launch("shared_vectors", 1, 32, 0, &params);
            let (result, result_bytes) = (gpu.read::<[f32; 4]>(output, 32), gpu.read::<[u8; 4]>(output_bytes, 32));
            for i in 0..32 {
                let (wide, half) = (inputs[31 - i], inputs[(i + 5) % 32]);
                let short = f32::from((-1000 * (31 - i as i32)) as i16);
                let single = f32::from((3 * (i * 3 % 32)) as u8);
                assert_eq!(result[i], [wide[0] + half[0], wide[1] + short, wide[2] + single, wide[3] + half[3]], "lane {i}");
                assert_eq!(result_bytes[i], bytes[i ^ 1], "lane {i}");
            }
        });
    }

    #[test]
    fn narrow_loads_extend_by_their_own_sign() {
        let a: Vec<i8> = (0..40).map(|i| (i * 13 - 128) as i8).collect();
        let b: Vec<u8> = (0..40).map(|i| (i * 29) as u8).collect();
        let c: Vec<i16> = (0..40).map(|i| (i * 1700 - 32768) as i16).collect();
        let d: Vec<u16> = (0..40).map(|i| (i * 1699) as u16).collect();
        every_way(MEMORY, |gpu| {
            let output = gpu.poisoned::<i32>(160);
            let (out_a, out_d) = (gpu.poisoned::<i8>(40), gpu.poisoned::<u16>(40));
            let params = [gpu.buffer(&a), gpu.buffer(&b), gpu.buffer(&c), gpu.buffer(&d), output, out_a, out_d];
            gpu.launch("narrow", 1, 40, 0, &params.into_iter().fold(Params::new(), Params::with));
            let result = gpu.read::<i32>(output, 160);
            for i in 0..40 {
                let expected = [i32::from(a[i]) * 3, i32::from(b[i]) * 3, i32::from(c[i]) - 1, i32::from(d[i]) - 1];
                assert_eq!(result[4 * i..][..4], expected, "thread {i}");
                assert_eq!(gpu.read::<i8>(out_a + i as u64, 1), [(i32::from(a[i]) + i32::from(b[i])) as i8]);
                assert_eq!(gpu.read::<u16>(out_d + 2 * i as u64, 1), [(i32::from(c[i]).wrapping_mul(i32::from(d[i]))) as u16]);
            }
        });
    }
}

mod cooperation {
    use super::*;

    #[test]
    fn a_tree_sum_works_for_blocks_of_any_size() {
        for threads in [1_u32, 2, 31, 32, 33, 96, 100, 257, 1024] {
            let inputs: Vec<i32> = (0..4 * threads as i32).map(|i| i * 31 % 1009).collect();
            let expected: Vec<i32> = inputs.chunks(threads as usize).map(|block| block.iter().sum()).collect();
            every_way(COOPERATION, |gpu| {
                let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(4));
                gpu.launch("tree_sum", 4, threads, 4 * threads, &Params::new().with(input).with(output));
                assert_eq!(gpu.read::<i32>(output, 4), expected, "{threads} threads");
            });
        }
    }

    #[test]
    fn a_barrier_tells_all_threads_how_its_poll_went() {
        for (threads, limit) in [(96_u32, 40), (96, 100), (70, 1000), (33, -1), (1, 1)] {
            let inputs: Vec<i32> = (0..threads as i32).map(|i| i * 7 % 101).collect();
            let yes = inputs.iter().filter(|input| **input < limit).count() as i32;
            let all = yes == threads as i32;
            let expected = [yes, i32::from(all), i32::from(!all)].repeat(threads as usize);
            every_way(POLLS, |gpu| {
                let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(3 * threads as usize));
                gpu.launch("barrier_polls", 1, threads, 0, &Params::new().with(input).with(limit).with(output));
                assert_eq!(gpu.read::<i32>(output, 3 * threads as usize), expected, "{threads} threads below {limit}");
            });
        }
    }

    #[test]
    fn lanes_find_their_likes_and_sum_up() {
        // The values of the lower half are all in 8..16, those of the upper half are not of one kind.
        let inputs: Vec<i32> = (0..32).map(|i| if i < 16 { 8 + i % 5 } else { i % 7 * 3 }).collect();
        let mask = |same: &dyn Fn(usize) -> bool| (0..32).filter(|i| same(*i)).fold(0, |mask, i| mask | 1 << i);
        let halves = |lane: usize| if lane < 16 { 0..16 } else { 16..32 };
        let mut expected = vec![0; 192];
        for lane in 0..32 {
            let agree = halves(lane).all(|i| inputs[i] / 8 == inputs[lane] / 8);
            expected[lane] = mask(&|i| inputs[i] == inputs[lane]);
            expected[32 + lane] = if agree { mask(&|i| halves(lane).contains(&i)) } else { 0 };
            expected[64 + lane] = i32::from(agree);
            expected[96 + lane] = inputs[halves(lane)].iter().sum();
            expected[128 + lane] = inputs.iter().max().unwrap() - 20;
            expected[160 + lane] = inputs.iter().fold(0, |a, b| a ^ b);
        }
        assert_eq!((expected[64], expected[95]), (1, 0), "the inputs show both answers");
        every_way(POLLS, |gpu| {
            let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(192));
            gpu.launch("warp_polls", 1, 32, 0, &Params::new().with(input).with(output));
            assert_eq!(gpu.read::<i32>(output, 192), expected);
        });
    }

    #[test]
    fn producers_arrive_and_consumers_wait() {
        let inputs: Vec<i32> = (0..32 * 10).map(|i| i * i % 331).collect();
        every_way(COOPERATION, |gpu| {
            let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(96));
            gpu.launch("producer_consumer", 1, 96, 0, &Params::new().with(input).with(output).with(10_i32));
            let expected: Vec<i32> = (0..96)
                .map(|i| {
                    let (warp, lane) = (i / 32, i % 32);
                    (0..10).map(|round| inputs[round * 32 + (lane + warp) % 32] * warp as i32).sum()
                })
                .collect();
            assert_eq!(gpu.read::<i32>(output, 96), expected);
        });
    }

    #[test]
    fn named_barriers_hold_their_own_threads_only() {
        every_way(COOPERATION, |gpu| {
            let output = gpu.poisoned::<i32>(128);
            gpu.launch("two_barriers", 1, 128, 0, &Params::new().with(output));
            let expected: Vec<i32> = (0..128).map(|i| 3 * (i / 64 * 64 + 63 - i % 64)).collect();
            assert_eq!(gpu.read::<i32>(output, 128), expected);
        });
    }

    #[test]
    fn shuffles_of_every_mode_and_width() {
        let inputs: Vec<i32> = (0..32).map(|i| 1000 + i * i).collect();
        for width in [2, 4, 8, 16, 32] {
            // From the text of the CUDA guide: a segment is a warp of its own; out of range, a lane reads itself; an index wraps.
            let value = |lane: i32, from: i32| {
                let first = lane / width * width;
                inputs[if (first..first + width).contains(&from) { from } else { lane } as usize]
            };
            let expected: Vec<[i32; 6]> = (0..32)
                .map(|lane| {
                    let first = lane / width * width;
                    [
                        inputs[(first + (lane * 5 + 3) % width) as usize],
                        value(lane, lane - 3),
                        value(lane, lane + 2),
                        // A lane may read a lower segment through xor, not a higher one.
                        if lane ^ 5 < first + width { inputs[(lane ^ 5) as usize] } else { inputs[lane as usize] },
                        inputs[(first + width - 1) as usize],
                        i32::from(lane >= 4),
                    ]
                })
                .collect();
            every_way(COOPERATION, |gpu| {
                let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<[i32; 6]>(32));
                let report = gpu.launch("shuffles", 1, 32, 0, &Params::new().with(input).with(output).with(width));
                assert_eq!(gpu.read::<[i32; 6]>(output, 32), expected, "width {width}");
                assert_eq!(report.counters.warp_exchanges, 6);
            });
        }
    }

    #[test]
    fn a_warp_sums_doubles_by_shuffles() {
        let inputs: Vec<f64> = (0..96).map(|i| f64::from(i) * 0.5 + 1e10).collect();
        every_way(COOPERATION, |gpu| {
            let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<f64>(3));
            gpu.launch("warp_sum", 3, 32, 0, &Params::new().with(input).with(output));
            let expected: Vec<f64> = inputs.chunks(32).map(|warp| warp.iter().sum()).collect();
            assert_eq!(gpu.read::<f64>(output, 3), expected);
        });
    }

    #[test]
    fn votes_count_the_lanes_that_are_asked() {
        for seed in 1..6 {
            let mut numbers = Numbers(seed);
            let inputs: Vec<i32> = (0..32).map(|_| numbers.below(600) as i32 - if seed == 2 { 300 } else { 0 }).collect();
            let ballot = |yes: &dyn Fn(usize) -> bool| (0..32).filter(|lane| yes(*lane)).fold(0_u32, |mask, lane| mask | 1 << lane);
            let odd = ballot(&|lane| inputs[lane] & 1 != 0);
            let all = u32::from(inputs.iter().all(|value| *value >= 0));
            let any = u32::from(inputs.contains(&17));
            let high = ballot(&|lane| inputs[lane] & 256 != 0);
            let uniform = u32::from(high == 0 || high == u32::MAX);
            let second = ballot(&|lane| lane & 2 != 0 && inputs[lane] & 2 != 0) | 1;
            let fours = ballot(&|lane| inputs[lane] & 4 != 0);
            let eights = u32::from(inputs[16..].iter().all(|value| value & 8 != 0));
            let expected: Vec<[u32; 7]> = (0..32)
                .map(|lane| {
                    let (members, last) = if lane < 16 { (0xffff, 1) } else { (0xffff_0000, eights) };
                    [odd, all, any, uniform, if lane & 2 != 0 { second } else { 0 }, fours & members, last]
                })
                .collect();
            every_way(COOPERATION, |gpu| {
                let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<[u32; 7]>(32));
                gpu.launch("votes", 1, 32, 0, &Params::new().with(input).with(output));
                assert_eq!(gpu.read::<[u32; 7]>(output, 32), expected, "seed {seed}");
            });
        }
    }

    #[test]
    fn atomics_of_every_kind_give_the_result_of_any_order() {
        let mut numbers = Numbers(77);
        let inputs: Vec<u32> = (0..503).map(|_| numbers.below(1000) as u32).collect();
        every_way(COOPERATION, |gpu| {
            let mut start = [0_u32; 11];
            (start[2], start[4], start[10]) = (u32::MAX, u32::MAX, 5);
            let input = gpu.buffer(&inputs);
            let unsigned = gpu.buffer(&start);
            let signed = gpu.buffer(&[0_i32; 3]);
            let wide = gpu.buffer(&[0, u64::MAX, 0, u64::MAX, 0, 0, 0, i64::MIN as u64]);
            let (float, double) = (gpu.buffer(&[0.0_f32]), gpu.buffer(&[0.0_f64]));
            let params = [input, unsigned, signed, wide, float, double].into_iter().fold(Params::new(), Params::with);
            let report = gpu.launch("atomics", 4, 128, 0, &params.with(503_i32));

            let sum: u32 = inputs.iter().sum();
            let (least, most) = (*inputs.iter().min().unwrap(), *inputs.iter().max().unwrap());
            let each = |combine: fn(u32, u32) -> u32, start, change: fn(u32) -> u32| {
                inputs.iter().map(|v| change(*v)).fold(start, combine)
            };
            let expected = [
                sum,
                sum.wrapping_neg(),
                least,
                most,
                each(|a, b| a & b, u32::MAX, |v| v | 0xffff_0000),
                each(|a, b| a | b, 0, |v| v & 0xff00),
                each(|a, b| a ^ b, 0, |v| v),
                // 503 steps from 0: up to 9 and again from 0, and down from 9 to 0 and again from 9.
                3,
                7,
                77,
                6,
            ];
            assert_eq!(gpu.read::<u32>(unsigned, 11), expected);
            let expected = [sum as i32 - 503 * 500, least as i32 - 500, most as i32 - 500];
            assert_eq!(gpu.read::<i32>(signed, 3), [expected[0], expected[1].min(0), expected[2].max(0)]);
            let bits = inputs.iter().fold(0_u64, |bits, v| bits | 1 << (v & 63));
            let expected = [
                u64::from(sum) << 30,
                u64::from(least) << 33,
                u64::from(most) << 33,
                !bits,
                bits,
                inputs.iter().fold(0, |bits, v| bits ^ (u64::from(*v) * 0x1_0000_0001)),
                (i64::from(least) - 500).min(0) as u64,
                (i64::from(most) - 5000) as u64,
            ];
            assert_eq!(gpu.read::<u64>(wide, 8), expected);
            assert_eq!(gpu.read::<f32>(float, 1), [sum as f32]);
            assert_eq!(gpu.read::<f64>(double, 1), [f64::from(sum) + 251.5]);
            // 24 atomic operations, 16 warps.
            assert_eq!(report.counters.global_atomic_requests, 24 * 16);
        });
    }

    #[test]
    fn shared_atomics_give_the_result_of_any_order() {
        let mut numbers = Numbers(5);
        let inputs: Vec<u32> = (0..96).map(|_| numbers.below(1000) as u32).collect();
        every_way(COOPERATION, |gpu| {
            let input = gpu.buffer(&inputs);
            let (unsigned, signed, wide) = (gpu.poisoned::<u32>(8), gpu.poisoned::<i32>(2), gpu.poisoned::<u64>(2));
            let (float, double) = (gpu.poisoned::<f32>(1), gpu.poisoned::<f64>(1));
            let params = [input, unsigned, signed, wide, float, double].into_iter().fold(Params::new(), Params::with);
            let report = gpu.launch("shared_atomics", 1, 96, 0, &params);
            let sum: u32 = inputs.iter().sum();
            let (least, most) = (*inputs.iter().min().unwrap(), *inputs.iter().max().unwrap());
            let expected = [
                sum,
                // 96 steps from 0 in turns of 7, up here and down below.
                5,
                least,
                most,
                inputs.iter().fold(u32::MAX, |a, v| a & (v | 0xffff_0000)),
                inputs.iter().fold(0, |a, v| a | v),
                inputs.iter().fold(0, |a, v| a ^ v),
                2,
            ];
            assert_eq!(gpu.read::<u32>(unsigned, 8), expected);
            assert_eq!(gpu.read::<i32>(signed, 2), [(least as i32 - 500).min(0), (most as i32 - 500).max(0)]);
            assert_eq!(gpu.read::<u64>(wide, 2), [u64::from(sum) << 31, u64::from(most) << 31]);
            assert_eq!(gpu.read::<f32>(float, 1), [sum as f32]);
            assert_eq!(gpu.read::<f64>(double, 1), [f64::from(sum) + 24.0]);
            assert_eq!(report.counters.shared_atomic_requests, 14 * 3);
        });
    }

    /// Sums that an H200 gives, as bits: start, what is added, the sum in global memory, the sum in shared memory.
    #[rustfmt::skip]
    const FLOAT_SUMS: &[[u32; 4]] = &[
        [0x3f80_0000, 0x3f80_0000, 0x4000_0000, 0x4000_0000],
        // Denormals count as zero in global memory, and a result that is one becomes zero; shared memory keeps them.
        [0x0000_0001, 0x0000_0001, 0x0000_0000, 0x0000_0002],
        [0x0040_0000, 0x0040_0000, 0x0000_0000, 0x0080_0000],
        [0x0080_0000, 0x8000_0001, 0x0080_0000, 0x007f_ffff],
        [0x8000_0001, 0x8000_0000, 0x8000_0000, 0x8000_0001],
        [0x7f7f_ffff, 0x7f7f_ffff, 0x7f80_0000, 0x7f80_0000],
        // Any NaN becomes the one of arithmetic.
        [0xffc1_2345, 0x3f80_0000, 0x7fff_ffff, 0x7fff_ffff],
        [0x7f80_0000, 0xff80_0000, 0x7fff_ffff, 0x7fff_ffff],
    ];

    #[test]
    fn float_sums_by_atomics_treat_denormals_by_memory() {
        let ptx = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry sum(.param .u64 global, .param .u64 added, .param .u64 output)
{
    .reg .b32 %r<4>; .reg .b64 %rd<5>; .reg .f32 %f<5>;
    .shared .f32 s_sum[32];
    ld.param.u64 %rd1, [global]; ld.param.u64 %rd2, [added]; ld.param.u64 %rd3, [output];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd1, %r1, 4, %rd1; mad.wide.u32 %rd2, %r1, 4, %rd2; mad.wide.u32 %rd3, %r1, 4, %rd3;
    ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2];
    mov.u32 %r2, s_sum; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3;
    st.shared.f32 [%r2], %f1;
    red.global.add.f32 [%rd1], %f2;
    red.shared.add.f32 [%r2], %f2;
    ld.shared.f32 %f3, [%r2];
    st.global.f32 [%rd3], %f3;
    ret;
}
";
        let column = |at: usize| FLOAT_SUMS.iter().map(|row| row[at]).collect::<Vec<_>>();
        every_way(ptx, |gpu| {
            let n = FLOAT_SUMS.len();
            let (global, added, shared) = (gpu.buffer(&column(0)), gpu.buffer(&column(1)), gpu.poisoned::<u32>(n));
            gpu.launch("sum", 1, n as u32, 0, &Params::new().with(global).with(added).with(shared));
            assert_eq!(gpu.read::<u32>(global, n), column(2), "in global memory");
            assert_eq!(gpu.read::<u32>(shared, n), column(3), "in shared memory");
        });
    }

    #[test]
    fn an_atomic_operation_returns_what_was_there() {
        every_way(COOPERATION, |gpu| {
            let (next, seen, product) = (gpu.buffer(&[0_u32]), gpu.buffer(&[0_u32; 300]), gpu.buffer(&[1_u32]));
            let params = Params::new().with(next).with(seen).with(product).with(300_u32);
            // How often the loop goes round depends on the order of the blocks, so that only one worker counts the same.
            gpu.launch("old_values", 1, 320, 0, &params);
            assert_eq!(gpu.read::<u32>(seen, 300), [1; 300], "every place is taken once");
            assert_eq!(gpu.read::<u32>(product, 1), [3_u32.wrapping_pow(300)]);
        });
    }

    #[test]
    fn many_blocks_take_every_place_once() {
        let gpu = common::Gpu::with_options(COOPERATION, simt::LaunchOptions { workers: Some(2), ..Default::default() });
        let (next, seen, product) = (gpu.buffer(&[0_u32]), gpu.buffer(&[0_u32; 5000]), gpu.buffer(&[1_u32]));
        gpu.launch("old_values", 100, 50, 0, &Params::new().with(next).with(seen).with(product).with(5000_u32));
        assert!(gpu.read::<u32>(seen, 5000) == [1; 5000]);
        assert_eq!(gpu.read::<u32>(product, 1), [3_u32.wrapping_pow(5000)]);
    }

    #[test]
    fn a_warp_that_spins_lets_the_others_run() {
        every_way(COOPERATION, |gpu| {
            let output = gpu.poisoned::<i32>(32);
            gpu.launch("spin", 1, 64, 0, &Params::new().with(output));
            assert_eq!(gpu.read::<i32>(output, 32), (42..74).collect::<Vec<_>>());
        });
    }
}

mod numbers {
    use super::*;

    #[test]
    fn division_of_32_bits_truncates() {
        let values = [1, -1, 7, -7, 100, i32::MAX, i32::MIN, 12345, -98765, 3, 65536, -65537];
        let pairs: Vec<(i32, i32)> = values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))).collect();
        let (a, b): (Vec<i32>, Vec<i32>) = pairs.iter().copied().unzip();
        let expected: Vec<[i32; 6]> = pairs
            .iter()
            .map(|(x, y)| {
                let (u, v) = (*x as u32, *y as u32);
                [x.wrapping_div(*y), x.wrapping_rem(*y), (u / v) as i32, (u % v) as i32, x / 7, (u % 10) as i32]
            })
            .collect();
        every_way(NUMBERS, |gpu| {
            let n = pairs.len();
            let (a, b, output) = (gpu.buffer(&a), gpu.buffer(&b), gpu.poisoned::<[i32; 6]>(n));
            gpu.launch("division", 3, 64, 0, &Params::new().with(a).with(b).with(output).with(n as i32));
            assert_eq!(gpu.read::<[i32; 6]>(output, n), expected);
        });
    }

    #[test]
    fn arithmetic_of_64_bits() {
        let values = [1, -1, 7, i64::MAX, i64::MIN, 1 << 32, -(1 << 40), 0x1234_5678_9abc_def0, 1_000_000_007, -3];
        let pairs: Vec<(i64, i64)> = values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))).collect();
        let (a, b): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
        let expected: Vec<[i64; 9]> = pairs
            .iter()
            .map(|(x, y)| {
                let (u, v, by) = (*x as u64, *y as u64, *y as u32 & 63);
                let orders = i64::from(x < y) + 2 * i64::from(u < v) + 4 * i64::from(x == y);
                [
                    x.wrapping_add(*y),
                    x.wrapping_mul(*y),
                    x.wrapping_div(*y),
                    x.wrapping_rem(*y),
                    (u / v) as i64,
                    x >> by,
                    (u << by) as i64,
                    ((i128::from(*x) * i128::from(*y)) >> 64) as i64,
                    orders,
                ]
            })
            .collect();
        every_way(NUMBERS, |gpu| {
            let n = pairs.len();
            let (a, b, output) = (gpu.buffer(&a), gpu.buffer(&b), gpu.poisoned::<[i64; 9]>(n));
            gpu.launch("wide", 2, 64, 0, &Params::new().with(a).with(b).with(output).with(n as i32));
            assert_eq!(gpu.read::<[i64; 9]>(output, n), expected);
        });
    }

    #[test]
    fn functions_on_bits_agree_with_rust() {
        let mut numbers = Numbers(3);
        let inputs: Vec<u32> = [0, 1, u32::MAX, 1 << 31].into_iter().chain((0..28).map(|_| numbers.next() as u32)).collect();
        let dot = |v: u32| {
            let other = [127_i32, 2, -1, 1];
            v.to_le_bytes().iter().zip(other).fold(9, |sum, (byte, other)| sum + i32::from(*byte as i8) * other)
        };
        let expected: Vec<[u32; 10]> = inputs
            .iter()
            .map(|&v| {
                let [b0, b1, ..] = v.to_le_bytes();
                let [n0, n1, ..] = (!v).to_le_bytes();
                let funnel = (u64::from(v.wrapping_mul(3)) << 32 | u64::from(v)) << 11 >> 32;
                [
                    v.count_ones(),
                    v.leading_zeros(),
                    v.reverse_bits(),
                    if v == 0 { 0 } else { v.trailing_zeros() + 1 },
                    u32::from_le_bytes([b0, n0, b1, n1]),
                    funnel as u32,
                    ((u64::from(v) * 0x9e37_79b9) >> 32) as u32,
                    v.abs_diff(1_000_000).wrapping_add(5),
                    dot(v) as u32,
                    2 * v.count_ones() + u64::from(v).leading_zeros(),
                ]
            })
            .collect();
        every_way(NUMBERS, |gpu| {
            let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<[u32; 10]>(32));
            gpu.launch("bits", 1, 32, 0, &Params::new().with(input).with(output));
            assert_eq!(gpu.read::<[u32; 10]>(output, 32), expected);
        });
    }

    #[test]
    fn every_thread_knows_its_place_in_three_dimensions() {
        for (grid, block) in [((1, 1, 1), (1, 1, 1)), ((5, 1, 1), (40, 1, 1)), ((2, 3, 1), (8, 5, 1)), ((2, 3, 4), (3, 5, 7))] {
            let volume = |(x, y, z): (u32, u32, u32)| x * y * z;
            let mut expected = Vec::new();
            for b in 0..volume(grid) {
                for t in 0..volume(block) {
                    let at = |(x, y, _): (u32, u32, u32), i: u32| [i % x, i / x % y, i / x / y];
                    let [thread, place] = [at(block, t), at(grid, b)];
                    let extents = [block.0, block.1, block.2, grid.0, grid.1, grid.2];
                    expected.push([&thread[..], &place, &extents, &[t % 32, t / 32]].concat());
                }
            }
            every_way(NUMBERS, |gpu| {
                let output = gpu.poisoned::<[u32; 14]>(expected.len());
                gpu.launch("places", grid, block, 0, &Params::new().with(output));
                assert!(gpu.read::<u32>(output, 14 * expected.len()) == expected.concat(), "grid {grid:?}, block {block:?}");
            });
        }
    }

    #[test]
    fn lane_masks_follow_their_names() {
        every_way(NUMBERS, |gpu| {
            let output = gpu.poisoned::<[u32; 5]>(32);
            gpu.launch("lane_masks", 1, 32, 0, &Params::new().with(output));
            for (lane, masks) in gpu.read::<[u32; 5]>(output, 32).into_iter().enumerate() {
                let of = |compare: fn(&usize, &usize) -> bool| {
                    (0..32_usize).filter(|other| compare(other, &lane)).fold(0, |mask, other| mask | 1_u32 << other)
                };
                assert_eq!(masks, [of(usize::lt), of(usize::le), of(usize::eq), of(usize::ge), of(usize::gt)], "lane {lane}");
            }
        });
    }

    /// As the CUDA struct, its padding spelled out.
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Settings {
        flag: i8,
        padding: u8,
        offset: i16,
        scale: f32,
        bias: f64,
        table: [i32; 5],
        rest: u32,
        output: u64,
    }

    #[test]
    fn structs_come_as_parameters_by_value() {
        every_way(NUMBERS, |gpu| {
            let output = gpu.poisoned::<f32>(40);
            let first =
                Settings { flag: 1, padding: 0, offset: -3, scale: 1.5, bias: 0.0, table: [10, 20, 30, 40, 50], rest: 0, output };
            let second = Settings { bias: 0.25, table: [-4, 4, 8, 12, 16], ..first };
            let params = Params::new().with(200_u8).aligned(first, 8).with(-7_i16).aligned(second, 8);
            gpu.launch("settings", 1, 40, 0, &params);
            let expected: Vec<f32> = (0..40)
                .map(|i| {
                    let value = 1.5 * (i as f32 - 3.0);
                    value + first.table[i % 5] as f32 + 200.0 - 7.0 + second.table[(i + 1) % 5] as f32 * 0.25
                })
                .collect();
            assert_eq!(gpu.read::<f32>(output, 40), expected);
        });
    }

    #[test]
    fn clocks_run_forward() {
        every_way(NUMBERS, |gpu| {
            let (elapsed, low) = (gpu.poisoned::<i64>(64), gpu.poisoned::<u32>(64));
            gpu.launch("clocks", 1, 64, 0, &Params::new().with(elapsed).with(low));
            for (wide, narrow) in gpu.read::<i64>(elapsed, 64).into_iter().zip(gpu.read::<u32>(low, 64)) {
                assert!((10..1000).contains(&wide), "{wide}");
                assert!((10..1000).contains(&narrow), "{narrow}");
            }
        });
    }
}

mod convolution {
    use super::*;

    #[test]
    fn both_convolutions_agree_with_the_definition() {
        let mut numbers = Numbers(11);
        let (n, taps) = (700_usize, 300_usize);
        let signal: Vec<f32> = (0..n + taps - 1).map(|_| numbers.small_float()).collect();
        let filter: Vec<f32> = (0..taps).map(|_| numbers.small_float()).collect();
        // Whole numbers below 2^24: every sum is exact, whatever its order.
        let expected: Vec<f32> = (0..n).map(|i| (0..taps).map(|k| signal[i + k] * filter[k]).sum()).collect();
        for kernel in ["naive", "tiled"] {
            every_way(CONVOLUTION, |gpu| {
                let (signal, filter, output) = (gpu.buffer(&signal), gpu.buffer(&filter), gpu.poisoned::<f32>(n));
                let params = Params::new().with(signal).with(filter).with(output).with(n as i32).with(taps as i32);
                gpu.launch(kernel, (n as u32).div_ceil(256), 256, 0, &params);
                assert_eq!(gpu.read::<f32>(output, n), expected, "{kernel}");
            });
        }
    }

    #[test]
    fn wrapping_and_fused_arithmetic_agree_with_rust() {
        every_way(CONVOLUTION, |gpu| {
            let output = gpu.poisoned::<f32>(64);
            let (a, b) = (0.75_f32, -0.3_f32);
            gpu.launch("arithmetic", 1, 64, 0, &Params::new().with(output).with(37_i32).with(a).with(b));
            let expected: Vec<f32> = (0..64_u32)
                .map(|thread| {
                    let (mut x, mut count) = (thread as f32, thread);
                    for _ in 0..37 {
                        x = x.mul_add(a, b);
                        count = count.wrapping_mul(5).wrapping_add(1);
                        x = x.mul_add(b, a);
                        count = count.wrapping_add(count << 2);
                    }
                    x + count as f32
                })
                .collect();
            assert_eq!(gpu.read::<f32>(output, 64), expected);
        });
    }
}
