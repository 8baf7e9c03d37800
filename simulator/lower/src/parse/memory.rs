//! Loads, stores, atomic operations, and addresses.

use std::rc::Rc;

use super::cursor::Parser;
use crate::error::Result;
use crate::ir::{Access, Const, Constant, Op, Type, Value};
use crate::layout;
use crate::lex::Kind;

impl Parser {
    /// Reads an instruction that accesses memory or makes an address. The type is that of its result.
    pub fn memory_instruction(&mut self, word: &str) -> Result<(Type, Op)> {
        Ok(match word {
            "load" => {
                let words = self.access_words();
                let ty = self.ty()?;
                let (_, ptr) = self.next_typed_value()?;
                let access = self.access(&ty, words)?;
                (ty, Op::Load { ptr, access })
            }
            "store" => {
                let words = self.access_words();
                let (ty, value) = self.typed_value()?;
                let (_, ptr) = self.next_typed_value()?;
                (Type::Void, Op::Store { value, ptr, access: self.access(&ty, words)? })
            }
            "getelementptr" => {
                self.flags();
                if self.accept_word("inrange") {
                    self.skip_brackets()?;
                }
                let source = self.ty()?;
                let (ty, base) = self.next_typed_value()?;
                let mut indices = Vec::new();
                while *self.peek() == Kind::Punct(b',') && !matches!(self.ahead(1), Kind::Meta(_)) {
                    indices.push(self.next_typed_value()?.1);
                }
                (ty, Op::Gep { source, base, indices })
            }
            "alloca" => {
                let ty = self.ty()?;
                let mut count = Value::Const(Rc::new(Constant { ty: Type::Int(32), value: Const::Int(1) }));
                if *self.peek() == Kind::Punct(b',') && !matches!(self.ahead(1), Kind::Meta(_) | Kind::Word(_))
                    || matches!(self.ahead(1), Kind::Word(word) if word != "align" && word != "addrspace")
                {
                    count = self.next_typed_value()?.1;
                }
                let mut space = 0;
                if *self.peek() == Kind::Punct(b',') && matches!(self.ahead(1), Kind::Word(word) if word == "addrspace") {
                    self.skip();
                    space = self.address_space()?;
                }
                let align = layout::align(&ty);
                (Type::Ptr(space), Op::Alloca { ty, count, align })
            }
            "atomicrmw" => {
                self.accept_word("volatile");
                let op = self.word("an atomic operation")?;
                let (_, ptr) = self.typed_value()?;
                let (ty, value) = self.next_typed_value()?;
                let scope = self.scope()?;
                self.ordering()?;
                (ty, Op::AtomicRmw { op, ptr, value, scope })
            }
            "cmpxchg" => {
                while self.accept_word("weak") || self.accept_word("volatile") {}
                let (_, ptr) = self.typed_value()?;
                let (ty, expected) = self.next_typed_value()?;
                let (_, new) = self.next_typed_value()?;
                let scope = self.scope()?;
                let ordering = self.ordering()?;
                // What a failure orders is no more than that.
                self.ordering()?;
                let result = Type::Struct { packed: false, fields: [ty, Type::Int(1)].into() };
                (result, Op::CmpXchg { ptr, expected, new, ordering, scope })
            }
            "fence" => {
                let scope = self.scope()?;
                (Type::Void, Op::Fence { ordering: self.ordering()?, scope })
            }
            _ => return Err(self.error(format!("the instruction {word} is not supported"))),
        })
    }

    /// Reads `atomic` and `volatile`.
    fn access_words(&mut self) -> (bool, bool) {
        (self.accept_word("atomic"), self.accept_word("volatile"))
    }

    /// Reads the scope and the ordering of an atomic access.
    fn access(&mut self, ty: &Type, (atomic, volatile): (bool, bool)) -> Result<Access> {
        let mut access = Access { align: layout::align(ty), volatile, ..Access::default() };
        if atomic {
            access.scope = self.scope()?;
            access.ordering = self.ordering()?;
        }
        Ok(access)
    }
}
