//! Loads, stores, atomic operations, and addresses.

use std::rc::Rc;

use super::cursor::Parser;
use super::words::Attached;
use crate::error::Result;
use crate::ir::{Access, Const, Op, Ordering, Type, Value};
use crate::layout;
use crate::lex::Kind;

impl Parser {
    /// Reads an instruction that accesses memory or makes an address, if the word is one. The type is that of its result.
    pub fn memory_instruction(&mut self, word: &str) -> Result<Option<(Type, Op, Attached)>> {
        Ok(Some(match word {
            "load" => {
                let (atomic, volatile) = self.access_words();
                let ty = self.ty()?;
                let (ptr_type, ptr) = self.next_typed_value()?;
                let (scope, ordering) = self.scope_and_ordering(atomic)?;
                let attached = self.attached()?;
                let access = access(&ty, volatile, ordering, scope, attached);
                (ty, Op::Load { ptr, ptr_type, access }, attached)
            }
            "store" => {
                let (atomic, volatile) = self.access_words();
                let (ty, value) = self.typed_value()?;
                let (ptr_type, ptr) = self.next_typed_value()?;
                let (scope, ordering) = self.scope_and_ordering(atomic)?;
                let attached = self.attached()?;
                let access = access(&ty, volatile, ordering, scope, attached);
                (Type::Void, Op::Store { ty, value, ptr, ptr_type, access }, attached)
            }
            "getelementptr" => {
                self.flags();
                if self.accept_word("inrange") {
                    self.skip_brackets()?;
                }
                let source = self.ty()?;
                let (base_type, base) = self.next_typed_value()?;
                let mut indices = Vec::new();
                while *self.peek() == Kind::Punct(b',') && !matches!(self.ahead(1), Kind::Meta(_)) {
                    self.skip();
                    indices.push(self.typed_value()?);
                }
                let attached = self.attached()?;
                (base_type.clone(), Op::Gep { source, base, base_type, indices }, attached)
            }
            "alloca" => {
                let ty = self.ty()?;
                let mut count = Value::Const(Rc::new(Const::Int(1)));
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
                let attached = self.attached()?;
                let align = attached.align.unwrap_or_else(|| layout::align(&ty));
                (Type::Ptr(space), Op::Alloca { ty, count, align }, attached)
            }
            "atomicrmw" => {
                self.accept_word("volatile");
                let op = self.word("an atomic operation")?;
                let (ptr_type, ptr) = self.typed_value()?;
                let (ty, value) = self.next_typed_value()?;
                let scope = self.scope()?;
                self.ordering()?;
                (ty, Op::AtomicRmw { op, ptr, ptr_type, value, scope }, self.attached()?)
            }
            "cmpxchg" => {
                while self.accept_word("weak") || self.accept_word("volatile") {}
                let (ptr_type, ptr) = self.typed_value()?;
                let (ty, expected) = self.next_typed_value()?;
                let (_, new) = self.next_typed_value()?;
                let scope = self.scope()?;
                let ordering = [self.ordering()?, self.ordering()?];
                let result = Type::Struct { packed: false, fields: [ty.clone(), Type::Int(1)].into() };
                (result, Op::CmpXchg { ptr, ptr_type, ty, expected, new, ordering, scope }, self.attached()?)
            }
            "fence" => {
                let scope = self.scope()?;
                let ordering = self.ordering()?;
                (Type::Void, Op::Fence { ordering, scope }, self.attached()?)
            }
            _ => return Ok(None),
        }))
    }

    /// Reads `atomic` and `volatile`.
    fn access_words(&mut self) -> (bool, bool) {
        let atomic = self.accept_word("atomic");
        (atomic, self.accept_word("volatile"))
    }

    fn scope_and_ordering(&mut self, atomic: bool) -> Result<(String, Ordering)> {
        if !atomic {
            return Ok((String::new(), Ordering::NotAtomic));
        }
        Ok((self.scope()?, self.ordering()?))
    }
}

fn access(ty: &Type, volatile: bool, ordering: Ordering, scope: String, attached: Attached) -> Access {
    let Attached { align, invariant, alias_scope, no_alias, .. } = attached;
    Access { align: align.unwrap_or_else(|| layout::align(ty)), volatile, ordering, scope, invariant, alias_scope, no_alias }
}
