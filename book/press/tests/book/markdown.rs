//! Markdown as mdBook reads it: the headings and links of a page.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The text of a page.
pub struct Markdown<'a>(pub &'a str);

/// A link or an image.
pub struct Link {
    /// Where it leads, as it is written.
    pub target: String,
    /// Whether it is an image.
    pub is_image: bool,
    /// The words of it: those of a link, or those for readers who do not see an image.
    pub words: String,
}

impl Markdown<'_> {
    /// What Markdown makes of it, with the switches that mdBook sets.
    fn events(&self) -> Parser<'_> {
        let switches = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_HEADING_ATTRIBUTES
            | Options::ENABLE_DEFINITION_LIST
            | Options::ENABLE_GFM;
        Parser::new_ext(self.0, switches)
    }

    /// The ids of its headings and of the terms that it defines, as mdBook makes them, and those that are written as HTML.
    pub fn ids(&self) -> BTreeSet<String> {
        let mut ids = BTreeSet::new();
        let (mut named, mut words) = (None, None);
        for event in self.events() {
            match event {
                Event::Start(Tag::Heading { id, .. }) => (named, words) = (id, Some(String::new())),
                Event::Start(Tag::DefinitionListTitle) => words = Some(String::new()),
                Event::End(TagEnd::Heading(_) | TagEnd::DefinitionListTitle) => {
                    let id = named.take().map_or_else(|| id_of(&words.take().unwrap_or_default()), |id| id.into_string());
                    let again = (1..).map(|count| format!("{id}-{count}"));
                    let free = std::iter::once(id.clone()).chain(again).find(|id| !ids.contains(id));
                    ids.extend(free);
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(words) = &mut words {
                        words.push_str(&text);
                    }
                }
                Event::InlineHtml(html) | Event::Html(html) => {
                    ids.extend(html.split(" id=\"").skip(1).filter_map(|rest| rest.split_once('"')).map(|(id, _)| id.to_owned()));
                }
                _ => {}
            }
        }
        ids
    }

    /// Its links and images, in order.
    pub fn links(&self) -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for event in self.events() {
            match event {
                Event::Start(Tag::Link { dest_url, .. }) => {
                    open.push(links.len());
                    links.push(Link { target: dest_url.into_string(), is_image: false, words: String::new() });
                }
                Event::Start(Tag::Image { dest_url, .. }) => {
                    open.push(links.len());
                    links.push(Link { target: dest_url.into_string(), is_image: true, words: String::new() });
                }
                Event::End(TagEnd::Link | TagEnd::Image) => {
                    open.pop();
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(link) = open.last() {
                        links[*link].words.push_str(&text);
                    }
                }
                _ => {}
            }
        }
        links
    }
}

/// What mdBook makes of the words of a heading, to link to it.
fn id_of(words: &str) -> String {
    let chars = words.trim().chars().flat_map(char::to_lowercase);
    let dashed = chars.map(|char| if char.is_whitespace() { '-' } else { char });
    dashed.filter(|char| char.is_alphanumeric() || matches!(char, '_' | '-')).collect()
}

#[test]
fn ids_are_those_that_mdbook_makes() {
    // The ids in the HTML that mdBook 0.5.4 made of this.
    let page = Markdown(
        "# 03 Unrolling, and beyond\n\n## What `pow` costs: `x * x`\n\n## Next\n\n## Next\n\n## Last {#the-end}\n\nTerm\n: What it is.\n",
    );
    let ids = ["03-unrolling-and-beyond", "next", "next-1", "term", "the-end", "what-pow-costs-x--x"];
    assert_eq!(page.ids().into_iter().collect::<Vec<_>>(), ids);
}
