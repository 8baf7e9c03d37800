//! `cargo book`: builds the book, makes the tables of the README, and serves mdBook as its preprocessor.

use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand};
use press::archive::Archive;
use press::counts::count;
use press::{check, claims, exercise_data, listings, preprocess, readme, rerun, root, simulation, web};

/// Builds the book from its records.
#[derive(Parser)]
#[command(bin_name = "cargo book", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    build: Build,
}

/// The options of a build.
#[derive(Args, Default)]
struct Build {
    /// Add a compiler of CUDA C to the site: the unpacked npm package @yowasp/clang
    #[arg(long, value_name = "FOLDER")]
    compiler: Option<PathBuf>,
    /// Build the book in another folder
    #[arg(long, value_name = "FOLDER", hide = true)]
    book: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Action {
    /// Build the book with mdBook, which has to be installed (the default)
    Build(Build),
    /// Make the tables of the README again from their records
    Readme,
    /// Check the records against book/records.toml, and list those that are stale
    Check(check::Arguments),
    /// List the sentences that compare and that no claim covers
    Claims,
    /// Make records again
    Record(rerun::Arguments),
    /// Count what every kernel does; `record` runs this
    Counts(count::Arguments),
    /// Make a listing of what NVIDIA's tools say about a kernel; `record` runs this
    Listing(listings::Arguments),
    /// Build the simulator for web pages
    Web(web::Arguments),
    /// Render a book that mdBook hands over on the standard input
    Preprocess {
        #[command(subcommand)]
        question: Option<Question>,
    },
    /// Count what an exercise asks for; the build of the book starts this
    #[command(hide = true)]
    Counted {
        /// The chapter
        chapter: String,
        /// The number of the exercise
        number: u32,
    },
    /// Answer requests on the standard input for one simulated GPU; `preprocess` starts this
    #[command(hide = true)]
    Simulate {
        /// The profile of the GPU
        profile: String,
    },
}

/// The question of mdBook before it hands over a book.
#[derive(Subcommand)]
enum Question {
    /// Succeeds if the book is rendered for that renderer
    Supports {
        /// Its name; every one is supported
        renderer: String,
    },
}

fn main() -> ExitCode {
    let Arguments { action, build } = Arguments::parse();
    match run(action.unwrap_or(Action::Build(build))) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(action: Action) -> Result<ExitCode> {
    match action {
        Action::Build(arguments) => build(&arguments)?,
        Action::Readme => fs::write(readme::path(), readme::current(&Archive::read()?)?)?,
        Action::Check(arguments) => return arguments.run(),
        Action::Claims => return list_claims(),
        Action::Record(arguments) => return arguments.run(),
        Action::Counts(arguments) => arguments.run()?,
        Action::Listing(arguments) => arguments.run()?,
        Action::Web(arguments) => arguments.run()?,
        Action::Preprocess { question: Some(Question::Supports { renderer: _ }) } => {}
        Action::Preprocess { question: None } => {
            println!("{}", preprocess::preprocess(&io::read_to_string(io::stdin())?, &env::current_exe()?)?)
        }
        Action::Counted { chapter, number } => println!("{}", exercise_data::counted(&chapter, number)?),
        Action::Simulate { profile } => println!("{}", simulation::serve(&profile, &io::read_to_string(io::stdin())?)?),
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists sentences without a claim. The status is 1 if there are any.
fn list_claims() -> Result<ExitCode> {
    let found = claims::of_the_book()?;
    for (path, claims::Uncovered { line, sentence }) in &found {
        println!("{path}:{line}: {sentence}");
    }
    println!("{} sentences compare without a claim", found.len());
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn build(arguments: &Build) -> Result<()> {
    let book = arguments.book.clone().unwrap_or_else(|| root().join("book"));
    let status = Command::new("mdbook").arg("build").arg(&book).status();
    let status = status.context("mdBook is not installed: `cargo install mdbook --locked` installs it")?;
    if !status.success() {
        bail!("mdBook could not build the book");
    }
    // mdBook copies what it finds in `src`, so `mdbook serve` shows these parts as well.
    let parts = book.join("src/lab");
    web::lab(&parts, arguments.compiler.as_deref())?;
    web::copy_files(&parts, &book.join("book/lab"))
}
