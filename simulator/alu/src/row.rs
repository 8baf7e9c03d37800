//! A row of the instruction table, and the macros that make it.
//!
//! # A row
//!
//! The files in `rows` hold one row per instruction, or per group of spellings that mean the same:
//!
//! ```text
//! "add{,.rn}.f32" F32 (a: f32, b: f32) -> f32 { canonical32(a + b) }
//! ```
//!
//! From left to right: the spellings in PTX, with alternatives in braces; the [`Class`] that it counts as; the sources with their types;
//! the type of the result; and the meaning of one lane, an expression over the sources. An approximate instruction also states its
//! [`Accuracy`] after the class: `Special ~ [Accuracy::Ulps(2)]`.
//!
//! Instructions that differ in a type, a rounding or a modifier only are made by a macro of their file, which puts the spelling together:
//! `("cvt.u8." $from)` in place of a literal. To find such a row by its spelling, look for the part that the others share.
//!
//! # What the row becomes
//!
//! A [`Row`] of the table and two functions. For the row above:
//!
//! ```text
//! Row {
//!     spelling: "add{,.rn}.f32",
//!     class: Class::F32,
//!     sources: &[<f32 as Lane>::KIND, <f32 as Lane>::KIND],
//!     destination: <f32 as Lane>::KIND,
//!     accuracy: None,
//!     …
//! }
//!
//! #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
//! fn vector(registers: &mut Registers, destination: Reg, sources: &[Reg; 4], mask: u32) {
//!     let [a, b, ..] = *sources;
//!     let a = <f32 as Lane>::read(registers, a);
//!     let b = <f32 as Lane>::read(registers, b);
//!     let mut results = [<f32 as Lane>::ZERO; LANES];
//!     for lane in 0..LANES {
//!         let a = a[lane];
//!         let b = b[lane];
//!         results[lane] = { canonical32(a + b) };
//!     }
//!     <f32 as Lane>::write(registers, destination, mask, &results);
//! }
//!
//! fn portable(/* the same */) { /* the same */ }
//! ```
//!
//! [`Executor`](crate::Executor) takes the function `vector`, or `portable` on a processor without these vector instructions. Each
//! instruction has functions of its own: the compiler does better with many small functions than with one `match` of enormous size. The
//! meaning is in a plain loop over arrays of a known length, because that becomes vector instructions. An iterator or a closure might stay
//! a call, and the function that is called is compiled without them. A debug build for x86-64 has the portable functions in that slow form,
//! `each`, because it compiles in a fraction of the time. Of rows that few programs need (`seldom!`), it has no other.

use super::approximate::Accuracy;
use super::class::Class;
use super::registers::{Kind, Reg, Registers};

/// An arithmetic instruction: the place of its row in the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Alu(pub(crate) u16);

/// A row of the table.
#[derive(Clone, Copy, Debug)]
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

/// One instruction's function: destination, sources, active lanes.
pub(crate) type Execute = unsafe fn(&mut Registers, Reg, &[Reg; 4], u32);

/// A row with its functions. Its place in the table is not known yet.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub row: Row,
    pub portable: Execute,
    /// The same for processors with wide vectors and fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    pub vector: Execute,
}

/// Makes entries from rows.
macro_rules! rows {
    ($($rows:tt)*) => {
        $crate::row::entries! { often $($rows)* }
    };
}

/// Makes entries from rows that few programs need. A debug build has one slow function for each.
macro_rules! seldom {
    ($($rows:tt)*) => {
        $crate::row::entries! { seldom $($rows)* }
    };
}

macro_rules! entries {
    ($how_often:ident $(
        $spelling:tt $class:ident $(~ [$accuracy:expr])?
        ($($source:ident: $ty:ty),*) -> $result:ty { $meaning:expr }
    )*) => {
        &[$({
            $crate::row::function!(portable_body ($($source: $ty),*) -> $result { $meaning });
            $crate::row::Entry {
                row: $crate::row::Row {
                    alu: $crate::row::Alu(0),
                    spelling: $crate::row::spelling!($spelling),
                    class: $crate::class::Class::$class,
                    sources: &[$(<$ty as $crate::registers::Lane>::KIND),*],
                    destination: <$result as $crate::registers::Lane>::KIND,
                    accuracy: $crate::row::accuracy!($($accuracy)?),
                },
                portable: execute,
                #[cfg(target_arch = "x86_64")]
                vector: $crate::row::vector!($how_often ($($source: $ty),*) -> $result { $meaning }),
            }
        }),*]
    };
}

/// The function for the vector instructions. That of a row that is needed seldom is the portable one in debug builds.
#[cfg(target_arch = "x86_64")]
macro_rules! vector {
    (often $($row:tt)*) => {{
        $crate::row::function!(#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")] body $($row)*);
        execute
    }};
    (seldom $($row:tt)*) => {{
        #[cfg(not(debug_assertions))]
        $crate::row::function!(#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")] body $($row)*);
        execute
    }};
}

/// A spelling, given as a literal or in parts.
macro_rules! spelling {
    (($($part:expr)+)) => {
        concat!($($part),+)
    };
    ($whole:literal) => {
        $whole
    };
}

/// The accuracy of a row that states one.
macro_rules! accuracy {
    () => {
        None
    };
    ($accuracy:expr) => {
        Some($accuracy)
    };
}

/// The function of an instruction.
macro_rules! function {
    ($(#[$attribute:meta])* $body:ident ($($source:ident: $ty:ty),*) -> $result:ty { $meaning:expr }) => {
        $(#[$attribute])*
        fn execute(
            registers: &mut $crate::registers::Registers,
            destination: $crate::registers::Reg,
            sources: &[$crate::registers::Reg; 4],
            mask: u32,
        ) {
            $crate::row::$body!(registers, destination, sources, mask, ($($source: $ty),*) -> $result, $meaning);
        }
    };
}

/// The body of an instruction's function: reads the sources, applies the meaning to each lane, and writes the results.
macro_rules! body {
    (
        $registers:ident, $destination:ident, $sources:ident, $mask:ident,
        ($($source:ident: $ty:ty),*) -> $result:ty, $meaning:expr
    ) => {
        use $crate::registers::{LANES, Lane};
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
        $crate::each::execute::<($($ty,)*), $result>($registers, $destination, $sources, $mask, |($($source,)*)| $meaning);
    };
}

#[cfg(not(all(debug_assertions, target_arch = "x86_64")))]
pub(crate) use body as portable_body;
#[cfg(target_arch = "x86_64")]
pub(crate) use body;
#[cfg(all(debug_assertions, target_arch = "x86_64"))]
pub(crate) use portable_body;
#[cfg(target_arch = "x86_64")]
pub(crate) use vector;
pub(crate) use {accuracy, entries, function, rows, seldom, spelling};
