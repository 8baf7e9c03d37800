//! Whole numbers on a command line.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Returns a parser for clap of a number in this range. clap's own does not tell the range for a number that no integer can hold.
pub fn within<T: FromStr + PartialOrd + Display + Copy>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let (first, last) = (range.start(), range.end());
        match text.parse::<T>() {
            Ok(number) if is_number && range.contains(&number) => Ok(number),
            _ if is_number => Err(format!("{text} is not in {first}..={last}")),
            _ => Err(format!("expected a whole number in {first}..={last}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_not_in_the_range_is_answered_with_the_range() {
        let parse = within(1..=u16::MAX);
        assert_eq!((parse("1"), parse("65535")), (Ok(1), Ok(65535)));
        for text in ["0", "65536", "99999999999999999999999999999999999999999"] {
            assert_eq!(parse(text), Err(format!("{text} is not in 1..=65535")));
        }
        for text in ["", "x", "-1", "+1", "1.5"] {
            assert_eq!(parse(text), Err("expected a whole number in 1..=65535".to_owned()));
        }
    }
}
