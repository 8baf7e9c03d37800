//! The host that the tests share: it loads one module and launches its kernels, like `cuModuleLoad` and `cuLaunchKernel`.

use std::sync::{Arc, Mutex};

use bytemuck::{AnyBitPattern, NoUninit};
use simt::{
    Call, Dim3, Image, LaunchConfig, LaunchError, LaunchOptions, LaunchReport, Memory, Module, Profile, Severity, WarpOrder, launch,
};

/// A device with one module loaded.
pub struct Gpu {
    pub memory: Memory,
    pub image: Image,
    pub options: LaunchOptions,
    /// The GPU that launches are for.
    pub profile: &'static Profile,
    buffers: Mutex<Vec<(u64, u64)>>,
    reports: Mutex<Vec<LaunchReport>>,
}

impl Gpu {
    /// Loads a module, which must not fail.
    pub fn load(ptx: &str) -> Self {
        Self::with_options(ptx, LaunchOptions::default())
    }

    pub fn with_options(ptx: &str, options: LaunchOptions) -> Self {
        let module = Module::parse(ptx).unwrap_or_else(|error| panic!("{error}"));
        let memory = Memory::new(1 << 30);
        let image = Image::new(Arc::new(module), &memory).expect("the module's variables fit");
        let profile = Profile::named("h200").expect("a profile of the table");
        Self { memory, image, options, profile, buffers: Mutex::default(), reports: Mutex::default() }
    }

    /// Simulates another GPU.
    pub fn of_profile(mut self, name: &str) -> Self {
        self.profile = Profile::named(name).expect("a profile of the table");
        self
    }

    /// Allocates a buffer with these elements.
    pub fn buffer<T: NoUninit>(&self, elements: &[T]) -> u64 {
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        let address = self.memory.allocate(bytes.len() as u64, None).expect("the buffer fits");
        self.memory.write(address, bytes).expect("the buffer was just allocated");
        self.buffers.lock().unwrap().push((address, bytes.len() as u64));
        address
    }

    /// Allocates a buffer with a pattern that no kernel writes by chance.
    pub fn poisoned<T: NoUninit + AnyBitPattern>(&self, count: usize) -> u64 {
        let bytes = vec![0xa5_u8; count * size_of::<T>()];
        self.buffer(&bytes)
    }

    /// Reads elements of device memory.
    pub fn read<T: AnyBitPattern + NoUninit>(&self, address: u64, count: usize) -> Vec<T> {
        let mut elements = vec![T::zeroed(); count];
        self.memory.read(address, bytemuck::cast_slice_mut(&mut elements)).expect("the elements were allocated");
        elements
    }

    /// Launches a kernel with `shared` bytes of dynamic shared memory.
    pub fn try_launch(
        &self,
        kernel: &str,
        grid: impl Into<Extent>,
        block: impl Into<Extent>,
        shared: u32,
        params: &Params,
    ) -> Result<LaunchReport, LaunchError> {
        let config = LaunchConfig { grid: grid.into().0, block: block.into().0, dynamic_shared_bytes: shared };
        let report = launch(&self.memory, &self.image, Call { kernel, config, params: &params.0 }, self.profile, &self.options)?;
        self.reports.lock().unwrap().push(report.clone());
        Ok(report)
    }

    /// Launches a kernel that must succeed.
    pub fn launch(
        &self,
        kernel: &str,
        grid: impl Into<Extent>,
        block: impl Into<Extent>,
        shared: u32,
        params: &Params,
    ) -> LaunchReport {
        self.try_launch(kernel, grid, block, shared, params).unwrap_or_else(|error| panic!("{kernel}: {error}"))
    }

    /// Returns the results of all launches: the bytes of every buffer, and the reports.
    fn traces(&self) -> (Vec<Vec<u8>>, Vec<LaunchReport>) {
        let buffers = self.buffers.lock().unwrap();
        let bytes = buffers.iter().map(|(address, bytes)| self.read(*address, *bytes as usize)).collect();
        (bytes, self.reports.lock().unwrap().clone())
    }
}

/// Runs a correct program in several ways: with one and two workers, with and without vector instructions, and with warps in
/// different orders. Buffers and counters must be the same every time, and the checks must find no error.
pub fn every_way(ptx: &str, program: impl Fn(&Gpu)) {
    let mut first = None;
    for (workers, portable, warp_order) in [
        (1, false, WarpOrder::Ascending),
        (2, false, WarpOrder::Ascending),
        (1, true, WarpOrder::Shuffled(1)),
        (2, true, WarpOrder::Ascending),
        (2, false, WarpOrder::Shuffled(2)),
    ] {
        let options = LaunchOptions { workers: Some(workers), portable, warp_order, ..LaunchOptions::default() };
        let gpu = Gpu::with_options(ptx, options);
        program(&gpu);
        let traces = gpu.traces();
        for LaunchReport { kernel, findings, .. } in &traces.1 {
            let error = findings.iter().find(|finding| finding.kind.severity() == Severity::Error);
            assert!(error.is_none(), "{kernel}: {findings:?}");
        }
        let first = first.get_or_insert_with(|| traces.clone());
        assert!(traces.0 == first.0, "other bytes with {workers} workers, portable: {portable}");
        // How long a warp waits for another one depends on the order of turns.
        let in_turn = warp_order == WarpOrder::Ascending;
        assert!(!in_turn || traces.1 == first.1, "other reports with {workers} workers, portable: {portable}");
    }
}

/// Extents from one, two or three numbers.
pub struct Extent(pub Dim3);

impl From<u32> for Extent {
    fn from(x: u32) -> Self {
        Self(Dim3::new(x, 1, 1))
    }
}

impl From<(u32, u32)> for Extent {
    fn from((x, y): (u32, u32)) -> Self {
        Self(Dim3::new(x, y, 1))
    }
}

impl From<(u32, u32, u32)> for Extent {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self(Dim3::new(x, y, z))
    }
}

/// A kernel's parameters, each aligned to its own size.
#[derive(Clone, Default)]
pub struct Params(pub Vec<u8>);

impl Params {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with<T: NoUninit>(self, value: T) -> Self {
        self.aligned(value, align_of::<T>())
    }

    /// Appends a struct whose alignment in CUDA differs from that in Rust.
    pub fn aligned<T: NoUninit>(mut self, value: T, align: usize) -> Self {
        self.0.resize(self.0.len().next_multiple_of(align), 0);
        self.0.extend_from_slice(bytemuck::bytes_of(&value));
        self
    }
}

/// A small generator of numbers. Inputs are irregular, but the same in every run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    /// Returns a whole number between -8 and 8. Sums and products are exact.
    pub fn small_float(&mut self) -> f32 {
        self.below(17) as f32 - 8.0
    }
}
