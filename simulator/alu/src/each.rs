//! Executes an instruction lane by lane, through a pointer to its meaning: soon compiled, and slow.

use crate::registers::{LANES, Lane, Reg, Registers};

/// The sources of an instruction in one lane.
pub trait Sources: Copy {
    /// Returns the sources of each lane.
    fn read(registers: &Registers, sources: &[Reg; 4]) -> [Self; LANES];
}

macro_rules! sources {
    ($(($($ty:ident $source:ident),+))*) => {$(
        impl<$($ty: Lane),+> Sources for ($($ty,)+) {
            fn read(registers: &Registers, &[$($source,)+ ..]: &[Reg; 4]) -> [Self; LANES] {
                $(let $source = $ty::read(registers, $source);)+
                std::array::from_fn(|lane| ($($source[lane],)+))
            }
        }
    )*};
}

sources! { (A a) (A a, B b) (A a, B b, C c) (A a, B b, C c, D d) }

/// Executes one instruction. It is compiled for each combination of types, and not for each meaning.
#[inline(never)]
pub fn execute<S: Sources, R: Lane>(
    registers: &mut Registers,
    destination: Reg,
    sources: &[Reg; 4],
    mask: u32,
    meaning: fn(S) -> R,
) {
    let results = S::read(registers, sources).map(meaning);
    R::write(registers, destination, mask, &results);
}
