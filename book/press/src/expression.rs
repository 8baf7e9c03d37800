//! Expressions in directives, such as `naive.time / shared.time`: numbers, terms, `+ - * / ( )`.

use anyhow::{Context, Result, ensure};

use super::quantity::Quantity;

/// `stage.field` of a record that may be named before it: `[nvidia-h200/03-unroll.65536x4096]fft.time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term<'a> {
    /// The record, where the term names one of its own.
    pub record: Option<&'a str>,
    /// A stage, `ceiling` or `work`; for facts, their group.
    pub stage: &'a str,
    /// A number of the stage; for facts, the key.
    pub field: &'a str,
}

/// A function that returns the value of a term.
pub type Terms<'a> = dyn Fn(Term) -> Result<Quantity> + 'a;

/// Evaluates an expression.
pub fn evaluate(text: &str, terms: &Terms) -> Result<Quantity> {
    let mut parser = Parser { rest: text.trim(), terms };
    let value = parser.sum()?;
    ensure!(parser.rest.is_empty(), "`{}` does not belong to the expression", parser.rest);
    Ok(value)
}

/// The text that is left to read. Each step reads its part and the space after it.
struct Parser<'a> {
    rest: &'a str,
    terms: &'a Terms<'a>,
}

impl<'a> Parser<'a> {
    fn sum(&mut self) -> Result<Quantity> {
        self.chain(['+', '-'], |parser| parser.chain(['*', '/'], Self::leaf))
    }

    /// Evaluates parts with these operators between them, from left to right.
    fn chain(&mut self, operators: [char; 2], part: fn(&mut Self) -> Result<Quantity>) -> Result<Quantity> {
        let mut value = part(self)?;
        while let Some(operator) = operators.into_iter().find(|operator| self.takes(*operator)) {
            value = value.apply(operator, part(self)?)?;
        }
        Ok(value)
    }

    fn leaf(&mut self) -> Result<Quantity> {
        if self.takes('(') {
            let inner = self.sum()?;
            ensure!(self.takes(')'), "a bracket is not closed");
            return Ok(inner);
        }
        if self.rest.starts_with(|first: char| first.is_ascii_digit()) {
            let number = self.read(|char| char.is_ascii_digit() || matches!(char, '.' | 'e'));
            return Ok(Quantity::plain(number.parse().with_context(|| format!("`{number}`"))?));
        }
        let mut record = None;
        if self.takes('[') {
            let (name, rest) = self.rest.split_once(']').context("`[` without `]`")?;
            (record, self.rest) = (Some(name), rest);
        }
        let term = self.rest;
        ensure!(!term.is_empty(), "the expression ends where a term should be");
        // Names of stages have dashes in them, so a minus after one needs a space; names of fields have none.
        let stage = self.read(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_'));
        ensure!(!stage.is_empty() && self.takes('.'), "`{term}` is not a term such as `naive.time`");
        let field = self.read(|char| char.is_ascii_alphanumeric() || char == '_');
        (self.terms)(Term { record, stage, field })
    }

    fn takes(&mut self, sign: char) -> bool {
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.map_or(self.rest, str::trim_start);
        rest.is_some()
    }

    fn read(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let (part, rest) = self.rest.split_at(self.rest.find(|char| !belongs(char)).unwrap_or(self.rest.len()));
        self.rest = rest.trim_start();
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the length of a term's field, plus 10 with a record.
    fn length(term: Term) -> Result<Quantity> {
        ensure!(term.stage != "lost", "no stage {}", term.stage);
        Ok(Quantity::plain((term.field.len() + term.record.map_or(0, |_| 10)) as f64))
    }

    #[test]
    fn an_expression_is_worth_what_arithmetic_says() {
        let cases = [
            ("naive.time", 4.0),
            ("1 - dp4a-tile.time / 8", 0.5),
            ("(1 + 2) * 3 / 2", 4.5),
            ("[nvidia-h200/03-unroll.65536x4096]fft.time - a.b", 13.0),
            ("a.bytes_moved-a.b", 10.0),
            ("2e3 / 1.5e1 * 3 - 1 - 1", 398.0),
        ];
        for (text, expected) in cases {
            assert_eq!(evaluate(text, &length).unwrap().value, expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        let cases = [
            ("naive", "`naive` is not a term"),
            ("naive.time naive.time", "`naive.time` does not belong"),
            ("(naive.time", "bracket is not closed"),
            ("naive.time /", "ends where a term should be"),
            ("[nvidia", "`[` without `]`"),
            ("* 2", "is not a term"),
            ("1..2", "`1..2`"),
            ("lost.time", "no stage lost"),
            ("", "ends where a term should be"),
        ];
        for (text, message) in cases {
            let error = evaluate(text, &length).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
