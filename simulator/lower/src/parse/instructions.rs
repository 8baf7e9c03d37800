//! Instructions.

use super::cursor::Parser;
use crate::error::Result;
use crate::ir::{Binary, Cast, Const, Inst, IntPredicate, Op, Type, Value};
use crate::layout;
use crate::lex::Kind;

impl Parser {
    /// Reads an instruction.
    pub fn instruction(&mut self) -> Result<Inst> {
        let line = self.line();
        let name = match (self.peek().clone(), self.ahead(1)) {
            (Kind::Local(name), Kind::Punct(b'=')) => {
                self.skip();
                self.skip();
                Some(name)
            }
            _ => None,
        };
        let word = self.word("an instruction")?;
        // A type without a size knows no line.
        let (ty, mut op) = self.operation(&word).map_err(|error| error.or_at(line))?;
        let dbg = self.attached(&mut op)?;
        let result = match name {
            Some(name) if ty != Type::Void => {
                let local = self.local(name);
                if self.locals[local as usize].is_some() {
                    return Err(self.error("a value is defined twice"));
                }
                self.locals[local as usize] = Some(ty.clone());
                Some(local)
            }
            Some(_) => return Err(self.error("an instruction without a result has a name")),
            None => None,
        };
        Ok(Inst { result, ty, op, line, dbg })
    }

    fn operation(&mut self, word: &str) -> Result<(Type, Op)> {
        if let Some(op) = Binary::of(word) {
            let flags = self.flags();
            let (ty, [a, b]) = self.two_values()?;
            return Ok((ty, Op::Binary { op, flags, a, b }));
        }
        if let Some(op) = Cast::of(word) {
            let flags = self.flags();
            let (_, value) = self.typed_value()?;
            self.expect_word("to")?;
            return Ok((self.ty()?, Op::Cast { op, flags, value }));
        }
        Ok(match word {
            "fneg" => {
                self.flags();
                let (ty, value) = self.typed_value()?;
                (ty, Op::FNeg(value))
            }
            "icmp" => {
                self.flags();
                let word = self.word("a predicate")?;
                let predicate = IntPredicate::of(&word).ok_or_else(|| self.error(format!("unknown predicate {word}")))?;
                let (ty, [a, b]) = self.two_values()?;
                (compared(&ty), Op::ICmp { predicate, a, b })
            }
            "fcmp" => {
                self.flags();
                let predicate = self.word("a predicate")?;
                let (ty, [a, b]) = self.two_values()?;
                (compared(&ty), Op::FCmp { predicate, a, b })
            }
            "select" => {
                self.flags();
                let (_, condition) = self.typed_value()?;
                let (ty, a) = self.next_typed_value()?;
                let (_, b) = self.next_typed_value()?;
                (ty, Op::Select { condition, a, b })
            }
            "freeze" => {
                let (ty, value) = self.typed_value()?;
                (ty, Op::Freeze(value))
            }
            "phi" => {
                self.flags();
                let ty = self.ty()?;
                let mut incoming = Vec::new();
                loop {
                    self.expect(b'[')?;
                    let value = self.value(&ty)?;
                    self.expect(b',')?;
                    let block = self.label_name()?;
                    self.expect(b']')?;
                    incoming.push((value, block));
                    if *self.peek() != Kind::Punct(b',') || *self.ahead(1) != Kind::Punct(b'[') {
                        break;
                    }
                    self.skip();
                }
                (ty, Op::Phi(incoming))
            }
            "extractvalue" => {
                let (from, value) = self.typed_value()?;
                let path = self.path()?;
                (layout::member(&from, &path)?.1.clone(), Op::ExtractValue { value, path })
            }
            "insertvalue" => {
                let (ty, into) = self.typed_value()?;
                let (_, value) = self.next_typed_value()?;
                (ty, Op::InsertValue { into, value, path: self.path()? })
            }
            "extractelement" => {
                let (from, vector) = self.typed_value()?;
                let (_, index) = self.next_typed_value()?;
                (from.scalar().clone(), Op::ExtractElement { vector, index })
            }
            "insertelement" => {
                let (ty, vector) = self.typed_value()?;
                let (_, element) = self.next_typed_value()?;
                let (_, index) = self.next_typed_value()?;
                (ty, Op::InsertElement { vector, element, index })
            }
            "shufflevector" => self.shuffle()?,
            "tail" | "musttail" | "notail" => {
                self.expect_word("call")?;
                self.call()?
            }
            "call" => self.call()?,
            "ret" if self.accept_word("void") => (Type::Void, Op::Ret(None)),
            "ret" => (Type::Void, Op::Ret(Some(self.typed_value()?.1))),
            "br" if matches!(self.peek(), Kind::Word(word) if word == "label") => (Type::Void, Op::Br(self.label()?)),
            "br" => {
                let (_, condition) = self.typed_value()?;
                self.expect(b',')?;
                let then = self.label()?;
                self.expect(b',')?;
                (Type::Void, Op::CondBr { condition, then, or_else: self.label()? })
            }
            "switch" => self.switch()?,
            "unreachable" => (Type::Void, Op::Unreachable),
            _ => self.memory_instruction(word)?,
        })
    }

    /// Reads a type and two operands of it.
    fn two_values(&mut self) -> Result<(Type, [Value; 2])> {
        let (ty, a) = self.typed_value()?;
        self.expect(b',')?;
        let b = self.value(&ty)?;
        Ok((ty, [a, b]))
    }

    /// Reads `, 0, 1`.
    fn path(&mut self) -> Result<Vec<u32>> {
        let mut path = Vec::new();
        while matches!(self.ahead(1), Kind::Integer(_)) && self.accept(b',') {
            path.push(self.integer("an index")?);
        }
        Ok(path)
    }

    fn shuffle(&mut self) -> Result<(Type, Op)> {
        let (from, a) = self.typed_value()?;
        let (_, b) = self.next_typed_value()?;
        self.expect(b',')?;
        let mask_type = self.ty()?;
        let Type::Vector(count, _) = mask_type else { return Err(self.error("expected a vector of indices")) };
        let Type::Vector(_, element) = &from else { return Err(self.error("expected a vector")) };
        if count > 1024 {
            return Err(self.error("a vector is too long"));
        }
        let mask = match self.constant(&mask_type)? {
            Const::Zero => vec![Some(0); count as usize],
            Const::Undef => vec![None; count as usize],
            Const::Splat(element) => vec![index(&element.value); count as usize],
            Const::Aggregate(elements) => elements.iter().map(|element| index(&element.value)).collect(),
            _ => return Err(self.error("expected constant indices")),
        };
        Ok((Type::Vector(mask.len() as u32, element.clone()), Op::Shuffle { a, b, mask }))
    }

    fn switch(&mut self) -> Result<(Type, Op)> {
        let (_, value) = self.typed_value()?;
        self.expect(b',')?;
        let default = self.label()?;
        let mut cases = Vec::new();
        self.expect(b'[')?;
        while !self.accept(b']') {
            let ty = self.ty()?;
            let case = match self.constant(&ty)? {
                Const::Int(case) => case,
                Const::Zero => 0,
                _ => return Err(self.error("expected the value of a case")),
            };
            self.expect(b',')?;
            cases.push((case, self.label()?));
        }
        Ok((Type::Void, Op::Switch { value, default, cases }))
    }
}

fn index(value: &Const) -> Option<u32> {
    match value {
        Const::Int(index) => u32::try_from(*index).ok(),
        Const::Zero => Some(0),
        _ => None,
    }
}

/// Returns the type of a comparison's result.
fn compared(ty: &Type) -> Type {
    match ty {
        Type::Vector(count, _) => Type::Vector(*count, Type::Int(1).into()),
        _ => Type::Int(1),
    }
}
