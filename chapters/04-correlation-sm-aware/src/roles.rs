//! The stage whose blocks multiply and sum at the same time, with warps of two roles.
//!
//! A block has almost all of a multiprocessor's shared memory: a tile of 256 output rows, twice, and all bands of the template.

use cudarc::driver::{LaunchConfig, PushKernelArg};
use kernels::correlation::hopper::{PADDED_WORDS, PIECE_COLUMNS, UNIT, WIDE};
use kernels::correlation::roles::{CHUNK_ROWS, PREFIX_BYTES, ROLE_THREADS, SIDE, STRETCH, SUMMERS, TALL, WGMMA_ROLES as KERNEL};
use run::gpu::allow_shared_memory;
use run::workload::correlation::{Buffers, Correlation};
use run::{Gpu, Result, Stage, Unmet};

use crate::hopper::Pieces;
use crate::shape::Shape;

/// One warpgroup multiplies while the other warps sum windows.
pub const WGMMA_ROLES: Stage<Correlation> =
    Stage::launches("wgmma-roles", "one warpgroup multiplies while the other warps sum windows, in large blocks", launch)
        .needs_generation(9, 0)
        .requires(|gpu, correlation| {
            let template = correlation.template();
            let columns = Unmet::limit("columns of the template", template.width, PIECE_COLUMNS);
            let needed = shared_bytes(&pieces((template.width, template.height)));
            Ok(columns.or(Unmet::shared_memory(needed, gpu.most_shared_bytes()?)))
        });

fn launch(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers) -> Result<()> {
    let pieces = pieces((correlation.template().width, correlation.template().height));
    let (columns, rows) = correlation.outputs();
    let config = LaunchConfig {
        grid_dim: (columns.div_ceil(WIDE), rows.div_ceil(TALL), 1),
        block_dim: (ROLE_THREADS, 1, 1),
        shared_mem_bytes: shared_bytes(&pieces),
    };
    let kernel = gpu.kernel(KERNEL)?;
    allow_shared_memory(&kernel, config.shared_mem_bytes)?;
    let shape = Shape::of(correlation);
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&buffers.template).arg(&shape).arg(&pieces).arg(&mut output);
    // SAFETY: the kernel reads the pixels of the image, with positions outside moved to its edge, and of the template, and
    // writes a result for each output; the workload made the buffers with those lengths, which `shape` gives. Its tile,
    // bands, products and window sums have the bytes that the launch gives it, because `shared_bytes` counts the same `pieces`.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// Returns the template as a single piece.
fn pieces((width, height): (u32, u32)) -> Pieces {
    let units = (width + SIDE - 1).div_ceil(UNIT);
    let steps = (height + SIDE - 1).next_multiple_of(2);
    // As many columns as the products of the last output take, and as the windows take.
    let pitch = (WIDE - UNIT + units * UNIT).max((WIDE - 1 + width).next_multiple_of(UNIT));
    Pieces::new([width, height, units, steps, pitch, TALL - SIDE + steps])
}

/// Returns the bytes of shared memory: the tile twice, the bands, a chunk of products, and the window sums of each warp. The
/// padded rows that the bands are made from take the place of the products.
fn shared_bytes(pieces: &Pieces) -> u32 {
    let [_, rows, units, steps, pitch, tile_rows] = pieces.numbers();
    let last = (tile_rows - 1) / STRETCH * 2 * STRETCH + (tile_rows - 1) % STRETCH + STRETCH;
    let bands = units * (steps + SIDE - 1) * SIDE * UNIT;
    let products = (CHUNK_ROWS * WIDE).max(rows * PADDED_WORDS) * 4;
    (last + 1).saturating_mul(pitch).saturating_add(bands + products + SUMMERS * PREFIX_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_original_template_takes_almost_all_shared_memory() {
        let original = Pieces::new([52, 52, 4, 60, 192, 308]);
        assert_eq!(pieces((52, 52)), original);
        assert!((200_000..232_448).contains(&shared_bytes(&original)));
    }

    #[test]
    fn a_tile_has_every_pixel_that_a_product_or_a_window_reads() {
        for (width, height) in (1..=PIECE_COLUMNS).flat_map(|width| [1, 2, 51, 52].map(|height| (width, height))) {
            let [_, _, units, steps, pitch, tile_rows] = pieces((width, height)).numbers();
            assert!(pitch >= WIDE - UNIT + units * UNIT && pitch >= WIDE + width - 1 && pitch <= 16 * UNIT, "{width}x{height}");
            assert!(tile_rows >= TALL + height - 1 && steps >= height + SIDE - 1 && steps % 2 == 0, "{width}x{height}");
            assert!(width + SIDE - 1 <= units * UNIT && units <= 5, "{width}x{height}");
        }
    }
}
