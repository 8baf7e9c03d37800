//! Cases of every exactly rounded instruction on floats: the same operands for all spellings, results of the [`reference`].

use alu::{TABLE, spellings};

use crate::common::Numbers;
use crate::instructions::exact::{BF16, F16, F32, F64, Format, Mode, Value};
use crate::instructions::{Case, Group, reference};

/// Cases with random operands for each spelling.
const BY_CHANCE: usize = 40;

/// A source's or destination's type.
#[derive(Clone, Copy, PartialEq)]
enum Operand {
    Float(Format),
    Pair(Format),
    Integer { bits: u32 },
    Predicate,
}

impl Operand {
    fn of(ty: &str) -> Option<Self> {
        if let Some(single) = ty.strip_suffix("x2") {
            return reference::format(single).map(Self::Pair);
        }
        if ty == "tf32" {
            return Some(Self::Float(F32));
        }
        let bits = || ty.get(1..)?.parse().ok().map(|bits| Self::Integer { bits });
        reference::format(ty).map(Self::Float).or_else(bits)
    }

    /// As in [`Group::operands`]. Integers of 8 and 16 bits are in registers of 32 bits, to check the upper bits.
    fn kind(self) -> char {
        match self {
            Self::Predicate => 'p',
            Self::Float(F64) | Self::Integer { bits: 64 } => 'd',
            Self::Float(F16 | BF16) => 'h',
            _ => 'w',
        }
    }

    /// Values at which the behavior changes.
    fn special(self) -> Vec<u64> {
        match self {
            Self::Float(format) => {
                let sign = format.sign();
                let smallest_normal = 1 << format.fraction;
                let quiet = format.infinity() | 1 << (format.fraction - 1);
                let third = format.one() + (smallest_normal / 3);
                let magnitudes =
                    [0, 1, smallest_normal - 1, smallest_normal, format.one(), third, format.infinity() - 1, format.infinity()];
                // With a payload at its lower end, and in all of it.
                let alternating = smallest_normal / 3;
                let nans = [
                    quiet | 5,
                    format.infinity() | 3 | sign,
                    format.infinity() | alternating | sign,
                    format.infinity() | alternating << 1,
                ];
                magnitudes.into_iter().flat_map(|bits| [bits, bits | sign]).chain(nans).collect()
            }
            Self::Integer { bits } => {
                let top = 1 << (bits - 1);
                vec![0, 1, u64::MAX >> (64 - bits), top, top - 1, top + 1, 100]
            }
            Self::Pair(_) | Self::Predicate => Vec::new(),
        }
    }

    /// Returns a random value. Floats are near 1, near the smallest ones, or anywhere.
    fn chance(self, numbers: &mut Numbers) -> u64 {
        match self {
            Self::Float(format) => {
                let bits = numbers.next() >> (64 - format.bits);
                let fraction = (1 << format.fraction) - 1;
                match numbers.below(8) {
                    0 | 1 => bits,
                    2 => bits & (fraction << 2 | 3 | format.sign()),
                    3 => numbers.one_of(&self.special()),
                    _ => {
                        (bits & (fraction | format.sign())) + format.one() + (numbers.below(8) << format.fraction)
                            - (4 << format.fraction)
                    }
                }
            }
            Self::Pair(format) => {
                let half = |numbers: &mut Numbers| {
                    if numbers.below(3) == 0 {
                        numbers.one_of(&Self::Float(format).special())
                    } else {
                        Self::Float(format).chance(numbers)
                    }
                };
                half(numbers) | half(numbers) << 16
            }
            Self::Integer { bits } => {
                let value = numbers.next() >> (64 - bits) >> numbers.below(u64::from(bits));
                if numbers.below(2) == 0 { value } else { value.wrapping_neg() & u64::MAX >> (64 - bits) }
            }
            Self::Predicate => numbers.below(2),
        }
    }
}

/// Types of the sources and of the destination.
fn operands(spelling: &str, count: usize) -> Option<(Vec<Operand>, Operand)> {
    let mut parts: Vec<_> = spelling.split('.').collect();
    let ty = Operand::of(parts.pop()?)?;
    match parts[0] {
        "setp" | "testp" => Some((vec![ty; count], Operand::Predicate)),
        "cvt" => Some((vec![ty; count], Operand::of(parts.pop()?)?)),
        _ => Some((vec![ty; count], ty)),
    }
}

/// Returns the operands of one spelling: all pairs of special values if there are at most two, and random ones.
fn sources(types: &[Operand], numbers: &mut Numbers) -> Vec<Vec<u64>> {
    let specials = types[0].special();
    let mut all: Vec<Vec<u64>> = match types {
        [_] => specials.iter().map(|a| vec![*a]).collect(),
        [_, _] => specials.iter().flat_map(|a| specials.iter().map(|b| vec![*a, *b])).collect(),
        _ if specials.is_empty() => Vec::new(),
        _ => (0..200).map(|_| types.iter().map(|_| numbers.one_of(&specials)).collect()).collect(),
    };
    let chance = if all.len() > 100 { BY_CHANCE } else { 100 };
    for _ in 0..chance {
        let mut operands: Vec<u64> = types.iter().map(|ty| ty.chance(numbers)).collect();
        if let [Operand::Float(format), _, _] = types {
            match numbers.below(4) {
                // A product and a summand that cancel almost completely.
                0 | 1 => {
                    let [a, b] = [0, 1].map(|i| Value::of(operands[i], *format));
                    operands[2] = a.multiply(&b).negated().round(*format, Mode::Rn) ^ numbers.below(2);
                }
                // A product halfway between two numbers, and a tiny summand that decides the rounding.
                2 => {
                    let quarter = 1 << (format.fraction - 2);
                    let odd = format.one() + (numbers.below(quarter) | 1);
                    operands = vec![odd, format.one() | (quarter * 2), (numbers.below(2) * format.sign()) | 1];
                }
                _ => {}
            }
        }
        all.push(operands);
    }
    all
}

/// Returns a group for each spelling that the reference knows.
pub fn groups() -> Vec<Group> {
    let mut numbers = Numbers(0x5eed);
    let mut groups = Vec::new();
    for row in TABLE {
        for spelling in spellings(row.spelling) {
            let Some((types, destination)) = operands(&spelling, row.sources.len()) else { continue };
            let is_float = |operand: &Operand| matches!(operand, Operand::Float(_) | Operand::Pair(_));
            if !types.iter().chain([&destination]).any(is_float) {
                continue;
            }
            let cases: Vec<Case> = sources(&types, &mut numbers)
                .into_iter()
                .filter_map(|sources| reference::evaluate(&spelling, &sources).map(|result| (sources, result)))
                .map(|(sources, result)| (above(sources, &types), result))
                .collect();
            if !cases.is_empty() {
                let operands: String = types.iter().map(|ty| ty.kind()).chain(['>', destination.kind()]).collect();
                groups.push(Group { operands: operands.leak(), ..Group::new(spelling, "", cases) });
            }
        }
    }
    groups
}

/// Sources with other bits above them in their registers.
fn above(sources: Vec<u64>, types: &[Operand]) -> Vec<u64> {
    let garbage = |ty: &Operand| match ty {
        Operand::Integer { bits: bits @ (8 | 16) } => 0xabcd_ef98 >> bits << bits,
        _ => 0,
    };
    sources.iter().zip(types).map(|(source, ty)| source | garbage(ty)).collect()
}
