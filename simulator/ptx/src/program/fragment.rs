//! Matrices in the registers of a warp: which lane holds which element.
//!
//! The layouts are those of `mma` (PTX ISA, "Matrix Fragments for mma"), all of which follow one rule. PTX does not say how the
//! lanes hold a fragment of `wmma`. Here they hold it as in `mma`, in pieces of 8 rows and columns.

use super::fixed::TRUE;
use alu::registers::{Kind, LANES, Reg};

/// Most registers that a fragment has in one lane.
pub const MOST_REGISTERS: usize = 8;

/// The shape of a product of matrices: m x k times k x n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

impl Shape {
    /// `m16n8k16`
    pub fn parse(text: &str) -> Option<Self> {
        let (m, rest) = text.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some(Self { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
    }

    /// Returns the multiply-adds of one product.
    pub fn multiply_adds(self) -> u64 {
        (self.m * self.n * self.k) as u64
    }
}

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    F16,
    Bf16,
    /// The upper 19 bits of an f32.
    Tf32,
    F32,
    F64,
    /// Floats of 8 bits.
    E4M3,
    E5M2,
    S8,
    U8,
    /// Integers of 4 bits, and single bits.
    S4,
    U4,
    B1,
    S32,
}

impl Number {
    /// Parses it as PTX spells it.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "tf32" => Self::Tf32,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "e4m3" => Self::E4M3,
            "e5m2" => Self::E5M2,
            "s8" => Self::S8,
            "u8" => Self::U8,
            "s4" => Self::S4,
            "u4" => Self::U4,
            "b1" => Self::B1,
            "s32" => Self::S32,
            _ => return None,
        })
    }

    /// Returns the width in bits, in memory and in registers.
    #[inline]
    pub fn bits(self) -> usize {
        match self {
            Self::B1 => 1,
            Self::S4 | Self::U4 => 4,
            Self::E4M3 | Self::E5M2 | Self::S8 | Self::U8 => 8,
            Self::F16 | Self::Bf16 => 16,
            Self::Tf32 | Self::F32 | Self::S32 => 32,
            Self::F64 => 64,
        }
    }

    /// Returns the bytes in which an element lies.
    #[inline]
    pub fn bytes(self) -> usize {
        self.bits().div_ceil(8)
    }

    /// Returns true if it is a float of 8 bits.
    #[inline]
    pub fn is_quarter(self) -> bool {
        matches!(self, Self::E4M3 | Self::E5M2)
    }

    /// Returns the kind of the registers that hold such elements.
    #[inline]
    pub fn kind(self) -> Kind {
        if self == Self::F64 { Kind::Double } else { Kind::Word }
    }

    /// Elements that share a register.
    #[inline]
    pub fn per_register(self) -> usize {
        if self == Self::F64 { 1 } else { 32 / self.bits() }
    }
}

/// The role of a matrix in `D = A B + C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The left factor.
    A,
    /// The right factor.
    B,
    /// C or D.
    Accumulator,
}

/// A matrix spread over the registers of a warp.
#[derive(Clone, Copy, Debug)]
pub struct Fragment {
    pub part: Part,
    pub shape: Shape,
    pub number: Number,
    /// A lane of `mma.m8n8k4` holds elements of a row, or else of a column.
    pub by_rows: bool,
    /// The registers of a lane; those after the last are [`TRUE`], as a placeholder.
    pub registers: [Reg; MOST_REGISTERS],
}

impl Fragment {
    /// Makes a fragment without its registers.
    pub fn new(part: Part, shape: Shape, number: Number) -> Self {
        Self { part, shape, number, by_rows: true, registers: [TRUE; MOST_REGISTERS] }
    }

    /// Returns true for `mma.m8n8k4` of f16, which is four products: each of two groups of four lanes. Their matrices lie one below the other.
    #[inline]
    pub fn is_of_quads(&self) -> bool {
        self.shape == Shape { m: 8, n: 8, k: 4 } && self.number != Number::F64
    }

    /// Rows and columns.
    #[inline]
    pub fn extents(&self) -> (usize, usize) {
        let Shape { m, n, k } = self.shape;
        let products = if self.is_of_quads() { 4 } else { 1 };
        match self.part {
            Part::A => (products * m, k),
            Part::B => (products * k, n),
            Part::Accumulator => (products * m, n),
        }
    }

    /// Counts the registers that the elements fill in each lane.
    #[inline]
    pub fn count(&self) -> usize {
        let (rows, columns) = self.extents();
        rows * columns / 32 / self.number.per_register()
    }

    /// Counts the registers that the instruction names. `wmma` always has eight for f16; those that the elements do not fill repeat
    /// the others.
    #[inline]
    pub fn count_of_wmma(&self) -> usize {
        if self.part != Part::Accumulator && self.number == Number::F16 { MOST_REGISTERS } else { self.count() }
    }

    /// Returns the registers that the instruction names.
    pub fn named(&self) -> &[Reg] {
        &self.registers[..self.count_of_wmma()]
    }

    /// Returns an element's row and column in a register, for every lane.
    ///
    /// Four adjacent lanes hold one row of A or of an accumulator, or one column of B. Eight such groups hold 8 rows or columns.
    #[inline(always)]
    pub fn places(&self, register: usize, element: usize) -> [(usize, usize); LANES] {
        let per_register = self.number.per_register();
        if self.is_of_quads() {
            return self.places_in_quads(register * per_register + element);
        }
        let row_blocks = self.shape.m / 8;
        // Of the first lane.
        let (row, column) = match self.part {
            Part::A => (8 * (register % row_blocks), register / row_blocks * 4 * per_register + element),
            Part::B => {
                let k_blocks = self.shape.k / (4 * per_register);
                (register % k_blocks * 4 * per_register + element, 8 * (register / k_blocks))
            }
            Part::Accumulator => {
                let (pair, of_pair) = ((register * per_register + element) / 2, (register * per_register + element) % 2);
                (8 * (pair % row_blocks), of_pair + 8 * (pair / row_blocks))
            }
        };
        // From one group to the next, and from one of its lanes to the next.
        let ((down, right), (member_down, member_right)) = match self.part {
            Part::A => ((1, 0), (0, per_register)),
            Part::B => ((0, 1), (per_register, 0)),
            Part::Accumulator => ((1, 0), (0, 2)),
        };
        let mut places = [(0, 0); LANES];
        for (lane, place) in places.iter_mut().enumerate() {
            let (group, member) = (lane / 4, lane % 4);
            *place = (row + group * down + member * member_down, column + group * right + member * member_right);
        }
        places
    }

    /// Does the same for `mma.m8n8k4` (PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type").
    fn places_in_quads(&self, i: usize) -> [(usize, usize); LANES] {
        std::array::from_fn(|lane| {
            let (quad, member, high) = (lane / 4 % 4, lane % 4, lane / 16 * 4);
            match (self.part, self.by_rows) {
                (Part::A, true) => (8 * quad + high + member, i),
                (Part::A, false) => (8 * quad + high + i, member),
                (Part::B, true) => (4 * quad + member, high + i),
                (Part::B, false) => (4 * quad + i, high + member),
                (Part::Accumulator, _) if self.number == Number::F16 => (8 * quad + high + member, i),
                (Part::Accumulator, _) => (8 * quad + high + (member & 1) + (i & 2), (i & 4) + (member & 2) + (i & 1)),
            }
        })
    }
}

/// Returns where `mma` keeps the elements of a matrix: row and column in every lane, register by register, of the first element that
/// each register has. Shape and type are spelled as in PTX, for example `m16n8k16` and `bf16`; `None` if they are none.
pub fn places_in_registers(part: Part, shape: &str, number: &str) -> Option<Vec<[(usize, usize); LANES]>> {
    let fragment = Fragment::new(part, Shape::parse(shape)?, Number::parse(number)?);
    Some((0..fragment.count()).map(|register| fragment.places(register, 0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: &[(&str, Number, Number)] = &[
        ("m16n8k16", Number::F16, Number::F32),
        ("m16n8k8", Number::Bf16, Number::F32),
        ("m16n8k8", Number::F16, Number::F16),
        ("m16n8k4", Number::Tf32, Number::F32),
        ("m16n8k32", Number::S8, Number::S32),
        ("m16n8k16", Number::E4M3, Number::F32),
        ("m16n8k32", Number::E5M2, Number::F16),
        ("m8n8k16", Number::U8, Number::S32),
        ("m8n8k4", Number::F64, Number::F64),
        ("m16n16k16", Number::F16, Number::F16),
        ("m32n8k16", Number::S8, Number::S32),
        ("m8n32k16", Number::Bf16, Number::F32),
        ("m16n16k8", Number::Tf32, Number::F32),
    ];

    #[test]
    fn the_lanes_hold_each_element_once() {
        for (shape, input, output) in SHAPES {
            let shape = Shape::parse(shape).unwrap();
            for (part, number) in [(Part::A, *input), (Part::B, *input), (Part::Accumulator, *output)] {
                let fragment = Fragment::new(part, shape, number);
                let (rows, columns) = fragment.extents();
                let mut held = vec![0; rows * columns];
                for register in 0..fragment.count() {
                    for element in 0..number.per_register() {
                        for (row, column) in fragment.places(register, element) {
                            held[row * columns + column] += 1;
                        }
                    }
                }
                assert!(held.iter().all(|count| *count == 1), "{shape:?} {part:?}: {held:?}");
            }
        }
    }

    #[test]
    fn elements_lie_where_the_figures_of_the_isa_show_them() {
        let of = |shape: &str, part, number| Fragment::new(part, Shape::parse(shape).unwrap(), number);
        for (fragment, lane, register, element, place) in [
            // a0, a3, a4 and a7 of lane 6, whose group is 1 and who is member 2.
            (of("m16n8k16", Part::A, Number::F16), 6, 0, 0, (1, 4)),
            (of("m16n8k16", Part::A, Number::F16), 6, 1, 1, (9, 5)),
            (of("m16n8k16", Part::A, Number::F16), 6, 2, 0, (1, 12)),
            (of("m16n8k16", Part::A, Number::F16), 6, 3, 1, (9, 13)),
            (of("m16n8k16", Part::B, Number::F16), 6, 1, 1, (13, 1)),
            (of("m16n8k16", Part::Accumulator, Number::F32), 6, 3, 0, (9, 5)),
            (of("m16n8k16", Part::Accumulator, Number::F16), 6, 1, 1, (9, 5)),
            (of("m16n8k8", Part::A, Number::Tf32), 6, 1, 0, (9, 2)),
            (of("m16n8k8", Part::A, Number::Tf32), 6, 2, 0, (1, 6)),
            (of("m16n8k32", Part::A, Number::S8), 6, 2, 3, (1, 27)),
            (of("m16n8k32", Part::B, Number::U8), 6, 1, 0, (24, 1)),
            (of("m16n8k16", Part::A, Number::E4M3), 6, 1, 3, (9, 11)),
            (of("m16n8k16", Part::B, Number::E5M2), 6, 0, 2, (10, 1)),
            (of("m8n8k4", Part::A, Number::F64), 6, 0, 0, (1, 2)),
            (of("m8n8k4", Part::Accumulator, Number::F64), 6, 1, 0, (1, 5)),
        ] {
            assert_eq!(fragment.places(register, element)[lane], place, "{fragment:?}");
        }
    }
}
