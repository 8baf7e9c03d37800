//! More blocks than multiprocessors: a few multiprocessors get a block more than the others.

use anyhow::{Result, bail};
use kernels::matmul::asynchronous::{LARGE_COLUMNS, LARGE_ROWS};
use run::units::percent;
use run::workload::convolution::SEED_SIZE;
use simt::Profile;

use super::super::svg::{MARGIN, Svg, WIDTH};
use super::shapes::{Picture, Timeline};

const ROW: f64 = 30.0;
const STEP: f64 = 35.0;
/// Between rows, for the multiprocessors that are left out.
const GAP: f64 = 18.0;

/// Draws a launch on a GPU. Blocks of `naive-strided` in chapter 01 share a multiprocessor; one of `double-buffered` in chapter 06 fills it.
pub fn draw(gpu: &Profile, of: &str) -> Result<Picture> {
    let (blocks, shared) = match of {
        "runs" => (SEED_SIZE.outputs.div_ceil(conv_naive::THREADS * kernels::conv_naive::RUN), true),
        "tiles" => (4096 / LARGE_ROWS * (4096 / LARGE_COLUMNS), false),
        _ => bail!("the blocks of the picture compute `runs` or `tiles`, not `{of}`"),
    };
    let all = gpu.multiprocessors;
    let (most, busier) = (blocks.div_ceil(all), blocks % all);
    let time = Timeline { left: MARGIN + 120.0, right: WIDTH - MARGIN, length: most.into() };
    let each = f64::from(blocks) / f64::from(all);
    let title = format!("{blocks} blocks on {all} multiprocessors: {each:.2} for each, on average");
    let mut svg = Svg::titled(40.0 + 6.0 * STEP + 2.0 * GAP + 26.0, &title);
    let mut y = 40.0;
    for multiprocessor in [0, 1, busier - 1, busier, all - 2, all - 1] {
        if multiprocessor == busier - 1 || multiprocessor == all - 2 {
            svg.text("middle", time.left - 16.0, y + 9.0, "⋮");
            y += GAP;
        }
        svg.text("small right", time.left - 8.0, y + 19.0, &format!("multiprocessor {multiprocessor}"));
        let own = if multiprocessor < busier { most } else { most - 1 };
        for index in 0..own {
            let (class, words) = (if own == most { "wanted" } else { "block" }, format!("block {}", multiprocessor + index * all));
            let height = if shared { ROW / f64::from(own) } else { ROW };
            let (span, at) = if shared { ((0, own), height * f64::from(index)) } else { ((index, index + 1), 0.0) };
            time.piece(&mut svg, class, (span.0.into(), span.1.into()), (y + at, height - 1.0), &words);
        }
        if own < most {
            time.piece(&mut svg, "idle", (own.into(), most.into()), (y, ROW - 1.0), "nothing left to do");
        }
        y += STEP;
    }
    svg.text("small", time.left, y + 12.0, "time");
    svg.arrow((time.left + 34.0, y + 8.0), (time.left + 110.0, y + 8.0));
    svg.text("small right", time.right, y + 12.0, "The hardware chooses which multiprocessors get one more.");
    let caption = format!(
        "A launch ends with its busiest multiprocessor: {busier} of {all} have {most} blocks and the others {}, so {} of the multiprocessors' \
         time is used.",
        most - 1,
        percent(each / f64::from(most))
    );
    Ok(Picture { svg, caption })
}
