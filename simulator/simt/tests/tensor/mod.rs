//! The arithmetic of `mma` against an H200, bit by bit.
//!
//! `h200.txt` holds elements of products that an H200 computed: a row of A, a column of B, an element of C, and the result. Here
//! each is computed as an element of a product on the simulator. `cargo test -p simt-tests tensor:: -- --ignored --nocapture` runs them
//! on a GPU.

use std::fmt::Write;

use crate::common::{Gpu, Params};
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

const TABLE: &str = include_str!("h200.txt");

/// Rows and columns of a product of `mma.m16n8`.
const M: usize = 16;
const N: usize = 8;
const LANES: usize = 32;

/// A line of the table.
struct Dot {
    /// Shape, type of the factors, type of the sums.
    names: [&'static str; 3],
    a: Vec<u32>,
    b: Vec<u32>,
    c: u32,
    d: u32,
}

fn dots() -> Vec<Dot> {
    let bits = |text: &str| u32::from_str_radix(text.trim(), 16).expect("bits");
    let list = |text: &str| text.split_whitespace().map(bits).collect::<Vec<u32>>();
    let dot = |line: &'static str| {
        let [product, a, b, c, d] = line.split(" | ").collect::<Vec<_>>().try_into().expect("five columns");
        let names = product.split('.').collect::<Vec<_>>().try_into().expect("three names");
        Dot { names, a: list(a), b: list(b), c: bits(c), d: bits(d) }
    };
    TABLE.lines().filter(|line| !line.starts_with('#')).map(dot).collect()
}

impl Dot {
    /// Returns the number of elements that share a register.
    fn per_register(&self) -> usize {
        match self.names[1] {
            "tf32" => 1,
            "e4m3" | "e5m2" => 4,
            _ => 2,
        }
    }

    /// Registers of A, B and C in each lane.
    fn registers(&self) -> [usize; 3] {
        let (k, per_register) = (self.a.len(), self.per_register());
        let sums = if self.names[2] == "f16" { 2 } else { 1 };
        [M * k / LANES / per_register, N * k / LANES / per_register, M * N / LANES / sums]
    }

    /// Returns a kernel that loads the registers, multiplies, and stores D. It is for one warp.
    fn ptx(&self) -> String {
        let [shape, input, sum] = self.names;
        let [a, b, c] = self.registers();
        let all = a + b + c;
        let (version, target) = if self.per_register() == 4 { ("8.7", "sm_90") } else { ("7.8", "sm_80") };
        let mut ptx = format!(
            ".version {version}\n.target {target}\n.address_size 64\n.visible .entry product(.param .u64 input, .param .u64 output)\n{{\n\
             .reg .b32 %r<{}>;\n.reg .b64 %rd<5>;\nld.param.u64 %rd0, [input];\nld.param.u64 %rd1, [output];\nmov.u32 %r{all}, %tid.x;\n\
             mul.wide.u32 %rd2, %r{all}, {};\nadd.s64 %rd3, %rd0, %rd2;\nmul.wide.u32 %rd2, %r{all}, {};\nadd.s64 %rd4, %rd1, %rd2;\n",
            all + 1,
            4 * all,
            4 * c
        );
        // Writing to a string cannot fail.
        for register in 0..all {
            let _ = writeln!(ptx, "ld.global.u32 %r{register}, [%rd3+{}];", 4 * register);
        }
        let list = |first: usize, count: usize| {
            let names: Vec<String> = (first..first + count).map(|register| format!("%r{register}")).collect();
            format!("{{{}}}", names.join(", "))
        };
        let (d, a, b) = (list(a + b, c), list(0, a), list(a, b));
        let _ = writeln!(ptx, "mma.sync.aligned.{shape}.row.col.{sum}.{input}.{input}.{sum} {d}, {a}, {b}, {d};");
        for register in 0..c {
            let _ = writeln!(ptx, "st.global.u32 [%rd4+{}], %r{};", 4 * register, all - c + register);
        }
        ptx + "ret;\n}\n"
    }

    /// Returns the registers of all lanes. Every row of A, every column of B and every element of C is the table's.
    fn input(&self) -> Vec<u32> {
        let [a, b, c] = self.registers();
        let per_register = self.per_register();
        let bits = 32 / per_register;
        let packed = |elements: &[u32], first: usize| (0..per_register).fold(0, |word, i| word | elements[first + i] << (bits * i));
        let mut words = Vec::new();
        for lane in 0..LANES {
            // The four lanes of a group hold adjacent parts of a row of A and of a column of B.
            let first = |block: usize| (block * 4 + lane % 4) * per_register;
            words.extend((0..a).map(|register| packed(&self.a, first(register / 2))));
            words.extend((0..b).map(|register| packed(&self.b, first(register))));
            words.extend((0..c).map(|_| if self.names[2] == "f16" { self.c | self.c << 16 } else { self.c }));
        }
        words
    }

    /// Returns the expected value of every register of D.
    fn output(&self) -> u32 {
        if self.names[2] == "f16" { self.d | self.d << 16 } else { self.d }
    }

    /// Returns whether a product differs, and prints the line if so.
    fn differs(&self, d: &[u32]) -> bool {
        let wrong = d.iter().find(|word| **word != self.output());
        if let Some(wrong) = wrong {
            println!("{:?} of {:x?} and {:x?} with {:x}: {wrong:x}, an H200 says {:x}", self.names, self.a, self.b, self.c, self.d);
        }
        wrong.is_some()
    }
}

#[test]
fn products_round_as_on_an_h200() {
    let dots = dots();
    assert!(dots.len() > 300, "{} lines", dots.len());
    let differ = dots.iter().filter(|dot| {
        let gpu = Gpu::load(&dot.ptx());
        let (input, words) = (gpu.buffer(&dot.input()), LANES * dot.registers()[2]);
        let output = gpu.poisoned::<u32>(words);
        gpu.launch("product", 1, LANES as u32, 0, &Params::new().with(input).with(output));
        dot.differs(&gpu.read::<u32>(output, words))
    });
    assert_eq!(differ.count(), 0, "of {}", dots.len());
}

#[test]
#[ignore = "needs a GPU of compute capability 9.0"]
fn a_gpu_still_gives_the_bits_of_the_table() {
    let stream = CudaContext::new(0).expect("a GPU").default_stream();
    let dots = dots();
    let differ = dots.iter().filter(|dot| {
        let module = stream.context().load_module(Ptx::from_src(dot.ptx())).expect("the driver compiles it");
        let kernel = module.load_function("product").expect("the kernel is there");
        let words = LANES * dot.registers()[2];
        let input = stream.clone_htod(&dot.input()).expect("a buffer");
        let mut output = stream.alloc_zeros::<u32>(words).expect("a buffer");
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&input).arg(&mut output);
        let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (LANES as u32, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: each of the 32 threads reads the words of its registers from the input and writes those of D. `ptx` generates the
        // kernel, and both buffers are large enough for all 32 threads.
        unsafe { launch.launch(config) }.expect("the kernel runs");
        dot.differs(&stream.clone_dtoh(&output).expect("the result"))
    });
    assert_eq!(differ.count(), 0, "of {}", dots.len());
}
