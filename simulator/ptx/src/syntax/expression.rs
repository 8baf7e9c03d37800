//! Constant expressions, as PTX writes them where a number may be: `WARP_SZ * 4 - 1` (PTX ISA, "Constant Expressions").

use super::ast::Operand;
use super::lexer::Kind;
use super::literal::literal;
use super::parser::{DEEPEST, Parsed, Parser, expected};
use crate::error::syntax;

/// Lanes of a warp, which PTX calls `WARP_SZ`.
const WARP_SIZE: i64 = 32;

/// The operators of two operands, those that bind least first.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// A value of a constant expression. Integers have 64 bits.
#[derive(Clone, Copy)]
enum Value {
    Signed(i64),
    Unsigned(u64),
    Single(u32),
    Double(f64),
}

impl Value {
    fn bits(self) -> Option<u64> {
        match self {
            Self::Signed(value) => Some(value as u64),
            Self::Unsigned(value) => Some(value),
            Self::Single(_) | Self::Double(_) => None,
        }
    }

    fn double(self) -> Option<f64> {
        match self {
            Self::Double(value) => Some(value),
            Self::Signed(value) => Some(value as f64),
            Self::Unsigned(value) => Some(value as f64),
            Self::Single(_) => None,
        }
    }

    fn is_true(self) -> bool {
        self.bits().map_or_else(|| self.double() != Some(0.0), |bits| bits != 0)
    }

    /// `None` for an operation that PTX does not define for these values.
    fn unary(self, operator: u8) -> Option<Self> {
        Some(match (operator, self) {
            (b'+', value) => value,
            (b'-', Self::Signed(value)) => Self::Signed(value.wrapping_neg()),
            (b'-', Self::Unsigned(value)) => Self::Unsigned(value.wrapping_neg()),
            (b'-', Self::Single(bits)) => Self::Single(bits ^ 1 << 31),
            (b'-', Self::Double(value)) => Self::Double(-value),
            (b'!', value) => Self::Signed(i64::from(!value.is_true())),
            (b'~', value) => Self::Unsigned(!value.bits()?),
            _ => return None,
        })
    }

    /// `None` for an operation that PTX does not define for these values.
    fn binary(self, operator: &str, other: Self) -> Option<Self> {
        let truth = |value| Some(Self::Signed(i64::from(value)));
        match operator {
            "||" => return truth(self.is_true() || other.is_true()),
            "&&" => return truth(self.is_true() && other.is_true()),
            "|" => return Some(Self::Unsigned(self.bits()? | other.bits()?)),
            "^" => return Some(Self::Unsigned(self.bits()? ^ other.bits()?)),
            "&" => return Some(Self::Unsigned(self.bits()? & other.bits()?)),
            "%" => return self.bits()?.checked_rem(other.bits()?).map(|rest| Self::Signed(rest as i64)),
            "<<" | ">>" => {
                let n = u32::try_from(other.bits()?).unwrap_or(u32::MAX);
                return Some(match (operator, self) {
                    ("<<", Self::Signed(value)) => Self::Signed(value.checked_shl(n).unwrap_or(0)),
                    ("<<", value) => Self::Unsigned(value.bits()?.checked_shl(n).unwrap_or(0)),
                    (_, Self::Signed(value)) => Self::Signed(value >> n.min(63)),
                    (_, value) => Self::Unsigned(value.bits()?.checked_shr(n).unwrap_or(0)),
                });
            }
            _ => {}
        }
        if let (Some(a), Some(b)) = (self.bits(), other.bits()) {
            let is_signed = matches!((self, other), (Self::Signed(_), Self::Signed(_)));
            let bits = match operator {
                "+" => a.wrapping_add(b),
                "-" => a.wrapping_sub(b),
                "*" => a.wrapping_mul(b),
                "/" if b == 0 => return None,
                "/" if is_signed => (a as i64).wrapping_div(b as i64) as u64,
                "/" => a / b,
                _ if is_signed => return truth(compare(operator, &(a as i64), &(b as i64))?),
                _ => return truth(compare(operator, &a, &b)?),
            };
            return Some(if is_signed { Self::Signed(bits as i64) } else { Self::Unsigned(bits) });
        }
        let (a, b) = (self.double()?, other.double()?);
        match operator {
            "+" => Some(Self::Double(a + b)),
            "-" => Some(Self::Double(a - b)),
            "*" => Some(Self::Double(a * b)),
            "/" => Some(Self::Double(a / b)),
            _ => truth(compare(operator, &a, &b)?),
        }
    }
}

fn compare<T: PartialOrd>(operator: &str, a: &T, b: &T) -> Option<bool> {
    Some(match operator {
        "==" => a == b,
        "!=" => a != b,
        "<" => a < b,
        "<=" => a <= b,
        ">" => a > b,
        ">=" => a >= b,
        _ => return None,
    })
}

impl<'t> Parser<'t> {
    /// Returns true if a token starts a constant expression. A parenthesis does so too, except in a call.
    pub(super) fn starts_expression(kind: Kind<'_>) -> bool {
        matches!(kind, Kind::Number(_) | Kind::Word("WARP_SZ") | Kind::Punct(b'-' | b'+' | b'~' | b'!'))
    }

    /// Parses a constant expression, as an operand.
    pub(super) fn expression(&mut self) -> Parsed<Operand<'t>> {
        // Most numbers stand alone.
        let is_alone = matches!((self.peek(), self.ahead(1)), (Kind::Number(_), Kind::Punct(b',' | b';' | b']' | b'}')));
        Ok(match if is_alone { self.unary(0)? } else { self.conditional(0)? } {
            Value::Signed(value) => Operand::Integer(value as u64),
            Value::Unsigned(value) => Operand::Integer(value),
            Value::Single(bits) => Operand::F32(bits),
            Value::Double(value) => Operand::F64(value.to_bits()),
        })
    }

    /// Parses a constant expression whose value must be an integer.
    pub(super) fn integer_expression(&mut self, what: &str) -> Parsed<i64> {
        let line = self.line();
        match self.expression()? {
            Operand::Integer(bits) => Ok(bits as i64),
            _ => Err(syntax(line, format!("expected {what}, found a float"))),
        }
    }

    /// `condition ? value : value`
    fn conditional(&mut self, depth: usize) -> Parsed<Value> {
        let condition = self.level(0, depth)?;
        if !self.accept(b'?') {
            return Ok(condition);
        }
        self.limit(depth)?;
        let yes = self.conditional(depth + 1)?;
        self.expect(b':')?;
        let no = self.conditional(depth + 1)?;
        Ok(if condition.is_true() { yes } else { no })
    }

    /// Operators of a level of [`LEVELS`] and those that bind more.
    fn level(&mut self, level: usize, depth: usize) -> Parsed<Value> {
        let Some(operators) = LEVELS.get(level) else { return self.unary(depth) };
        let mut value = self.level(level + 1, depth)?;
        while let Some(operator) = self.operator().filter(|operator| operators.contains(operator)) {
            for _ in operator.bytes() {
                self.next();
            }
            let line = self.line();
            let other = self.level(level + 1, depth)?;
            value = value
                .binary(operator, other)
                .ok_or_else(|| syntax(line, format!("the operands of {operator} in a constant expression do not fit")))?;
        }
        Ok(value)
    }

    fn unary(&mut self, depth: usize) -> Parsed<Value> {
        self.limit(depth)?;
        let line = self.line();
        match self.next() {
            Kind::Punct(operator @ (b'-' | b'+' | b'!' | b'~')) => {
                let value = self.unary(depth + 1)?.unary(operator);
                value.ok_or_else(|| syntax(line, format!("a constant expression cannot apply {} here", char::from(operator))))
            }
            Kind::Punct(b'(') if self.accept_word(".s64") => {
                self.expect(b')')?;
                self.cast(line, depth, |bits| Value::Signed(bits as i64))
            }
            Kind::Punct(b'(') if self.accept_word(".u64") => {
                self.expect(b')')?;
                self.cast(line, depth, Value::Unsigned)
            }
            Kind::Punct(b'(') => {
                let value = self.conditional(depth + 1)?;
                self.expect(b')')?;
                Ok(value)
            }
            Kind::Word("WARP_SZ") => Ok(Value::Signed(WARP_SIZE)),
            Kind::Number(number) => match literal(number) {
                Some(Operand::Integer(bits)) if number.ends_with(['U', 'u']) || bits > i64::MAX as u64 => Ok(Value::Unsigned(bits)),
                Some(Operand::Integer(bits)) => Ok(Value::Signed(bits as i64)),
                Some(Operand::F32(bits)) => Ok(Value::Single(bits)),
                Some(Operand::F64(bits)) => Ok(Value::Double(f64::from_bits(bits))),
                _ => Err(expected(line, "a number", Kind::Number(number))),
            },
            found => Err(expected(line, "a number", found)),
        }
    }

    fn cast(&mut self, line: u32, depth: usize, to: impl Fn(u64) -> Value) -> Parsed<Value> {
        let value = self.unary(depth + 1)?;
        value.bits().map(to).ok_or_else(|| syntax(line, "expected an integer to convert, found a float".to_owned()))
    }

    /// Refuses an expression that is nested too deep. This comes before parsing, so that parentheses do not overflow the stack.
    fn limit(&self, depth: usize) -> Parsed<()> {
        if depth < DEEPEST {
            return Ok(());
        }
        Err(syntax(self.line(), format!("expected a constant expression nested at most {DEEPEST} deep")))
    }

    /// Finds the operator that comes next, which is the longest that fits.
    fn operator(&self) -> Option<&'static str> {
        let is_next = |operator: &&'static str| match *operator {
            // It may start a name, and so it is a word.
            "%" => self.peek() == Kind::Word("%"),
            _ => operator.bytes().enumerate().all(|(at, byte)| self.ahead(at) == Kind::Punct(byte)),
        };
        LEVELS.iter().copied().flatten().copied().filter(is_next).max_by_key(|operator| operator.len())
    }
}
