//! Nodes of metadata.

use super::cursor::Parser;
use crate::error::Result;
use crate::ir::{Item, Node};
use crate::lex::Kind;

impl Parser {
    /// Reads what is after `!12 =`.
    pub fn node(&mut self) -> Result<Node> {
        self.accept_word("distinct");
        let Kind::Meta(name) = self.peek().clone() else {
            // A node of a form that carries no location, such as a value.
            return self.skip_to_next_line();
        };
        self.skip();
        match self.peek() {
            Kind::Punct(b'{') if name.is_empty() => return Ok(Node::Tuple(self.tuple()?)),
            Kind::Punct(b'(') if !name.is_empty() => {}
            _ => return self.skip_to_next_line(),
        }
        let fields = self.fields_of_node()?;
        let field = |key: &str| fields.iter().find(|(name, _)| name == key).map(|(_, item)| item);
        let node = |key: &str| field(key).and_then(Item::node);
        let number = |key: &str| match field(key) {
            Some(Item::Integer(value)) => u32::try_from(*value).unwrap_or(0),
            _ => 0,
        };
        let text = |key: &str| match field(key) {
            Some(Item::Text(text)) => text.clone(),
            _ => String::new(),
        };
        Ok(match name.as_str() {
            "DILocation" => Node::Location {
                line: number("line"),
                column: number("column"),
                scope: node("scope"),
                inlined_at: node("inlinedAt"),
            },
            "DISubprogram" => {
                let linkage = text("linkageName");
                let name = if linkage.is_empty() { text("name") } else { linkage };
                Node::Scope { file: node("file"), scope: None, name }
            }
            "DILexicalBlock" | "DILexicalBlockFile" => {
                Node::Scope { file: node("file"), scope: node("scope"), name: String::new() }
            }
            "DIFile" => Node::File { name: text("filename"), directory: text("directory") },
            _ => Node::Other,
        })
    }

    /// Reads `{!1, !"text", i32 1, null}`.
    pub fn tuple(&mut self) -> Result<Vec<Item>> {
        self.expect(b'{')?;
        self.list(b'}', Self::element_of_node)
    }

    /// Reads one element, up to the comma or the bracket after it.
    pub fn element_of_node(&mut self) -> Result<Item> {
        let mut item = Item::Other;
        loop {
            match self.peek().clone() {
                Kind::Punct(b',' | b'}' | b')' | b']') => return Ok(item),
                Kind::End => return Err(self.expected("a closing bracket")),
                Kind::Punct(b'(' | b'{' | b'[') => {
                    item = Item::Other;
                    self.skip_brackets()?;
                    continue;
                }
                Kind::Meta(number) => {
                    if let Ok(number) = number.parse() {
                        item = Item::Node(number);
                    }
                }
                Kind::Text(text) => item = Item::Text(String::from_utf8_lossy(&text).into_owned()),
                Kind::Global(name) => item = Item::Global(name),
                Kind::Integer(text) => item = text.parse().map_or(Item::Other, Item::Integer),
                _ => {}
            }
            self.skip();
        }
    }

    /// Reads `(key: value, …)`.
    fn fields_of_node(&mut self) -> Result<Vec<(String, Item)>> {
        self.expect(b'(')?;
        self.list(b')', |parser| {
            let key = match (parser.peek().clone(), parser.ahead(1)) {
                (Kind::Word(key), Kind::Punct(b':')) => {
                    parser.skip();
                    parser.skip();
                    key
                }
                _ => String::new(),
            };
            Ok((key, parser.element_of_node()?))
        })
    }

    fn skip_to_next_line(&mut self) -> Result<Node> {
        self.skip_line();
        Ok(Node::Other)
    }
}
