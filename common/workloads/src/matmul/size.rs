//! The sizes of a product, and which of them can be computed.

use std::fmt;
use std::str::FromStr;

use crate::border::numbers;
use crate::error::{NoSuchSize, Result};
use crate::problem::Footprint;

/// Rows and columns of the largest matrices: a grid has 65 535 blocks in its second dimension, and the smallest tile has 16 rows.
pub const LONGEST_SIDE: u32 = 65_535 * 16;

/// Most columns of `A` and rows of `B`. A kernel looks a tile ahead with 31 bits.
pub const DEEPEST: u32 = 1 << 30;

/// The size at which results are compared.
pub const HEADLINE_SIZE: Size = Size { m: 4096, n: 4096, k: 4096 };

/// The original's example: a result of 80 x 48. It does not tell `k`; 64 is four of its tiles.
pub const SEED_SIZE: Size = Size { m: 80, n: 48, k: 64 };

/// Size that shows every effect and is quick to simulate. All rows of the chapter take seconds on two cores.
pub const TEACHING_SIZE: Size = Size { m: 256, n: 256, k: 128 };

/// The sizes of a product of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Rows of `A` and of the result.
    pub m: u32,
    /// Columns of `B` and of the result.
    pub n: u32,
    /// Columns of `A` and rows of `B`.
    pub k: u32,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { m, n, k } = self;
        write!(f, "{m} x {k} times {k} x {n}")
    }
}

impl FromStr for Size {
    type Err = NoSuchSize;

    fn from_str(text: &str) -> Result<Self> {
        if text == "seed" {
            return Ok(SEED_SIZE);
        }
        let [m, n, k] =
            numbers(text, "expected M, N and K as in 512,256,128, or `seed`").map_err(|reason| NoSuchSize::text(text, reason))?;
        let size = Size { m, n, k };
        size.check()?;
        Ok(size)
    }
}

impl Size {
    /// Returns the size of the product of two matrices, given as (rows, columns).
    pub fn of_product(a: (usize, usize), b: (usize, usize)) -> Result<Self> {
        let asked = format!("the product of {} x {} and {} x {} numbers", a.0, a.1, b.0, b.1);
        let wrong = |reason: String| Err(NoSuchSize::new(asked, reason));
        if a.1 != b.0 {
            return wrong(format!("the first matrix has {} columns and the second {} rows", a.1, b.0));
        }
        match [a.0, b.1, a.1].map(u32::try_from) {
            [Ok(m), Ok(n), Ok(k)] => {
                let size = Self { m, n, k };
                size.check().map(|()| size)
            }
            _ => wrong(format!("no side can be longer than {DEEPEST}")),
        }
    }

    /// Refuses what cannot be computed.
    pub fn check(self) -> Result<()> {
        let Self { m, n, k } = self;
        let wrong = |reason: String| Err(NoSuchSize::new(format!("a product of {self}"), reason));
        if [m, n, k].contains(&0) {
            return wrong("every side has at least one number".to_owned());
        }
        if m.max(n) > LONGEST_SIDE {
            return wrong(format!("the result has {LONGEST_SIDE} rows and columns at most"));
        }
        if k > DEEPEST {
            return wrong(format!("the matrices have {DEEPEST} in common at most"));
        }
        Ok(())
    }

    /// Returns the memory that a product of this size takes.
    pub fn footprint(self) -> Footprint {
        let [m, n, k] = [self.m, self.n, self.k].map(u64::from);
        let device_bytes = 4 * (m * k + k * n + m * n);
        // On the host the same once more, and for each output the oracle's two f64 and the value that came back.
        Footprint { device_bytes, host_bytes: device_bytes + 20 * m * n }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_those_that_cannot_be_are_refused() {
        assert_eq!("seed".parse::<Size>().unwrap(), SEED_SIZE);
        assert_eq!("2,3,4".parse::<Size>().unwrap(), Size { m: 2, n: 3, k: 4 });
        for text in [
            "",
            "2",
            "2,3",
            "2,3,4,5",
            "0,1,1",
            "1,0,1",
            "1,1,0",
            "-1,1,1",
            "x,1,1",
            "1048561,1,1",
            "1,1048561,1",
            "1,1,1073741825",
        ] {
            let error = text.parse::<Size>().expect_err(text).to_string();
            assert_eq!(error.lines().count(), 1, "{error}");
        }
        let error = "1,99999999999,1".parse::<Size>().unwrap_err().to_string();
        assert!(error.ends_with("99999999999 is too large: 4294967295 is the most"), "{error}");
    }

    #[test]
    fn the_sides_of_files_are_told_as_they_are() {
        for (a, b) in [((1 << 32, 2), (2, 1)), ((1, usize::MAX), (usize::MAX, 1)), ((1, 2), (3, usize::MAX))] {
            let error = Size::of_product(a, b).unwrap_err().to_string();
            assert!(error.contains(&format!("{} x {} and {} x {} numbers", a.0, a.1, b.0, b.1)), "{error}");
        }
    }
}
