//! A case of an exercise: a size, and options of the chapter after it, such as `40x3 --window 31 --border clamp`.

use std::fmt::Display;
use std::str::FromStr;

use crate::values::Values;

/// A case that is being read.
pub struct Case<'a> {
    text: &'a str,
    size: &'a str,
    /// Names and values that were not asked for yet.
    options: Vec<(&'a str, &'a str)>,
}

impl<'a> Case<'a> {
    /// Splits a case into its parts. Fails when it has no size, or an option without a value.
    pub fn new(text: &'a str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let size = words.next().ok_or("a case begins with a size")?;
        let mut options = Vec::new();
        while let Some(name) = words.next() {
            options.push((name, words.next().ok_or_else(|| format!("`{text}`: {name} has no value"))?));
        }
        Ok(Self { text, size, options })
    }

    /// Returns the size.
    pub fn size<T: FromStr<Err: Display>>(&self) -> Result<T, String> {
        self.size.parse().map_err(|error: T::Err| error.to_string())
    }

    /// Returns the value of an option, if the case has it.
    pub fn take<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, String> {
        let Some(place) = self.options.iter().position(|(known, _)| *known == name) else { return Ok(None) };
        let (_, value) = self.options.swap_remove(place);
        value.parse().map(Some).map_err(|_| format!("`{}`: {value} is no value of {name}", self.text))
    }

    /// Returns the size and the kind of values. The case has no other options.
    pub fn size_and_values<T: FromStr<Err: Display>>(mut self) -> Result<(T, Values), String> {
        let (size, values) = (self.size()?, self.take("--values")?.unwrap_or_default());
        self.finish().map(|()| (size, values))
    }

    /// Refuses options that were not asked for.
    pub fn finish(self) -> Result<(), String> {
        match self.options.first() {
            Some((name, _)) => Err(format!("`{}`: there is no option {name}", self.text)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_follow_the_size_and_unknown_ones_are_named() {
        let mut case = Case::new("40x3 --window 31 --border clamp").unwrap();
        assert_eq!(case.size::<String>().unwrap(), "40x3");
        assert_eq!(case.take::<u32>("--window"), Ok(Some(31)));
        assert_eq!(case.take::<u32>("--window"), Ok(None));
        assert!(case.take::<u32>("--border").unwrap_err().contains("clamp is no value of --border"));
        assert!(Case::new("40x3 --windows 31").unwrap().finish().unwrap_err().contains("no option --windows"));
        assert!(Case::new("40x3 --window").is_err_and(|error| error.contains("has no value")));
        assert!(Case::new("").is_err());
    }
}
