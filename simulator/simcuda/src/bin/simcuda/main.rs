//! The command `simcuda`: the simulator for programs that do not know about it.
//!
//! Each subcommand is a module of its own, with its options and a function `execute`.

mod coverage;
mod debug;
mod explore;
mod group;
mod install;
mod libraries;
mod mutate;
mod outputs;
mod program;
mod report;
mod run;

use std::fmt;
use std::io::{self, ErrorKind, Write, stderr, stdout};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The simulated CUDA driver, for programs that do not know about it
#[derive(Debug, Parser)]
#[command(
    name = "simcuda",
    version,
    after_help = "SIMCUDA_PROFILE, SIMCUDA_REPORT and other variables set what is simulated and reported: see simulator/README.md"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(verbatim_doc_comment)]
    Coverage(coverage::Options),
    #[command(verbatim_doc_comment)]
    Debug(debug::Options),
    #[command(verbatim_doc_comment)]
    Explore(explore::Options),
    #[command(verbatim_doc_comment)]
    Install(install::Options),
    #[command(verbatim_doc_comment)]
    Mutate(mutate::Options),
    #[command(verbatim_doc_comment)]
    Run(run::Options),
    #[command(verbatim_doc_comment)]
    Report(report::Options),
}

/// How a subcommand ends: with the exit status of the program that it ran, or with the reason why it could not do its work.
type Ended = Result<ExitCode, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let command = match Arguments::try_parse() {
        Ok(Arguments { command }) => command,
        Err(answer) => {
            let printed = answer.print();
            return if answer.use_stderr() { ExitCode::from(2) } else { after_printing(printed) };
        }
    };
    let ended = match command {
        Command::Coverage(options) => coverage::execute(&options),
        Command::Debug(options) => debug::execute(&options),
        Command::Explore(options) => explore::execute(&options),
        Command::Install(options) => install::execute(&options),
        Command::Mutate(options) => mutate::execute(&options),
        Command::Run(options) => run::execute(&options),
        Command::Report(options) => report::execute(&options),
    };
    ended.unwrap_or_else(|error| failed(format_args!("{error}")))
}

/// The exit status of a program that has printed its results. A reader who has seen enough and left is no failure.
fn after_printing(printed: io::Result<()>) -> ExitCode {
    match printed.and_then(|()| stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => failed(format_args!("cannot write to standard output: {error}")),
        _ => ExitCode::SUCCESS,
    }
}

/// Says what went wrong. Nobody is left to tell where standard error takes nothing, and `eprintln!` would panic there.
fn failed(message: fmt::Arguments<'_>) -> ExitCode {
    let _ = writeln!(stderr(), "error: {message}");
    ExitCode::from(2)
}
