//! The planner with the models of the chapters: what it chooses, and that the tiles it plans with are those of the kernels.

use kernels::matmul::asynchronous::{DOUBLE_BUFFERED, DOUBLE_BUFFERED_ANY, SMALL_TILE, SMALL_TILE_ANY, SOURCE};
use matmul_tiled::choice::{self, Tile};
use run::planner::{self, Slices};
use run::workload::matmul::Size;
use unroll::slices::{Runs, filter};

// The tables hold choices that were compared with those of the chapters' own planners before there was one for all of them, and were the
// same at 19 million sizes.

#[test]
fn filters_are_cut_for_runs_of_outputs_as_before() {
    for (multiprocessors, resident, tiles, taps, count, length) in [
        (132, 16, 288, 32_768, 7, 4704),
        (132, 14, 165, 16_384, 8, 2048),
        (132, 16, 165, 16_384, 8, 2048),
        (132, 14, 16, 1024, 4, 256),
        (132, 16, 1, 1, 1, 32),
        (132, 16, 1, 511, 1, 512),
        (132, 16, 1, 512, 2, 256),
        (132, 16, 7, 5003, 18, 288),
        (132, 16, 2112, 16_384, 1, 16_384),
        (132, 16, 2113, 16_384, 1, 16_384),
        (108, 14, 165, 16_384, 9, 1824),
        (108, 16, 16, 1024, 4, 256),
        (40, 16, 165, 16_384, 3, 5472),
        (8, 32, 12, 4096, 4, 1024),
        (30, 8, 16, 1024, 3, 352),
        (1, 8, 3, 2000, 2, 1024),
    ] {
        let slices = planner::plan(tiles, filter(taps), multiprocessors, &Runs { resident }).slices;
        assert_eq!(slices, Slices { count, length }, "{multiprocessors} multiprocessors, {tiles} tiles, {taps} taps");
    }
}

#[test]
fn filters_are_cut_for_tensor_cores_as_before() {
    for (multiprocessors, outputs, taps, count, length) in [
        (132, 294_912, 32_768, 11, 47),
        (132, 294_912, 4096, 5, 13),
        (132, 294_912, 1024, 3, 6),
        (132, 294_912, 512, 3, 3),
        (132, 294_912, 64, 1, 2),
        (132, 16_384, 1024, 6, 3),
        (132, 1, 1, 1, 1),
        (132, 4097, 65, 1, 2),
        (132, 4096, 200_000, 131, 24),
        (132, 50_000_000, 1000, 1, 17),
        (108, 294_912, 32_768, 9, 57),
        (108, 16_384, 1024, 6, 3),
        (84, 1_000_000, 4096, 2, 33),
        (40, 4096, 129, 1, 3),
    ] {
        let slices = unroll::tensor::Division::of(outputs, taps, multiprocessors).slices;
        assert_eq!(slices, Slices { count, length }, "{multiprocessors} multiprocessors, {outputs} outputs, {taps} taps");
    }
}

#[test]
fn products_are_divided_as_before() {
    use Tile::{Large, Small};
    for (multiprocessors, (m, n, k), tile, count, length, tensor) in [
        (132, (4096, 4096, 4096), Large, 1, 4096, (1, 4096)),
        (132, (2048, 2048, 2048), Large, 1, 2048, (1, 2048)),
        (132, (1536, 1536, 1536), Small, 3, 512, (1, 1536)),
        (132, (1024, 1024, 1024), Small, 1, 1024, (4, 256)),
        (132, (768, 768, 768), Small, 5, 160, (6, 128)),
        (132, (512, 512, 512), Small, 4, 128, (4, 128)),
        (132, (256, 256, 256), Small, 11, 24, (2, 128)),
        (132, (4096, 64, 4096), Small, 8, 512, (4, 1024)),
        (132, (64, 4096, 4096), Small, 8, 512, (8, 512)),
        (132, (256, 4096, 4096), Large, 4, 1024, (4, 1024)),
        (132, (80, 48, 64), Small, 1, 64, (1, 64)),
        (132, (64, 64, 2048), Small, 32, 64, (16, 128)),
        (132, (20, 2000, 8), Small, 1, 8, (1, 32)),
        (132, (1, 1, 1), Small, 1, 8, (1, 32)),
        (132, (1, 1, 1_073_741_824), Small, 32, 33_554_432, (132, 8_134_432)),
        (132, (3000, 3000, 3000), Small, 2, 1504, (1, 3008)),
        (108, (1024, 1024, 1024), Large, 3, 344, (3, 352)),
        (108, (512, 512, 512), Small, 3, 176, (4, 128)),
        (84, (2047, 2047, 2047), Small, 4, 512, (1, 2048)),
        (40, (512, 512, 512), Small, 5, 104, (4, 128)),
        (2, (300, 300, 300), Small, 1, 304, (1, 320)),
    ] {
        let size = Size { m, n, k };
        let division = choice::Division { tile, slices: Slices { count, length } };
        assert_eq!(choice::Division::of(size, multiprocessors), division, "{multiprocessors} multiprocessors, {m}, {n}, {k}");
        let slices = Slices { count: tensor.0, length: tensor.1 };
        assert_eq!(matmul_tiled::tensor::slices(size, multiprocessors), slices, "{multiprocessors} multiprocessors, {m}, {n}, {k}");
    }
}

/// Returns the number after `constexpr unsigned NAME = `.
fn constant(name: &str) -> u32 {
    let rest = SOURCE.cuda.split(&format!("constexpr unsigned {name} = ")).nth(1).unwrap_or_else(|| panic!("no {name}"));
    rest.split(';').next().unwrap().parse().unwrap()
}

#[test]
fn tiles_are_those_of_the_kernels() {
    for (tile, kernels) in [(Tile::Large, [DOUBLE_BUFFERED, DOUBLE_BUFFERED_ANY]), (Tile::Small, [SMALL_TILE, SMALL_TILE_ANY])] {
        for kernel in kernels {
            // The first `multiply<DOWN, ACROSS, ROWS, COLUMNS, …>` after the kernel's name.
            let body = SOURCE.cuda.split(&format!("\n{}(", kernel.name)).nth(1).expect("the kernel is in its file");
            let arguments = body.split("multiply<").nth(1).and_then(|rest| rest.split('>').next()).expect("it calls `multiply`");
            let numbers: Vec<u32> = arguments.split(", ").map_while(|argument| argument.parse().ok()).collect();
            let [down, across, rows, columns, _depth] = numbers[..] else { panic!("{}: {arguments}", kernel.name) };
            let sides = (down * constant("LANES_DOWN") * rows, across * constant("LANES_ACROSS") * columns);
            assert_eq!(tile.sides(), sides, "{}", kernel.name);
            assert_eq!(tile.threads(), down * across * 32, "{}", kernel.name);
        }
    }
}
