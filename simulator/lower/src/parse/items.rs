//! Variables, functions, and the module.

use super::cursor::Parser;
use crate::error::{Error, Result};
use crate::ir::{Block, Constant, Function, Global, Inst, Item, Module, Op, Param, Type};
use crate::layout;
use crate::lex::{Kind, tokens};

/// Parses a module.
pub fn module(text: &str) -> Result<Module> {
    let mut parser = Parser::new(tokens(text)?);
    let mut module = Module::default();
    loop {
        match parser.peek().clone() {
            Kind::End => return Ok(module),
            Kind::Word(word) => parser.item(&word, &mut module)?,
            Kind::Local(_) => parser.skip_structure()?,
            Kind::Comdat(_) => parser.skip_line(),
            Kind::Global(name) => module.globals.push(parser.global(name)?),
            Kind::Meta(name) => {
                parser.skip();
                parser.expect(b'=')?;
                if let Ok(number) = name.parse() {
                    let node = parser.node()?;
                    module.nodes.insert(number, node);
                } else {
                    parser.accept_word("distinct");
                    if *parser.peek() == Kind::Meta(String::new()) {
                        parser.skip();
                    }
                    let nodes = parser.tuple()?.iter().filter_map(Item::node).collect();
                    module.named_nodes.insert(name, nodes);
                }
            }
            _ => return Err(parser.expected("an item of a module; this text is not LLVM IR")),
        }
    }
}

impl Parser {
    fn skip_structure(&mut self) -> Result<()> {
        self.skip();
        self.expect(b'=')?;
        self.expect_word("type")?;
        if self.accept_word("opaque") {
            return Ok(());
        }
        self.ty().map(drop)
    }

    fn item(&mut self, word: &str, module: &mut Module) -> Result<()> {
        match word {
            "source_filename" | "target" => self.skip_line(),
            "module" => return Err(self.error("assembly for the whole module is not supported")),
            "attributes" => {
                self.skip();
                let Kind::Attribute(name) = self.next() else {
                    return Err(self.error("expected the number of a group of attributes"));
                };
                let number = name.parse().map_err(|_| self.error("expected the number of a group of attributes"))?;
                self.expect(b'=')?;
                self.expect(b'{')?;
                module.attributes.insert(number, self.group()?);
                self.expect(b'}')?;
            }
            "declare" | "define" => module.functions.push(self.function(word == "define")?),
            _ => return Err(self.expected("an item of a module; this text is not LLVM IR")),
        }
        Ok(())
    }

    /// Reads `"key"="value"` and words, up to the closing brace.
    fn group(&mut self) -> Result<Vec<(String, String)>> {
        let mut attributes = Vec::new();
        loop {
            match self.peek().clone() {
                Kind::Punct(b'}') | Kind::End => return Ok(attributes),
                Kind::Text(_) => attributes.push(self.pair()?),
                Kind::Word(mut key) => {
                    self.skip();
                    if *self.peek() == Kind::Punct(b'(') {
                        if let (Kind::Word(inside), Kind::Punct(b')')) = (self.ahead(1), self.ahead(2)) {
                            key = format!("{key}({inside})");
                        }
                        self.skip_brackets()?;
                    } else if self.accept(b'=') {
                        self.skip();
                    }
                    attributes.push((key, String::new()));
                }
                _ => return Err(self.expected("an attribute")),
            }
        }
    }

    fn global(&mut self, name: String) -> Result<Global> {
        let line = self.line();
        self.skip();
        self.expect(b'=')?;
        let (mut space, mut is_external, mut is_public) = (0, false, true);
        loop {
            let word = self.word("global or constant")?;
            match word.as_str() {
                "global" | "constant" => break,
                "addrspace" => space = self.bracketed(|parser| parser.integer("an address space"))?,
                "external" | "extern_weak" => is_external = true,
                "internal" | "private" => is_public = false,
                "alias" | "ifunc" => return Err(self.error(format!("@{name} is an alias, which is not supported"))),
                "thread_local" => return Err(self.error(format!("@{name} is thread_local, which is not supported"))),
                _ => self.accept_brackets()?,
            }
        }
        let ty = self.ty()?;
        layout::size(&ty).map_err(|error| error.or_at(line))?;
        let init = if is_external { None } else { Some(Constant { ty: ty.clone(), value: self.constant(&ty)? }) };
        let mut align = None;
        while self.accept(b',') {
            if self.accept_word("align") {
                align = Some(self.alignment()?);
            } else if self.accept_word("comdat") {
                self.accept_brackets()?;
            } else if matches!(self.peek(), Kind::Word(_) | Kind::Meta(_)) {
                self.skip();
                self.skip();
            } else {
                return Err(self.expected("an attribute of a variable"));
            }
        }
        if matches!(self.peek(), Kind::Attribute(_)) {
            self.skip();
        }
        Ok(Global { name, space, ty, init, is_external, is_public, align, line })
    }

    fn function(&mut self, is_defined: bool) -> Result<Function> {
        let line = self.line();
        self.skip();
        self.locals.clear();
        self.local_names.clear();
        self.used.clear();
        self.block_names.clear();
        self.block_lines.clear();
        // Metadata of a declaration is in front of it.
        while matches!(self.peek(), Kind::Meta(_)) {
            self.skip();
        }
        let words = self.words_before_type()?;
        let has = |word: &str| words.iter().any(|found| found == word);
        let is_kernel = has("ptx_kernel");
        let result = self.ty()?;
        self.attributes()?;
        let Kind::Global(name) = self.next() else { return Err(self.expected("the name of a function")) };
        let (params, is_variadic) = self.parameters()?;
        let (attributes, groups) = self.function_attributes(is_defined)?;
        let (blocks, order) = if is_defined { self.body()? } else { (Vec::new(), Vec::new()) };
        if is_defined {
            self.check_blocks(&blocks, line)?;
        }
        let mut locals = Vec::with_capacity(self.locals.len());
        for (local, ty) in self.locals.iter().enumerate() {
            let name_of = || self.local_names.iter().find(|(_, found)| **found as usize == local).map_or("", |(name, _)| name);
            let ty = ty.clone().ok_or_else(|| Error::at(line, format!("value %{} of @{name} is not defined", name_of())))?;
            locals.push(ty);
        }
        let is_other = |(local, ty, _): &&(u32, Type, u32)| locals[*local as usize] != *ty;
        if let Some((_, ty, line)) = self.used.iter().find(is_other) {
            return Err(Error::at(*line, format!("a value of another type is used as {ty:?}")));
        }
        Ok(Function { name, is_kernel, result, params, is_variadic, attributes, groups, blocks, order, locals, line })
    }

    /// Checks that every branch's target exists and ends with its only branch.
    fn check_blocks(&self, blocks: &[Block], line: u32) -> Result<()> {
        for (block, named) in self.block_lines.iter().enumerate() {
            let insts = blocks.get(block).map_or(&[][..], Vec::as_slice);
            let Some((last, others)) = insts.split_last() else {
                return Err(Error::at(*named, "a block that is named here is not there, or is empty"));
            };
            if !last.op.is_terminator() {
                return Err(Error::at(last.line, "a block does not end with a branch"));
            }
            if let Some(inst) = others.iter().find(|inst| inst.op.is_terminator()) {
                return Err(Error::at(inst.line, "a branch is not the last instruction of its block"));
            }
            let first = others.iter().position(|inst| !matches!(inst.op, Op::Phi(_))).unwrap_or(others.len());
            if let Some(inst) = others[first..].iter().find(|inst| matches!(inst.op, Op::Phi(_))) {
                return Err(Error::at(inst.line, "a phi is not at the start of its block"));
            }
        }
        let to_first = |inst: &&Inst| inst.op.successors().contains(&0);
        if let Some(inst) = blocks.iter().filter_map(|block| block.last()).find(to_first) {
            return Err(Error::at(inst.line, "a branch goes to the first block"));
        }
        if blocks.is_empty() { Err(Error::at(line, "a function has no block")) } else { Ok(()) }
    }

    fn parameters(&mut self) -> Result<(Vec<Param>, bool)> {
        self.expect(b'(')?;
        let (mut unnamed, mut count) = (0, 0);
        let params = self.list(b')', |parser| {
            if parser.accept_word("...") {
                return Ok(None);
            }
            let ty = parser.ty()?;
            let super::words::Attributes { byval, align, noalias, readonly } = parser.attributes()?;
            let name = match parser.peek().clone() {
                Kind::Local(name) => {
                    parser.skip();
                    name
                }
                _ => unnamed.to_string(),
            };
            unnamed += usize::from(name.bytes().all(|byte| byte.is_ascii_digit()));
            let local = parser.local(name) as usize;
            if local != count {
                return Err(parser.error("two parameters have the same name"));
            }
            count += 1;
            parser.locals[local] = Some(ty.clone());
            Ok(Some(Param { ty, byval, align: align.unwrap_or(1), noalias, readonly }))
        })?;
        let is_variadic = params.iter().any(Option::is_none);
        Ok((params.into_iter().flatten().collect(), is_variadic))
    }

    /// Reads what is between the parameters and the body.
    #[expect(clippy::type_complexity, reason = "the two lists are put into the function at once")]
    fn function_attributes(&mut self, is_defined: bool) -> Result<(Vec<(String, String)>, Vec<u32>)> {
        let (mut attributes, mut groups) = (Vec::new(), Vec::new());
        let line = self.last_line();
        loop {
            if !is_defined && self.line() != line {
                return Ok((attributes, groups));
            }
            match self.peek().clone() {
                Kind::Punct(b'{') if is_defined => return Ok((attributes, groups)),
                Kind::Attribute(name) => {
                    self.skip();
                    groups.extend(name.parse::<u32>().ok());
                }
                Kind::Text(_) => attributes.push(self.pair()?),
                Kind::Word(_) | Kind::Meta(_) | Kind::Integer(_) => self.skip(),
                Kind::Punct(b'(') => self.skip_brackets()?,
                Kind::End if !is_defined => return Ok((attributes, groups)),
                _ => return Err(self.expected("the body of a function")),
            }
        }
    }

    fn body(&mut self) -> Result<(Vec<Block>, Vec<usize>)> {
        self.expect(b'{')?;
        let mut blocks: Vec<Block> = Vec::new();
        let mut order = Vec::new();
        // A first block without a name takes the number after those of the parameters.
        if !self.at_label() {
            let unnamed = self.local_names.keys().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).count();
            self.block(unnamed.to_string());
            blocks.push(Block::new());
            order.push(0);
        }
        let mut current = 0;
        loop {
            if self.accept(b'}') {
                return Ok((blocks, order));
            }
            if self.at_label() {
                let name = match self.next() {
                    Kind::Word(name) | Kind::Integer(name) => name,
                    Kind::Text(name) => String::from_utf8_lossy(&name).into_owned(),
                    _ => return Err(self.expected("a label")),
                };
                self.skip();
                current = self.block(name);
                blocks.resize_with(blocks.len().max(current + 1), Block::new);
                if !blocks[current].is_empty() {
                    return Err(self.error("two blocks have the same name"));
                }
                order.push(current);
                continue;
            }
            let inst = self.instruction()?;
            let block = blocks.get_mut(current).ok_or_else(|| Error::at(inst.line, "an instruction is in no block"))?;
            block.push(inst);
        }
    }

    fn at_label(&self) -> bool {
        matches!(self.peek(), Kind::Word(_) | Kind::Integer(_) | Kind::Text(_)) && *self.ahead(1) == Kind::Punct(b':')
    }
}
