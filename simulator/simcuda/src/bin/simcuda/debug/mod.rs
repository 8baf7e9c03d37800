//! `simcuda debug -- COMMAND`
//!
//! Nothing here stops a running program. The program runs to its end while one warp is recorded, and the commands move through the record;
//! another warp costs another run. A program must therefore repeat itself, as it does if it does not depend on time or chance.

mod replay;
mod session;
mod trace;
mod values;

use std::ffi::OsString;
use std::io::{IsTerminal, stdin};
use std::process::ExitCode;

use clap::Args;
use rustyline::error::ReadlineError;
use simcuda::stepping::{Launched, Wanted};
use simt::{Dim3, Severity};

use crate::Ended;
use replay::{Program, parse_block};
use session::{Next, Session};

/// What the user answers. It is printed before commands that are piped in, too, so that the answers can be told apart.
const PROMPT: &str = "(simcuda) ";

/// Step through a warp, forward and backward, from the place where a defect was found
///
/// Runs the program once to see what is found, and once more to record the warp that it is found in. Then commands move through that record:
/// `step`, `reverse-step`, `print`, `origin`; `help` lists all of them. They can be piped in.
///
///     simcuda debug -- ./reverse
///     simcuda debug --kernel reverse --block 3 --warp 1 -- ./reverse
#[derive(Debug, Args)]
pub struct Options {
    /// A kernel to look at, whether or not anything is found in it
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// The number of a launch, counted from 1 in the process
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    launch: Option<u64>,
    /// The block, as X or X,Y or X,Y,Z
    #[arg(long, value_name = "BLOCK", value_parser = parse_block)]
    block: Option<Dim3>,
    /// The warp of the block
    #[arg(long, value_name = "N")]
    warp: Option<u32>,
    /// The most instructions to record
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// The program and its arguments. It gets no input: that is for the commands
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    words: Vec<OsString>,
}

/// Lets the user move through a record.
pub fn execute(options: &Options) -> Ended {
    let limit = usize::try_from(options.steps).unwrap_or(usize::MAX);
    let program = Program::new(&options.words, limit)?;
    let wanted = match (&options.kernel, options.launch) {
        (None, None) => first_defect(&program)?,
        (kernel, launch) => {
            let launch = match launch {
                Some(launch) => launch,
                None => first_launch(&program, kernel.as_deref().unwrap_or_default())?,
            };
            Wanted { launch, kernel: kernel.clone(), block: Dim3::new(0, 0, 0), warp: 0, first: 0, limit }
        }
    };
    let wanted = Wanted { block: options.block.unwrap_or(wanted.block), warp: options.warp.unwrap_or(wanted.warp), ..wanted };
    let mut session = Session::new(&program, program.record_to_the_defect(&wanted)?);
    converse(&mut session)
}

/// Finds the first launch with an error, or else the first with a warning, and the warp in which it was found.
fn first_defect(program: &Program<'_>) -> Result<Wanted, Box<dyn std::error::Error>> {
    let launches = program.launches()?;
    let has_error = |launched: &&Launched| {
        launched.failure.is_some() || launched.findings.iter().any(|finding| finding.kind.severity() == Severity::Error)
    };
    let has_finding = |launched: &&Launched| !launched.findings.is_empty();
    let Some(launched) = launches.iter().find(has_error).or_else(|| launches.iter().find(has_finding)) else {
        let names: Vec<String> = launches.iter().map(|launched| format!("--kernel {}", launched.kernel)).collect();
        return Err(match names.is_empty() {
            true => "the program launches no kernel on the simulator".into(),
            false => format!("nothing is found in the kernels of this program; say what to look at: {}", names.join(", ")).into(),
        });
    };
    let worst = launched
        .findings
        .iter()
        .max_by_key(|finding| (finding.kind.severity() == Severity::Error, std::cmp::Reverse(finding.location.ptx_line)));
    let failed_in = launched.failure.as_ref().map(|(_, block)| *block);
    let block = worst.map(|finding| finding.block).or(failed_in).unwrap_or(Dim3::new(0, 0, 0));
    let warp = worst.map_or(0, |finding| replay::warp_of(launched.config.block, finding.thread));
    Ok(Wanted { launch: launched.number, kernel: Some(launched.kernel.clone()), block, warp, first: 0, limit: program.limit })
}

/// Finds the first launch of a kernel.
fn first_launch(program: &Program<'_>, kernel: &str) -> Result<u64, Box<dyn std::error::Error>> {
    let launches = program.launches()?;
    let found = launches.iter().find(|launched| launched.kernel == kernel).map(|launched| launched.number);
    found.ok_or_else(|| {
        let names: Vec<&str> = launches.iter().map(|launched| launched.kernel.as_str()).collect();
        let others = if names.is_empty() { "no kernel".to_owned() } else { names.join(", ") };
        format!("the program does not launch a kernel {kernel}; it launches {others}").into()
    })
}

/// Reads and executes commands to the end of the input.
fn converse(session: &mut Session<'_>) -> Ended {
    print!("{}", session.opening());
    let mut execute = |line: &str| match session.execute(line) {
        Ok(Next::Quit) => false,
        Ok(Next::Say(text)) => {
            print!("{text}");
            true
        }
        Err(error) => {
            println!("{error}");
            true
        }
    };
    if !stdin().is_terminal() {
        for line in stdin().lines() {
            let line = line?;
            println!("{PROMPT}{line}");
            if !execute(&line) {
                break;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut editor = rustyline::DefaultEditor::new()?;
    let mut last = String::new();
    loop {
        match editor.readline(PROMPT) {
            Ok(line) => {
                // As in other debuggers, an empty line repeats the last command.
                if !line.trim().is_empty() {
                    editor.add_history_entry(&line)?;
                    last = line;
                }
                if !execute(&last) {
                    return Ok(ExitCode::SUCCESS);
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(ExitCode::SUCCESS),
            Err(error) => return Err(error.into()),
        }
    }
}
