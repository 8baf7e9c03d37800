//! The command `simcuda`: the simulator for programs that do not know about it.
//!
//! Each subcommand is a module of its own, with its options and a function `execute`.

mod coverage;
mod debug;
mod ending;
mod explore;
mod group;
mod install;
mod libraries;
mod mutate;
mod outputs;
mod program;
mod report;
mod run;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::ending::{after_printing, failed};

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
    Coverage(coverage::Options),
    Debug(debug::Options),
    Explore(explore::Options),
    Install(install::Options),
    Mutate(mutate::Options),
    Run(run::Options),
    Report(report::Options),
}

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
    ended.unwrap_or_else(failed)
}
