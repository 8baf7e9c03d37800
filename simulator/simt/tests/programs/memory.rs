//! Loads and stores of every width, in every memory.

use crate::common::{Numbers, Params, every_way};

const MEMORY: &str = include_str!("memory.ptx");

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
        assert_eq!(gpu.read::<i32>(counter, 1), [12], "7, and 5 added through a pointer that the module initialized");
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
