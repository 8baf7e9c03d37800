//! Operands of instructions: tokens to syntax tree.

use super::ast::{Base, Operand};
use super::lexer::Kind;
use super::parser::{Parsed, Parser, expected};

impl<'t> Parser<'t> {
    pub(super) fn operand(&mut self) -> Parsed<Operand<'t>> {
        let line = self.line();
        match (self.peek(), self.ahead(1)) {
            (Kind::Punct(b'!'), Kind::Word(name)) if name != "WARP_SZ" => {
                self.next();
                Ok(Operand::Not(self.word("a predicate")?))
            }
            (Kind::Punct(b'-'), Kind::Word(name)) if name != "WARP_SZ" => {
                self.next();
                Ok(Operand::Negative(self.word("a register")?))
            }
            (found, _) if Self::starts_expression(found) || found == Kind::Punct(b'(') => self.expression(),
            (Kind::Word(_), _) => self.name(),
            (Kind::Punct(b'['), _) => {
                self.next();
                let address = self.address()?;
                self.expect(b']')?;
                // Host and device use the same address for a variable, which is always so here.
                self.accept_word(".unified");
                Ok(address)
            }
            (Kind::Punct(b'{'), _) => {
                self.next();
                Ok(Operand::Vector(self.elements(b'}')?))
            }
            (found, _) => Err(expected(line, "an operand", found)),
        }
    }

    /// Parses a call's arguments or results, from after the parenthesis on.
    pub(super) fn arguments(&mut self) -> Parsed<Operand<'t>> {
        let is_empty = self.accept(b')');
        Ok(Operand::List(if is_empty { Vec::new() } else { self.elements(b')')? }))
    }

    /// Operands that are not lists themselves, to the end of the list.
    fn elements(&mut self, end: u8) -> Parsed<Vec<Operand<'t>>> {
        let elements = self.operands(b"{[", "a register or a number in a list")?;
        self.expect(end)?;
        Ok(elements)
    }

    /// Operands, none of which starts with one of these characters: that is checked before it is parsed, so that text full of brackets does
    /// not overflow the stack.
    fn operands(&mut self, barred: &[u8], what: &str) -> Parsed<Vec<Operand<'t>>> {
        let mut operands = Vec::new();
        loop {
            if barred.iter().any(|bracket| self.peek() == Kind::Punct(*bracket)) {
                return Err(expected(self.line(), what, self.peek()));
            }
            operands.push(self.operand()?);
            if !self.accept(b',') {
                return Ok(operands);
            }
        }
    }

    /// Parses a name, alone or with what follows it.
    fn name(&mut self) -> Parsed<Operand<'t>> {
        let name = self.word("a name")?;
        if self.accept(b'|') {
            return Ok(Operand::Pair(name, self.word("a predicate")?));
        }
        if self.peek() == Kind::Punct(b'+') {
            return Ok(Operand::Offset(name, self.offset()?));
        }
        if self.accept(b'[') {
            let index = self.integer_expression("an index")?;
            self.expect(b']')?;
            return Ok(Operand::Element(name, index));
        }
        Ok(Operand::Name(name))
    }

    /// Parses an address between brackets: a base and an offset.
    fn address(&mut self) -> Parsed<Operand<'t>> {
        let line = self.line();
        match self.peek() {
            found if Self::starts_expression(found) => Ok(Operand::Address(Base::Absolute, self.integer_expression("an address")?)),
            Kind::Word(name) => {
                self.next();
                let offset = self.offset()?;
                // `[texture, {coordinates}]`
                if offset == 0 && self.accept(b',') {
                    return Ok(Operand::Texture(name, self.operands(b"[", "coordinates")?));
                }
                Ok(Operand::Address(Base::Name(name), offset))
            }
            found => Err(expected(line, "an address", found)),
        }
    }

    /// `+8`, `+-8`, `-8`, `+4*2` or nothing.
    pub(super) fn offset(&mut self) -> Parsed<i64> {
        if self.accept(b'+') || self.peek() == Kind::Punct(b'-') {
            return self.integer_expression("an offset");
        }
        Ok(0)
    }
}
