//! The instruction table: the macros that turn a row into an enum variant, a table entry, and two functions.
//!
//! # A row
//!
//! The files in `rows` hold one row per instruction, or per group of spellings that mean the same:
//!
//! ```text
//! AddF32 "add{,.rn}.f32" F32 (a: f32, b: f32) -> f32 { canonical32(a + b) }
//! ```
//!
//! From left to right: the name of the variant; the spellings in PTX, with alternatives in braces; the [`Class`] that it counts as;
//! the sources with their types; the type of the result; and the meaning of one lane, an expression over the sources. An
//! approximate instruction also states its [`Accuracy`] after the class: `Special ~ [Ulps(2)]`.
//!
//! # What the row becomes
//!
//! The macro `instructions` takes all rows at once, so that the enum, the table and the functions have the same order and cannot
//! disagree. For the row above it writes:
//!
//! ```text
//! pub enum Alu {
//!     /// `add{,.rn}.f32`
//!     AddF32,
//! }
//!
//! pub const TABLE: &[Row] = &[
//!     Row {
//!         alu: Alu::AddF32,
//!         spelling: "add{,.rn}.f32",
//!         class: Class::F32,
//!         sources: &[<f32 as Lane>::KIND, <f32 as Lane>::KIND],
//!         destination: <f32 as Lane>::KIND,
//!         accuracy: None,
//!     },
//! ];
//!
//! mod portable {
//!     pub fn AddF32(registers: &mut Registers, destination: Reg, sources: &[Reg; 4], mask: u32) {
//!         let [a, b, ..] = *sources;
//!         let a = <f32 as Lane>::read(registers, a);
//!         let b = <f32 as Lane>::read(registers, b);
//!         let mut results = [<f32 as Lane>::ZERO; LANES];
//!         for lane in 0..LANES {
//!             let a = a[lane];
//!             let b = b[lane];
//!             results[lane] = { canonical32(a + b) };
//!         }
//!         <f32 as Lane>::write(registers, destination, mask, &results);
//!     }
//! }
//!
//! mod vector {
//!     #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
//!     pub fn AddF32(/* the same */) { /* the same */ }
//! }
//!
//! const PORTABLE: &[Execute] = &[portable::AddF32];
//! const VECTOR: &[Execute] = &[vector::AddF32];
//! ```
//!
//! To execute an instruction, [`Executor`] takes the function at the variant's place in `VECTOR`, or in `PORTABLE` on a processor
//! without these vector instructions. Each instruction has a function of its own: the compiler does better with many small functions
//! than with one `match` of enormous size. The meaning is in a plain loop over arrays of a known length, because that becomes vector
//! instructions. An iterator or a closure might stay a call, and the function that is called is compiled without them. A debug build for
//! x86-64 has the portable functions in that slow form, `each`, because it compiles in a fraction of the time.
//!
//! # How the rows come together
//!
//! A macro cannot ask another macro for its rows, so the rows are passed on instead. Each file of `rows` has a macro with the rows
//! of its family. It takes the names of the macros that follow and the rows so far, and calls the next macro with its own rows
//! added. The last line of this file starts the chain, and its last macro, `instructions`, gets the rows of all families. Adding a
//! row needs nothing but the row. Adding a family needs a file, and its name in that last line.

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
use super::{exact, integer, quarter, video};
use crate::registers::{Kind, LANES, Lane, Reg, Registers};
use crate::windows::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_OFFSET};

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    /// The instruction.
    pub alu: Alu,
    /// Its spellings, with alternatives in braces.
    pub spelling: &'static str,
    /// Its class, which decides the counter.
    pub class: Class,
    /// The kinds of its sources.
    pub sources: &'static [Kind],
    /// The kind of its destination.
    pub destination: Kind,
    /// The guaranteed accuracy of an approximate function; all others are exact, or rounded once.
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

/// The body of an instruction's function: reads the sources, applies the meaning to each lane, and writes the results.
macro_rules! body {
    (
        $registers:ident, $destination:ident, $sources:ident, $mask:ident,
        ($($source:ident: $ty:ty),*) -> $result:ty, $meaning:expr
    ) => {
        let [$($source,)* ..] = *$sources;
        $(let $source = <$ty as Lane>::read($registers, $source);)*
        let mut results = [<$result as Lane>::ZERO; LANES];
        for lane in 0..LANES {
            $(let $source = $source[lane];)*
            results[lane] = $meaning;
        }
        <$result as Lane>::write($registers, $destination, $mask, &results);
    };
}

// Nearly every processor of this kind executes the vector functions. A second set of loops would take a third of the time to compile this
// crate, so a debug build does without: there, the portable functions are slow.
#[cfg(all(debug_assertions, target_arch = "x86_64"))]
macro_rules! portable_body {
    (
        $registers:ident, $destination:ident, $sources:ident, $mask:ident,
        ($($source:ident: $ty:ty),*) -> $result:ty, $meaning:expr
    ) => {
        crate::each::execute::<($($ty,)*), $result>($registers, $destination, $sources, $mask, |($($source,)*)| $meaning);
    };
}

#[cfg(not(all(debug_assertions, target_arch = "x86_64")))]
use body as portable_body;

/// Makes the enum, the table and the functions from the rows.
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
                portable_body!(registers, destination, sources, mask, ($($source: $ty),*) -> $result, $meaning);
            })*
        }

        /// The same functions, for processors with wide vectors and fused multiply-add.
        #[cfg(target_arch = "x86_64")]
        #[allow(non_snake_case, reason = "named as the rows")]
        mod vector {
            use super::*;

            $(#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            pub fn $name(registers: &mut Registers, destination: Reg, sources: &[Reg; 4], mask: u32) {
                body!(registers, destination, sources, mask, ($($source: $ty),*) -> $result, $meaning);
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
#[derive(Clone, Copy, Debug)]
pub struct Executor {
    functions: &'static [Execute],
    /// The processor has the vector instructions, so that code compiled for them may run.
    #[cfg(target_arch = "x86_64")]
    vectors: bool,
}

impl Executor {
    /// Selects the fastest functions for this processor, or the portable ones.
    // If other crates could inline this, each function would be a symbol, and symbols are sorted by their names. In the order of the table,
    // functions are next to others like them, which makes the module for pages 6 % smaller when it is packed.
    #[inline(never)]
    pub fn new(portable: bool) -> Self {
        #[cfg(target_arch = "x86_64")]
        if !portable && has_vectors() {
            return Self { functions: VECTOR, vectors: true };
        }
        let _ = portable;
        Self {
            functions: PORTABLE,
            #[cfg(target_arch = "x86_64")]
            vectors: false,
        }
    }

    /// Returns true if code that is compiled for the vector instructions may run.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub fn has_vectors(self) -> bool {
        self.vectors
    }

    /// Executes one instruction for the lanes in `mask`.
    #[inline(always)]
    pub fn execute(self, alu: Alu, registers: &mut Registers, destination: Reg, sources: &[Reg; 4], mask: u32) {
        let function = self.functions[alu as usize];
        // SAFETY: the portable functions are safe on every processor. `new` selects the vector functions only if the processor has
        // all features that they are compiled for.
        unsafe { function(registers, destination, sources, mask) }
    }
}

/// Returns true if the processor has what the vector functions are compiled for.
#[cfg(target_arch = "x86_64")]
fn has_vectors() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

// Starts the chain of families; the last macro gets the rows of all.
moves! { integers bits single double halves approximations comparisons conversions instructions => }
