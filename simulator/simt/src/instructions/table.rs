//! What is made of the rows: the list of the instructions, and their functions.

#![expect(
    clippy::neg_cmp_op_on_partial_ord,
    clippy::double_comparisons,
    reason = "what the lints offer instead is something else where an operand is NaN"
)]

use super::approximate::{self, Accuracy};
use super::class::Class;
use super::float::{self, canonical32};
use super::format::{self, Rounding};
use super::half::{self, Bf16, F16, Half, Two};
use super::rows::{approximations, bits, comparisons, conversions, double, halves, integers, moves, single};
use super::{exact, integer};
use crate::registers::{Kind, LANES, Lane, Reg, Registers};
use crate::windows::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_OFFSET};

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    /// The instruction.
    pub alu: Alu,
    /// Its spellings; alternatives stand in braces.
    pub spelling: &'static str,
    /// What it counts as.
    pub class: Class,
    /// What its sources need.
    pub sources: &'static [Kind],
    /// What its destination needs.
    pub destination: Kind,
    /// What PTX promises of an approximate function; all others are exact, or rounded once as they say.
    pub accuracy: Option<Accuracy>,
}

/// The accuracy of a row that names one.
macro_rules! accuracy {
    () => {
        None
    };
    ($($accuracy:tt)+) => {
        Some(Accuracy::$($accuracy)+)
    };
}

/// Makes the enum, the table and the functions from the rows, so that they cannot disagree.
macro_rules! instructions {
    (
        => $($name:ident $spelling:literal $class:ident $(~ [$($accuracy:tt)+])?
        ($($source:ident: $ty:ty),*) -> $result:ty { $meaning:expr })*
    ) => {
        /// An arithmetic instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Alu {
            $(#[doc = concat!("`", $spelling, "`")] $name,)*
        }

        /// All arithmetic instructions.
        pub const TABLE: &[Row] = &[
            $(Row {
                alu: Alu::$name,
                spelling: $spelling,
                class: Class::$class,
                sources: &[$(<$ty as Lane>::KIND),*],
                destination: <$result as Lane>::KIND,
                accuracy: accuracy!($($($accuracy)+)?),
            },)*
        ];

        /// The instructions' functions, for any processor.
        #[allow(non_snake_case, reason = "named as the rows")]
        mod portable {
            use super::*;

            $(pub fn $name(registers: &mut Registers, destination: Reg, sources: &[Reg; 4], mask: u32) {
                lanes!(registers, destination, sources, mask, ($($source: $ty),*) -> $result, $meaning);
            })*
        }

        /// The same functions, for processors with wide vectors and fused multiply-add.
        #[cfg(target_arch = "x86_64")]
        #[allow(non_snake_case, reason = "named as the rows")]
        mod vector {
            use super::*;

            $(#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            pub fn $name(registers: &mut Registers, destination: Reg, sources: &[Reg; 4], mask: u32) {
                lanes!(registers, destination, sources, mask, ($($source: $ty),*) -> $result, $meaning);
            })*
        }

        const PORTABLE: &[Execute] = &[$(portable::$name),*];

        #[cfg(target_arch = "x86_64")]
        const VECTOR: &[Execute] = &[$(vector::$name),*];
    };
}

/// One instruction's function: destination, sources, active lanes.
type Execute = unsafe fn(&mut Registers, Reg, &[Reg; 4], u32);

/// The functions of all instructions, for the host's processor.
///
/// Each is a function of its own and compiled twice, so that the compiler sees many small ones and not one of enormous size.
#[derive(Clone, Copy, Debug)]
pub struct Executor {
    functions: &'static [Execute],
    /// The functions, and all else that is compiled twice, may use vector instructions.
    vectors: bool,
}

impl Executor {
    /// The fastest functions for this processor, or those that run on any.
    pub fn new(portable: bool) -> Self {
        #[cfg(target_arch = "x86_64")]
        if !portable && has_vectors() {
            return Self { functions: VECTOR, vectors: true };
        }
        let _ = portable;
        Self { functions: PORTABLE, vectors: false }
    }

    /// Whether code that is compiled for vector instructions may run.
    pub fn has_vectors(self) -> bool {
        self.vectors
    }

    /// Executes one instruction for the lanes in `mask`.
    #[inline(always)]
    pub fn execute(self, alu: Alu, registers: &mut Registers, destination: Reg, sources: &[Reg; 4], mask: u32) {
        let function = self.functions[alu as usize];
        // SAFETY: the functions need the processor's vector instructions at most, and `new` took those that do only after it had found
        // these instructions.
        unsafe { function(registers, destination, sources, mask) }
    }
}

/// Whether the processor has what the vector functions are compiled for.
#[cfg(target_arch = "x86_64")]
fn has_vectors() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// Applies the meaning of one lane to all lanes.
///
/// Plain loops over arrays of a known length become vector instructions; an iterator or a closure might be left as a call, which is
/// compiled without them.
macro_rules! lanes {
    (@read $r:ident, $s:ident, $n:expr, $a:ident: $ta:ty) => {
        let $a = <$ta as Lane>::read($r, $s[$n]);
    };
    (@result $r:ident, $d:ident, $m:ident, $out:ty, |$lane:ident| $value:expr) => {
        let mut result = [<$out as Lane>::ZERO; LANES];
        for $lane in 0..LANES {
            result[$lane] = $value;
        }
        <$out as Lane>::write($r, $d, $m, &result);
    };
    ($r:ident, $d:ident, $s:ident, $m:ident, ($a:ident: $ta:ty) -> $out:ty, $meaning:expr) => {{
        lanes!(@read $r, $s, 0, $a: $ta);
        lanes!(@result $r, $d, $m, $out, |lane| { let $a = $a[lane]; $meaning });
    }};
    ($r:ident, $d:ident, $s:ident, $m:ident, ($a:ident: $ta:ty, $b:ident: $tb:ty) -> $out:ty, $meaning:expr) => {{
        lanes!(@read $r, $s, 0, $a: $ta);
        lanes!(@read $r, $s, 1, $b: $tb);
        lanes!(@result $r, $d, $m, $out, |lane| { let ($a, $b) = ($a[lane], $b[lane]); $meaning });
    }};
    ($r:ident, $d:ident, $s:ident, $m:ident, ($a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty) -> $out:ty, $meaning:expr) => {{
        lanes!(@read $r, $s, 0, $a: $ta);
        lanes!(@read $r, $s, 1, $b: $tb);
        lanes!(@read $r, $s, 2, $c: $tc);
        lanes!(@result $r, $d, $m, $out, |lane| { let ($a, $b, $c) = ($a[lane], $b[lane], $c[lane]); $meaning });
    }};
    (
        $r:ident, $d:ident, $s:ident, $m:ident,
        ($a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty, $e:ident: $te:ty) -> $out:ty, $meaning:expr
    ) => {{
        lanes!(@read $r, $s, 0, $a: $ta);
        lanes!(@read $r, $s, 1, $b: $tb);
        lanes!(@read $r, $s, 2, $c: $tc);
        lanes!(@read $r, $s, 3, $e: $te);
        lanes!(@result $r, $d, $m, $out, |lane| { let ($a, $b, $c, $e) = ($a[lane], $b[lane], $c[lane], $e[lane]); $meaning });
    }};
}

// Each family puts its rows behind those before it, and the last hands all of them to `instructions`.
moves! { integers bits single double halves approximations comparisons conversions instructions => }
