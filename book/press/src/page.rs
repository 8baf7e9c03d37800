//! Pages, and the text in place of each of their directives.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::archive::{Archive, STALE_MARK, files_below};
use crate::directive::{Arguments, Directive, find, named};
use crate::drawing::concepts;
use crate::drawing::svg::inline;
use crate::facts::Facts;
use crate::lab::slides;
use crate::manifest::Manifest;
use crate::number::Style;
use crate::simulation::{self, Answers, Question, Show};
use crate::values::{FACTS, words, worth};
use crate::{
    callouts, charts, claim, counts, diff, exercises, functions, include, instructions, listings, mutants, planted, predict, ptx,
    root, sources, suites, tables,
};

/// A page of the book.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its path from the root of the repository.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// A way to replace a directive, given the rest of its words.
#[derive(Clone, Copy)]
enum By {
    /// With a text that the press writes.
    Text(fn(&Press, &mut Arguments) -> Result<String>),
    /// With what a run of the simulator shows.
    Simulator(Show),
}

/// The directives, by name.
const DIRECTIVES: [(&str, By); 32] = [
    ("accesses", By::Simulator(Show::Accesses)),
    ("all-bounds", By::Text(|press, words| Ok(tables::all_bounds(&press.archive, &words.word("a device")?)?.for_page()))),
    ("bounds", By::Text(|press, words| Ok(tables::bounds(&press.archive, &words.word("a record")?)?.for_page()))),
    ("chart", By::Text(|press, words| Ok(inline(&charts::draw(&press.archive, words)?, &words.alternative()?)))),
    ("claim", By::Text(|press, words| claim::verify(&press.archive, &press.facts, words).map(|()| String::new()))),
    ("counts", By::Text(|press, words| counts::render(&press.archive, words))),
    ("diagnosis", By::Simulator(Show::Diagnosis)),
    ("diff", By::Text(|_, words| diff::diff(&words.rest()))),
    ("exercise", By::Text(|_, words| exercises::exercise(&words.word("an exercise, such as 01-conv-naive/2,")?))),
    ("exercises", By::Text(|_, words| exercises::exercises(&words.word("a chapter")?))),
    ("explain", By::Simulator(Show::Explain)),
    ("fact", By::Text(Press::fact)),
    ("finding", By::Simulator(Show::Finding)),
    ("footprint", By::Simulator(Show::Footprint)),
    ("forms", By::Text(|_, _| instructions::forms())),
    ("functions", By::Text(|_, _| Ok(functions::tables()))),
    ("instructions", By::Text(|_, _| Ok(instructions::table()))),
    ("lanes", By::Simulator(Show::Lanes)),
    ("listing", By::Text(|press, words| listings::read(&press.archive, &words.word("a listing")?))),
    ("mutants", By::Text(|_, words| mutants::table(&words.word("operators or scores")?))),
    ("picture", By::Text(|press, words| concepts::figure(&press.archive, &press.facts, words))),
    ("planted", By::Text(|_, _| planted::planted())),
    ("predict", By::Text(Press::predict)),
    ("profiles", By::Text(|_, _| Ok(tables::profiles()))),
    ("progress", By::Text(|_, _| exercises::progress())),
    ("ptx-loop", By::Text(|_, words| ptx::remainder_loop(&words.word("a kernel")?))),
    ("roofline", By::Text(|press, words| charts::interactive_roofline(&press.archive, words))),
    ("run", By::Text(Press::run)),
    ("slide", By::Text(|_, words| slides::slide(&words.word("an experiment")?))),
    ("solutions", By::Text(|_, _| exercises::solutions())),
    ("suites", By::Text(|_, _| suites::scoreboard())),
    ("table", By::Text(|press, words| Ok(tables::run(&press.archive, &words.word("a record")?)?.for_page()))),
];

/// Reads a directive: what replaces it, and the words and options after its name.
fn read(text: &str) -> Result<(By, Arguments)> {
    let mut arguments = Arguments::parse(text)?;
    let name = arguments.word("the name of a directive")?;
    Ok((named(format_args!("there is no directive {name}"), &name, DIRECTIVES)?, arguments))
}

/// Renders pages; `program` is the press itself, which simulates in processes of its own. If these pages are the `whole` book, some page must use
/// each fact.
pub fn render(pages: &mut [Page], program: &Path, whole: bool) -> Result<()> {
    let mut problems = Vec::new();
    let asked = pages.iter().flat_map(questions).collect();
    let manifest = Manifest::read(root())?;
    let press = Press { answers: simulation::ask(program, asked)?, ..Press::without_simulator()? };
    for page in pages {
        match press.page(page) {
            Ok(text) => {
                let (records, facts) = (press.archive.take_used(), press.facts.take_sources());
                let counts = !questions(page).is_empty();
                page.text = text + &sources::of_page(&manifest, &press.archive, &records, &facts, counts)?;
            }
            Err(wrong) => problems.extend(wrong),
        }
    }
    if problems.is_empty() && whole {
        problems.extend(press.facts.unused().into_iter().map(|fact| format!("book/facts.toml: no page uses {fact}")));
    }
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(())
}

/// Returns the records that pages read, by their paths from `book/`. A wrong directive is reported when it is rendered.
pub fn records_of(pages: &[Page]) -> Result<BTreeSet<String>> {
    let press = Press::without_simulator()?;
    // Without the simulator's answers some directives are not rendered; they read no record.
    pages.iter().for_each(|page| drop(press.page(page)));
    Ok(press.archive.take_used())
}

/// Draws all concept pictures, each with the words that ask for it. A check can then look at those that no page shows yet.
pub fn pictures() -> Result<Vec<(&'static str, String)>> {
    let press = Press::without_simulator()?;
    let draw = |name| Ok((name, press.directive(&format!("picture {name} \"words\""))?));
    concepts::all().map(draw).collect()
}

/// Returns the questions of a page to the simulator. A wrong directive is reported when it is rendered.
fn questions(page: &Page) -> BTreeSet<Question> {
    let directives = find(&page.text).unwrap_or_default().into_iter().filter(|directive| !directive.escaped);
    let question = |directive: Directive<'_>| match read(directive.text) {
        Ok((By::Simulator(show), arguments)) => Question::take(show, arguments).ok(),
        _ => None,
    };
    directives.filter_map(question).collect()
}

/// The data that pages are rendered from.
struct Press {
    archive: Archive,
    facts: Facts,
    answers: Answers,
}

impl Press {
    /// Reads records and facts.
    fn without_simulator() -> Result<Self> {
        Ok(Self { archive: Archive::read()?, facts: Facts::read()?, answers: Answers::new() })
    }

    /// Renders a page, or lists what is wrong with it.
    fn page(&self, Page { path, text }: &Page) -> Result<String, Vec<String>> {
        let place = |offset: usize| format!("{path}:{}", text[..offset].matches('\n').count() + 1);
        let directives = find(text).map_err(|start| vec![format!("{}: a directive does not end with `}}}}`", place(start))])?;
        let (mut rendered, mut problems, mut done) = (String::new(), Vec::new(), 0);
        for (start, target) in include::find(text) {
            let error = include::check(path, target).err();
            problems.extend(error.map(|error| format!("{}: {{{{#include {target}}}}}: {error:#}", place(start))));
        }
        for directive in directives {
            let before = &text[done..directive.range.start];
            rendered += before;
            done = directive.range.end;
            if directive.escaped {
                rendered += &text[directive.range.start + 1..done];
                continue;
            }
            match self.directive(directive.text) {
                Ok(new) => {
                    if new.is_empty() && text[done..].starts_with('\n') {
                        // What writes nothing leaves no space, and no empty line that would end a paragraph.
                        rendered.truncate(rendered.trim_end_matches(' ').len());
                        done += usize::from(rendered.is_empty() || rendered.ends_with('\n'));
                    }
                    let indent = rendered.rsplit('\n').next().filter(|line| line.trim().is_empty()).unwrap_or_default().to_owned();
                    rendered += &new.trim_end().replace('\n', &format!("\n{indent}"));
                    if self.archive.take_stale() {
                        rendered += &if in_fence(&rendered) {
                            STALE_MARK.to_owned()
                        } else {
                            format!("<sup class=\"stale\" title=\"measured before this kernel last changed\">{STALE_MARK}</sup>")
                        };
                    }
                }
                Err(error) => problems.push(format!("{}: {{{{{}}}}}: {error:#}", place(directive.range.start), directive.text)),
            }
        }
        rendered += &text[done..];
        if problems.is_empty() { Ok(callouts::mark(&rendered)) } else { Err(problems) }
    }

    fn directive(&self, text: &str) -> Result<String> {
        match read(text)? {
            (By::Text(render), mut arguments) => {
                let rendered = render(self, &mut arguments)?;
                arguments.finish().map(|()| rendered)
            }
            (By::Simulator(show), arguments) => {
                let answer = self.answers.get(&Question::take(show, arguments)?).context("the simulator was not asked")?;
                answer.clone().map_err(anyhow::Error::msg)
            }
        }
    }

    /// Returns a number of a run, or words of it.
    fn run(&self, arguments: &mut Arguments) -> Result<String> {
        let style = Style::take(arguments)?;
        let record = arguments.word("a record")?;
        let expression = arguments.rest().join(" ");
        let words = words(self.archive.run(&record)?, &expression);
        words.unwrap_or_else(|| self.number(style, &record, &expression))
    }

    /// Returns a fact as written, or a number computed from facts.
    fn fact(&self, arguments: &mut Arguments) -> Result<String> {
        let style = Style::take(arguments)?;
        let expression = arguments.rest().join(" ");
        let is_name = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        let name = expression.split_once('.').filter(|(group, key)| is_name(group) && is_name(key));
        match name.filter(|_| style == Style::default()) {
            Some((group, key)) => self.facts.text(group, key).map(str::to_owned),
            None => self.number(style, FACTS, &expression),
        }
    }

    /// Returns a question with a number of a record for an answer.
    fn predict(&self, arguments: &mut Arguments) -> Result<String> {
        let mut style = Style::take(arguments)?;
        style.names_unit = false;
        let unit = style.unit.map(|unit| unit.name);
        let inside = |record: &str, text: &str| {
            let mut words = Arguments::parse(text)?;
            let number = self.number(Style::take(&mut words)?, record, &words.rest().join(" "))?;
            words.finish().map(|()| number)
        };
        predict::figure(arguments, unit, |record, expression| self.number(style, record, expression), inside)
    }

    fn number(&self, style: Style, record: &str, expression: &str) -> Result<String> {
        style.write(worth(&self.archive, &self.facts, record, expression)?)
    }
}

/// Returns true if a text ends inside a fenced block.
fn in_fence(text: &str) -> bool {
    text.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1
}

/// Returns the pages in `book/src`, by their paths.
pub fn sources() -> Result<Vec<Page>> {
    let pages = files_below(&root().join("book/src"))?.into_iter().filter(|path| path.extension().is_some_and(|it| it == "md"));
    let page = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(Page { path: path.strip_prefix(root())?.to_string_lossy().replace('\\', "/"), text })
    };
    pages.map(page).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press() -> Press {
        let facts = Facts::parse("[old]\nsource = \"a text\"\n[old.facts]\ngpu = \"827 ms\"\nshared = \"234 ms\"\n").unwrap();
        let archive = Archive::read().unwrap().judged_by(|_, _| false);
        Press { archive, facts, answers: Answers::new() }
    }

    fn page(text: &str) -> Result<String, Vec<String>> {
        press().page(&Page { path: "book/src/x.md".into(), text: text.into() })
    }

    #[test]
    fn directives_are_replaced_in_place() {
        let time = |options: &str| page(&format!("a {{{{run nvidia-h200/03-unroll shared.time{options}}}}} b")).unwrap();
        assert!(time(" unit=ms").ends_with(" ms b") && time(" in=ms").parse::<f64>().is_err());
        assert_eq!(
            page("{{fact old.gpu}}, {{fact old.gpu / old.shared}}, {{fact old.gpu in=s digits=2}}").unwrap(),
            "827 ms, 3.53, 0.83"
        );
        assert_eq!(page("```\n\\{{fact old.gpu}} {{fact old.gpu}}\n```").unwrap(), "```\n{{fact old.gpu}} 827 ms\n```");
        assert_eq!(page("{{run sim-9800gt/05-window-sums fused-global.bound_by}}").unwrap(), "memory");
        let table = page("- one\n\n  {{table sim-h200/03-unroll}}\n").unwrap();
        assert!(table.lines().skip(2).filter(|line| !line.trim().is_empty()).all(|line| line.starts_with("  ")), "{table}");
    }

    #[test]
    fn a_wrong_directive_is_reported_with_page_line_and_nearest_names() {
        let cases = [
            (
                "{{run nvidia-h200/01-conv naive.time}}",
                "no record book/results/nvidia-h200/01-conv.json; nearest: nvidia-h200/01-conv-naive",
            ),
            ("{{run nvidia-h200/03-unroll [sim-h200/lost]shared.time}}", "no record book/results/sim-h200/lost.json"),
            ("{{run nvidia-h200/01-conv-naive naive.times}}", "has no naive.times; nearest: time"),
            ("{{run nvidia-h200/01-conv-naive naive.f32_fma}}", "has no naive.f32_fma"),
            ("{{run nvidia-h200/01-conv-naive work.tap}}", "has no work.tap; nearest: taps"),
            ("{{run sim-h200/01-conv-naive naive.f32fma}}", "has no naive.f32fma; nearest: f32_fma"),
            ("{{run sim-h200/01-conv-naive ceiling.flops}}", "has no ceiling.flops"),
            ("{{bounds sim-h200/03-unroll}}", "sim-h200/03-unroll is not a run on a GPU"),
            ("{{chart times sim-h200/06-matmul-tiled}}", "has no times"),
            ("{{chart shares nvidia-h200/03-unroll rival=ftt}}", "has no stage ftt; nearest: fft"),
            ("{{chart growth nvidia-h200/03-unroll over=tap}}", "nearest: taps"),
            ("{{chart growth nvidia-h200/03-unroll over=outputs}}", "a curve takes three"),
            ("{{chart growth nvidia-h200/03-unroll over=taps y=tim}}", "nearest: time"),
            ("{{chart growth nvidia-h200/03-unroll over=taps stages=ftt}}", "nearest: fft"),
            ("{{chart overview nvidia-a100}}", "no run with a ceiling"),
            ("{{diff a b/c d}}", "`->`"),
            ("{{diff a b -> c d}}", "the file of a is missing"),
            ("{{diff a b/c -> c d}}", "the parts of a are missing"),
            ("{{diff a lost/c d -> c d}}", "lost/c"),
            ("\n\n{{tabel x}}", "book/src/x.md:3: {{tabel x}}: there is no directive tabel; nearest: table"),
            ("{{table sim-h200/3-unroll}}", "no record book/results/sim-h200/3-unroll.json; nearest: sim-h200/03-unroll"),
            ("{{run sim-h200/03-unroll shard.bytes}}", "has no stage shard; nearest: shared"),
            ("{{fact old.gpx}}", "there is no fact old.gpx; nearest: old.gpu"),
            ("{{table sim-h200/03-unroll more}}", "`more` is one word too many"),
            ("{{chart times nvidia-h200/03-unroll}}", "a sentence in quotes"),
            ("{{picture grid}}", "a sentence in quotes"),
            ("{{picture gird \"x\"}}", "there is no picture gird; nearest: grid"),
            ("{{picture tile of=cake \"x\"}}", "not over `cake`"),
            ("{{chart tims nvidia-h200/03-unroll \"x\"}}", "there is no chart tims; nearest: times"),
            ("{{lanes sim-h200/03-unrol shared \"x\"}}", "there is no chapter 03-unrol; nearest: 03-unroll"),
            ("{{lanes sim-h20/03-unroll shared \"x\"}}", "there is no GPU h20; nearest: h200"),
            ("{{run x", "book/src/x.md:1: a directive does not end"),
        ];
        for (text, message) in cases {
            let problems = page(text).unwrap_err().join("\n");
            assert!(problems.contains(message), "{text}: {problems}");
        }
        assert_eq!(page("{{a}} {{b}}").unwrap_err().len(), 2, "all problems of a page are reported at once");
    }

    #[test]
    fn a_stale_number_has_a_mark() {
        let mut press = press();
        press.archive = press.archive.judged_by(|_, stage| stage == "shared");
        let render = |text: &str| press.page(&Page { path: "x".into(), text: text.into() }).unwrap();
        let number = "{{run nvidia-h200/03-unroll fft.time / shared.time}}";
        assert!(render(number).ends_with("<sup class=\"stale\" title=\"measured before this kernel last changed\">†</sup>"));
        let fenced = render(&format!("```text\n{number}\n```\n"));
        assert!(fenced.ends_with("†\n```\n"), "{fenced}");
        assert!(!render("{{run nvidia-h200/03-unroll fft.time}}").contains('†'));
    }
}
