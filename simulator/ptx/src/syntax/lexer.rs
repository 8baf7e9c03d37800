//! PTX text as tokens.

use crate::error::LoadError;

/// A token, its first line, and its bytes in the text.
#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    pub kind: Kind<'t>,
    pub line: u32,
    pub start: usize,
    pub end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind<'t> {
    /// A name, an opcode with its modifiers, or one directive: letters, digits and `_ $ % .`, not starting with a digit.
    Word(&'t str),
    /// Starts with a digit; its form is checked where it is used.
    Number(&'t str),
    /// The text between quotes, escapes as written.
    Text(&'t str),
    Punct(u8),
    End,
}

impl<'t> Kind<'t> {
    /// Returns the text of a word.
    pub fn word(self) -> Option<&'t str> {
        if let Self::Word(word) = self { Some(word) } else { None }
    }

    /// Returns the text of a number.
    pub fn number(self) -> Option<&'t str> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }
}

/// Returns true if a text begins with `.version`, after any comments. All PTX does, and the rest may still be wrong.
pub fn is_ptx(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let comment_end = match rest.get(..2) {
            Some("//") => "\n",
            Some("/*") => "*/",
            _ => return rest.strip_prefix(".version").is_some_and(|rest| !rest.bytes().next().is_some_and(is_word)),
        };
        rest = rest.split_once(comment_end).map_or("", |(_, rest)| rest);
    }
}

/// Splits the text into tokens; comments and white space are dropped.
pub fn tokens(text: &str) -> Result<Vec<Token<'_>>, LoadError> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut line = 1;
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let kind = match bytes[at] {
            b'\n' => {
                line += 1;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = end_of(bytes, at, |byte| byte != b'\n');
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let end = text[at + 2..].find("*/").ok_or_else(|| error(line, "a comment that does not end"))?;
                at += end + 4;
                line += bytes[start..at].iter().filter(|byte| **byte == b'\n').count() as u32;
                continue;
            }
            b'"' => {
                // A backslash before a quotation mark makes it a part of the string, as in the name of a file.
                let mut is_escaped = false;
                let ends = |byte: &u8| match byte {
                    _ if is_escaped => {
                        is_escaped = false;
                        *byte == b'\n'
                    }
                    b'\\' => {
                        is_escaped = true;
                        false
                    }
                    _ => matches!(byte, b'"' | b'\n'),
                };
                let end = bytes[at + 1..].iter().position(ends).filter(|end| bytes[at + 1 + end] == b'"');
                let end = end.ok_or_else(|| error(line, "a string that does not end"))?;
                at += end + 2;
                Kind::Text(&text[start + 1..at - 1])
            }
            b'0'..=b'9' => {
                let in_number = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_';
                at = end_of(bytes, at, in_number);
                // `1.5e-3`: the sign of a decimal float's exponent.
                let is_exponent = text[start..at].contains('.') && matches!(bytes[at - 1], b'e' | b'E');
                if is_exponent && matches!(bytes.get(at), Some(b'-' | b'+')) {
                    at = end_of(bytes, at + 1, in_number);
                }
                Kind::Number(&text[start..at])
            }
            // `.param.u64`, as people write it, is two directives. Opcodes, which do not start with a dot, stay whole.
            b'.' => {
                at = end_of(bytes, at + 1, |byte| is_word(byte) && byte != b'.');
                Kind::Word(&text[start..at])
            }
            byte if is_word(byte) => {
                at = end_of(bytes, at, is_word);
                // `.L2::128B` and the like: a modifier with a scope in its name.
                while bytes[at..].starts_with(b"::") && bytes.get(at + 2).copied().is_some_and(is_word) {
                    at = end_of(bytes, at + 2, is_word);
                }
                Kind::Word(&text[start..at])
            }
            byte if byte.is_ascii_punctuation() => {
                at += 1;
                Kind::Punct(byte)
            }
            _ => {
                let found = text[at..].chars().next().unwrap_or('\u{fffd}');
                return Err(error(line, &format!("the character {found:?}, which PTX does not have")));
            }
        };
        tokens.push(Token { kind, line, start, end: at });
    }
    tokens.push(Token { kind: Kind::End, line, start: at, end: at });
    Ok(tokens)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.')
}

/// Finds the first byte from `at` on that is outside the class.
fn end_of(bytes: &[u8], at: usize, class: impl Fn(u8) -> bool) -> usize {
    bytes[at..].iter().position(|byte| !class(*byte)).map_or(bytes.len(), |length| at + length)
}

fn error(line: u32, what: &str) -> LoadError {
    LoadError::Syntax { line, message: format!("found {what}") }
}
