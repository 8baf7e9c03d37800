//! How values are shown.

use driver::stepping::Values;

use super::trace::{Trace, bits};

/// Registers that are shown of those that one instruction changes. A product of matrices changes many.
const MOST_WRITES: usize = 4;

/// The way a number is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Signed,
    Unsigned,
    Hexadecimal,
    Float,
    /// Hexadecimal, unless it is a small number.
    Address,
}

impl Format {
    /// Returns the format of a letter, such as that of `print/x`.
    pub fn of_letter(letter: &str) -> Option<Self> {
        Some(match letter {
            "d" => Self::Signed,
            "u" => Self::Unsigned,
            "x" => Self::Hexadecimal,
            "f" => Self::Float,
            _ => return None,
        })
    }

    /// Returns the format for a register that an instruction wrote. PTX names the type of the result first. Whole numbers of 64 bits are mostly
    /// addresses.
    pub fn of_writer(instruction: Option<&str>, values: &Values) -> Self {
        let words = instruction.unwrap_or_default().split_whitespace();
        let opcode = words.into_iter().find(|word| !word.starts_with('@')).unwrap_or_default();
        let known = opcode.split('.').find_map(|part| match part {
            "f32" | "f64" => Some(Self::Float),
            "s8" | "s16" | "s32" | "s64" => Some(Self::Signed),
            "u8" | "u16" | "u32" => Some(Self::Unsigned),
            "f16" | "f16x2" | "bf16" | "bf16x2" | "tf32" => Some(Self::Hexadecimal),
            _ => None,
        });
        match (known, values) {
            (Some(Self::Signed | Self::Unsigned) | None, Values::Doubles(_)) => Self::Address,
            (known, _) => known.unwrap_or(Self::Signed),
        }
    }
}

/// Shows a lane's value of a register, before the instruction at `position`.
pub fn in_lane(trace: &Trace, register: &str, lane: u32, position: usize, format: Option<Format>) -> String {
    let values = trace.values(register, position).filter(|_| trace.is_written(register, lane, position));
    let Some(values) = values else { return "nothing yet".to_owned() };
    let usual = || match trace.is_float(register) {
        true => Format::Float,
        false => Format::of_writer(trace.writer(register, position), values),
    };
    shown(values, lane, format.unwrap_or_else(usual))
}

/// Describes the values that an instruction reads and writes in a lane.
pub fn effect(trace: &Trace, position: usize, lane: u32) -> String {
    let Some((step, _)) = trace.step(position) else { return String::new() };
    let mut written: Vec<&str> = trace.results(position).iter().map(String::as_str).collect();
    for write in &step.writes {
        if !written.contains(&write.register.as_str()) {
            written.push(&write.register);
        }
    }
    let mentioned = trace.mentioned(position);
    let shown = |name: &str, register: &str, position| format!("{name} = {}", in_lane(trace, register, lane, position, None));
    let read = mentioned.iter().filter(|(_, register, times)| *times > 1 || !written.contains(register));
    let read: Vec<String> = read.map(|(name, register, _)| shown(name, register, position)).collect();
    let made = written.iter().take(MOST_WRITES).map(|register| {
        let name = mentioned.iter().find(|(_, whole, _)| whole == register).map_or(*register, |(name, ..)| *name);
        shown(name, register, position + 1)
    });
    let made: Vec<String> = made.collect();
    let is_active = step.lanes >> lane & 1 == 1;
    let made = if is_active && !made.is_empty() { format!("makes {}", made.join(", ")) } else { String::new() };
    let mut parts = vec![read.join(", "), made];
    parts.retain(|part| !part.is_empty());
    match (is_active, parts.join("; ")) {
        (true, parts) if parts.is_empty() => parts,
        (true, parts) => format!("  // lane {lane}: {parts}"),
        (false, parts) if parts.is_empty() => format!("  // lane {lane} skips it"),
        (false, parts) => format!("  // lane {lane} skips it: {parts}"),
    }
}

fn shown(values: &Values, lane: u32, format: Format) -> String {
    let bits = bits(values, lane);
    match (values, format) {
        (Values::Predicate(_), _) => (if bits == 1 { "true" } else { "false" }).to_owned(),
        (_, Format::Hexadecimal) => format!("{bits:#x}"),
        (_, Format::Unsigned) => bits.to_string(),
        (_, Format::Address) if (bits as i64).unsigned_abs() < 1 << 31 => (bits as i64).to_string(),
        (_, Format::Address) => format!("{bits:#x}"),
        (Values::Words(_), Format::Signed) => (bits as u32 as i32).to_string(),
        (Values::Words(_), Format::Float) => format!("{:?}", f32::from_bits(bits as u32)),
        (Values::Doubles(_), Format::Signed) => (bits as i64).to_string(),
        (Values::Doubles(_), Format::Float) => format!("{:?}", f64::from_bits(bits)),
    }
}

/// Formats the values of all lanes: once if they are equal, or else in rows of eight.
pub fn in_all_lanes(shown: Vec<String>) -> String {
    match shown.first() {
        Some(first) if shown.iter().all(|value| value == first) => return format!(" = {first} in all lanes\n"),
        _ => {}
    }
    let width = shown.iter().map(String::len).max().unwrap_or_default();
    let rows = shown.chunks(8).enumerate().map(|(row, values)| {
        let last = 8 * row + values.len() - 1;
        let values: Vec<String> = values.iter().map(|value| format!("{value:>width$}")).collect();
        format!("  lanes {:>2} to {last:>2}: {}\n", 8 * row, values.join(" "))
    });
    std::iter::once(":\n".to_owned()).chain(rows).collect()
}

/// Describes a set of lanes, such as `0 to 15, 17`.
pub fn lanes(mask: u32) -> String {
    if mask == u32::MAX {
        return "all lanes".to_owned();
    }
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == lane => *last = lane,
            _ => ranges.push((lane, lane)),
        }
    }
    let texts: Vec<String> =
        ranges.iter().map(|(first, last)| if first == last { first.to_string() } else { format!("{first} to {last}") }).collect();
    match texts.as_slice() {
        [] => "no lane".to_owned(),
        [one] if !one.contains(' ') => format!("lane {one}"),
        _ => format!("lanes {}", texts.join(", ")),
    }
}
