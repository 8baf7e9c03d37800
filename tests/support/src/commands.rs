//! The commands that the book and the README tell a reader to type. A chapter's tests run the commands that start the chapter (see
//! [`reader`](crate::reader)). Every other command is listed here with the reason why no test runs it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::repository::root;

/// Commands that no test runs as shown: words of the command, and the reason.
const NOT_RUN: [(&str, &str); 41] = [
    ("--device gpu", "needs a GPU"),
    ("--size 4096,64,4096", "takes minutes without a GPU"),
    ("nsys profile", "needs a GPU, and a profiler"),
    ("ncu --clock-control", "needs a GPU, and a profiler"),
    ("cargo book --compiler FOLDER", ".ci/web builds a book with everything that moves in it"),
    ("cargo book record", "takes minutes, or a GPU and its profiler"),
    ("--size 16777216x256", "needs a GPU"),
    ("git clone", "needs a network"),
    ("cargo new", "makes a crate outside of the repository"),
    ("cd ..", "leaves the repository"),
    ("cd saxpy", "goes into that crate"),
    ("cargo add", "needs a network"),
    ("cp ../unrolled/simulator/command/examples/saxpy/*", "copies an example that simulator/command/tests/foreign.rs runs"),
    ("python3 -m venv", "makes a place for the packages of the next command"),
    ("pip install", "needs a network"),
    ("pip download", "needs a network"),
    ("cargo vendor", "needs a network"),
    ("cargo --config .cargo/vendor.toml", "needs what `cargo vendor` has brought"),
    ("--manifest-path ../unrolled/Cargo.toml", "runs beside a copy of the repository; simulator/command/tests installs the driver"),
    ("--manifest-path unrolled/Cargo.toml", "needs a clone of the repository; simulator/command/tests installs the driver"),
    ("LD_LIBRARY_PATH=/tmp/simcuda", "needs an installed driver; simulator/command/tests/foreign.rs runs a program on it"),
    ("simcuda run -- ./vectoradd", "names a program of another compiler; simulator/command/tests/runtime.rs runs such a one"),
    ("nvcc -gencode", "needs NVIDIA's compiler; simulator/command/tests/runtime.rs runs a program as that compiler makes it"),
    ("cargo ptx", "needs NVRTC, with which .ci/run makes all PTX again before a release"),
    ("cargo doctor", "common/cli/tests/doctor.rs runs it"),
    ("mdbook build", ".ci/run runs it"),
    ("cargo conformance", "needs a network; .ci/run runs it for two suites"),
    ("packages=$(python -c", "sets a variable for the command after it"),
    ("rustup target add", "needs a network"),
    ("cargo install", "needs a network"),
    ("cargo book", "needs mdBook and a compiler for WebAssembly; .ci/web runs it"),
    ("http.server", "serves until it is stopped"),
    ("pytest --simcuda", "needs an installed wheel; simulator/command/tests/ci.rs runs the plugin"),
    ("genhtml", "is a program of lcov"),
    ("cargo simcuda explore", "judges what the reader has written; simulator/command/tests/exercises judges many answers"),
    ("simcuda explore -- ./pipeline", "names no real program; simulator/command/tests/explore.rs explores one"),
    ("simcuda debug", "names no real program; simulator/command/tests/debug.rs debugs one"),
    ("simcuda coverage --merge", "needs what two jobs kept; simulator/command/tests/coverage.rs merges two folders"),
    ("eval", "sets variables for the commands after it; simulator/command/tests/runtime.rs does so"),
    ("export", "sets a variable for the command after it"),
    ("cargo test", "is what runs these tests"),
];

/// A command of a page.
#[derive(Debug)]
pub struct Command {
    /// Page and line.
    pub place: String,
    /// The line to type.
    pub text: String,
    /// The expected exit status: that of the mark `<!-- status 1 -->` before the block, or 0.
    pub status: i32,
}

/// Returns all commands of the book and the README: the lines after a `$` in `console` blocks, and all lines of `sh` blocks.
pub fn of_pages() -> Vec<Command> {
    let mut pages = pages_below(&root().join("book/src"));
    pages.sort();
    pages.push(root().join("README.md"));
    let of_page = |page: &PathBuf| {
        let text = fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        of_text(&page.strip_prefix(root()).unwrap_or(page).display().to_string(), &text)
    };
    pages.iter().flat_map(of_page).collect()
}

fn pages_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, mut pages): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.extend(folders.iter().flat_map(|folder| pages_below(folder)));
    pages
}

/// Returns the commands of one page.
pub fn of_text(page: &str, text: &str) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut language = None;
    let mut status = 0;
    for (number, line) in text.lines().enumerate() {
        if let Some(fence) = line.strip_prefix("```") {
            language = if language.is_none() { Some(fence) } else { None };
            status = if language.is_none() { 0 } else { status };
        } else if language.is_none() {
            let mark = line.strip_prefix("<!-- status ").and_then(|rest| rest.strip_suffix(" -->"));
            status = mark.and_then(|status| status.parse().ok()).unwrap_or(0);
        } else {
            let command = if language == Some("sh") { Some(line) } else { line.strip_prefix("$ ") };
            let command = command.map(|command| command.split("  #").next().unwrap_or_default().trim());
            if let Some(command) = command.filter(|command| matches!(language, Some("sh" | "console")) && !command.is_empty()) {
                commands.push(Command { place: format!("{page}:{}", number + 1), text: command.to_owned(), status });
            }
        }
    }
    commands
}

impl Command {
    /// Returns the reason why no test runs this command, if any.
    pub fn is_not_run_because(&self) -> Option<&'static str> {
        NOT_RUN.iter().find(|(words, _)| self.has(words)).map(|(_, reason)| *reason)
    }

    /// Returns true if the command contains these words in a row.
    pub fn has(&self, words: &str) -> bool {
        format!(" {} ", self.text).contains(&format!(" {words} "))
    }

    /// Returns the folder name and arguments of the chapter that it starts. The command is like `cargo run -p ch03-unroll -- …` or
    /// `cargo 03-unroll …`.
    pub fn chapter(&self) -> Option<(&str, Vec<&str>)> {
        let mut words = self.text.split_whitespace();
        if words.next() != Some("cargo") {
            return None;
        }
        let name = words.next()?;
        if name != "run" {
            return name.starts_with(|first: char| first.is_ascii_digit()).then(|| (name, words.collect()));
        }
        let options: Vec<&str> = words.by_ref().take_while(|word| *word != "--").collect();
        let package =
            options.windows(2).find(|pair| ["-p", "--package"].contains(&pair[0])).and_then(|pair| pair[1].strip_prefix("ch"));
        let binary = options.windows(2).find(|pair| pair[0] == "--bin").map(|pair| pair[1]);
        Some((package.or(binary)?, words.collect()))
    }
}

/// Returns the words of each command without a test, and the reason.
pub fn not_run() -> impl Iterator<Item = (&'static str, &'static str)> {
    NOT_RUN.into_iter()
}
