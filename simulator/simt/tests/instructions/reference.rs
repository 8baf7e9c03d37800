//! The expected result of an instruction on floats, derived from its spelling: the name, the modifiers one by one, the types.
//!
//! The table of the simulator has a row for each combination. Here the combinations come from the parts, as the PTX ISA defines
//! them.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, Zero};

use crate::instructions::exact::{BF16, F16, F32, F64, Format, Mode, TF32, Value};

/// A parsed opcode.
struct Opcode<'o> {
    root: &'o str,
    modifiers: Vec<&'o str>,
}

impl Opcode<'_> {
    fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }

    fn mode(&self) -> Mode {
        let modes = [("rz", Mode::Rz), ("rm", Mode::Rm), ("rp", Mode::Rp), ("rna", Mode::Rna)];
        modes.into_iter().find(|(name, _)| self.has(name)).map_or(Mode::Rn, |(_, mode)| mode)
    }
}

pub fn format(ty: &str) -> Option<Format> {
    Some(match ty {
        "f64" => F64,
        "f32" => F32,
        "f16" => F16,
        "bf16" => BF16,
        _ => return None,
    })
}

/// Bits and whether they have a sign.
fn integer(ty: &str) -> Option<(u32, bool)> {
    let bits = ty.get(1..)?.parse().ok().filter(|bits| [8, 16, 32, 64].contains(bits))?;
    match ty.get(..1)? {
        "u" => Some((bits, false)),
        "s" => Some((bits, true)),
        _ => None,
    }
}

/// Returns the result's bits; `None` if the instruction is not an exactly rounded one on floats.
pub fn evaluate(opcode: &str, sources: &[u64]) -> Option<u64> {
    let mut parts = opcode.split('.');
    let root = parts.next()?;
    let mut modifiers: Vec<_> = parts.collect();
    let ty = modifiers.pop()?;
    let opcode = Opcode { root, modifiers };
    if opcode.has("approx") || opcode.has("full") {
        return None;
    }
    if root == "cvt" {
        return convert(opcode, ty, sources);
    }
    if let Some(single) = ty.strip_suffix("x2")
        && let Some(format) = format(single)
    {
        let half = |shift: u32| {
            let sources: Vec<_> = sources.iter().map(|source| source >> shift & 0xffff).collect();
            arithmetic(&opcode, format, &sources)
        };
        return Some(half(0)? | half(16)? << 16);
    }
    arithmetic(&opcode, format(ty)?, sources)
}

fn arithmetic(opcode: &Opcode<'_>, format: Format, sources: &[u64]) -> Option<u64> {
    let mode = opcode.mode();
    let flush = |bits: u64| if opcode.has("ftz") { format.flush(bits) } else { bits };
    let sources: Vec<u64> = sources.iter().copied().map(flush).collect();
    let values: Vec<Value> = sources.iter().map(|bits| Value::of(*bits, format)).collect();
    let result = match (opcode.root, values.as_slice()) {
        ("add", [a, b]) => a.add(b, mode),
        ("sub", [a, b]) => a.add(&b.negated(), mode),
        ("mul", [a, b]) => a.multiply(b),
        ("fma" | "mad", [a, b, c]) => a.multiply(b).add(c, mode),
        ("div", [a, b]) => a.divide(b),
        ("rcp", [a]) => Value::whole(1).divide(a),
        ("sqrt", [a]) => a.root(),
        ("neg", [a]) => a.negated(),
        ("abs", [_]) => Value::of(sources[0] & format.nan(), format),
        ("min" | "max", [_, _]) => return Some(extreme(opcode, format, &sources)),
        ("setp", [a, b]) => return Some(u64::from(holds(opcode.modifiers[0], compare(a, b))?)),
        ("testp", [a]) => return test(opcode.modifiers[0], a, format.is_subnormal(sources[0])).map(u64::from),
        _ => return None,
    };
    let bits = limited(opcode, flush(result.round(format, mode)), format);
    Some(if format == F64 && bits == F64.nan() { nan64(opcode.root, &sources) } else { bits })
}

/// `.sat` and `.relu`
fn limited(opcode: &Opcode<'_>, bits: u64, format: Format) -> u64 {
    let negative = bits & format.sign() != 0;
    if opcode.has("sat") {
        return if format.is_nan(bits) || negative { 0 } else { bits.min(format.one()) };
    }
    // `.satfinite`: an infinity becomes the largest number.
    let bits = if opcode.has("satfinite") && bits & !format.sign() == format.infinity() { bits - 1 } else { bits };
    if opcode.has("relu") && negative { 0 } else { bits }
}

/// Returns the NaN of an f64 operation: the first among the operands, in the order of an H200, made quiet; or the one of an invalid
/// operation.
fn nan64(root: &str, sources: &[u64]) -> u64 {
    let order: &[usize] = match root {
        "add" | "sub" | "mul" => &[1, 0],
        "fma" | "mad" => &[1, 2, 0],
        _ => &[0, 1],
    };
    let operands = order.iter().filter_map(|index| sources.get(*index));
    operands.copied().find(|bits| F64.is_nan(*bits)).map_or(0xfff8 << 48, |bits| bits | 1 << 51)
}

fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    let place = |value: &Value| match value {
        Value::Infinite { negative } => (if *negative { -1 } else { 1 }, BigRational::zero()),
        value => (0, value.signed().unwrap_or_else(BigRational::zero)),
    };
    if *a == Value::Nan || *b == Value::Nan { None } else { Some(place(a).cmp(&place(b))) }
}

/// Returns true if a comparison is true for operands in this order.
pub fn holds(comparison: &str, order: Option<Ordering>) -> Option<bool> {
    use Ordering::{Equal, Greater, Less};
    let (orders, unordered): (&[Ordering], bool) = match comparison {
        "eq" => (&[Equal], false),
        "ne" => (&[Less, Greater], false),
        "lt" => (&[Less], false),
        "le" => (&[Less, Equal], false),
        "gt" => (&[Greater], false),
        "ge" => (&[Greater, Equal], false),
        "equ" => (&[Equal], true),
        "neu" => (&[Less, Greater], true),
        "ltu" => (&[Less], true),
        "leu" => (&[Less, Equal], true),
        "gtu" => (&[Greater], true),
        "geu" => (&[Greater, Equal], true),
        "num" => (&[Less, Equal, Greater], false),
        "nan" => (&[], true),
        _ => return None,
    };
    Some(order.map_or(unordered, |order| orders.contains(&order)))
}

fn test(question: &str, value: &Value, is_subnormal: bool) -> Option<bool> {
    let is_finite = matches!(value, Value::Finite { .. });
    Some(match question {
        "finite" => is_finite,
        "infinite" => matches!(value, Value::Infinite { .. }),
        "number" => *value != Value::Nan,
        "notanumber" => *value == Value::Nan,
        // Zeros count as normal (PTX ISA, `testp`).
        "normal" => is_finite && !is_subnormal,
        "subnormal" => is_subnormal,
        _ => return None,
    })
}

/// `min` and `max`
fn extreme(opcode: &Opcode<'_>, format: Format, sources: &[u64]) -> u64 {
    let crossed = opcode.has("xorsign");
    let sign = (sources[0] ^ sources[1]) & format.sign();
    let [a, b] = [0, 1].map(|index| if crossed { sources[index] & format.nan() } else { sources[index] });
    let negative = |bits: u64| bits & format.sign() != 0;
    let chosen = match (format.is_nan(a), format.is_nan(b)) {
        (true, true) => return if format == F64 { nan64("min", &[b, a]) } else { format.nan() },
        (true, false) | (false, true) if opcode.has("NaN") => return format.nan(),
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            // Zeros compare equal, and -0 is the smaller one.
            let order = compare(&Value::of(a, format), &Value::of(b, format)).unwrap().then(negative(b).cmp(&negative(a)));
            if (order == Ordering::Less) == (opcode.root == "min") { a } else { b }
        }
    };
    if crossed { chosen & format.nan() | sign } else { chosen }
}

/// `cvt`, whose last modifier is the type of the source.
fn convert(mut opcode: Opcode<'_>, from: &str, sources: &[u64]) -> Option<u64> {
    let to = opcode.modifiers.pop()?;
    if let Some(single) = to.strip_suffix("x2") {
        let [high, low] = sources else { return None };
        let format = format(single)?;
        let half = |source: u64| limited(&opcode, Value::of(source, F32).round(format, opcode.mode()), format);
        return Some(half(*low) | half(*high) << 16);
    }
    let [source] = sources else { return None };
    let integral = ["rni", "rzi", "rmi", "rpi"].into_iter().find(|mode| opcode.has(mode));
    let ftz = |bits: u64, ty: &str| if opcode.has("ftz") && ty == "f32" { F32.flush(bits) } else { bits };
    // An H200 does not flush numbers that it converts to f16.
    let source = if to == "f16" { *source } else { ftz(*source, from) };
    match (integer(from), format(from), integer(to), format(to)) {
        (Some((bits, signed)), None, None, Some(format)) => {
            let shift = 64 - bits;
            let value = if signed { i128::from((source << shift) as i64 >> shift) } else { i128::from(source << shift >> shift) };
            Some(limited(&opcode, Value::whole(value).round(format, opcode.mode()), format))
        }
        (None, Some(format), Some((bits, signed)), None) => {
            let (least, most) =
                if signed { (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1) } else { (0, (1_i128 << bits) - 1) };
            let value = match Value::of(source, format) {
                Value::Nan if format == F64 || bits == 64 => 1_i128 << (bits - 1),
                Value::Nan => 0,
                Value::Infinite { negative } => {
                    if negative {
                        least
                    } else {
                        most
                    }
                }
                value => i128::try_from(whole(&value.signed().unwrap(), integral?))
                    .map_or_else(|_| if source & format.sign() != 0 { least } else { most }, |value| value.clamp(least, most)),
            };
            // A narrow result is sign-extended to its register.
            Some(if bits == 64 {
                value as u64
            } else {
                u64::from((if signed { value << (128 - bits) >> (128 - bits) } else { value }) as u32)
            })
        }
        (None, Some(format), None, _) => {
            let narrow = if to == "tf32" { TF32 } else { crate::instructions::reference::format(to)? };
            if format.is_nan(source) && !opcode.has("sat") {
                return nan_of_conversion(&opcode, source, from, to);
            }
            let mut value = Value::of(source, format);
            if let (Some(mode), Some(number)) = (integral, value.signed()) {
                let rounded = Value::of(0, F32).add(&Value::whole(0), Mode::Rn);
                let negative = source & format.sign() != 0;
                value = match i64::try_from(whole(&number, mode)) {
                    Ok(0) if negative => rounded.negated(),
                    Ok(whole) => Value::whole(whole.into()),
                    // A number this large is already an integer.
                    Err(_) => value,
                };
            }
            let bits = ftz(limited(&opcode, value.round(narrow, opcode.mode()), narrow), to);
            Some(if to == "tf32" { bits << 13 } else { bits })
        }
        _ => None,
    }
}

/// PTX does not specify the NaN of a conversion; these are an H200's.
fn nan_of_conversion(opcode: &Opcode<'_>, source: u64, from: &str, to: &str) -> Option<u64> {
    Some(match (from, to) {
        // A copy.
        ("f32", "f32") | ("f64", "f64") if opcode.modifiers.is_empty() => source,
        ("f64", "f64") => return None,
        ("bf16", "f32") if !opcode.has("ftz") => source << 16,
        // The canonical NaN of f32, which is then converted.
        ("f32", "f64") if opcode.has("ftz") => carried(F32.nan(), F32, F64),
        ("f64", _) | (_, "f64") => carried(source, format(from)?, format(to)?),
        // `.satfinite` takes one unit from the bits of whatever is not finite.
        (_, "tf32") if opcode.has("rna") => (source >> 13 << 13) - if opcode.has("satfinite") { 1 << 13 } else { 0 },
        (_, "tf32") => TF32.nan() << 13,
        (_, to) => format(to)?.nan(),
    })
}

/// Returns a NaN in another format: the sign, the upper end of the payload, and the bit that makes it quiet.
fn carried(source: u64, from: Format, to: Format) -> u64 {
    let sign = if source & from.sign() != 0 { to.sign() } else { 0 };
    let payload = source & ((1 << from.fraction) - 1);
    sign | to.infinity() | 1 << (to.fraction - 1) | payload << (64 - from.fraction) >> (64 - to.fraction)
}

/// Returns a whole number by the name of a rounding.
fn whole(value: &BigRational, mode: &str) -> BigInt {
    match mode {
        "rzi" => value.trunc(),
        "rmi" => value.floor(),
        "rpi" => value.ceil(),
        _ => {
            let down = value.floor();
            let rest = value - &down;
            let half = BigRational::new(1.into(), 2.into());
            let is_odd = !(down.to_integer() % 2_i32).abs().is_zero();
            if rest > half || (rest == half && is_odd) { down + BigRational::from(BigInt::from(1)) } else { down }
        }
    }
    .to_integer()
}
