//! The pages of the book and the README as mdBook reads them: which of their text is prose, and which headings, links and comments
//! they have. The tests of the pages start from here.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, OffsetIter, Options, Parser, Tag, TagEnd};

use crate::generated::root;

/// A page that is written by hand.
pub struct Page {
    /// Its path from the root of the repository.
    pub path: String,
    /// What stands in it.
    pub text: String,
}

/// A heading.
#[derive(Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 for the page's title.
    pub level: HeadingLevel,
    /// Its words.
    pub text: String,
}

/// A link or an image.
pub struct Link {
    /// Where it leads, as it is written.
    pub target: String,
    /// Whether it is an image.
    pub is_image: bool,
    /// The words of it: those of a link, or those for readers who do not see an image.
    pub words: String,
}

/// The pages of the book, in the order of their names.
pub fn book() -> Vec<Page> {
    let folder = root().join("book/src");
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let names = files.map(|file| file.unwrap().file_name().into_string().expect("pages have plain names"));
    let mut names = names.filter(|name| name.ends_with(".md")).collect::<Vec<_>>();
    names.sort();
    names.into_iter().map(|name| Page::read(&format!("book/src/{name}"))).collect()
}

/// The pages of the book that are chapters.
pub fn chapters() -> Vec<Page> {
    book().into_iter().filter(Page::is_chapter).collect()
}

/// The README, without the tables that are made from records.
pub fn readme() -> Page {
    let mut page = Page::read("README.md");
    for (start, _) in page.text.clone().match_indices("<!-- table ") {
        let end = page.text[start..].find("<!-- end -->").map_or(page.text.len(), |end| start + end);
        let blank = blank(&page.text[start..end]);
        page.text.replace_range(start..end, &blank);
    }
    page.text = page.text.replace("<!-- end -->", "            ");
    page
}

/// The pages of the book and the README.
pub fn all() -> Vec<Page> {
    book().into_iter().chain([readme()]).collect()
}

/// As many bytes, of which the line ends are left.
fn blank(text: &str) -> String {
    text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
}

impl Page {
    /// Reads the page at a path from the root of the repository.
    pub fn read(path: &str) -> Self {
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self { path: path.to_owned(), text }
    }

    /// The name of its file without extension.
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".md").unwrap_or(name)
    }

    /// Whether it is the page of a chapter.
    pub fn is_chapter(&self) -> bool {
        self.stem().starts_with(|first: char| first.is_ascii_digit())
    }

    /// A place in its text, for people: page and line.
    pub fn place(&self, offset: usize) -> String {
        format!("{}:{}", self.path, self.text[..offset].matches('\n').count() + 1)
    }

    /// What Markdown makes of it, with the switches that mdBook sets.
    fn events(&self) -> OffsetIter<'_> {
        let switches = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_HEADING_ATTRIBUTES
            | Options::ENABLE_DEFINITION_LIST
            | Options::ENABLE_GFM;
        Parser::new_ext(&self.text, switches).into_offset_iter()
    }

    /// The text with all but its words blanked: code, links, images, comments and includes are spaces. Places stay what they are.
    pub fn prose(&self) -> String {
        self.words(|_| false)
    }

    /// The same, with blocks of `text` that are no code.
    pub fn with_blocks_of_text(&self) -> String {
        self.words(|language| language == "text")
    }

    fn words(&self, is_text: impl Fn(&str) -> bool) -> String {
        let mut prose = blank(&self.text);
        let (mut beside, mut in_text) = (0, false);
        for (event, range) in self.events() {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) if is_text(&language) => in_text = true,
                Event::End(TagEnd::CodeBlock) if in_text => in_text = false,
                Event::Start(Tag::CodeBlock(_) | Tag::Link { .. } | Tag::Image { .. } | Tag::HtmlBlock) => beside += 1,
                Event::End(TagEnd::CodeBlock | TagEnd::Link | TagEnd::Image | TagEnd::HtmlBlock) => beside -= 1,
                Event::Text(_) if beside == 0 => prose.replace_range(range.clone(), &self.text[range]),
                _ => {}
            }
        }
        while let Some(start) = prose.find("{{#") {
            let end = prose[start..].find("}}").map_or(prose.len(), |end| start + end + 2);
            let blank = blank(&prose[start..end]);
            prose.replace_range(start..end, &blank);
        }
        prose
    }

    /// The places of its comments, outside of code.
    pub fn comments(&self) -> Vec<Range<usize>> {
        let is_html = |event: &Event| matches!(event, Event::InlineHtml(_) | Event::Start(Tag::HtmlBlock));
        let ranges = self.events().filter(|(event, _)| is_html(event)).map(|(_, range)| range);
        ranges.filter(|range| self.text[range.clone()].starts_with("<!--")).collect()
    }

    /// Its headings, in order.
    pub fn headings(&self) -> Vec<Heading> {
        let mut headings = Vec::new();
        let mut inside = false;
        for (event, _) in self.events() {
            match event {
                Event::Start(Tag::Heading { level, .. }) => {
                    inside = true;
                    headings.push(Heading { level, text: String::new() });
                }
                Event::End(TagEnd::Heading(_)) => inside = false,
                Event::Text(words) | Event::Code(words) if inside => {
                    headings.last_mut().expect("one has begun").text.push_str(&words);
                }
                _ => {}
            }
        }
        headings
    }

    /// The page with the pages that it includes, which stand in the same folder or below it.
    pub fn with_includes(&self) -> Self {
        let folder = root().join(&self.path).parent().expect("a page stands in a folder").to_owned();
        let mut text = String::new();
        for line in self.text.lines() {
            let include =
                line.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}")).filter(|path| path.ends_with(".md"));
            match include {
                // One that is not there is missed by the test of what is included.
                Some(path) => text.push_str(&fs::read_to_string(folder.join(path.trim())).unwrap_or_default()),
                None => text.push_str(line),
            }
            text.push('\n');
        }
        Self { path: self.path.clone(), text }
    }

    /// The ids of its headings and of the terms that it defines, as mdBook makes them, and those that are written as HTML.
    pub fn ids(&self) -> BTreeSet<String> {
        let mut ids = BTreeSet::new();
        let (mut named, mut words) = (None, None);
        for (event, _) in self.events() {
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
        for (event, _) in self.events() {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page { path: "book/src/01-x.md".into(), text: text.into() }
    }

    #[test]
    fn prose_is_what_is_left_without_code_links_comments_and_includes() {
        let page = page("Words `code` **more** [link](to.md)<!--mark-->\n\n```text\nfence\n```\n\n{{#include a.md}}\n");
        let prose = page.prose();
        assert_eq!(prose.split_whitespace().collect::<Vec<_>>(), ["Words", "more"]);
        assert_eq!(prose.len(), page.text.len());
        assert_eq!(prose.find("more"), page.text.find("more"));
        assert_eq!(page.comments().into_iter().map(|range| &page.text[range]).collect::<Vec<_>>(), ["<!--mark-->"]);
        assert_eq!(page.place(page.text.find("fence").unwrap()), "book/src/01-x.md:4");
    }

    /// The ids are those in the HTML that mdBook 0.5.4 made of this.
    #[test]
    fn ids_are_those_that_mdbook_makes() {
        let page = page(
            "# 03 Unrolling, and beyond\n\n## What `pow` costs: `x * x`\n\n## Next\n\n## Next\n\n## Last {#the-end}\n\nTerm\n: What it is.\n",
        );
        let ids = ["03-unrolling-and-beyond", "next", "next-1", "term", "the-end", "what-pow-costs-x--x"];
        assert_eq!(page.ids().into_iter().collect::<Vec<_>>(), ids);
    }

    #[test]
    fn the_readme_is_read_without_its_tables() {
        let readme = readme();
        assert!(readme.text.contains("## Start") && !readme.text.contains("TFLOP/s"), "{}", readme.text);
    }
}
