//! Runs kernels on the simulator.

use std::sync::Arc;

use simt::{Counters, Dim3, Image, LaunchConfig, LaunchOptions, Memory, Module, Profile, launch};

/// A launch, written briefly.
pub struct Launch<'a> {
    pub kernel: &'a str,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    /// One word for each parameter: `f100` a buffer of 100 random floats, `w100` of 100 random words, `b100` of 100 random bytes, `o100`
    /// of 100 words for results, `u1,2` of these words; `i5` a 32-bit number, `l5` a 64-bit one, `p0.5` a float; `(5,7,l9)` a structure of such numbers.
    pub args: &'a str,
}

/// The results of a kernel.
pub struct Outcome {
    /// The bytes of all buffers.
    pub memory: Vec<Vec<u8>>,
    pub counters: Counters,
    pub findings: Vec<String>,
    pub printed: String,
}

/// Loads a module and runs one kernel.
pub fn run(ptx: &str, call: &Launch<'_>) -> Result<Outcome, String> {
    let module = Module::parse(ptx).map_err(|error| error.to_string())?;
    let memory = Memory::new(1 << 30);
    let image = Image::new(Arc::new(module), &memory).map_err(|error| error.to_string())?;
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    // Constant memory is the host's to fill.
    for name in ["c_template", "c_words", "c_filter"] {
        if let Some((address, bytes)) = image.variable(name) {
            let content: Vec<u8> = (0..bytes / 4).flat_map(|_| numbers.float().to_le_bytes()).collect();
            memory.write(address, &content).map_err(|error| error.to_string())?;
        }
    }
    let mut buffers = Vec::new();
    let mut params = Vec::new();
    let push = |bytes: &[u8], align: usize, params: &mut Vec<u8>| {
        params.resize(params.len().next_multiple_of(align), 0);
        params.extend_from_slice(bytes);
    };
    for word in call.args.split_whitespace() {
        if let Some(fields) = word.strip_prefix('(') {
            let fields: Vec<&str> = fields.trim_end_matches(')').split(',').collect();
            let align = if fields.iter().any(|field| field.starts_with('l')) { 8 } else { 4 };
            let mut bytes = Vec::new();
            for field in fields {
                match field.strip_prefix('l') {
                    Some(long) => push(&number::<i64>(long).to_le_bytes(), 8, &mut bytes),
                    None => push(&number::<i32>(field).to_le_bytes(), 4, &mut bytes),
                }
            }
            push(&bytes, align, &mut params);
            continue;
        }
        let (kind, rest) = word.split_at(1);
        match kind {
            "i" => push(&(number::<i64>(rest) as u32).to_le_bytes(), 4, &mut params),
            "l" => push(&number::<i64>(rest).to_le_bytes(), 8, &mut params),
            "u" => {
                let content: Vec<u8> = rest.split(',').flat_map(|word| number::<u32>(word).to_le_bytes()).collect();
                let address = memory.allocate(content.len() as u64, None).map_err(|error| error.to_string())?;
                memory.write(address, &content).map_err(|error| error.to_string())?;
                buffers.push((address, content.len()));
                push(&address.to_le_bytes(), 8, &mut params);
            }
            "p" => push(&number::<f32>(rest).to_le_bytes(), 4, &mut params),
            _ => {
                let count: usize = number(rest);
                let content: Vec<u8> = match kind {
                    "f" => (0..count).flat_map(|_| numbers.float().to_le_bytes()).collect(),
                    "w" => (0..count).flat_map(|_| (numbers.next() as u32).to_le_bytes()).collect(),
                    "b" => (0..count).map(|_| numbers.next() as u8).collect(),
                    "o" => vec![0xa5; count * 4],
                    _ => panic!("{word} is no argument"),
                };
                let address = memory.allocate(content.len() as u64, None).map_err(|error| error.to_string())?;
                memory.write(address, &content).map_err(|error| error.to_string())?;
                buffers.push((address, content.len()));
                push(&address.to_le_bytes(), 8, &mut params);
            }
        }
    }
    let extent = |[x, y, z]: [u32; 3]| Dim3::new(x, y, z);
    let config = LaunchConfig { grid: extent(call.grid), block: extent(call.block), dynamic_shared_bytes: call.shared };
    let profile = Profile::named("h200").expect("a profile of the table");
    let options = LaunchOptions { workers: Some(1), ..LaunchOptions::default() };
    let launched = simt::Call { kernel: call.kernel, config, params: &params };
    let report = launch(&memory, &image, launched, profile, &options).map_err(|error| error.to_string())?;
    let read = |(address, bytes): &(u64, usize)| {
        let mut content = vec![0; *bytes];
        memory.read(*address, &mut content).expect("the buffer is there");
        content
    };
    Ok(Outcome {
        memory: buffers.iter().map(read).collect(),
        counters: report.counters,
        findings: report.findings.iter().map(ToString::to_string).collect(),
        printed: report.printed,
    })
}

fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

/// A small generator of irregular inputs, the same in every run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    /// Returns a number with a full fraction, so that every rounding shows.
    pub fn float(&mut self) -> f32 {
        (self.below(1 << 24) as f32 / 8_388_608.0 - 1.0) * [1.0, 0.1, 3.7][self.below(3) as usize]
    }
}
