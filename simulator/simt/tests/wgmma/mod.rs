//! `wgmma` against an H200: its arithmetic, bit by bit, and where its operands are in shared memory.
//!
//! `h200.txt` holds elements of products: a row of A, a column of B, an element of C, and the result of one instruction or two. `layouts.txt` holds descriptors of
//! A and B in one image of shared memory, and the sum of the elements of D, each times its number, as an H200 read and computed them.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::common::{Gpu, Params};

mod misuse;
mod programs;

const PRODUCTS: &str = include_str!("h200.txt");
const LAYOUTS: &str = include_str!("layouts.txt");

const THREADS: u32 = 128;
const ROWS: usize = 64;

/// A product, as the end of its opcode says: `m64n8k8.f32.tf32.tf32`.
#[derive(Clone, Copy)]
struct Product<'t> {
    name: &'t str,
    transposed: [bool; 2],
}

impl Product<'_> {
    fn n(&self) -> usize {
        let n = self.name.split(['n', 'k']).nth(1).expect("a shape");
        n.parse().expect("a number of columns")
    }

    fn types(&self) -> Vec<&str> {
        self.name.split('.').filter(|part| !part.starts_with("m64") && *part != "satfinite").collect()
    }

    fn has_half_sums(&self) -> bool {
        self.types()[0] == "f16"
    }

    /// Returns the number of bytes of a factor.
    fn bytes(&self) -> usize {
        match self.types()[1] {
            "tf32" => 4,
            "f16" | "bf16" => 2,
            _ => 1,
        }
    }

    /// Registers of D.
    fn registers(&self) -> usize {
        self.n() / if self.has_half_sums() { 4 } else { 2 }
    }

    /// Returns a kernel of one warpgroup: it copies `words` words to shared memory, loads C, multiplies, and stores D.
    fn ptx(&self) -> String {
        let count = self.registers();
        let names = (0..count).map(|register| format!("%d{register}")).collect::<Vec<_>>().join(", ");
        let each = |line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
        let flag = |set: bool| u32::from(set);
        let immediates = match (self.types()[0], self.bytes()) {
            ("s32", _) => String::new(),
            (_, 2) => format!(", 1, 1, {}, {}", flag(self.transposed[0]), flag(self.transposed[1])),
            _ => ", 1, 1".to_owned(),
        };
        let mut ptx = String::from(
            ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 tile[];\n\
             .visible .entry product(.param .u64 image, .param .u32 words, .param .u64 a, .param .u64 b, .param .u32 adds, .param .u64 c, .param .u64 d)\n\
             {\n.reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [image];\nld.param.u32 %r1, [words];\n\
             ld.param.u64 %rd2, [a];\nld.param.u64 %rd3, [b];\nld.param.u32 %r2, [adds];\nld.param.u64 %rd4, [c];\nld.param.u64 %rd5, [d];\n\
             mov.u32 %r3, %tid.x;\nmov.u32 %r4, %r3;\nmov.u32 %r5, tile;\nLOOP:\nsetp.ge.u32 %p1, %r4, %r1;\n@%p1 bra END;\n\
             mul.wide.u32 %rd6, %r4, 4;\nadd.s64 %rd6, %rd1, %rd6;\nld.global.u32 %r6, [%rd6];\nshl.b32 %r7, %r4, 2;\nadd.u32 %r7, %r5, %r7;\n\
             st.shared.u32 [%r7], %r6;\nadd.u32 %r4, %r4, 128;\nbra LOOP;\nEND:\nfence.proxy.async;\nbar.sync 0;\n",
        );
        // Writing to a string cannot fail.
        let _ = write!(
            ptx,
            ".reg .b32 %d<{count}>;\nmul.wide.u32 %rd6, %r3, {};\nadd.s64 %rd7, %rd4, %rd6;\nadd.s64 %rd8, %rd5, %rd6;\n{}\
             setp.ne.u32 %p2, %r2, 0;\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.{} {{{names}}}, %rd2, %rd3, %p2{immediates};\n\
             wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n{}ret;\n}}\n",
            4 * count,
            each(&|register| format!("ld.global.u32 %d{register}, [%rd7+{}];\n", 4 * register)),
            self.name,
            each(&|register| format!("st.global.u32 [%rd8+{}], %d{register};\n", 4 * register)),
        );
        ptx
    }

    /// Runs it on an image of shared memory. Every register of C has the same word. Returns the registers of D.
    fn run(&self, gpu: &Gpu, image: u64, words: u32, descriptors: [u64; 2], c: Option<u32>) -> Vec<u32> {
        let count = THREADS as usize * self.registers();
        let input = gpu.buffer(&vec![c.unwrap_or(0x7fff_ffff); count]);
        let output = gpu.poisoned::<u32>(count);
        let params = Params::new().with(image).with(words).with(descriptors[0]).with(descriptors[1]).with(u32::from(c.is_some()));
        let report = gpu.launch("product", 1, THREADS, 4 * words, &params.with(input).with(output));
        assert_eq!(report.findings, [], "{}", self.name);
        let d = gpu.read(output, count);
        for buffer in [input, output] {
            gpu.memory.free(buffer).expect("it was allocated");
        }
        d
    }
}

/// Returns a descriptor without swizzling.
fn plain(start: u32, leading: u32, stride: u32) -> u64 {
    u64::from(start / 16) | u64::from(leading / 16) << 16 | u64::from(stride / 16) << 32
}

/// Returns a matrix with the same elements in every row. Of eight rows of 32 bytes, the first halves come before the others.
fn repeated(elements: &[u32], bytes: usize, rows: usize) -> Vec<u32> {
    let row: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()[..bytes].to_vec()).collect();
    let (first, second) = row.split_at(16);
    let group: Vec<u8> = [first, second].iter().flat_map(|half| half.repeat(8)).collect();
    bytemuck::pod_collect_to_vec(&group.repeat(rows / 8))
}

#[test]
fn sums_are_rounded_as_on_an_h200() {
    let bits = |text: &str| u32::from_str_radix(text, 16).expect("bits");
    let list = |text: &str| text.split_whitespace().map(bits).collect::<Vec<u32>>();
    let mut gpus = BTreeMap::new();
    let (mut lines, mut wrong) = (0, 0);
    for line in PRODUCTS.lines().filter(|line| !line.starts_with('#')) {
        let [name, a, b, c, d] = line.split(" | ").collect::<Vec<_>>().try_into().expect("five columns");
        let product = Product { name, transposed: [false; 2] };
        let gpu = gpus.entry(name).or_insert_with(|| Gpu::load(&product.ptx()));
        let halves = |word: u32| if product.has_half_sums() { word | word << 16 } else { word };
        let mut sum = (c != "-").then(|| halves(bits(c)));
        let k = 32 / product.bytes();
        let mut found = Vec::new();
        for (a, b) in list(a).chunks(k).zip(list(b).chunks(k)) {
            let image = [repeated(a, product.bytes(), ROWS), repeated(b, product.bytes(), 8)].concat();
            let (words, of_b) = (image.len() as u32, 32 * ROWS as u32);
            let image = gpu.buffer(&image);
            found = product.run(gpu, image, words, [plain(0, 128, 256), plain(of_b, 128, 256)], sum);
            gpu.memory.free(image).expect("it was allocated");
            sum = Some(found[0]);
        }
        lines += 1;
        if let Some(word) = found.iter().find(|word| **word != halves(bits(d))) {
            println!("{line}: {word:x}");
            wrong += 1;
        }
    }
    assert!(lines > 200, "{lines} lines");
    assert_eq!(wrong, 0, "of {lines}");
}

/// Bytes of the image of shared memory.
const IMAGE: usize = 128 << 10;

/// Returns whole numbers between -8 and 8 of a type. They depend on their position.
fn image(ty: &str) -> Vec<u32> {
    let number = |position: usize| f64::from(((position as u64).wrapping_mul(2_654_435_761) as u32 >> 16) % 17) - 8.0;
    let bits = |position: usize| -> Vec<u8> {
        let value = number(position);
        let single = (value as f32).to_bits();
        match ty {
            "s8" => vec![value as i8 as u8],
            "tf32" => single.to_le_bytes().to_vec(),
            "bf16" => (single >> 16).to_le_bytes()[..2].to_vec(),
            // The exponent has another bias, and no number here is subnormal.
            _ if value == 0.0 => vec![0, 0],
            _ => ((single >> 16 & 0x8000) | (((single >> 13) & 0x3ffff) - (112 << 10)) & 0x7fff).to_le_bytes()[..2].to_vec(),
        }
    };
    let bytes = bits(0).len();
    bytemuck::pod_collect_to_vec(&(0..IMAGE / bytes).flat_map(bits).collect::<Vec<u8>>())
}

#[test]
fn operands_lie_where_an_h200_reads_them() {
    let hex = |text: &str| u64::from_str_radix(text, 16).expect("bits");
    let mut gpus = BTreeMap::new();
    let mut lines = 0;
    for line in LAYOUTS.lines().filter(|line| !line.starts_with('#')) {
        let [name, transposed, a, b, sum] = line.split(" | ").collect::<Vec<_>>().try_into().expect("five columns");
        let transposed = [0, 1].map(|factor| transposed.as_bytes()[factor] == b't');
        let product = Product { name, transposed };
        let (gpu, image) = gpus.entry((name, transposed)).or_insert_with(|| {
            let mut gpu = Gpu::load(&product.ptx());
            // Some matrices start where the pattern of swizzling does not, which is a finding, but which a GPU reads as well.
            gpu.options.checks = false;
            let image = gpu.buffer(&image(product.types()[1]));
            (gpu, image)
        });
        let d = product.run(gpu, *image, IMAGE as u32 / 4, [hex(a), hex(b)], None);
        let n = product.n();
        let weighted = |(position, word): (usize, &u32)| {
            let (thread, register) = (position / product.registers(), position % product.registers());
            let (row, column) =
                (thread / 32 * 16 + thread % 32 / 4 + register / 2 % 2 * 8, register / 4 * 8 + thread % 4 * 2 + register % 2);
            let value = if product.types()[0] == "s32" { i64::from(*word as i32) } else { f32::from_bits(*word) as i64 };
            value * (row * n + column + 1) as i64
        };
        assert_eq!(d.iter().enumerate().map(weighted).sum::<i64>(), sum.parse().expect("a sum"), "{line}");
        lines += 1;
    }
    assert!(lines > 100, "{lines} lines");
}
