//! Types.

use std::rc::Rc;

use super::cursor::Parser;
use crate::error::Result;
use crate::ir::Type;
use crate::lex::Kind;

impl Parser {
    /// Returns true if the next token starts a type.
    pub fn at_type(&self) -> bool {
        match self.peek() {
            Kind::Word(word) => simple_type(word).is_some(),
            Kind::Punct(b'{' | b'[' | b'<') => true,
            Kind::Local(name) => self.definitions.contains_key(name),
            _ => false,
        }
    }

    pub fn ty(&mut self) -> Result<Type> {
        self.descend(Self::type_inside)
    }

    fn type_inside(&mut self) -> Result<Type> {
        let start = self.at;
        let found = match self.next() {
            Kind::Word(word) => match simple_type(&word) {
                Some(Type::Ptr(_)) => Some(Type::Ptr(self.address_space()?)),
                other => other,
            },
            Kind::Punct(b'[') => {
                let (count, element) = self.elements_of_type(b']')?;
                Some(Type::Array(count, element))
            }
            Kind::Punct(b'{') => Some(self.fields(false)?),
            Kind::Punct(b'<') if self.accept(b'{') => {
                let ty = self.fields(true)?;
                self.expect(b'>')?;
                Some(ty)
            }
            Kind::Punct(b'<') => {
                let (count, element) = self.elements_of_type(b'>')?;
                Some(Type::Vector(count, element))
            }
            Kind::Local(name) => Some(self.structure(&name)?),
            _ => None,
        };
        self.require(start, "a type", found)
    }

    /// Reads `4 x i32]` or `4 x i32>`.
    fn elements_of_type<T: std::str::FromStr>(&mut self, end: u8) -> Result<(T, Rc<Type>)> {
        let count = self.integer("the number of elements")?;
        self.expect_word("x")?;
        let element = self.ty()?;
        self.expect(end)?;
        Ok((count, Rc::new(element)))
    }

    /// Reads `addrspace(n)`, if it is there.
    pub fn address_space(&mut self) -> Result<u32> {
        if self.accept_word("addrspace") { self.bracketed(|parser| parser.integer("an address space")) } else { Ok(0) }
    }

    fn fields(&mut self, packed: bool) -> Result<Type> {
        Ok(Type::Struct { packed, fields: self.list(b'}', Self::ty)?.into() })
    }

    /// Reads a structure by name; it is read where it is defined.
    fn structure(&mut self, name: &str) -> Result<Type> {
        if let Some(ty) = self.structures.get(name) {
            return Ok(ty.clone());
        }
        let definition = *self.definitions.get(name).ok_or_else(|| self.error(format!("the type %{name} is not defined")))?;
        let back = std::mem::replace(&mut self.at, definition);
        let ty = self.ty();
        self.at = back;
        let ty = ty?;
        self.structures.insert(name.to_owned(), ty.clone());
        Ok(ty)
    }
}

fn simple_type(word: &str) -> Option<Type> {
    Some(match word {
        "void" => Type::Void,
        "ptr" => Type::Ptr(0),
        "half" => Type::Half,
        "bfloat" => Type::BFloat,
        "float" => Type::Float,
        "double" => Type::Double,
        "label" | "metadata" | "token" => Type::Other,
        _ => {
            let bits = word.strip_prefix('i')?.parse().ok()?;
            return (1..=128).contains(&bits).then_some(Type::Int(bits));
        }
    })
}
