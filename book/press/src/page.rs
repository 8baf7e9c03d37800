//! Pages, and the text in place of each of their directives.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::archive::{Archive, STALE_MARK, files_below};
use crate::directive::{Arguments, Directive, find, nearest};
use crate::drawing::concepts;
use crate::drawing::svg::inline;
use crate::facts::Facts;
use crate::lab::{roofline, slides};
use crate::manifest::Manifest;
use crate::number::Style;
use crate::predict::Prediction;
use crate::simulation::{self, Answers, Question, Show};
use crate::values::{FACTS, words, worth};
use crate::{
    callouts, charts, counts, diff, exercises, functions, include, instructions, listings, mutants, ptx, root, sources, suites,
    tables,
};

/// A page of the book.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its path from the root of the repository.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// A way to replace a directive, given the words and options after its name.
type Render = fn(&Press, &mut Arguments) -> Result<Rendered>;

/// The part of this crate that answers a directive.
#[derive(Clone, Copy)]
enum By {
    /// The press itself.
    Press(Render),
    /// A run of the simulator.
    Simulator(Show),
}

/// The directives, by name.
const DIRECTIVES: [(&str, By); 28] = [
    ("accesses", By::Simulator(Show::Accesses)),
    ("bounds", By::Press(|press, words| Ok(tables::bounds(&press.archive, &words.word("a record")?)?.for_page().into()))),
    (
        "chart",
        By::Press(|press, words| {
            let svg = charts::draw(&press.archive, words)?;
            Ok(inline(&svg, &words.alternative()?).into())
        }),
    ),
    ("counts", By::Press(|press, words| Ok(counts::render(&press.archive, words)?.into()))),
    ("diagnosis", By::Simulator(Show::Diagnosis)),
    ("diff", By::Press(|_, words| Ok(diff::diff(&words.rest())?.into()))),
    ("exercise", By::Press(|_, words| Ok(exercises::exercise(&words.word("an exercise, such as 01-conv-naive/2,")?)?.into()))),
    ("exercises", By::Press(|_, words| Ok(exercises::exercises(&words.word("a chapter")?)?.into()))),
    ("explain", By::Simulator(Show::Explain)),
    ("fact", By::Press(Press::fact)),
    ("finding", By::Simulator(Show::Finding)),
    ("footprint", By::Simulator(Show::Footprint)),
    ("functions", By::Press(|_, _| Ok(functions::tables().into()))),
    ("instructions", By::Press(|_, _| Ok(instructions::tables().into()))),
    ("lanes", By::Simulator(Show::Lanes)),
    ("listing", By::Press(|press, words| Ok(listings::read(&press.archive, &words.word("a listing")?)?.into()))),
    ("mutants", By::Press(|_, words| Ok(mutants::table(&words.word("operators or scores")?)?.into()))),
    ("picture", By::Press(|press, words| Ok(concepts::figure(&press.archive, &press.facts, words)?.into()))),
    ("predict", By::Press(Press::predict)),
    ("profiles", By::Press(|_, _| Ok(tables::profiles().into()))),
    ("progress", By::Press(|_, _| Ok(exercises::progress()?.into()))),
    ("ptx-loop", By::Press(|_, words| Ok(ptx::remainder_loop(&words.word("a kernel")?)?.into()))),
    ("roofline", By::Press(|press, words| Ok(roofline::roofline(&press.archive, words)?.into()))),
    ("run", By::Press(Press::run)),
    ("slide", By::Press(|_, words| Ok(slides::slide(&words.word("an experiment")?)?.into()))),
    ("solutions", By::Press(|_, _| Ok(exercises::solutions()?.into()))),
    ("suites", By::Press(|_, _| Ok(suites::scoreboard()?.into()))),
    ("table", By::Press(|press, words| Ok(tables::run(&press.archive, &words.word("a record")?)?.for_page().into()))),
];

/// A directive that was read.
enum Asked {
    Press(Render, Arguments),
    Simulator(Question),
}

impl Asked {
    fn read(text: &str) -> Result<Self> {
        let mut arguments = Arguments::parse(text)?;
        let name = arguments.word("the name of a directive")?;
        match DIRECTIVES.into_iter().find(|(known, _)| *known == name) {
            Some((_, By::Press(render))) => Ok(Self::Press(render, arguments)),
            Some((_, By::Simulator(show))) => Ok(Self::Simulator(Question::take(show, arguments)?)),
            None => bail!("there is no directive {name}{}", nearest(&name, DIRECTIVES.map(|(name, _)| name))),
        }
    }
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

/// Draws all concept pictures, each with the words that ask for it, so that a check can look at those that no page shows yet.
pub fn pictures() -> Result<Vec<(&'static str, String)>> {
    let press = Press::without_simulator()?;
    let draw = |name| Ok((name, press.directive(&format!("picture {name} \"words\""))?.text));
    concepts::all().map(draw).collect()
}

/// Returns the questions of a page to the simulator. A wrong directive is reported when it is rendered.
fn questions(page: &Page) -> BTreeSet<Question> {
    let directives = find(&page.text).unwrap_or_default().into_iter().filter(|directive| !directive.escaped);
    let question = |directive: Directive<'_>| match Asked::read(directive.text) {
        Ok(Asked::Simulator(question)) => Some(question),
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
                Ok(Rendered { text: new, is_stale }) => {
                    let indent = rendered.rsplit('\n').next().filter(|line| line.trim().is_empty()).unwrap_or_default().to_owned();
                    rendered += &new.trim_end().replace('\n', &format!("\n{indent}"));
                    if is_stale {
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

    fn directive(&self, text: &str) -> Result<Rendered> {
        match Asked::read(text)? {
            Asked::Press(render, mut arguments) => {
                let rendered = render(self, &mut arguments)?;
                arguments.finish()?;
                Ok(rendered)
            }
            Asked::Simulator(question) => {
                let answer = self.answers.get(&question).context("the simulator was not asked")?;
                Ok(answer.clone().map_err(|message| anyhow!(message))?.into())
            }
        }
    }

    /// Returns a number of a run, or words of it.
    fn run(&self, arguments: &mut Arguments) -> Result<Rendered> {
        let style = Style::take(arguments)?;
        let record = arguments.word("a record")?;
        let expression = arguments.rest().join(" ");
        if let Some(words) = words(self.archive.run(&record)?, &expression) {
            return Ok(words?.into());
        }
        self.number(&style, &record, &expression)
    }

    /// Returns a fact as it is written, or a number that follows from facts.
    fn fact(&self, arguments: &mut Arguments) -> Result<Rendered> {
        let style = Style::take(arguments)?;
        let expression = arguments.rest().join(" ");
        let is_name = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        let name = expression.split_once('.').filter(|(group, key)| is_name(group) && is_name(key));
        match name.filter(|_| style.is_default()) {
            Some((group, key)) => Ok(self.facts.text(group, key)?.to_owned().into()),
            None => self.number(&style, FACTS, &expression),
        }
    }

    /// Returns a question with a number of a record for an answer.
    fn predict(&self, arguments: &mut Arguments) -> Result<Rendered> {
        let style = Style::take(arguments)?;
        let prediction = Prediction::take(arguments, style.unit_name())?;
        let answer = self.number(&style.without_unit(), &prediction.record, &prediction.expression)?;
        Ok(Rendered { text: prediction.figure(&answer.text)?, is_stale: answer.is_stale })
    }

    fn number(&self, style: &Style, record: &str, expression: &str) -> Result<Rendered> {
        let (quantity, is_stale) = worth(&self.archive, &self.facts, record, expression)?;
        Ok(Rendered { text: style.write(quantity)?, is_stale })
    }
}

/// The text in place of a directive.
struct Rendered {
    text: String,
    /// True for a number of a stage whose kernel has changed since.
    is_stale: bool,
}

impl From<String> for Rendered {
    fn from(text: String) -> Self {
        Self { text, is_stale: false }
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
            ("{{chart overview nvidia-h100}}", "no run with a ceiling"),
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
