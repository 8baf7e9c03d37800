//! IR text as tokens.

use crate::error::{Error, Result};

/// A token and the line on which it starts.
#[derive(Clone, Debug)]
pub struct Token {
    pub kind: Kind,
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `%name`
    Local(String),
    /// `@name`
    Global(String),
    /// `!name` or `!12`; `!` alone, in front of `{` or a string, has an empty name.
    Meta(String),
    /// `#12`, or `#dbg_value`, whose rest of the line is dropped.
    Attribute(String),
    /// `$name`
    Comdat(String),
    /// A keyword, a type, or a name inside metadata.
    Word(String),
    /// A decimal integer with its sign.
    Integer(String),
    /// A floating-point number, decimal or hexadecimal (`0x3FF…`, `0xH3C00`, `0xR3F80`).
    Float(String),
    /// `"text"`, with escapes replaced.
    Text(Vec<u8>),
    /// `c"bytes"`
    Bytes(Vec<u8>),
    Punct(u8),
    End,
}

/// Splits the text into tokens; comments are dropped, and so are debug records.
pub fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut lexer = Lexer { bytes: text.as_bytes(), at: 0, line: 1 };
    let mut tokens = Vec::with_capacity(text.len() / 5);
    loop {
        let token = lexer.token()?;
        let is_end = token.kind == Kind::End;
        tokens.push(token);
        if is_end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    bytes: &'t [u8],
    at: usize,
    line: u32,
}

impl Lexer<'_> {
    fn token(&mut self) -> Result<Token> {
        self.skip_blank();
        let line = self.line;
        let Some(&first) = self.bytes.get(self.at) else {
            return Ok(Token { kind: Kind::End, line });
        };
        let kind = match first {
            b'%' => Kind::Local(self.name()?),
            b'@' => Kind::Global(self.name()?),
            b'$' => Kind::Comdat(self.name()?),
            b'!' => {
                self.at += 1;
                Kind::Meta(self.while_in(|byte| is_word(byte) || byte == b'\\'))
            }
            b'#' => {
                self.at += 1;
                Kind::Attribute(self.while_in(is_word))
            }
            b'"' => Kind::Text(self.quoted()?),
            b'c' if self.bytes.get(self.at + 1) == Some(&b'"') => {
                self.at += 1;
                Kind::Bytes(self.quoted()?)
            }
            b'-' | b'+' | b'0'..=b'9' => self.number()?,
            byte if is_word(byte) => Kind::Word(self.while_in(is_word)),
            byte if byte.is_ascii_punctuation() => {
                self.at += 1;
                Kind::Punct(byte)
            }
            _ => return Err(Error::at(line, "found a character that LLVM IR does not have")),
        };
        Ok(Token { kind, line })
    }

    fn skip_blank(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b';' => self.skip_line(),
                b'#' if self.bytes[self.at..].starts_with(b"#dbg_") => self.skip_line(),
                _ => break,
            }
        }
    }

    fn skip_line(&mut self) {
        while self.bytes.get(self.at).is_some_and(|byte| *byte != b'\n') {
            self.at += 1;
        }
    }

    fn while_in(&mut self, class: impl Fn(u8) -> bool) -> String {
        let start = self.at;
        while self.bytes.get(self.at).copied().is_some_and(&class) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned()
    }

    /// Reads a name after its sigil, perhaps in quotation marks.
    fn name(&mut self) -> Result<String> {
        self.at += 1;
        if self.bytes.get(self.at) == Some(&b'"') {
            return Ok(String::from_utf8_lossy(&self.quoted()?).into_owned());
        }
        let name = self.while_in(is_word);
        if name.is_empty() { Err(Error::at(self.line, "expected a name")) } else { Ok(name) }
    }

    /// Reads text in quotation marks; `\22` means the byte 0x22, and `\\` a backslash.
    fn quoted(&mut self) -> Result<Vec<u8>> {
        let line = self.line;
        self.at += 1;
        let mut text = Vec::new();
        loop {
            match self.bytes.get(self.at) {
                None => return Err(Error::at(line, "a string does not end")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    let digits = self.bytes.get(self.at + 1..self.at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
                    let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                    if let Some(byte) = byte {
                        text.push(byte);
                        self.at += 3;
                    } else {
                        text.push(b'\\');
                        self.at += if self.bytes.get(self.at + 1) == Some(&b'\\') { 2 } else { 1 };
                    }
                }
                Some(&byte) => {
                    self.line += u32::from(byte == b'\n');
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn number(&mut self) -> Result<Kind> {
        let start = self.at;
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            let is_sign_of_exponent =
                matches!(byte, b'+' | b'-') && self.bytes[self.at - 1] == b'e' && !self.bytes[start..].starts_with(b"0x");
            if !(byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_' || is_sign_of_exponent) {
                break;
            }
            self.at += 1;
        }
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
        let digits = text.trim_start_matches(['-', '+']);
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Error::at(self.line, format!("expected a number, found {text}")));
        }
        let is_float = digits.starts_with("0x") || digits.contains('.');
        Ok(if is_float { Kind::Float(text) } else { Kind::Integer(text) })
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'-')
}
