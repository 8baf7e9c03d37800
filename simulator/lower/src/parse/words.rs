//! The words around types and operands: promises, attributes, and attachments of metadata.

use super::cursor::Parser;
use crate::error::Result;
use crate::ir::{Access, Flags, Op, Ordering, Type};
use crate::lex::Kind;

/// Attributes of a parameter or an argument that change code.
#[derive(Default)]
pub struct Attributes {
    pub byval: Option<Type>,
    pub align: Option<u64>,
    pub noalias: bool,
    pub readonly: bool,
}

impl Parser {
    /// Reads `nuw`, `nsw`, `contract`, and their like, in any order.
    pub fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        while let Kind::Word(word) = self.peek() {
            match word.as_str() {
                "nuw" => flags.nuw = true,
                "nsw" => flags.nsw = true,
                "disjoint" => flags.disjoint = true,
                "nneg" => flags.nneg = true,
                "contract" => flags.contract = true,
                "afn" => flags.afn = true,
                "fast" => (flags.contract, flags.afn) = (true, true),
                "reassoc" | "arcp" | "exact" | "samesign" | "inbounds" | "nusw" | "nnan" | "ninf" | "nsz" => {}
                _ => break,
            }
            self.skip();
        }
        flags
    }

    /// Attributes in front of an operand.
    pub fn attributes(&mut self) -> Result<Attributes> {
        let mut attributes = Attributes::default();
        loop {
            match self.peek().clone() {
                Kind::Word(word) if !Self::is_constant_word(&word) && word != "asm" => {
                    self.skip();
                    match word.as_str() {
                        "align" => attributes.align = Some(self.alignment()?),
                        "byval" => attributes.byval = Some(self.bracketed(Self::ty)?),
                        "noalias" => attributes.noalias = true,
                        "readonly" | "readnone" => attributes.readonly = true,
                        _ => self.accept_brackets()?,
                    }
                }
                Kind::Text(_) => drop(self.pair()?),
                Kind::Attribute(_) => self.skip(),
                _ => return Ok(attributes),
            }
        }
    }

    /// Reads `"key"="value"`, or a key alone.
    pub fn pair(&mut self) -> Result<(String, String)> {
        let key = self.text("an attribute")?;
        let value = if self.accept(b'=') { self.text("the value of an attribute")? } else { String::new() };
        Ok((key, value))
    }

    /// Reads `4` or `(4)`; a power of two.
    pub fn alignment(&mut self) -> Result<u64> {
        let number = |parser: &mut Self| parser.integer::<u64>("an alignment");
        let align = if *self.peek() == Kind::Punct(b'(') { self.bracketed(number)? } else { number(self)? };
        if !align.is_power_of_two() {
            return Err(self.error(format!("expected an alignment that is a power of two, found {align}")));
        }
        Ok(align)
    }

    /// Reads the words in front of a type: linkage, calling convention, attributes of the result.
    pub fn words_before_type(&mut self) -> Result<Vec<String>> {
        let mut words = Vec::new();
        while !self.at_type() {
            match self.peek().clone() {
                Kind::Word(word) => {
                    self.skip();
                    self.accept_brackets()?;
                    if matches!(self.peek(), Kind::Integer(_)) {
                        self.skip();
                    }
                    words.push(word);
                }
                Kind::Text(_) => drop(self.pair()?),
                Kind::Attribute(_) => self.skip(),
                _ => return Err(self.expected("a type")),
            }
        }
        Ok(words)
    }

    /// Reads what is after the operands of an instruction. Returns the node of its `!dbg`.
    pub fn attached(&mut self, op: &mut Op) -> Result<Option<u32>> {
        let (mut dbg, mut alignment, mut found) = (None, None, Access::default());
        while self.accept(b',') {
            if self.accept_word("align") {
                alignment = Some(self.alignment()?);
                continue;
            }
            if matches!(self.peek(), Kind::Word(word) if word == "addrspace") {
                self.address_space()?;
                continue;
            }
            let meta = |kind: &Kind| if let Kind::Meta(name) = kind { Some(name.clone()) } else { None };
            let name = self.take("metadata", meta)?;
            let number = self.take("a node of metadata", meta)?;
            // `!{…}`, or `!DIExpression()` and the like, in place.
            if number.is_empty() {
                self.skip_brackets()?
            } else {
                self.accept_brackets()?
            }
            let node = number.parse().ok();
            match name.as_str() {
                "dbg" => dbg = node,
                "invariant.load" => found.invariant = true,
                "alias.scope" => found.alias_scope = node,
                "noalias" => found.no_alias = node,
                _ => {}
            }
        }
        match op {
            Op::Load { access, .. } | Op::Store { access, .. } => {
                let Access { invariant, alias_scope, no_alias, .. } = found;
                let align = alignment.unwrap_or(access.align);
                *access = Access { align, invariant, alias_scope, no_alias, ..std::mem::take(access) };
            }
            Op::Alloca { align, .. } => *align = alignment.unwrap_or(*align),
            _ => {}
        }
        Ok(dbg)
    }

    /// Reads `syncscope("…")`, if it is there.
    pub fn scope(&mut self) -> Result<String> {
        if !self.accept_word("syncscope") {
            return Ok(String::new());
        }
        self.bracketed(|parser| parser.text("a scope"))
    }

    pub fn ordering(&mut self) -> Result<Ordering> {
        self.take("an ordering", |kind| if let Kind::Word(word) = kind { Ordering::of(word) } else { None })
    }
}
