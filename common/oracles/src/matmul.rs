//! The oracle of a product: every output of a small one; of a large one a sample, and sums that cover all outputs.
//!
//! The sums are those of [`Sampled`]: for a run of columns `j` of one row of `C` and weights `w`,
//! `sum w[j] c[i][j] = sum over l of a[i][l] * (sum w[j] b[l][j])`. The inner sums are the same for all rows. So the check multiplies `A` by
//! a matrix that is narrower than `B` by a factor of 16: two complex numbers for each run of 64 columns.

use crate::check::Oracle;
use crate::expected::Expected;
use crate::parallel;
use crate::progress;
use crate::random::generator;
use crate::rounding::{TREE_DEPTH, UNIT_ROUNDOFF, flushed, norm};
use crate::sampled::{MOST_PRODUCTS_OF_A_WHOLE_ORACLE, POINTS, RunSum, Sampled, Weights, roundings, runs};
use chacha20::rand_core::Rng;

/// The shape of a product: `m` rows and `k` columns in `A`, `k` rows and `n` columns in `B`.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Rows of `A` and of the product.
    pub m: usize,
    /// Columns of `B` and of the product.
    pub n: usize,
    /// Columns of `A`, rows of `B`.
    pub k: usize,
}

/// The oracle's results.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The expected value of each output.
    pub oracle: Oracle,
    /// The largest `sum |a[i][l] * b[l][j]|` of all outputs, or an upper bound where the oracle is sampled.
    pub largest_magnitudes: f64,
}

/// Returns the outcome for a product of any size. Both matrices are stored row after row without gaps.
pub fn outcome(shape: Shape, a: &[f32], b: &[f32]) -> Outcome {
    let products = shape.m as u64 * shape.n as u64 * shape.k as u64;
    if products <= MOST_PRODUCTS_OF_A_WHOLE_ORACLE { whole(shape, a, b) } else { sampled(shape, a, b) }
}

/// Columns computed together, so that the compiler can vectorize. Their sums stay in the L1 cache.
const SIDE_BY_SIDE: usize = 256;

/// Returns the expected value and the tolerance of each output: plain sums in f64, in the order of the terms.
fn whole(shape: Shape, a: &[f32], b: &[f32]) -> Outcome {
    let Shape { m, n, k } = shape;
    let bar = progress::bar("oracle", m as u64);
    let (rows, largest): (Vec<_>, Vec<_>) = parallel::map(m, |row| {
        let a = &a[row * k..][..k];
        let mut expected = vec![Expected::default(); n];
        let chunks = expected.chunks_mut(SIDE_BY_SIDE).enumerate();
        let largest = chunks.map(|(chunk, expected)| sums(a, &b[chunk * SIDE_BY_SIDE..], n, expected)).fold(0.0, f64::max);
        bar.inc(1);
        (expected, largest)
    })
    .into_iter()
    .unzip();
    Outcome { oracle: Oracle::Whole(rows.concat()), largest_magnitudes: largest.into_iter().fold(0.0, f64::max) }
}

/// Returns the expected values of neighboring outputs of a row. There are `count`, from a column on.
pub fn of_row(shape: Shape, a: &[f32], b: &[f32], row: usize, column: usize, count: usize) -> Vec<Expected> {
    let mut expected = vec![Expected::default(); count];
    for (chunk, expected) in expected.chunks_mut(SIDE_BY_SIDE).enumerate() {
        sums(&a[row * shape.k..][..shape.k], &b[column + chunk * SIDE_BY_SIDE..], shape.n, expected);
    }
    expected
}

/// Computes outputs of one row: `a` is the row of `A`, `b` starts at the first of the columns of `B`, whose rows are `n` apart. Returns the
/// largest sum of magnitudes.
fn sums(a: &[f32], b: &[f32], n: usize, expected: &mut [Expected]) -> f64 {
    let mut sum = [0.0_f64; SIDE_BY_SIDE];
    let mut partial_sums = [0.0_f64; SIDE_BY_SIDE];
    let mut magnitudes = [0.0_f64; SIDE_BY_SIDE];
    let columns = expected.len();
    for (l, &factor) in a.iter().enumerate() {
        let factor = f64::from(factor);
        let row = &b[l * n..][..columns];
        for column in 0..columns {
            let term = factor * f64::from(row[column]);
            sum[column] += term;
            partial_sums[column] += sum[column].abs();
            magnitudes[column] += term.abs();
        }
    }
    let terms = a.len() as f64;
    // (1 + u)^terms, from above.
    let growth = (terms * UNIT_ROUNDOFF).exp();
    for (column, expected) in expected.iter_mut().enumerate() {
        let tolerance = growth * UNIT_ROUNDOFF * (partial_sums[column] + TREE_DEPTH * magnitudes[column]) + flushed(a.len());
        *expected = Expected { value: sum[column], tolerance };
    }
    magnitudes[..columns].iter().copied().fold(0.0, f64::max)
}

/// Sampled outputs per row, or per column if there are more columns.
const SAMPLED_PER_LINE: usize = 4;

/// Rows computed together, so that they share loads of the narrow matrix.
const ROWS: usize = 8;

/// Computes expected values for a sample, and expected sums for all outputs. The sample visits every row and every column.
pub fn sampled(shape: Shape, a: &[f32], b: &[f32]) -> Outcome {
    let Shape { m, n, k } = shape;
    let row_norms: Vec<f64> = a.chunks(k).map(norm).collect();
    let column_norms = column_norms(n, b);
    let mut sample = sample(shape);
    sample.sort_unstable_by_key(|&(row, column)| (column, row));
    let columns: Vec<&[(usize, usize)]> = sample.chunk_by(|one, other| one.1 == other.1).collect();
    let sample = parallel::map(columns.len(), |at| {
        let of_column = columns[at];
        let column: Vec<f32> = b[of_column[0].1..].iter().step_by(n).copied().collect();
        let one = |&(row, at): &(usize, usize)| {
            let mut expected = [Expected::default()];
            sums(&a[row * k..][..k], &column, 1, &mut expected);
            (row * n + at, expected[0])
        };
        of_column.iter().map(one).collect::<Vec<_>>()
    });
    let mut sample = sample.concat();
    sample.sort_unstable_by_key(|(index, _)| *index);

    let ratio = |(index, expected): &(usize, Expected)| {
        (expected.tolerance - flushed(k)) / (UNIT_ROUNDOFF * row_norms[index / n] * column_norms[index % n])
    };
    // A sum of terms that are mostly zeros rounds seldom.
    let roundings = roundings(sample.iter().map(ratio), TREE_DEPTH + (k as f64).sqrt());

    let weights = Weights::new();
    let of_row: Vec<_> = runs(n, n).collect();
    let run_norms: Vec<f64> = of_row.iter().map(|run| column_norms[run.clone()].iter().sum()).collect();
    let narrow = parallel::map(k, |row| {
        let row = &b[row * n..][..n];
        of_row.iter().map(|run| weights.sums(row[run.clone()].iter().map(|&value| f64::from(value)))).collect::<Vec<_>>()
    })
    .concat();
    let bar = progress::bar("oracle", m as u64);
    let blocks: Vec<&[f32]> = a.chunks(ROWS * k).collect();
    let sums = parallel::map(blocks.len(), |block| {
        let a = blocks[block];
        let mut values = vec![[[0.0_f64; 2]; POINTS]; a.len() / k * of_row.len()];
        for (l, narrow) in narrow.chunks(of_row.len()).enumerate() {
            for (values, a) in values.chunks_mut(of_row.len()).zip(a.chunks(k)) {
                let factor = f64::from(a[l]);
                for (value, narrow) in
                    values.as_flattened_mut().as_flattened_mut().iter_mut().zip(narrow.as_flattened().as_flattened())
                {
                    *value += factor * narrow;
                }
            }
        }
        bar.inc(a.len() / k);
        let tolerance = |at: usize| {
            let (row, run) = (block * ROWS + at / of_row.len(), at % of_row.len());
            roundings * UNIT_ROUNDOFF * row_norms[row] * run_norms[run] + flushed(k) * of_row[run].len() as f64
        };
        values.into_iter().enumerate().map(|(at, values)| RunSum { values, tolerance: tolerance(at) }).collect::<Vec<_>>()
    })
    .concat();

    let largest = |norms: &[f64]| norms.iter().copied().fold(0.0, f64::max);
    let largest_magnitudes = largest(&row_norms) * largest(&column_norms);
    let oracle = Oracle::Sampled(Sampled { outputs: m * n, columns: n, sample, scales: None, sums });
    Outcome { oracle, largest_magnitudes }
}

/// Chooses the rows and columns of the sampled outputs: random, but every row and every column has [`SAMPLED_PER_LINE`] or more.
fn sample(shape: Shape) -> Vec<(usize, usize)> {
    let Shape { m, n, .. } = shape;
    let mut generator = generator(4096);
    let mut shuffled = |length: usize| {
        let mut indices: Vec<usize> = (0..length).collect();
        for last in (1..length).rev() {
            indices.swap(last, generator.next_u64() as usize % (last + 1));
        }
        indices
    };
    let mut sample = Vec::new();
    for _ in 0..SAMPLED_PER_LINE {
        let (rows, columns) = (shuffled(m), shuffled(n));
        sample.extend((0..m.max(n)).map(|at| (rows[at % m], columns[at % n])));
    }
    sample
}

fn column_norms(n: usize, b: &[f32]) -> Vec<f64> {
    let mut squares = vec![0.0; n];
    for row in b.chunks(n) {
        for (sum, &value) in squares.iter_mut().zip(row) {
            *sum += f64::from(value).powi(2);
        }
    }
    squares.into_iter().map(f64::sqrt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Accuracy, check};
    use crate::mismatch::Mismatch;
    use crate::output::{Downloaded, POISON};
    use crate::random::values;
    use crate::sampled::RUN;

    /// Shape whose rows and runs of columns do not divide evenly.
    const SHAPE: Shape = Shape { m: 37, n: 2 * RUN + 11, k: 300 };

    /// Two matrices to multiply.
    struct Product {
        shape: Shape,
        a: Vec<f32>,
        b: Vec<f32>,
    }

    fn random(seed: u64) -> Product {
        let mut generator = generator(seed);
        let a = values(&mut generator, SHAPE.m * SHAPE.k);
        Product { shape: SHAPE, a, b: values(&mut generator, SHAPE.k * SHAPE.n) }
    }

    fn sampled_oracle(product: &Product) -> Oracle {
        sampled(product.shape, &product.a, &product.b).oracle
    }

    /// Returns the product in f32, in the order of the terms.
    fn product_in_f32(product: &Product) -> Vec<f32> {
        let Shape { n, k, .. } = product.shape;
        let rows = product.a.chunks(k);
        rows.flat_map(|a| {
            (0..n).map(move |j| a.iter().zip(product.b[j..].iter().step_by(n)).fold(0.0_f32, |sum, (a, b)| sum + a * b))
        })
        .collect()
    }

    fn verdict(values: &[f32], oracle: &Oracle) -> Result<Accuracy, Box<Mismatch>> {
        check(&Downloaded { values: values.to_vec(), breach: None }, oracle, 0.0)
    }

    #[test]
    fn a_product_wider_than_what_is_computed_side_by_side_is_whole() {
        let n = SIDE_BY_SIDE + 3;
        let b: Vec<f32> = (0..n).map(|j| j as f32).collect();
        let shape = Shape { m: 2, n, k: 1 };
        let values: Vec<f64> = (0..2 * n).map(|at| [2.0, -3.0][at / n] * (at % n) as f64).collect();
        let outcome = outcome(shape, &[2.0, -3.0], &b);
        let expected = outcome.oracle.whole().expect("it is small");
        assert_eq!(expected.iter().map(|expected| expected.value).collect::<Vec<_>>(), values);
    }

    #[test]
    fn magnitudes_and_tolerances_are_those_of_the_terms() {
        let outcome = outcome(Shape { m: 1, n: 2, k: 2 }, &[1.0, -1.0], &[3.0, 5.0, 3.0, 5.0]);
        assert_eq!(outcome.largest_magnitudes, 10.0);
        // Partial sums 3 and 0, magnitudes 6.
        let tolerance = outcome.oracle.whole().expect("it is small")[0].tolerance;
        assert!((tolerance / UNIT_ROUNDOFF - (3.0 + TREE_DEPTH * 6.0)).abs() < 1e-3, "{}", tolerance / UNIT_ROUNDOFF);
    }

    #[test]
    fn the_sample_visits_every_row_and_column_and_its_values_are_those_of_the_whole_oracle() {
        let product = random(13);
        let Oracle::Sampled(sampled) = sampled_oracle(&product) else { panic!("it is sampled") };
        let n = SHAPE.n;
        assert_eq!(sampled.sample.len(), SAMPLED_PER_LINE * n);
        for column in 0..n {
            assert_eq!(sampled.sample.iter().filter(|(index, _)| index % n == column).count(), SAMPLED_PER_LINE);
        }
        assert!((0..SHAPE.m).all(|row| sampled.sample.iter().any(|(index, _)| index / n == row)));
        let whole = whole(product.shape, &product.a, &product.b).oracle;
        for (index, expected) in sampled.sample {
            assert_eq!(expected, whole.whole().expect("every output was computed")[index]);
        }
    }

    #[test]
    fn a_correct_product_passes_with_the_sampled_oracle() {
        for seed in 0..8 {
            let product = random(seed);
            let accuracy = verdict(&product_in_f32(&product), &sampled_oracle(&product)).unwrap();
            assert_eq!(accuracy.sampled(), Some(SAMPLED_PER_LINE * SHAPE.n));
        }
    }

    #[test]
    fn products_whose_rounding_errors_pile_up_pass_with_the_sampled_oracle() {
        let shape = Shape { k: 3000, ..SHAPE };
        let Shape { m, n, k } = shape;
        // One sign everywhere; only in a few rows and columns; and only in a band around the diagonal, zeros elsewhere.
        type Factor = fn(usize, usize) -> f32;
        let alternating: Factor = |l, line| if (l * 7 + line) % 3 == 0 { -0.7 } else { 1.1 };
        let cases: [(Factor, Factor); 3] = [
            (|_, _| 0.1, |_, _| 1.1),
            (
                |l, row| if row == 20 { 0.1 } else { [0.3, -0.3][l % 2] },
                |l, column| if column == 70 { 0.7 } else { [0.9, 0.8][l % 2] },
            ),
            (|l, row| if l / 80 == row { 0.1 } else { 0.0 }, |_, _| 1.1),
        ];
        for (a, b) in cases.into_iter().chain([(alternating, alternating)]) {
            let a: Vec<f32> = (0..m * k).map(|at| a(at % k, at / k)).collect();
            let b: Vec<f32> = (0..k * n).map(|at| b(at / n, at % n)).collect();
            let product = Product { shape, a, b };
            let outcome = verdict(&product_in_f32(&product), &sampled_oracle(&product));
            assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
        }
    }

    #[test]
    fn one_wrong_output_anywhere_is_found() {
        let product = random(13);
        let (right, oracle) = (product_in_f32(&product), sampled_oracle(&product));
        let Oracle::Sampled(sampled) = &oracle else { panic!("it is sampled") };
        let largest = sampled.sums.iter().map(|sum| sum.tolerance).fold(0.0, f64::max) as f32;
        // A missing product of the smallest magnitude is 0.25.
        assert!(2.0 * largest < 0.25, "{largest}");
        for index in 0..right.len() {
            for wrong in [right[index] + 2.0 * largest, right[index] - 2.0 * largest, f32::NAN, f32::INFINITY] {
                let mut values = right.clone();
                values[index] = wrong;
                let mismatch = verdict(&values, &oracle).expect_err("one output is wrong");
                let sums = mismatch.sampled.as_ref().expect("the oracle is sampled");
                assert!(
                    sums.wrong == 1 && sums.first.as_ref().is_some_and(|run| run.contains(&index)),
                    "{index}, {wrong}: {mismatch}"
                );
            }
        }
    }

    #[test]
    fn errors_that_cancel_in_a_plain_sum_are_found() {
        let product = random(13);
        let (right, oracle) = (product_in_f32(&product), sampled_oracle(&product));
        // Without the sample, which finds some of them as well.
        let Oracle::Sampled(sampled) = oracle else { panic!("it is sampled") };
        let oracle = Oracle::Sampled(Sampled { sample: Vec::new(), ..sampled });
        let n = SHAPE.n;
        let (mut missed, mut tried) = (0, 0);
        for row in 0..SHAPE.m {
            for one in 0..n {
                for other in one + 1..n {
                    let mut values = right.clone();
                    let (one, other) = (row * n + one, row * n + other);
                    if (values[one] - values[other]).abs() < 1.0 || (one + other) % 19 != 0 {
                        continue;
                    }
                    values.swap(one, other);
                    tried += 1;
                    missed += u32::from(verdict(&values, &oracle).is_ok());
                }
            }
        }
        assert_eq!(missed, 0, "of {tried} swaps");
        assert!(tried > 5000, "{tried}");
    }

    #[test]
    fn swapped_rows_a_wrong_block_and_an_unwritten_tile_are_found_without_the_sample() {
        let product = random(13);
        let right = product_in_f32(&product);
        let Oracle::Sampled(sampled) = sampled_oracle(&product) else { panic!("it is sampled") };
        let oracle = Oracle::Sampled(Sampled { sample: Vec::new(), ..sampled });
        let n = SHAPE.n;
        let at = |row: usize, column: usize| row * n + column;
        let tile = || (8..16).flat_map(|row| (120..139).map(move |column| (row, column)));

        let mut swapped = right.clone();
        (0..n).for_each(|column| swapped.swap(at(5, column), at(6, column)));
        let sums = |values: &[f32]| verdict(values, &oracle).expect_err("it is wrong").sampled.expect("the oracle is sampled");
        assert_eq!((sums(&swapped).wrong, sums(&swapped).first), (6, Some(at(5, 0)..at(5, RUN))));

        let mut transposed = right.clone();
        tile().for_each(|(row, column)| transposed[at(row, column)] = right[at(column - 112, row + 112)]);
        assert!(sums(&transposed).wrong >= 8);

        let mut unwritten = right.clone();
        tile().for_each(|(row, column)| unwritten[at(row, column)] = f32::from_bits(POISON));
        let mismatch = verdict(&unwritten, &oracle).expect_err("a tile is missing");
        assert_eq!(mismatch.unwritten, 8 * 19);
        assert!(mismatch.to_string().contains("152 of 5143 outputs were never written"), "{mismatch}");

        assert!(verdict(&right[1..], &oracle).is_err(), "an output is missing");
    }

    #[test]
    fn an_allowance_widens_the_sums_as_well() {
        let product = random(13);
        let values: Vec<f32> = product_in_f32(&product).iter().map(|value| value + 0.1).collect();
        let verdict = |allowance| check(&Downloaded { values: values.clone(), breach: None }, &sampled_oracle(&product), allowance);
        assert!(verdict(0.09).is_err() && verdict(0.11).is_ok());
    }
}
