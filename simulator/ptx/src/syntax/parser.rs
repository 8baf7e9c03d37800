//! Tokens to syntax tree, by recursive descent.

use std::ops::Range;

use rustc_hash::FxHashMap as HashMap;

use super::ast::{
    Function, Guard, Initializer, Instruction, Module, Opaque, Operand, Prototype, Registers, StateSpace, Statement, Type, Variable,
};
use super::lexer::{Kind, Token, tokens};
use super::literal::{literal, opaque_type, scalar_type};
use crate::error::{LoadError, syntax};
use crate::geometry::{ClusterBounds, Dim3};

/// Most elements that one declaration may have; a file that asks for more is damaged.
const MOST_ELEMENTS: u64 = 1 << 32;

/// Most registers that one `.reg` may declare.
const MOST_REGISTERS: u32 = 1 << 20;

/// Deepest nesting of an initial value's braces or a constant expression.
pub(super) const DEEPEST: usize = 16;

/// Parses a module.
///
/// # Errors
///
/// [`LoadError::Syntax`] with the line, what was expected and what was found.
pub fn parse(text: &str) -> Result<Module<'_>, LoadError> {
    Parser { tokens: tokens(text)?, at: 0, source: None, inlined: HashMap::default() }.module(text)
}

pub(super) struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    /// The file and line of the last `.loc` of the function.
    source: Option<(u32, u32)>,
    /// For the file, line, and column of each `.loc` so far: the file and line that it was inlined into at the end.
    inlined: HashMap<(u32, u32, u32), (u32, u32)>,
}

pub(super) type Parsed<T> = Result<T, LoadError>;

impl<'t> Parser<'t> {
    fn module(&mut self, text: &'t str) -> Parsed<Module<'t>> {
        let mut module = Module { text, ..Module::default() };
        let mut has_version = false;
        loop {
            let line = self.line();
            let start = self.start();
            match self.next() {
                Kind::End => break,
                Kind::Word(".version") => {
                    module.version = self.version()?;
                    module.directives.push(self.span_from(start));
                    has_version = true;
                }
                Kind::Word(".target") => {
                    (module.target, module.is_specific) = self.target()?;
                    module.directives.push(self.span_from(start));
                }
                Kind::Word(".address_size") => {
                    let bits: u32 = self.integer("an address size")?;
                    if bits != 64 {
                        return Err(syntax(line, format!("expected 64-bit addresses, found {bits}-bit ones")));
                    }
                    module.directives.push(self.span_from(start));
                }
                Kind::Word(".pragma") => {
                    self.skip_past(b';')?;
                    module.directives.push(self.span_from(start));
                }
                Kind::Word(".file") => module.files.push(self.file()?),
                Kind::Word(".section") => self.section()?,
                // A call through another name finds no function, and only its kernel is refused.
                Kind::Word(".alias") => self.skip_past(b';')?,
                Kind::Word(word) => self.declaration(word, &mut module)?,
                found => return Err(expected(line, "a directive of a module", found)),
            }
            if !has_version {
                return Err(syntax(line, "expected .version as the first directive; this text is not PTX".to_owned()));
            }
        }
        if !has_version {
            return Err(syntax(1, "expected .version, found the end; this text is not PTX".to_owned()));
        }
        Ok(module)
    }

    /// Parses a function or a variable. Its first word has been read: its linkage, if it has one.
    fn declaration(&mut self, first: &'t str, module: &mut Module<'t>) -> Parsed<()> {
        self.at -= 1;
        let (start, line) = (self.start(), self.line());
        let is_public = matches!(first, ".visible" | ".weak" | ".common" | ".extern");
        if is_public {
            self.next();
        }
        if let Kind::Word(word @ (".entry" | ".func")) = self.peek() {
            self.next();
            let mut function = self.function(line, word == ".entry")?;
            // PTX ISA, "Kernel Function Parameters": before PTX 1.4, they are declared in the body.
            if let Some(body) = function.body.as_mut().filter(|_| word == ".entry" && module.version < (1, 4)) {
                let is_param = |statement: &mut Statement<'_>| matches!(statement, Statement::Variable(variable) if variable.space == StateSpace::Param);
                let params = body.extract_if(.., is_param);
                function
                    .params
                    .extend(params.filter_map(|param| if let Statement::Variable(param) = param { Some(param) } else { None }));
            }
            function.is_public |= is_public;
            function.span = self.span_from(start);
            module.functions.push(function);
            return Ok(());
        }
        let mut variable = self.module_variable()?;
        variable.is_extern = first == ".extern";
        variable.is_public = is_public;
        variable.span = self.span_from(start);
        module.variables.push(variable);
        Ok(())
    }

    /// `8.0`
    fn version(&mut self) -> Parsed<(u32, u32)> {
        self.take("a version such as 8.0", |found| {
            let (major, minor) = found.number()?.split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        })
    }

    /// `sm_86` or `sm_90a`, perhaps followed by options.
    fn target(&mut self) -> Parsed<((u32, u32), bool)> {
        let (number, is_specific) = self.take("a target such as sm_86", |found| {
            let name = found.word()?.strip_prefix("sm_")?;
            let digits = name.trim_end_matches(|c: char| c.is_ascii_lowercase());
            Some((digits.parse::<u32>().ok()?, name != digits))
        })?;
        while self.accept(b',') {
            self.word("an option of the target")?;
        }
        Ok(((number / 10, number % 10), is_specific))
    }

    /// `1 "name"`, perhaps followed by a time and a size.
    fn file(&mut self) -> Parsed<(u32, &'t str)> {
        let index = self.integer("the number of a file")?;
        let name = self.take("the name of a file", |found| if let Kind::Text(name) = found { Some(name) } else { None })?;
        while self.accept(b',') {
            self.next();
        }
        Ok((index, name))
    }

    /// Skips debug information.
    fn section(&mut self) -> Parsed<()> {
        self.word("the name of a section")?;
        self.expect(b'{')?;
        self.skip_past(b'}')
    }

    fn module_variable(&mut self) -> Parsed<Variable<'t>> {
        let line = self.line();
        let word = self.word("a state space")?;
        // PTX ISA, "Texture State Space (deprecated)": `.tex .u32 tex_a` is `.global .texref tex_a`.
        let is_texture = word == ".tex";
        let space = state_space(if is_texture { ".global" } else { word })
            .filter(|space| matches!(space, StateSpace::Global | StateSpace::Const | StateSpace::Shared));
        let space = space.ok_or_else(|| expected(line, "a directive of a module", Kind::Word(word)))?;
        let mut variable = self.variable(space, false)?;
        self.expect(b';')?;
        if is_texture {
            let (ty, bytes, opaque) = (Type::Bytes(8), Some(8), Some(Opaque::Texture));
            variable = Variable { ty, bytes, opaque, align: 8, ..variable };
        }
        Ok(variable)
    }

    /// Reads a variable after its state space: attributes, type, name, extents, initial value. A parameter or a result of a function may be
    /// in a register.
    fn variable(&mut self, space: StateSpace, in_register: bool) -> Parsed<Variable<'t>> {
        let line = self.line();
        let start = self.tokens[self.at - 1].start;
        let mut align = None;
        let mut lanes = 1;
        let mut is_managed = false;
        let (ty, opaque) = loop {
            match self.word("a type")? {
                ".align" => align = Some(self.integer("an alignment")?),
                ".attribute" => {
                    self.expect(b'(')?;
                    is_managed |= self.peek() == Kind::Word(".managed");
                    self.skip_past(b')')?;
                }
                ".v2" => lanes = 2,
                ".v4" => lanes = 4,
                // `.param .u64 .ptr .global .align 4 name` says what the pointer points to.
                ".ptr" | ".global" | ".const" | ".shared" | ".local" => {}
                word => {
                    let ty = scalar_type(word).ok_or_else(|| expected(line, "a type", Kind::Word(word)))?;
                    break (ty, opaque_type(word));
                }
            }
        };
        // In a parameter list `.ptr` and its attributes may also follow the type; they do not matter for storage.
        while let Kind::Word(".ptr" | ".global" | ".const" | ".shared" | ".local" | ".align") = self.peek() {
            if self.next() == Kind::Word(".align") {
                self.integer::<u64>("an alignment")?;
            }
        }
        let width = match ty {
            Type::Bytes(width) => u64::from(width),
            Type::Pred if in_register => 1,
            Type::Pred => return Err(syntax(line, "expected a type with a size, found .pred".to_owned())),
        };
        let name = self.word("the name of a variable")?;
        let align = align.unwrap_or(width * lanes);
        if !u64::is_power_of_two(align) || align > 1 << 16 {
            return Err(syntax(line, format!("expected an alignment that is a power of two, found {align}")));
        }
        let mut elements = Some(lanes);
        while self.accept(b'[') {
            if self.accept(b']') {
                elements = None;
                continue;
            }
            let extent: u64 = self.integer("the extent of an array")?;
            self.expect(b']')?;
            let product = elements.map(|elements| elements.saturating_mul(extent));
            if product.is_some_and(|product| product > MOST_ELEMENTS) {
                return Err(syntax(line, format!("variable {name} has more elements than {MOST_ELEMENTS}")));
            }
            elements = product;
        }
        let mut init = Vec::new();
        if self.accept(b'=') {
            self.initializer(&mut init, width, 0)?;
            let given = init.len() as u64;
            // `name[] = {…}` takes its length from its values.
            let elements = *elements.get_or_insert(given);
            if given > elements {
                return Err(syntax(line, format!("variable {name} has {elements} elements and {given} initial values")));
            }
        }
        let bytes = elements.map(|elements| elements * width);
        let span = self.span_from(start);
        Ok(Variable {
            space,
            name,
            ty,
            align,
            bytes,
            init,
            in_register,
            is_extern: false,
            is_public: false,
            is_managed,
            opaque,
            line,
            span,
        })
    }

    fn initializer(&mut self, init: &mut Vec<Initializer<'t>>, width: u64, depth: usize) -> Parsed<()> {
        let line = self.line();
        if depth > DEEPEST {
            return Err(syntax(line, format!("expected an initial value nested at most {DEEPEST} deep")));
        }
        if self.accept(b'{') {
            while !self.accept(b'}') {
                self.initializer(init, width, depth + 1)?;
                if !self.accept(b',') {
                    self.expect(b'}')?;
                    break;
                }
            }
            return Ok(());
        }
        let value = match self.operand()? {
            Operand::Integer(bits) => Initializer::Bits(bits),
            Operand::F32(bits) => Initializer::Bits(u64::from(bits)),
            Operand::F64(bits) if width == 4 => Initializer::Bits(u64::from((f64::from_bits(bits) as f32).to_bits())),
            Operand::F64(bits) => Initializer::Bits(bits),
            Operand::Name("generic") => {
                self.expect(b'(')?;
                let name = self.word("the name of a variable")?;
                self.expect(b')')?;
                Initializer::Address { name, offset: self.offset()? }
            }
            Operand::Name(name) => Initializer::Address { name, offset: 0 },
            Operand::Offset(name, offset) => Initializer::Address { name, offset },
            _ => return Err(syntax(line, "expected an initial value".to_owned())),
        };
        init.push(value);
        Ok(())
    }

    fn function(&mut self, line: u32, is_kernel: bool) -> Parsed<Function<'t>> {
        let start = self.tokens[self.at - 1].start;
        let returns = self.parameters()?;
        let name = self.word("the name of a function")?;
        let params = self.parameters()?;
        let mut max_threads = None;
        let mut cluster = ClusterBounds::default();
        let mut unreadable = Vec::new();
        let body = loop {
            let line = self.line();
            match self.next() {
                Kind::Word(".maxntid" | ".reqntid") => max_threads = Some(self.extents()?),
                Kind::Word(".minnctapersm" | ".maxnreg" | ".maxnctapersm") => {
                    self.extents()?;
                }
                Kind::Word(".reqnctapercluster") => cluster.required = Some(self.cluster_extents()?),
                Kind::Word(".explicitcluster") => cluster.explicit = true,
                Kind::Word(".maxclusterrank") => cluster.most = Some(self.extents()?),
                Kind::Word(".noreturn") => {}
                // How many registers the callee leaves alone, which matters to a compiler only.
                Kind::Word(".abi_preserve" | ".abi_preserve_control") => drop(self.extents()?),
                Kind::Word(".pragma") => self.skip_past(b';')?,
                Kind::Punct(b';') => break None,
                Kind::Punct(b'{') => {
                    let open = self.tokens[self.at - 1].end;
                    let body = self.body(unreadable)?;
                    break Some((body, open..self.tokens[self.at - 1].start));
                }
                found @ Kind::Word(word) if word.starts_with('.') => {
                    unreadable.push(Statement::Unreadable(expected(line, "the body of a function", found)));
                    while !matches!(self.peek(), Kind::Word(_) | Kind::Punct(b'{' | b';') | Kind::End) {
                        self.next();
                    }
                }
                found => return Err(expected(line, "the body of a function", found)),
            }
        };
        let (body, body_span) = body.unzip();
        let (is_public, span) = (is_kernel, self.span_from(start));
        Ok(Function { name, is_kernel, returns, params, max_threads, cluster, body, body_span, is_public, line, span })
    }

    /// Parameters or results in parentheses, if there are any.
    fn parameters(&mut self) -> Parsed<Vec<Variable<'t>>> {
        let mut params = Vec::new();
        if !self.accept(b'(') {
            return Ok(params);
        }
        while !self.accept(b')') {
            let line = self.line();
            match self.word("a parameter")? {
                word @ (".param" | ".reg") => params.push(self.variable(StateSpace::Param, word == ".reg")?),
                found => return Err(expected(line, "a parameter", Kind::Word(found))),
            }
            if !self.accept(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(params)
    }

    /// `128, 1, 1` as a product.
    fn extents(&mut self) -> Parsed<u32> {
        let mut product: u32 = self.integer("an extent")?;
        while self.accept(b',') {
            product = product.saturating_mul(self.integer("an extent")?);
        }
        Ok(product)
    }

    /// `2, 2, 1`; extents that are not given are 1.
    fn cluster_extents(&mut self) -> Parsed<Dim3> {
        let mut extents = [1; 3];
        let line = self.line();
        for (position, extent) in extents.iter_mut().enumerate() {
            if position == 0 || self.accept(b',') {
                *extent = self.integer("an extent")?;
            }
        }
        if extents.contains(&0) {
            return Err(syntax(line, "a cluster has at least one block in each direction".to_owned()));
        }
        Ok(Dim3::new(extents[0], extents[1], extents[2]))
    }

    fn body(&mut self, mut body: Vec<Statement<'t>>) -> Parsed<Vec<Statement<'t>>> {
        let mut depth = 0_usize;
        self.source = None;
        loop {
            let first = self.at;
            match self.next() {
                Kind::Punct(b'{') => {
                    depth += 1;
                    body.push(Statement::Open);
                }
                Kind::Punct(b'}') if depth == 0 => return Ok(body),
                Kind::Punct(b'}') => {
                    depth -= 1;
                    body.push(Statement::Close);
                }
                Kind::Punct(b';') => {}
                _ => {
                    self.at = first;
                    if let Err(error) = self.statement(&mut body) {
                        self.at = first;
                        self.skip_statement().map_err(|()| error.clone())?;
                        body.push(Statement::Unreadable(error));
                    }
                }
            }
        }
    }

    fn statement(&mut self, body: &mut Vec<Statement<'t>>) -> Parsed<()> {
        let (start, line) = (self.start(), self.line());
        body.push(match self.next() {
            Kind::Punct(b'@') => {
                let negated = self.accept(b'!');
                let name = self.word("a predicate")?;
                let opcode = self.word("an instruction")?;
                Statement::Instruction(self.instruction(start, Some(Guard { name, negated }), opcode, line)?)
            }
            Kind::Word(".reg") => return self.registers(body),
            Kind::Word(".loc") => self.location(start)?,
            Kind::Word(".pragma") => return self.skip_past(b';'),
            Kind::Word(word) if self.accept(b':') => self.labeled(word)?,
            Kind::Word(word) if word.starts_with('.') => {
                let space = state_space(word).ok_or_else(|| expected(line, "an instruction", Kind::Word(word)))?;
                let mut variable = self.variable(space, false)?;
                self.expect(b';')?;
                variable.span = self.span_from(start);
                Statement::Variable(variable)
            }
            Kind::Word(word) => Statement::Instruction(self.instruction(start, None, word, line)?),
            found => return Err(expected(line, "an instruction", found)),
        });
        Ok(())
    }

    /// Skips a statement that cannot be read, up to its semicolon. Fails if its brackets do not match: then the text is damaged.
    fn skip_statement(&mut self) -> Result<(), ()> {
        let mut depth = 0_usize;
        loop {
            match self.next() {
                Kind::Punct(b';') => return if depth == 0 { Ok(()) } else { Err(()) },
                Kind::Punct(b'{' | b'[' | b'(') => depth += 1,
                Kind::Punct(b'}' | b']' | b')') => depth = depth.checked_sub(1).ok_or(())?,
                Kind::End => return Err(()),
                _ => {}
            }
        }
    }

    /// Reads on after a name and a colon: a directive that the name belongs to; otherwise the name is a label.
    fn labeled(&mut self, name: &'t str) -> Parsed<Statement<'t>> {
        if self.accept_word(".callprototype") {
            let returns = self.parameters()?;
            self.word("_ in place of a function's name")?;
            let params = self.parameters()?;
            self.skip_past(b';')?;
            return Ok(Statement::Prototype(Prototype { name, returns, params }));
        }
        if self.accept_word(".calltargets") || self.accept_word(".branchtargets") {
            let mut targets = vec![self.word("a target")?];
            while self.accept(b',') {
                targets.push(self.word("a target")?);
            }
            self.expect(b';')?;
            return Ok(Statement::Targets { name, targets });
        }
        Ok(Statement::Label(name))
    }

    /// Parses a declaration of registers from its type on: `.reg .b32 %r<35>, %s;` or `.reg .v4 .f32 v;`.
    fn registers(&mut self, body: &mut Vec<Statement<'t>>) -> Parsed<()> {
        let line = self.line();
        let lanes = if self.accept_word(".v2") { Some(2) } else { self.accept_word(".v4").then_some(4) };
        let word = self.word("a type")?;
        let ty = scalar_type(word).ok_or_else(|| expected(line, "a type", Kind::Word(word)))?;
        loop {
            let name = self.word("a register")?;
            let mut count = None;
            if self.accept(b'<') {
                let number: u32 = self.integer("a number of registers")?;
                if number > MOST_REGISTERS {
                    return Err(syntax(line, format!("expected at most {MOST_REGISTERS} registers, found {number}")));
                }
                self.expect(b'>')?;
                count = Some(number);
            }
            body.push(Statement::Registers(Registers { ty, is_float: matches!(word, ".f32" | ".f64"), lanes, name, count, line }));
            if !self.accept(b',') {
                return self.expect(b';');
            }
        }
    }

    /// Parses a `.loc`: `1 10 5`, perhaps followed by `, function_name …, inlined_at 1 20 3`. The second place is that of an earlier
    /// `.loc`, which may be in an inlined function itself.
    fn location(&mut self, start: usize) -> Parsed<Statement<'t>> {
        let [file, line, column] = self.place()?;
        let (mut call, mut inlined_at) = (None, None);
        while self.accept(b',') {
            match self.word("function_name or inlined_at")? {
                "function_name" => {
                    self.word("a label")?;
                    if self.accept(b'+') {
                        self.integer::<u32>("an offset")?;
                    }
                }
                _ => {
                    let [file, line, column] = self.place()?;
                    call = Some((file, line, column));
                    inlined_at = Some(self.inlined.get(&(file, line, column)).copied().unwrap_or((file, line)));
                }
            }
        }
        self.source = (line != 0).then_some((file, line));
        match inlined_at {
            Some(outermost) => self.inlined.insert((file, line, column), outermost),
            None => self.inlined.remove(&(file, line, column)),
        };
        Ok(Statement::Location { file, line, column, call, inlined_at, span: self.span_from(start) })
    }

    /// Parses the number of a file, a line, and a column.
    fn place(&mut self) -> Parsed<[u32; 3]> {
        Ok([self.integer("the number of a file")?, self.integer("a line")?, self.integer("a column")?])
    }

    /// Reads an instruction from its opcode on; `start` is where the instruction starts.
    fn instruction(&mut self, start: usize, guard: Option<Guard<'t>>, opcode: &'t str, line: u32) -> Parsed<Instruction<'t>> {
        let opcode_start = self.tokens[self.at - 1].start;
        let (mut operands, mut operand_spans) = (Vec::new(), Vec::new());
        let is_call = opcode.split('.').next() == Some("call");
        if !self.accept(b';') {
            loop {
                let operand_start = self.start();
                operands.push(if is_call && self.accept(b'(') { self.arguments()? } else { self.operand()? });
                operand_spans.push(self.span_from(operand_start));
                if self.accept(b';') {
                    break;
                }
                self.expect(b',')?;
            }
        }
        let (span, unguarded) = (self.span_from(start), self.span_from(opcode_start));
        Ok(Instruction { guard, opcode, operands, operand_spans, line, source: self.source, span, unguarded })
    }

    pub(super) fn peek(&self) -> Kind<'t> {
        self.tokens[self.at].kind
    }

    /// Returns the token after the next `count` ones.
    pub(super) fn ahead(&self, count: usize) -> Kind<'t> {
        self.tokens.get(self.at + count).map_or(Kind::End, |token| token.kind)
    }

    /// Returns where the next token starts in the text.
    fn start(&self) -> usize {
        self.tokens[self.at].start
    }

    /// Returns the bytes from `start` through the last token that was read.
    fn span_from(&self, start: usize) -> Range<usize> {
        start..self.tokens[self.at - 1].end
    }

    pub(super) fn line(&self) -> u32 {
        self.tokens[self.at].line
    }

    /// Takes the next token; at the end, returns the end again and again.
    pub(super) fn next(&mut self) -> Kind<'t> {
        let kind = self.peek();
        if kind != Kind::End {
            self.at += 1;
        }
        kind
    }

    pub(super) fn accept(&mut self, punct: u8) -> bool {
        self.advance_if(matches!(self.peek(), Kind::Punct(found) if found == punct))
    }

    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        self.advance_if(self.peek() == Kind::Word(word))
    }

    fn advance_if(&mut self, accepts: bool) -> bool {
        self.at += usize::from(accepts);
        accepts
    }

    pub(super) fn expect(&mut self, punct: u8) -> Parsed<()> {
        let line = self.line();
        match self.next() {
            Kind::Punct(found) if found == punct => Ok(()),
            found => Err(expected(line, &format!("'{}'", char::from(punct)), found)),
        }
    }

    fn skip_past(&mut self, punct: u8) -> Parsed<()> {
        let line = self.line();
        loop {
            match self.next() {
                Kind::Punct(found) if found == punct => return Ok(()),
                Kind::End => return Err(expected(line, &format!("'{}'", char::from(punct)), Kind::End)),
                _ => {}
            }
        }
    }

    pub(super) fn word(&mut self, what: &str) -> Parsed<&'t str> {
        self.take(what, Kind::word)
    }

    fn integer<T: TryFrom<u64>>(&mut self, what: &str) -> Parsed<T> {
        self.take(what, |found| match literal(found.number()?)? {
            Operand::Integer(bits) => T::try_from(bits).ok(),
            _ => None,
        })
    }

    /// Takes the next token. `of` must be able to make something of it.
    fn take<T>(&mut self, what: &str, of: impl FnOnce(Kind<'t>) -> Option<T>) -> Parsed<T> {
        let (line, found) = (self.line(), self.next());
        of(found).ok_or_else(|| expected(line, what, found))
    }
}

fn state_space(word: &str) -> Option<StateSpace> {
    Some(match word {
        ".global" => StateSpace::Global,
        ".const" => StateSpace::Const,
        ".shared" => StateSpace::Shared,
        ".local" => StateSpace::Local,
        ".param" => StateSpace::Param,
        _ => return None,
    })
}

pub(super) fn expected(line: u32, what: &str, found: Kind<'_>) -> LoadError {
    let found = match found {
        Kind::Word(text) | Kind::Number(text) => text.to_owned(),
        Kind::Text(text) => format!("\"{text}\""),
        Kind::Punct(punct) => format!("'{}'", char::from(punct)),
        Kind::End => "the end of the text".to_owned(),
    };
    syntax(line, format!("expected {what}, found {found}"))
}
