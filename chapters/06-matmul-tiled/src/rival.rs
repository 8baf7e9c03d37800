//! The rival: cuBLAS, NVIDIA's own library of dense linear algebra. Nothing of it runs on the simulator.

use common::Result;
use common::cublas::{Cublas, Handle, Precision, Shape};
use common::gpu::Gpu;
use common::requirement::Unmet;
use common::stage::{Prepared, Stage};
use common::workload::Matmul;
use common::workload::matmul::{Buffers, Size};

use crate::slices::any_order;
use crate::tensor::rounded_factors;

/// The library needs a GPU, and to be installed.
fn requirement(gpu: &Gpu, _: &Matmul) -> Result<Option<Unmet>> {
    if gpu.is_simulated() {
        return Ok(Some(Unmet::Gpu { library: "cuBLAS" }));
    }
    Ok(Cublas::find().err().map(|error| Unmet::Library { reason: error.to_string() }))
}

/// The library in single precision.
pub const CUBLAS: Stage<Matmul> =
    Stage::prepared("cublas", "the library of the vendor, in f32", |gpu, _| prepare(gpu, Precision::F32))
        .calls("cuBLAS")
        .requires(requirement)
        .with_allowance(any_order);

/// The library with factors of tf32.
pub const CUBLAS_TF32: Stage<Matmul> =
    Stage::prepared("cublas-tf32", "the library of the vendor, with factors of 11 binary digits", |gpu, _| {
        prepare(gpu, Precision::Tf32)
    })
    .calls("cuBLAS")
    .needs_compute_capability(8, 0)
    .requires(requirement)
    .with_allowance(rounded_factors);

/// A product by cuBLAS.
struct Library {
    handle: Handle<'static>,
    precision: Precision,
}

fn prepare(gpu: &Gpu, precision: Precision) -> Result<Box<dyn Prepared<Matmul>>> {
    Ok(Box::new(Library { handle: Cublas::find()?.handle(gpu)?, precision }))
}

impl Prepared<Matmul> for Library {
    // ANCHOR: cublas
    fn enqueue(&mut self, gpu: &Gpu, product: &Matmul, buffers: &mut Buffers) -> Result<()> {
        let Size { m, n, k } = product.size();
        let shape = Shape { m: m as usize, n: n as usize, k: k as usize };
        self.handle.multiply(gpu, shape, &buffers.a, &buffers.b, &mut buffers.output.view_mut(), self.precision)
    }
    // ANCHOR_END: cublas
}
