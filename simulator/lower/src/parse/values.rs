//! Operands and constants.

use std::rc::Rc;

use super::cursor::Parser;
use crate::error::Result;
use crate::ir::{Binary, Cast, Const, Constant, Type, Value};
use crate::lex::Kind;

impl Parser {
    /// Returns true if the word starts a constant. Other words are attributes before one.
    pub fn is_constant_word(word: &str) -> bool {
        let is_operation = matches!(word, "getelementptr" | "trunc" | "zext" | "sext" | "ptrtoint" | "ptrtoaddr" | "inttoptr")
            || matches!(word, "bitcast" | "addrspacecast" | "add" | "sub" | "mul" | "xor");
        is_operation
            || matches!(word, "true" | "false" | "null" | "undef" | "poison" | "zeroinitializer" | "none" | "splat")
            || matches!(word, "dso_local_equivalent" | "no_cfi" | "blockaddress")
    }

    /// Reads a type and an operand.
    pub fn typed_value(&mut self) -> Result<(Type, Value)> {
        let ty = self.ty()?;
        let value = self.value(&ty)?;
        Ok((ty, value))
    }

    /// Reads such a pair after a comma.
    pub fn next_typed_value(&mut self) -> Result<(Type, Value)> {
        self.expect(b',')?;
        self.typed_value()
    }

    pub fn value(&mut self, ty: &Type) -> Result<Value> {
        if let Kind::Local(name) = self.peek() {
            let name = name.clone();
            let line = self.line();
            self.skip();
            let local = self.local(name);
            self.used.push((local, ty.clone(), line));
            return Ok(Value::Local(local));
        }
        Ok(Value::Const(Rc::new(Constant { ty: ty.clone(), value: self.constant(ty)? })))
    }

    pub fn constant(&mut self, ty: &Type) -> Result<Const> {
        self.descend(|parser| parser.constant_inside(ty))
    }

    fn typed_constant(&mut self) -> Result<Constant> {
        let ty = self.ty()?;
        let value = self.constant(&ty)?;
        Ok(Constant { ty, value })
    }

    fn constant_inside(&mut self, ty: &Type) -> Result<Const> {
        let start = self.at;
        let first = self.next();
        let what = match first {
            Kind::Integer(_) | Kind::Float(_) => format!("a constant of type {ty:?}"),
            Kind::Word(_) => format!("a value of type {ty:?}"),
            _ => "a value".to_owned(),
        };
        let found = match first {
            Kind::Integer(text) => integer(&text, ty),
            Kind::Float(text) => float(&text, ty).map(Const::Float),
            Kind::Global(name) => Some(Const::Global(name)),
            Kind::Bytes(bytes) => Some(Const::Bytes(bytes)),
            Kind::Punct(b'<') if self.accept(b'{') => {
                let value = self.elements(b'}')?;
                self.expect(b'>')?;
                Some(value)
            }
            Kind::Punct(b'<') => Some(self.elements(b'>')?),
            // The closing brackets are two characters after the opening ones.
            Kind::Punct(bracket @ (b'[' | b'{')) => Some(self.elements(bracket + 2)?),
            Kind::Word(word) => self.constant_word(&word)?,
            _ => None,
        };
        self.require(start, &what, found)
    }

    fn elements(&mut self, end: u8) -> Result<Const> {
        self.list(end, Self::typed_constant).map(Const::Aggregate)
    }

    /// Reads a constant after its first word, if that word starts one.
    fn constant_word(&mut self, word: &str) -> Result<Option<Const>> {
        Ok(Some(match word {
            "true" => Const::Int(1),
            "false" | "null" | "zeroinitializer" | "none" => Const::Zero,
            "undef" | "poison" => Const::Undef,
            "splat" => Const::Splat(Rc::new(self.bracketed(Self::typed_constant)?)),
            "getelementptr" => {
                while ["inbounds", "nuw", "nusw", "inrange"].iter().any(|word| self.accept_word(word)) {
                    if *self.peek() == Kind::Punct(b'(') && matches!(self.ahead(1), Kind::Integer(_)) {
                        self.skip_brackets()?;
                    }
                }
                self.bracketed(|parser| {
                    let source = parser.ty()?;
                    parser.expect(b',')?;
                    let base = Rc::new(parser.typed_constant()?);
                    let mut indices = Vec::new();
                    while parser.accept(b',') {
                        indices.push(parser.typed_constant()?);
                    }
                    Ok(Const::Gep { source, base, indices })
                })?
            }
            _ => match (Cast::of(word), Binary::of(word)) {
                (Some(op), _) => self.bracketed(|parser| {
                    let value = Rc::new(parser.typed_constant()?);
                    parser.expect_word("to")?;
                    parser.ty()?;
                    Ok(Const::Cast { op, value })
                })?,
                (_, Some(op)) => {
                    while self.accept_word("nuw") || self.accept_word("nsw") {}
                    self.bracketed(|parser| {
                        let a = Rc::new(parser.typed_constant()?);
                        parser.expect(b',')?;
                        Ok(Const::Binary { op, a, b: Rc::new(parser.typed_constant()?) })
                    })?
                }
                _ => return Ok(None),
            },
        }))
    }
}

/// Returns an integer, reduced to the bits of its type.
fn integer(text: &str, ty: &Type) -> Option<Const> {
    let Type::Int(bits) = ty else { return None };
    let value = match text.strip_prefix('-') {
        Some(digits) => digits.parse::<u128>().ok()?.wrapping_neg(),
        None => text.parse::<u128>().ok()?,
    };
    Some(Const::Int(value & mask(*bits)))
}

/// Returns a number whose lowest bits are set.
fn mask(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

/// Returns the bits of a floating-point constant. Decimal and plain hexadecimal numbers are doubles that the type holds exactly.
fn float(text: &str, ty: &Type) -> Option<u64> {
    let (width, letter) = match ty {
        Type::Half => (4, "0xH"),
        Type::BFloat => (4, "0xR"),
        Type::Float | Type::Double => (16, "0x"),
        _ => return None,
    };
    if let Some(digits) = text.strip_prefix(letter) {
        if digits.len() > width {
            return None;
        }
        let bits = u64::from_str_radix(digits, 16).ok()?;
        return Some(if *ty == Type::Float { narrowed(bits) } else { bits });
    }
    if text.starts_with("0x") {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    match ty {
        Type::Float => Some(narrowed(value.to_bits())),
        Type::Double => Some(value.to_bits()),
        Type::BFloat => Some(narrowed(value.to_bits()) >> 16),
        _ => half(value),
    }
}

/// Returns the bits of the f32 that a double holds. A conversion would quiet a NaN.
fn narrowed(bits: u64) -> u64 {
    let value = f64::from_bits(bits);
    if value.is_nan() {
        let sign = (bits >> 63) << 31;
        return sign | 0x7f80_0000 | (bits >> 29 & 0x7f_ffff);
    }
    u64::from((value as f32).to_bits())
}

/// Returns the bits of the half that a double holds exactly.
fn half(value: f64) -> Option<u64> {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return Some(sign);
    }
    let exponent = ((magnitude.to_bits() >> 52) as i64 - 1023).max(-14);
    if exponent > 15 {
        return None;
    }
    // In units of the last place, subnormal numbers included.
    let units = magnitude / f64::powi(2.0, (exponent - 10) as i32);
    if units.fract() != 0.0 {
        return None;
    }
    let units = units as u64;
    Some(sign | if units < 1024 { units } else { ((exponent + 15) as u64) << 10 | (units - 1024) })
}
