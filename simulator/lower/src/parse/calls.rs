//! Calls and inline PTX.

use super::cursor::Parser;
use crate::error::Result;
use crate::ir::{Arg, Callee, Flags, Op, Type};
use crate::layout;
use crate::lex::Kind;

impl Parser {
    /// Reads the rest of a `call`.
    pub fn call(&mut self) -> Result<(Type, Op)> {
        let words = self.words_before_type()?;
        let has = |word: &str| words.iter().any(|found| found == word || found == "fast");
        let flags = Flags { contract: has("contract"), afn: has("afn"), ..Flags::default() };
        let ty = self.ty()?;
        // The whole type of a variadic function.
        self.accept_brackets()?;
        let callee = match self.peek().clone() {
            Kind::Global(name) => {
                self.skip();
                Callee::Function(name)
            }
            Kind::Word(word) if word == "asm" => {
                self.skip();
                let mut side_effect = false;
                while let Kind::Word(word) = self.peek() {
                    side_effect |= word == "sideeffect";
                    self.skip();
                }
                let template = self.text("inline PTX")?;
                self.expect(b',')?;
                let constraints = self.text("constraints")?;
                Callee::Asm { template, constraints, side_effect }
            }
            _ => Callee::Pointer(self.value(&Type::Ptr(0))?),
        };
        self.expect(b'(')?;
        let args = self.list(b')', Self::argument)?.into_iter().flatten().collect();
        // Attributes and operand bundles.
        let line = self.last_line();
        while self.line() == line && !matches!(self.peek(), Kind::Punct(_) | Kind::End) {
            self.skip();
        }
        if self.line() == line && *self.peek() == Kind::Punct(b'[') {
            self.skip_brackets()?;
        }
        Ok((ty, Op::Call { callee, args, flags }))
    }

    /// Reads an argument; none for metadata.
    fn argument(&mut self) -> Result<Option<Arg>> {
        let ty = self.ty()?;
        if ty == Type::Other {
            // `metadata !16`, `metadata ptr %x`
            return self.element_of_node().map(|_| None);
        }
        let attributes = self.attributes()?;
        let value = self.value(&ty)?;
        let align = attributes.align.unwrap_or_else(|| attributes.byval.as_ref().map_or(1, layout::align));
        Ok(Some(Arg { value, byval: attributes.byval, align }))
    }
}
