//! The tokens of a module and the place among them.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::ir::{BlockId, Local, Type};
use crate::lex::{Kind, Token};

/// Deepest nesting of types and of constants.
pub const DEEPEST: usize = 40;

#[derive(Default)]
pub struct Parser {
    tokens: Vec<Token>,
    /// The place among the tokens.
    pub at: usize,
    /// Named structures: where their definitions start, and those that have been read. They may be used before.
    pub definitions: HashMap<String, usize>,
    pub structures: HashMap<String, Type>,
    pub depth: usize,
    /// The names of the function at hand.
    pub locals: Vec<Option<Type>>,
    pub local_names: HashMap<String, Local>,
    /// The type and the line of each use of a local.
    pub used: Vec<(Local, Type, u32)>,
    pub block_names: HashMap<String, BlockId>,
    /// For each block, the line that first named it.
    pub block_lines: Vec<u32>,
}

impl Parser {
    pub fn new(tokens: Vec<Token>) -> Self {
        let mut definitions = HashMap::new();
        for (at, window) in tokens.windows(3).enumerate() {
            if let [Kind::Local(name), Kind::Punct(b'='), Kind::Word(word)] = [0, 1, 2].map(|next: usize| &window[next].kind)
                && word == "type"
            {
                definitions.insert(name.clone(), at + 3);
            }
        }
        Self { tokens, definitions, ..Self::default() }
    }

    pub fn peek(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    /// Returns the token after the next `count` ones.
    pub fn ahead(&self, count: usize) -> &Kind {
        self.tokens.get(self.at + count).map_or(&Kind::End, |token| &token.kind)
    }

    pub fn line(&self) -> u32 {
        self.tokens[self.at].line
    }

    /// Returns the line of the last token that was taken.
    pub fn last_line(&self) -> u32 {
        self.tokens[self.at.saturating_sub(1)].line
    }

    /// Takes the next token; at the end, returns the end again and again.
    pub fn next(&mut self) -> Kind {
        let kind = self.tokens[self.at].kind.clone();
        if kind != Kind::End {
            self.at += 1;
        }
        kind
    }

    pub fn skip(&mut self) {
        self.next();
    }

    pub fn accept(&mut self, punct: u8) -> bool {
        let found = *self.peek() == Kind::Punct(punct);
        self.at += usize::from(found);
        found
    }

    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Kind::Word(found) if found == word);
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, punct: u8) -> Result<()> {
        if self.accept(punct) { Ok(()) } else { Err(self.expected(&format!("'{}'", char::from(punct)))) }
    }

    pub fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.accept_word(word) { Ok(()) } else { Err(self.expected(word)) }
    }

    /// Returns an error that names the next token.
    pub fn expected(&self, what: &str) -> Error {
        let found = match self.peek() {
            Kind::Local(name) => format!("%{name}"),
            Kind::Global(name) => format!("@{name}"),
            Kind::Meta(name) => format!("!{name}"),
            Kind::Attribute(name) => format!("#{name}"),
            Kind::Comdat(name) => format!("${name}"),
            Kind::Word(text) | Kind::Integer(text) | Kind::Float(text) => text.clone(),
            Kind::Text(_) | Kind::Bytes(_) => "a string".to_owned(),
            Kind::Punct(punct) => format!("'{}'", char::from(*punct)),
            Kind::End => "the end of the text".to_owned(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    /// Returns what was found, or goes back and names the token there.
    pub fn require<T>(&mut self, start: usize, what: &str, found: Option<T>) -> Result<T> {
        found.ok_or_else(|| {
            self.at = start;
            self.expected(what)
        })
    }

    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::at(self.line(), message)
    }

    /// Takes the next token if it is what is read.
    pub fn take<T>(&mut self, what: &str, read: impl FnOnce(&Kind) -> Option<T>) -> Result<T> {
        let value = read(self.peek()).ok_or_else(|| self.expected(what))?;
        self.at += 1;
        Ok(value)
    }

    pub fn word(&mut self, what: &str) -> Result<String> {
        self.take(what, |kind| if let Kind::Word(word) = kind { Some(word.clone()) } else { None })
    }

    pub fn text(&mut self, what: &str) -> Result<String> {
        self.take(what, |kind| match kind {
            Kind::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        })
    }

    pub fn integer<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        self.take(what, |kind| if let Kind::Integer(text) = kind { text.parse().ok() } else { None })
    }

    /// Skips from an opening bracket past its closing one.
    pub fn skip_brackets(&mut self) -> Result<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Kind::Punct(b'(' | b'[' | b'{') => depth += 1,
                Kind::Punct(b')' | b']' | b'}') => {
                    depth = depth.checked_sub(1).ok_or_else(|| self.expected("an opening bracket"))?;
                }
                Kind::End => return Err(self.expected("a closing bracket")),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Skips brackets and what is in them, if they are there.
    pub fn accept_brackets(&mut self) -> Result<()> {
        if *self.peek() == Kind::Punct(b'(') { self.skip_brackets() } else { Ok(()) }
    }

    /// Skips the rest of the line.
    pub fn skip_line(&mut self) {
        let line = self.line();
        while self.line() == line && *self.peek() != Kind::End {
            self.skip();
        }
    }

    /// Reads something in round brackets.
    pub fn bracketed<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.expect(b'(')?;
        let inside = read(self)?;
        self.expect(b')')?;
        Ok(inside)
    }

    /// Reads elements with commas between them, up to a closing bracket.
    pub fn list<T>(&mut self, end: u8, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut elements = Vec::new();
        while !self.accept(end) {
            elements.push(read(self)?);
            if !self.accept(b',') {
                self.expect(end)?;
                break;
            }
        }
        Ok(elements)
    }

    /// Returns the number of a local value, which may be defined later.
    pub fn local(&mut self, name: String) -> Local {
        let next = self.locals.len() as Local;
        let local = *self.local_names.entry(name).or_insert(next);
        if local == next {
            self.locals.push(None);
        }
        local
    }

    /// Returns the number of a block, which may come later.
    pub fn block(&mut self, name: String) -> BlockId {
        let line = self.line();
        let next = self.block_lines.len();
        let block = *self.block_names.entry(name).or_insert(next);
        if block == next {
            self.block_lines.push(line);
        }
        block
    }

    /// Reads `label %name`.
    pub fn label(&mut self) -> Result<BlockId> {
        self.expect_word("label")?;
        self.label_name()
    }

    /// Reads `%name`.
    pub fn label_name(&mut self) -> Result<BlockId> {
        let name = self.take("a label", |kind| if let Kind::Local(name) = kind { Some(name.clone()) } else { None })?;
        Ok(self.block(name))
    }

    /// Goes one level deeper into a type or a constant.
    pub fn descend<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEEPEST {
            return Err(self.error("a type or a constant is nested too deep"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}
