//! The convolutions and the plain arithmetic that `benches/execute.rs` measures: they must also be right.

use crate::common::{Numbers, Params, every_way};

const CONVOLUTION: &str = include_str!("convolution.ptx");

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
