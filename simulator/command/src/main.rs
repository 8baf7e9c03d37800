//! The command `simcuda`: the simulator for programs that do not know about it.
//!
//! Each subcommand is a module of its own, with its options and a function `execute`.

mod coverage;
mod debug;
mod ending;
mod env;
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

use clap::Parser;

use self::ending::{after_printing, failed};

/// The simulated CUDA driver, for programs that do not know about it
#[derive(Debug, Parser)]
#[command(
    name = "simcuda",
    version,
    after_help = "SIMCUDA_PROFILE, SIMCUDA_REPORT and other variables set what is simulated and reported: see simulator/README.md"
)]
enum Command {
    Coverage(coverage::Options),
    Debug(debug::Options),
    Env(env::Options),
    Explore(explore::Options),
    Install(install::Options),
    Mutate(mutate::Options),
    Run(run::Options),
    Report(report::Options),
}

fn main() -> ExitCode {
    let ended = match Command::try_parse() {
        Ok(Command::Coverage(options)) => coverage::execute(&options),
        Ok(Command::Debug(options)) => debug::execute(&options),
        Ok(Command::Env(options)) => env::execute(&options),
        Ok(Command::Explore(options)) => explore::execute(&options),
        Ok(Command::Install(options)) => install::execute(&options),
        Ok(Command::Mutate(options)) => mutate::execute(&options),
        Ok(Command::Run(options)) => run::execute(&options),
        Ok(Command::Report(options)) => report::execute(&options),
        Err(answer) => {
            let printed = answer.print();
            Ok(if answer.use_stderr() { ExitCode::from(2) } else { after_printing(printed) })
        }
    };
    ended.unwrap_or_else(failed)
}
