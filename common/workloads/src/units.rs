//! Formats numbers for people: three significant digits and a unit. Every number in a table or a message is formatted here.

/// Formats a number with three significant digits, in plain notation.
pub fn significant(value: f64) -> String {
    with_digits(value, 3)
}

/// Formats a number with `digits` significant digits (at least one), in plain notation.
pub fn with_digits(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    // Round first: 9.999 has one digit before the point, but shows two.
    let rounded: f64 = format!("{value:.0$e}", digits.max(1) - 1).parse().unwrap_or(value);
    let digits_before_point = rounded.abs().log10().floor() as i32 + 1;
    let decimals = (digits as i32 - digits_before_point).max(0) as usize;
    format!("{rounded:.decimals$}")
}

/// Formats a number with an SI prefix, for example `65.2 T`. One to three digits come before the point.
fn prefixed(value: f64) -> String {
    const PREFIXES: [(f64, &str); 5] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
    // 999.6 rounds to 1000, so the next prefix starts a little below its power.
    let (scale, prefix) = PREFIXES.into_iter().find(|(scale, _)| value.abs() >= scale * 0.9995).unwrap_or((1.0, ""));
    format!("{} {prefix}", significant(value / scale))
}

/// Formats a duration given in milliseconds, for example `3.51 ms`, `140 µs`.
pub fn milliseconds(value: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e3, "s"), (1.0, "ms"), (1e-3, "µs"), (1e-6, "ns")];
    let (scale, unit) = UNITS.into_iter().find(|(scale, _)| value.abs() >= scale * 0.9995).unwrap_or((1e-6, "ns"));
    format!("{} {unit}", significant(value / scale))
}

/// Formats floating-point operations per second.
pub fn flops(value: f64) -> String {
    format!("{}FLOP/s", prefixed(value))
}

/// Formats multiply-adds per second, of any type.
pub fn multiply_adds(value: f64) -> String {
    format!("{}mul-adds/s", prefixed(value))
}

/// Formats result pixels per second.
pub fn pixels(value: f64) -> String {
    format!("{}pixels/s", prefixed(value))
}

/// Formats bytes per second, in powers of ten like datasheets.
pub fn bandwidth(value: f64) -> String {
    format!("{}B/s", prefixed(value))
}

/// Formats a count, for example `9.66 G`. Counts below ten thousand are exact.
pub fn count(value: u64) -> String {
    if value < 10_000 { value.to_string() } else { prefixed(value as f64) }
}

/// Formats an amount of memory, in powers of two like allocations.
pub fn bytes(value: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.into_iter().find(|(scale, _)| value >= *scale) {
        Some((scale, unit)) => format!("{} {unit}", significant(value as f64 / scale as f64)),
        None => format!("{value} B"),
    }
}

/// Formats a fraction, in percent.
pub fn percent(share: f64) -> String {
    format!("{} %", significant(100.0 * share))
}

/// Formats a speed-up.
pub fn factor(value: f64) -> String {
    format!("{}x", significant(value))
}

/// Formats an error or a tolerance, which may be tiny.
pub fn deviation(value: f64) -> String {
    if value == 0.0 { "0".into() } else { format!("{value:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_the_unit_that_fits() {
        let cases = [
            (significant(0.0), "0"),
            (significant(9.996), "10.0"),
            (significant(123_456.0), "123000"),
            (significant(-0.001_234_5), "-0.00123"),
            (milliseconds(3.5149), "3.51 ms"),
            (milliseconds(0.140_12), "140 µs"),
            (milliseconds(18_923.0), "18.9 s"),
            (milliseconds(0.999_9), "1.00 ms"),
            (milliseconds(0.0), "0 ns"),
            (flops(65.2e12), "65.2 TFLOP/s"),
            (flops(999.9e9), "1.00 TFLOP/s"),
            (bandwidth(55e9), "55.0 GB/s"),
            (pixels(331e9), "331 Gpixels/s"),
            (count(4096), "4096"),
            (count(9_663_676_416), "9.66 G"),
            (bytes(1023), "1023 B"),
            (bytes(3 << 20), "3.00 MiB"),
            (percent(0.7234), "72.3 %"),
            (factor(8.86), "8.86x"),
            (deviation(0.000_123), "1.2e-4"),
        ];
        for (got, expected) in cases {
            assert_eq!(got, expected);
        }
    }
}
