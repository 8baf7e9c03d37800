//! The elements of a workload's arrays that threads of a block touched, by a trace of the simulator.

use std::collections::BTreeSet;
use std::ops::Range;

use anyhow::{Context, Result, bail, ensure};
use cudarc::driver::{CudaView, DevicePtr};
use ptx::finding::AccessOp;
use run::gpu::Gpu;
use run::report::{Measured, Outcome};
use run::stage::{Run, Stage};
use run::workload::histogram::LEVELS;
use run::workload::matmul_half::Demand;
use run::workload::{
    Border, Convolution, Correlation, Histogram, Matmul, WindowSums, Workload, convolution, correlation, matmul, matmul_half,
    window_sums,
};
use run::{observer, runner};
use simt::{Dim3, Touched};

/// The seed of inputs.
pub const SEED: u64 = 13;

/// A workload's array on the device, row by row without gaps.
#[derive(Clone, Debug)]
pub struct Array {
    pub name: &'static str,
    /// The words for one element and for several.
    pub elements: [&'static str; 2],
    pub rows: u64,
    /// Elements of a row.
    pub columns: u64,
    /// Where it starts, and the bytes of an element.
    address: u64,
    width: u64,
}

/// The arrangement of the arrays of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Arrays of one dimension, each part on a line of its own.
    Strips,
    /// Images one below the other, one part over the other.
    Stacked,
    /// The matrices of a product, placed so that matching rows and columns are in line.
    Product,
}

/// Workloads that the book runs and draws.
pub trait Arrays: Workload {
    /// Makes a workload of the size for teaching.
    fn teaching() -> Result<Self>;
    /// Makes such workloads for the stages that need an option.
    fn with_options() -> Result<Vec<Self>> {
        Ok(Vec::new())
    }
    /// Their arrangement.
    const LAYOUT: Layout;
    /// Returns the arrays that stages get, in the order of the drawing.
    fn arrays(&self, gpu: &Gpu, buffers: &Self::Buffers) -> Vec<Array>;
}

impl Arrays for Convolution {
    const LAYOUT: Layout = Layout::Strips;

    fn teaching() -> Result<Self> {
        Ok(Self::random(convolution::TEACHING_SIZE, SEED))
    }

    fn arrays(&self, gpu: &Gpu, buffers: &Self::Buffers) -> Vec<Array> {
        vec![
            Array::new(gpu, "signal", ["sample", "samples"], buffers.signal.len() as u32, &buffers.signal.as_view()),
            Array::new(gpu, "filter", ["filter value", "filter values"], self.taps(), &buffers.filter.as_view()),
            Array::new(gpu, "output", ["output", "outputs"], self.outputs(), &buffers.output.view()),
        ]
    }
}

impl Arrays for Correlation {
    const LAYOUT: Layout = Layout::Stacked;

    fn teaching() -> Result<Self> {
        Ok(Self::random(correlation::TEACHING_SIZE, Border::Valid, SEED))
    }

    fn arrays(&self, gpu: &Gpu, buffers: &Self::Buffers) -> Vec<Array> {
        let (columns, _) = self.outputs();
        let template = ["pixel of the template", "pixels of the template"];
        vec![
            Array::new(gpu, "image", ["pixel", "pixels"], self.image().width, &buffers.image.as_view()),
            Array::new(gpu, "template", template, self.template().width, &buffers.template.as_view()),
            Array::new(gpu, "output", ["output", "outputs"], columns, &buffers.output.view()),
        ]
    }
}

impl Arrays for WindowSums {
    const LAYOUT: Layout = Layout::Stacked;

    fn teaching() -> Result<Self> {
        Ok(Self::random(window_sums::TEACHING_SIZE, 15, Border::Valid, SEED)?)
    }

    fn arrays(&self, gpu: &Gpu, buffers: &Self::Buffers) -> Vec<Array> {
        let (width, pixels) = (self.image().width, buffers.image.len());
        let output = buffers.output.view();
        vec![
            Array::new(gpu, "image", ["pixel", "pixels"], width, &buffers.image.as_view()),
            Array::new(gpu, "sums", ["sum", "sums"], width, &output.slice(..pixels)),
            Array::new(gpu, "squares", ["sum of squares", "sums of squares"], width, &output.slice(pixels..)),
        ]
    }
}

impl Arrays for Histogram {
    const LAYOUT: Layout = Layout::Stacked;

    fn teaching() -> Result<Self> {
        Ok(Self::random(window_sums::TEACHING_SIZE, SEED)?)
    }

    fn arrays(&self, gpu: &Gpu, buffers: &Self::Buffers) -> Vec<Array> {
        vec![
            Array::new(gpu, "image", ["pixel", "pixels"], self.image().width, &buffers.image.as_view()),
            Array::new(gpu, "histogram", ["count", "counts"], LEVELS as u32, &buffers.output.view()),
        ]
    }
}

impl Arrays for Matmul {
    const LAYOUT: Layout = Layout::Product;

    fn teaching() -> Result<Self> {
        Ok(Self::random(matmul::TEACHING_SIZE, SEED)?)
    }

    fn arrays(&self, gpu: &Gpu, buffers: &Self::Buffers) -> Vec<Array> {
        let size = self.size();
        vec![
            Array::new(gpu, "A", ["number of A", "numbers of A"], size.k, &buffers.a.as_view()),
            Array::new(gpu, "B", ["number of B", "numbers of B"], size.n, &buffers.b.as_view()),
            Array::new(gpu, "C", ["number of C", "numbers of C"], size.n, &buffers.output.view()),
        ]
    }
}

impl Arrays for matmul_half::MatmulHalf {
    const LAYOUT: Layout = Layout::Product;

    fn teaching() -> Result<Self> {
        Ok(Self::random(matmul::TEACHING_SIZE, Demand::default(), SEED)?)
    }

    fn with_options() -> Result<Vec<Self>> {
        let demands = [Demand { fp8: false, bias: true }, Demand { fp8: true, bias: false }];
        Ok(demands.map(|demand| Self::random(matmul::TEACHING_SIZE, demand, SEED)).into_iter().collect::<Result<_, _>>()?)
    }

    fn arrays(&self, gpu: &Gpu, buffers: &Self::Buffers) -> Vec<Array> {
        let size = self.size();
        // The view has words of two numbers, and every stage needs rows of whole words.
        let words = Array::new(gpu, "C", ["number of C", "numbers of C"], size.n / 2, &buffers.output.view());
        vec![
            Array::new(gpu, "A", ["number of A", "numbers of A"], size.k, &buffers.a.as_view()),
            Array::new(gpu, "B", ["number of B", "numbers of B"], size.n, &buffers.b.as_view()),
            Array { columns: size.n.into(), width: 2, ..words },
        ]
    }
}

impl Array {
    fn new<T>(gpu: &Gpu, name: &'static str, elements: [&'static str; 2], columns: u32, view: &CudaView<'_, T>) -> Self {
        let (address, _in_use) = view.device_ptr(&gpu.stream);
        let columns = u64::from(columns);
        Self { name, elements, rows: view.len() as u64 / columns, columns, address, width: size_of::<T>() as u64 }
    }

    /// Returns the number of its elements.
    pub fn len(&self) -> u64 {
        self.rows * self.columns
    }

    /// Returns the elements that threads read and wrote, even in part.
    pub fn part(&self, touched: &[Touched], threads: &Range<u32>) -> Part {
        let end = self.address + self.len() * self.width;
        let mut part = Part::default();
        for touched in touched.iter().filter(|touched| threads.contains(&touched.thread)) {
            let bytes = touched.address.max(self.address)..(touched.address + touched.bytes).min(end);
            if bytes.is_empty() {
                continue;
            }
            let elements = (bytes.start - self.address) / self.width..(bytes.end - self.address).div_ceil(self.width);
            if touched.op != AccessOp::Store {
                part.read.extend(elements.clone());
            }
            if touched.op != AccessOp::Load {
                part.written.extend(elements);
            }
        }
        part
    }
}

/// Elements of an array by their index, row after row.
pub type Elements = BTreeSet<u64>;

/// The elements of an array that were touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// By loads and copies.
    pub read: Elements,
    /// By stores.
    pub written: Elements,
}

impl Part {
    /// Returns all of it.
    pub fn all(&self) -> Elements {
        &self.read | &self.written
    }
}

/// Groups neighboring elements.
pub fn runs(elements: &Elements) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for &element in elements {
        match runs.last_mut() {
            Some(run) if run.end == element => run.end += 1,
            _ => runs.push(element..element + 1),
        }
    }
    runs
}

/// Runs a stage once, and returns what the simulator reports. Its result has to be right.
pub fn verified<W: Workload>(gpu: &Gpu, stage: &Stage<W>, workload: &W) -> Result<Measured> {
    match runner::run(gpu, &[*stage], workload, 0)?.rows.remove(0).outcome {
        Outcome::Verified(measured) => Ok(measured),
        outcome => bail!("{} is not verified: {outcome:?}", stage.name),
    }
}

/// Runs the stage. Returns the arrays, and what the threads of each of the blocks touched.
pub fn trace<W: Arrays>(gpu: &Gpu, stage: &Stage<W>, workload: &W, blocks: &[Dim3]) -> Result<(Vec<Array>, Vec<Vec<Touched>>)> {
    let mut buffers = workload.upload(gpu)?;
    let arrays = workload.arrays(gpu, &buffers);
    let traces = blocks.iter().map(|block| {
        observer::forget(gpu)?;
        observer::trace(gpu, Some(*block))?;
        let ran = enqueue(gpu, stage, workload, &mut buffers);
        observer::trace(gpu, None)?;
        ran?;
        let mut launches = observer::take(gpu)?.launches;
        ensure!(launches.len() == 1, "{} makes {} launches", stage.name, launches.len());
        launches.pop().map(|launch| launch.report.touched).context("a launch")
    });
    Ok((arrays, traces.collect::<Result<_>>()?))
}

fn enqueue<W: Workload>(gpu: &Gpu, stage: &Stage<W>, workload: &W, buffers: &mut W::Buffers) -> Result<()> {
    match stage.run {
        Run::Launches(enqueue) => enqueue(gpu, workload, buffers)?,
        Run::Prepared(prepare) => prepare(gpu, workload)?.enqueue(gpu, workload, buffers)?,
        Run::Cpu(_) | Run::Copies(_) => {}
    }
    Ok(gpu.stream.synchronize()?)
}
