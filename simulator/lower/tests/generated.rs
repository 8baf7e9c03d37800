//! Programs made at random: the lowering's code and that of clang's own back end must compute the same bits. Many kernels go into one
//! file, because starting a compiler takes longer than compiling.

use std::fmt::Write;

use lower::{Options, lower};

use crate::clang::Clang;
use crate::kernels::differences;
use crate::machine::{Launch, Numbers, run};

/// Kernels of a file.
const KERNELS: usize = 24;

/// Returns the number of files: `LOWER_FILES` asks for more.
fn files() -> u64 {
    std::env::var("LOWER_FILES").ok().and_then(|files| files.parse().ok()).unwrap_or(6)
}

#[test]
fn generated_kernels_do_the_same_as_with_clangs_back_end() {
    let Some(clang) = Clang::find("generated kernels") else { return };
    let folder = std::env::temp_dir().join(format!("lower-generated-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let first: u64 = std::env::var("LOWER_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut wrong = Vec::new();
    for seed in first..first + files() {
        let path = folder.join(format!("{seed}.cu"));
        std::fs::write(&path, program(seed)).expect("a temporary file");
        if let Some(kept) = std::env::var_os("LOWER_KEEP") {
            std::fs::write(std::path::Path::new(&kept).join(format!("{seed}.cu")), program(seed)).expect("a kept program");
        }
        let (ir, theirs) = clang.compile(&path);
        let own = match lower(&ir, &Options::default()) {
            Ok(own) => own,
            Err(error) => {
                wrong.push(format!("seed {seed}: {error}"));
                continue;
            }
        };
        for kernel in 0..KERNELS {
            let kernel = format!("k{kernel}");
            let args = "w64 f64 o512 o512 o512 i37";
            let call = Launch { kernel: &kernel, grid: [1, 1, 1], block: [64, 1, 1], shared: 0, args };
            match (run(&own, &call), run(&theirs, &call)) {
                (Ok(own), Ok(theirs)) => {
                    // Accesses to memory may differ: the back end of clang also removes redundant loads.
                    let found: Vec<String> =
                        differences(&own, &theirs).into_iter().filter(|found| found.starts_with("buffer")).collect();
                    if !found.is_empty() {
                        wrong.push(format!("seed {seed} {kernel}: {}", found.join("; ")));
                    }
                }
                (own, theirs) => wrong.push(format!("seed {seed} {kernel}: {:?}, {:?}", own.err(), theirs.err())),
            }
        }
    }
    // A leftover is no failure of the test.
    let _ = std::fs::remove_dir_all(&folder);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn program(seed: u64) -> String {
    let mut maker = Maker { numbers: Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1), text: String::new(), depth: 0 };
    for _ in 0..8 {
        maker.numbers.next();
    }
    for kernel in 0..KERNELS {
        maker.kernel(kernel);
    }
    maker.text
}

/// The variables of every kernel, and their types.
const VARIABLES: [(&str, &str); 10] = [
    ("i", "int"),
    ("j", "int"),
    ("u", "unsigned"),
    ("v", "unsigned"),
    ("s", "short"),
    ("c", "signed char"),
    ("l", "long long"),
    ("q", "unsigned long long"),
    ("x", "float"),
    ("y", "float"),
];

struct Maker {
    numbers: Numbers,
    text: String,
    depth: usize,
}

impl Maker {
    fn line(&mut self, line: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(self.depth));
    }

    fn kernel(&mut self, number: usize) {
        if number.is_multiple_of(3) {
            let linkage = self.linkage();
            self.line(&format!("__device__ {linkage} int helper{number}(int a, float b) {{ return a * 3 + (int)b; }}"));
        }
        self.line(&format!(
            "extern \"C\" __global__ void k{number}(const int* __restrict__ a, const float* __restrict__ f, int* r, float* g, double* h, int n)"
        ));
        self.line("{");
        self.depth = 1;
        self.line("__shared__ int s_i[64]; __shared__ float s_f[64]; __shared__ unsigned char s_b[64];");
        self.line("const int t = threadIdx.x; int p[8]; double d = f[t & 31] * 1.5;");
        self.line("int i = a[t], j = a[63 - t]; unsigned u = a[t ^ 5], v = t * 7u; short s = a[t ^ 1]; signed char c = a[t ^ 2];");
        self.line("long long l = a[t ^ 3]; unsigned long long q = (unsigned)a[t ^ 9]; float x = f[t], y = f[63 - t];");
        self.line("for (int k = 0; k < 8; ++k) p[k] = k * t;");
        self.line("s_i[t] = i; s_f[t] = x; s_b[t] = u; __syncthreads();");
        let count = 4 + self.numbers.below(6);
        for _ in 0..count {
            self.statement(number, 3);
        }
        self.line("__syncthreads();");
        self.line(
            "r[t] = i; r[t + 64] = j; r[t + 128] = u + v; r[t + 192] = s; r[t + 256] = c; r[t + 320] = (int)(l ^ (l >> 32));",
        );
        self.line("r[t + 384] = (int)(q ^ (q >> 32)); r[t + 448] = p[t & 7] + s_i[t] + s_b[t];");
        self.line("g[t] = x != x ? 0.0f : x; g[t + 64] = y != y ? 0.0f : y; g[t + 128] = s_f[t] != s_f[t] ? 0.0f : s_f[t];");
        self.line("h[t] = d != d ? 0.0 : d;");
        self.depth = 0;
        self.line("}");
    }

    fn linkage(&mut self) -> &'static str {
        self.numbers.one_of(&["__noinline__", "inline"])
    }

    fn statement(&mut self, number: usize, left: usize) {
        let choice = self.numbers.below(if left == 0 { 7 } else { 13 });
        match choice {
            0..=3 => {
                let (name, ty) = self.numbers.one_of(&VARIABLES);
                let value = if matches!(ty, "float") { self.float(3) } else { self.int(3) };
                self.line(&format!("{name} = {value};"));
            }
            4 => {
                let (at, value) = (self.int(1), self.int(2));
                self.line(&format!("p[({at}) & 7] = {value};"));
            }
            5 => {
                let value = self.double(2);
                self.line(&format!("d = {value};"));
            }
            6 => {
                let value = self.int(2);
                // Each thread writes its own element, and reads another one after the barrier only.
                self.line(&format!("s_b[t] = {value};"));
            }
            7 | 8 => {
                let condition = self.condition(2);
                self.line(&format!("if ({condition}) {{"));
                self.inside(number, left, 2);
                if self.numbers.below(2) == 0 {
                    self.line("} else {");
                    self.inside(number, left, 2);
                }
                self.line("}");
            }
            9 | 10 => {
                let bound = self.numbers.one_of(&["5", "(n & 7)", "(t & 3)", "(u & 7)", "n"]);
                let index = format!("k{left}");
                self.line(&format!("for (int {index} = 0; {index} < {bound}; ++{index}) {{"));
                self.depth += 1;
                let use_it = self.numbers.one_of(&[
                    "x = x * 0.5f + f[(IDX * 3) & 63];",
                    "i += a[IDX & 63];",
                    "l += (long long)IDX * j;",
                    "p[IDX & 7] += u;",
                ]);
                self.line(&use_it.replace("IDX", &index));
                self.depth -= 1;
                self.inside(number, left, 2);
                self.line("}");
            }
            11 => {
                let value = self.int(1);
                self.line(&format!("switch (({value}) & 7) {{"));
                for case in 0..self.numbers.below(6) {
                    self.line(&format!("case {case}:"));
                    self.inside(number, 0, 1);
                    if self.numbers.below(3) != 0 {
                        self.line("    break;");
                    }
                }
                self.line("default: v += 1;");
                self.line("}");
            }
            _ if number.is_multiple_of(3) => {
                let value = self.int(1);
                self.line(&format!("i ^= helper{number}({value}, fminf(fmaxf(x, -9.0f), 9.0f));"));
            }
            _ => self.line("x += y * 3.0f; y = x * x - y;"),
        }
    }

    fn inside(&mut self, number: usize, left: usize, most: u64) {
        self.depth += 1;
        for _ in 0..1 + self.numbers.below(most) {
            self.statement(number, left.saturating_sub(1));
        }
        self.depth -= 1;
    }

    /// Makes an integer expression. Overflow of signed numbers is undefined, so arithmetic is unsigned.
    fn int(&mut self, left: usize) -> String {
        let choice = if left == 0 { self.numbers.below(4) } else { self.numbers.below(20) };
        if choice < 3 {
            return self.numbers.one_of(&["i", "j", "u", "v", "s", "c", "l", "q", "t", "n", "(int)s_b[t]", "p[t & 7]"]).to_owned();
        }
        if choice == 3 {
            return self.numbers.one_of(&["1", "-3", "7", "255", "65536", "0x7fffffff", "12345678901ll", "100u"]).to_owned();
        }
        let (a, b) = (self.int(left - 1), self.int(left - 1));
        let wide = self.numbers.one_of(&["unsigned", "unsigned", "unsigned long long", "unsigned short", "unsigned char"]);
        match choice {
            4..=6 => {
                let op = self.numbers.one_of(&["+", "-", "*", "&", "|", "^"]);
                format!("(({wide})({a}) {op} ({wide})({b}))")
            }
            7 => format!("(({wide})({a}) << (({b}) & 7))"),
            8 => format!("(({wide})({a}) >> (({b}) & 7))"),
            9 => format!("((int)({a}) >> (({b}) & 15))"),
            10 => {
                let by = self.numbers.one_of(&["3", "7", "10", "16", "641", "-5", "-8", "1000003"]);
                let op = self.numbers.one_of(&["/", "%"]);
                format!("((int)({a}) {op} {by})")
            }
            11 => {
                let by = self.numbers.one_of(&["3u", "7u", "10u", "16u", "641u", "60000u"]);
                let op = self.numbers.one_of(&["/", "%"]);
                format!("((unsigned)({a}) {op} {by})")
            }
            12 => format!("(({wide})({a}) / ((unsigned)({b}) % 15 + 1))"),
            13 => {
                let condition = self.condition(left - 1);
                format!("({condition} ? (int)({a}) : (int)({b}))")
            }
            14 => {
                let function = self.numbers.one_of(&["min", "max"]);
                format!("{function}((int)({a}), (int)({b}))")
            }
            15 => self
                .numbers
                .one_of(&["__clz(INT)", "__builtin_popcount(INT)", "(int)__builtin_bitreverse32(INT)", "__builtin_bswap32(INT)"])
                .replace("INT", &format!("(int)({a})")),
            16 => format!("a[({a}) & 63]"),
            17 => {
                let value = self.float(left - 1);
                format!("(int)fminf(fmaxf({value}, -1e6f), 1e6f)")
            }
            18 => {
                let condition = self.condition(left - 1);
                format!("(int)({condition})")
            }
            _ => format!("(short)({a})"),
        }
    }

    fn condition(&mut self, left: usize) -> String {
        if left == 0 {
            return self.numbers.one_of(&["t < 20", "(t & 1)", "i < j", "u > v", "x < y", "l == 3", "n > 30"]).to_owned();
        }
        let op = self.numbers.one_of(&["<", "<=", ">", ">=", "==", "!="]);
        match self.numbers.below(6) {
            0 => format!("((int)({}) {op} (int)({}))", self.int(left - 1), self.int(left - 1)),
            1 => format!("((unsigned)({}) {op} (unsigned)({}))", self.int(left - 1), self.int(left - 1)),
            2 => format!("({} {op} {})", self.float(left - 1), self.float(left - 1)),
            3 => format!("({} && {})", self.condition(left - 1), self.condition(left - 1)),
            4 => format!("({} || !{})", self.condition(left - 1), self.condition(left - 1)),
            _ => format!("((short)({}) {op} (short)({}))", self.int(left - 1), self.int(left - 1)),
        }
    }

    fn float(&mut self, left: usize) -> String {
        if left == 0 {
            return self
                .numbers
                .one_of(&["x", "y", "f[t & 63]", "s_f[t]", "0.5f", "-2.0f", "1e-3f", "(float)i", "(float)u"])
                .to_owned();
        }
        let (a, b) = (self.float(left - 1), self.float(left - 1));
        match self.numbers.below(12) {
            0..=2 => format!("({a} * {b} + {})", self.float(left - 1)),
            3 => format!("({a} + {b})"),
            4 => format!("({a} * {b} - {} * {})", self.float(left - 1), self.float(left - 1)),
            5 => format!("({a} - {b} * {})", self.float(left - 1)),
            6 => format!("({a} * {b})"),
            7 => format!("({a} / ({b} + 2.5f))"),
            8 => format!("sqrtf(fabsf({a}))"),
            9 => {
                let function = self.numbers.one_of(&["fminf", "fmaxf"]);
                format!("{function}({a}, {b})")
            }
            10 => format!("({} ? {a} : {b})", self.condition(left - 1)),
            _ => {
                let ty = self.numbers.one_of(&["short", "int", "unsigned", "long long"]);
                format!("(float)({ty})({})", self.int(left - 1))
            }
        }
    }

    fn double(&mut self, left: usize) -> String {
        if left == 0 {
            return self.numbers.one_of(&["d", "(double)x", "(double)i", "0.25", "(double)l"]).to_owned();
        }
        let (a, b) = (self.double(left - 1), self.double(left - 1));
        match self.numbers.below(5) {
            0 => format!("({a} * {b} + {})", self.double(left - 1)),
            1 => format!("({a} - {b})"),
            2 => format!("({a} / ({b} + 3.0))"),
            3 => format!("(double)(float)({a})"),
            _ => format!("({} ? {a} : {b})", self.condition(left - 1)),
        }
    }
}
