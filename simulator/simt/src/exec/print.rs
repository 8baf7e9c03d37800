//! `printf`, whose output goes to the report of the launch, and `assert`, which ends the kernel if it fails.

use super::core::Core;
use super::machine::Stop;
use super::request::{Request, lanes_of};
use alu::registers::LANES;
use alu::windows::{LOCAL_WINDOW, SHARED_WINDOW, WINDOW_OFFSET};
use ptx::finding::{AccessOp, FindingKind, Space};

/// The fuel that a thread's `printf` uses. Each byte that it reads or writes uses more. Both are the number of instructions that
/// take as long. A loop that prints without end would otherwise take minutes to use up its fuel.
const FUEL: u64 = 200;
const FUEL_PER_BYTE: u64 = 2;

/// Longest text that is read from memory.
const LONGEST: usize = 1 << 16;

/// A thread's view of memory, through generic addresses.
struct Thread<'a, 'b> {
    core: &'a mut Core<'b>,
    local: &'a [[u32; LANES]],
    lane: usize,
    pc: u32,
    /// Bytes that were read.
    read: u64,
}

impl Thread<'_, '_> {
    fn byte(&mut self, address: u64) -> Result<u8, Stop> {
        self.read += 1;
        let offset = (address & WINDOW_OFFSET) as usize;
        let of_word = |word: &u32| (word >> (offset % 4 * 8)) as u8;
        let found = match address & !WINDOW_OFFSET {
            LOCAL_WINDOW => self.local.get(offset / 4).map(|row| of_word(&row[self.lane])),
            SHARED_WINDOW => self.core.shared.get(offset / 4).map(of_word),
            _ => {
                let region = self.core.machine.region(&mut self.core.check_hint, address, 1);
                region.map(|region| region.buffer.byte(address - region.base))
            }
        };
        found.ok_or_else(|| self.outside(address))
    }

    /// Returns the fault of reading outside every allocation.
    fn outside(&mut self, address: u64) -> Stop {
        let addresses = [address; LANES];
        let request = Request { op: AccessOp::Load, index: 0, pc: self.pc, bytes: 1, mask: 1 << self.lane, addresses: &addresses };
        match address & !WINDOW_OFFSET {
            LOCAL_WINDOW => self.core.out_of_bounds(Space::Local, &request),
            SHARED_WINDOW => self.core.out_of_bounds(Space::Shared, &request),
            _ => match self.core.check_global(&request) {
                Err(stop) => stop,
                Ok(()) => self.core.out_of_bounds(Space::Global, &request),
            },
        }
    }

    fn integer(&mut self, address: u64, bytes: u64) -> Result<u64, Stop> {
        (0..bytes).rev().try_fold(0, |value, i| Ok(value << 8 | u64::from(self.byte(address.wrapping_add(i))?)))
    }

    fn text(&mut self, address: u64) -> Result<Vec<u8>, Stop> {
        let mut text = Vec::new();
        while text.len() < LONGEST {
            match self.byte(address.wrapping_add(text.len() as u64))? {
                0 => break,
                byte => text.push(byte),
            }
        }
        Ok(text)
    }

    /// Returns a parameter of a function, in local memory.
    fn parameter(&mut self, offset: u32, bytes: u64) -> Result<u64, Stop> {
        self.integer(LOCAL_WINDOW | u64::from(offset), bytes)
    }

    /// Formats the arguments, and returns the text and the number of arguments. Each argument is at a multiple of its size.
    fn format(&mut self, format: &[u8], mut arguments: u64) -> Result<(Vec<u8>, u32), Stop> {
        let mut output = Vec::new();
        let mut count = 0;
        let mut rest = format;
        while let Some((first, after)) = rest.split_first() {
            let directive = if *first == b'%' { Directive::parse(after) } else { None };
            let Some((directive, length)) = directive else {
                output.push(*first);
                rest = after;
                continue;
            };
            rest = &after[length..];
            if directive.conversion == b'%' {
                output.push(b'%');
                continue;
            }
            let mut next = |thread: &mut Self, bytes: u64| {
                let address = arguments.next_multiple_of(bytes);
                arguments = address.wrapping_add(bytes);
                count += 1;
                thread.integer(address, bytes)
            };
            let width = match directive.width {
                Extent::Given(width) => width.min(WIDEST) as i64,
                Extent::Argument => (next(self, 4)? as i32).into(),
            };
            let precision = match directive.precision {
                Some(Extent::Argument) => usize::try_from(next(self, 4)? as i32).ok(),
                Some(Extent::Given(precision)) => Some(precision),
                None => None,
            };
            let value = next(self, directive.argument_bytes())?;
            let text = if directive.conversion == b's' { self.text(value)? } else { Vec::new() };
            directive.write(value, text, (width, precision), &mut output);
        }
        Ok((output, count))
    }
}

/// Executes `printf` for the lanes in `mask`, one by one.
pub fn print(
    core: &mut Core<'_>,
    local: &mut [[u32; LANES]],
    (format, arguments, result): (u32, u32, Option<u32>),
    mask: u32,
    pc: u32,
) -> Result<(), Stop> {
    for lane in lanes_of(mask) {
        let mut thread = Thread { core, local, lane, pc, read: 0 };
        let format = thread.parameter(format, 8)?;
        let arguments = thread.parameter(arguments, 8)?;
        let format = thread.text(format)?;
        let (text, count) = thread.format(&format, arguments)?;
        let fuel = FUEL + FUEL_PER_BYTE * (thread.read + text.len() as u64);
        core.own.fuel = core.own.fuel.saturating_sub(fuel);
        core.own.printed.push(&text, core.machine.options.printed_bytes);
        if let Some(result) = result {
            local[result as usize / 4][lane] = count;
        }
    }
    Ok(())
}

/// Returns the finding of a failed `assert` by `mask`'s first lane.
pub fn failed_assert(core: &mut Core<'_>, local: &[[u32; LANES]], params: [u32; 4], mask: u32, pc: u32) -> Stop {
    let mut thread = Thread { core, local, lane: mask.trailing_zeros() as usize, pc, read: 0 };
    let [condition, file, line, function] = params;
    let mut text = |offset: u32| {
        let address = thread.parameter(offset, 8)?;
        Ok(String::from_utf8_lossy(&thread.text(address)?).into_owned())
    };
    let parts = text(condition).and_then(|condition| Ok((condition, text(file)?, text(function)?)));
    let line = thread.parameter(line, 4);
    match (parts, line) {
        (Ok((condition, file, function)), Ok(line)) => {
            core.stop(FindingKind::Assert { condition, file, line: line as u32, function }, mask, pc)
        }
        (Err(stop), _) | (_, Err(stop)) => stop,
    }
}

/// Widest field and longest fraction that are supported.
const WIDEST: usize = 4096;

/// `%-08.3lld`, without the `%`.
#[derive(Clone, Copy, Debug)]
struct Directive<'a> {
    /// Any of `-+ #0`.
    flags: &'a [u8],
    width: Extent,
    precision: Option<Extent>,
    /// Bytes of an integer: 1, 2, 4 or 8.
    bytes: u32,
    conversion: u8,
}

/// A width or a precision.
#[derive(Clone, Copy, Debug)]
enum Extent {
    Given(usize),
    /// `*`
    Argument,
}

/// Takes the text's leading bytes that are in a set.
fn take<'a>(text: &mut &'a [u8], set: &[u8]) -> &'a [u8] {
    let (taken, rest) = text.split_at(text.iter().take_while(|byte| set.contains(byte)).count());
    *text = rest;
    taken
}

impl Extent {
    fn take(text: &mut &[u8]) -> Self {
        if let Some(rest) = text.strip_prefix(b"*") {
            *text = rest;
            return Self::Argument;
        }
        let digits = take(text, b"0123456789");
        Self::Given(digits.iter().fold(0, |value: usize, digit| value.saturating_mul(10) + usize::from(digit - b'0')))
    }
}

impl<'a> Directive<'a> {
    /// Returns the directive at the start of a text, and its length; `None` if there is no valid one.
    fn parse(text: &'a [u8]) -> Option<(Self, usize)> {
        let mut rest = text;
        let flags = take(&mut rest, b"-+ #0");
        let width = Extent::take(&mut rest);
        let precision = rest.strip_prefix(b".").map(|after| {
            rest = after;
            Extent::take(&mut rest)
        });
        let bytes = take(&mut rest, b"hlLjzt").iter().fold(4, |bytes, size| match size {
            b'h' if bytes == 2 => 1,
            b'h' => 2,
            _ => 8,
        });
        let conversion = *rest.first()?;
        let length = text.len() - rest.len() + 1;
        b"diouxXcspfFeEgG%".contains(&conversion).then_some((Self { flags, width, precision, bytes, conversion }, length))
    }

    fn has(&self, flag: u8) -> bool {
        self.flags.contains(&flag)
    }

    /// Returns the number of bytes of the argument. Types narrower than `int` are promoted to it, and every float to `double`.
    fn argument_bytes(&self) -> u64 {
        match self.conversion {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => u64::from(self.bytes.max(4)),
            b'c' => 4,
            _ => 8,
        }
    }

    /// Writes an argument; `text` is the string that a `%s` points to. A negative width puts it at the left, as the flag does.
    fn write(self, value: u64, text: Vec<u8>, (width, precision): (i64, Option<usize>), output: &mut Vec<u8>) {
        let narrow = 64 - 8 * self.bytes;
        let unsigned = value << narrow >> narrow;
        let precision = precision.map(|precision| precision.min(WIDEST));
        let (left, width) = (self.has(b'-') || width < 0, width.unsigned_abs().min(WIDEST as u64) as usize);
        let prefixed = self.has(b'#') && unsigned != 0;
        let pad = |text: &[u8], output: &mut Vec<u8>| {
            let missing = vec![b' '; width.saturating_sub(text.len())];
            let (before, after) = if left { (Vec::new(), missing) } else { (missing, Vec::new()) };
            output.extend(before.iter().chain(text).chain(&after));
        };
        let digits = |digits: String| match precision {
            Some(0) if unsigned == 0 => String::new(),
            Some(precision) => format!("{digits:0>precision$}"),
            None => digits,
        };
        let mut is_number = true;
        let (prefix, body) = match self.conversion {
            b'd' | b'i' => {
                let signed = (value << narrow) as i64 >> narrow;
                (self.sign(signed < 0), digits(signed.unsigned_abs().to_string()))
            }
            b'u' => ("", digits(unsigned.to_string())),
            b'o' => (if prefixed { "0" } else { "" }, digits(format!("{unsigned:o}"))),
            b'x' => (if prefixed { "0x" } else { "" }, digits(format!("{unsigned:x}"))),
            b'X' => (if prefixed { "0X" } else { "" }, digits(format!("{unsigned:X}"))),
            b'p' if value == 0 => ("", "(nil)".to_owned()),
            b'p' => ("0x", format!("{value:x}")),
            b'c' | b's' => {
                let text = if self.conversion == b'c' { vec![value as u8] } else { text };
                let shown = &text[..text.len().min(precision.unwrap_or(usize::MAX))];
                return pad(shown, output);
            }
            _ => {
                let value = f64::from_bits(value);
                is_number = value.is_finite();
                (self.sign(value.is_sign_negative()), self.float(value.abs(), precision.unwrap_or(6)))
            }
        };
        // Zeros go between the sign and the digits. Except for floats, a precision already sets the number of digits.
        let is_integer = !b"fFeEgG".contains(&self.conversion);
        let zeros = self.has(b'0') && !left && is_number && !(is_integer && precision.is_some());
        let missing = if zeros { width.saturating_sub(prefix.len() + body.len()) } else { 0 };
        pad(format!("{prefix}{}{body}", "0".repeat(missing)).as_bytes(), output);
    }

    fn sign(&self, negative: bool) -> &'static str {
        match negative {
            true => "-",
            _ if self.has(b'+') => "+",
            _ if self.has(b' ') => " ",
            _ => "",
        }
    }

    /// Returns the digits of a float that is not negative.
    fn float(&self, value: f64, precision: usize) -> String {
        let text = match self.conversion.to_ascii_lowercase() {
            _ if value.is_nan() => "nan".to_owned(),
            _ if value.is_infinite() => "inf".to_owned(),
            b'f' => format!("{value:.precision$}"),
            b'e' => exponential(value, precision),
            _ => {
                let digits = precision.max(1);
                // The choice depends on the exponent after rounding to that many digits.
                let rounded = exponential(value, digits - 1);
                let exponent: i32 = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
                let text = if (-4..digits as i32).contains(&exponent) {
                    format!("{value:.*}", (digits as i32 - 1 - exponent) as usize)
                } else {
                    rounded
                };
                if self.has(b'#') { text } else { without_zeros(&text) }
            }
        };
        if self.conversion.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text }
    }
}

/// Formats a float as C does: `1.5e+03`.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// Returns a number without the zeros at the end of its fraction.
fn without_zeros(text: &str) -> String {
    let (mantissa, exponent) = text.find('e').map_or((text, ""), |at| text.split_at(at));
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    format!("{mantissa}{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: &str, value: u64) -> String {
        let (directive, length) = Directive::parse(format.as_bytes()).unwrap();
        assert_eq!(length, format.len());
        let mut output = Vec::new();
        let given = |extent| match extent {
            Extent::Given(extent) => extent,
            Extent::Argument => panic!("no argument"),
        };
        let extents = (given(directive.width) as i64, directive.precision.map(given));
        directive.write(value, b"text".to_vec(), extents, &mut output);
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn integers_are_written_as_c_does() {
        let minus = |value: i64| value as u64;
        for (format, value, expected) in [
            ("d", minus(-42), "-42"),
            ("5d", 42, "   42"),
            ("-5d", 42, "42   "),
            ("05d", minus(-42), "-0042"),
            ("+d", 7, "+7"),
            (" d", 7, " 7"),
            (".3d", 7, "007"),
            ("08.3d", minus(-7), "    -007"),
            (".0d", 0, ""),
            ("u", u64::from(u32::MAX), "4294967295"),
            ("hhd", 0x1fd, "-3"),
            ("hu", 0x1_0005, "5"),
            ("lld", minus(-5_000_000_000), "-5000000000"),
            ("#x", 255, "0xff"),
            ("#X", 255, "0XFF"),
            ("#010x", 255, "0x000000ff"),
            ("o", 8, "10"),
            ("c", 65, "A"),
            ("3c", 65, "  A"),
            ("s", 0, "text"),
            ("-6s", 0, "text  "),
            (".2s", 0, "te"),
            ("p", 0x10, "0x10"),
        ] {
            assert_eq!(written(format, value), expected, "%{format} of {value}");
        }
    }

    #[test]
    fn floats_are_written_as_c_does() {
        for (format, value, expected) in [
            ("f", 1.5, "1.500000"),
            ("8.2f", -2.71, "   -2.71"),
            ("08.2f", -2.71, "-0002.71"),
            (".0f", 2.5, "2"),
            ("e", 12345.678, "1.234568e+04"),
            (".2E", 0.00012, "1.20E-04"),
            ("g", 0.0001, "0.0001"),
            ("g", 0.00001, "1e-05"),
            ("g", 1e6, "1e+06"),
            ("g", 999_999.5, "1e+06"),
            ("g", 123_456.0, "123456"),
            ("g", 0.0, "0"),
            (".3g", 1234.5, "1.23e+03"),
            ("f", f64::INFINITY, "inf"),
            ("08f", f64::NEG_INFINITY, "    -inf"),
            ("F", f64::NAN, "NAN"),
        ] {
            assert_eq!(written(format, value.to_bits()), expected, "%{format} of {value}");
        }
    }

    #[test]
    fn what_is_no_directive_is_told_apart() {
        for format in ["", "-", "5", "5.", "lq", "y"] {
            assert!(Directive::parse(format.as_bytes()).is_none(), "%{format}");
        }
    }
}
