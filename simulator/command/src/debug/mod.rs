//! `simcuda debug -- COMMAND`
//!
//! Nothing here stops a running program. The program runs to its end while one warp is recorded, and the commands move through the record;
//! another warp costs another run. A program must therefore repeat itself, as it does if it does not depend on time or chance.

mod replay;
mod session;
mod trace;
mod values;

use std::cmp::Reverse;
use std::ffi::OsString;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Write, stdin, stdout};
use std::process::ExitCode;

use clap::Args;
use driver::stepping::{Launched, Wanted};
use rustyline::error::ReadlineError;
use simt::{Dim3, Finding, Severity};

use self::replay::{launches, parse_block, record_to_the_defect, warp_and_lane};
use self::session::Session;
use crate::ending::{Ended, Result};
use crate::program::Program;

/// The prompt. It is printed before piped commands, too, so that their answers can be told apart.
const PROMPT: &str = "(simcuda) ";

/// Step through a warp, forward and backward, from the place where a defect was found
///
/// Runs the program once to see what is found, and once more to record the warp that it is found in. Then commands move through that record:
/// `step`, `reverse-step`, `print`, `origin`; `help` lists all of them. They can be piped in.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  simcuda debug -- ./reverse
  simcuda debug --kernel reverse --block 3 --warp 1 -- ./reverse")]
pub struct Options {
    /// Look at this kernel: where something is found in it, or else at its first launch
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Look at the launch with this number, counted from 1 in the process over all kernels
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
    let program = Program::new(&options.words)?;
    let wanted = choose(&launches(&program)?, options)?;
    let mut session = Session::new(&program, record_to_the_defect(&program, &wanted)?);
    let converse = if stdin().is_terminal() { with_editor } else { piped };
    match converse(&mut session) {
        // Whoever reads what this prints has seen enough.
        Err(error) if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) => {
            Ok(ExitCode::SUCCESS)
        }
        ended => ended.map(|()| ExitCode::SUCCESS),
    }
}

/// Chooses the warp: of the first launch with an error, or else of the first with a warning, among those that the user wants to see. Block and
/// warp are those that the user names.
fn choose(launches: &[Launched], options: &Options) -> Result<Wanted> {
    let Options { kernel, launch, .. } = options;
    let is_wanted = |launched: &&Launched| {
        kernel.as_ref().is_none_or(|kernel| launched.kernel == *kernel) && launch.is_none_or(|launch| launched.number == launch)
    };
    let wanted = || launches.iter().filter(is_wanted);
    let has_error = |launched: &&Launched| launched.failure.is_some() || launched.findings.iter().any(is_error);
    let defective = wanted().find(has_error).or_else(|| wanted().find(|launched| !launched.findings.is_empty()));
    let is_named = kernel.is_some() || launch.is_some();
    let (launch, kernel, place) = match (defective.or_else(|| wanted().next().filter(|_| is_named)), launch) {
        (Some(launched), _) => (launched.number, Some(&launched.kernel), worst(launched)),
        // It may be one without defects, which is not listed.
        (None, Some(launch)) => (*launch, kernel.as_ref(), (Dim3::new(0, 0, 0), 0)),
        (None, None) => return Err(nothing_to_see(launches, kernel.as_deref()).into()),
    };
    let block = options.block.unwrap_or(place.0);
    let warp = options.warp.unwrap_or(if block == place.0 { place.1 } else { 0 });
    Ok(Wanted { launch, kernel: kernel.cloned(), block, warp, first: 0, limit: options.steps.try_into().unwrap_or(usize::MAX) })
}

/// Returns the block and the warp of a launch's worst problem.
fn worst(launched: &Launched) -> (Dim3, u32) {
    let worst = launched.findings.iter().max_by_key(|finding| (is_error(finding), Reverse(finding.location.ptx_line)));
    match (worst, &launched.failure) {
        (Some(finding), _) => (finding.block, warp_and_lane(launched.config.block, finding.thread).0),
        (None, Some(failure)) => (failure.block, failure.warp.unwrap_or_default()),
        (None, None) => (Dim3::new(0, 0, 0), 0),
    }
}

/// Explains why there is nothing to show, and lists the user's choices.
fn nothing_to_see(launches: &[Launched], kernel: Option<&str>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for launched in launches {
        if !names.contains(&launched.kernel.as_str()) {
            names.push(&launched.kernel);
        }
    }
    match kernel {
        _ if names.is_empty() => "the program launches no kernel on the simulator".to_owned(),
        Some(kernel) => format!("the program does not launch a kernel {kernel}; it launches {}", names.join(", ")),
        None => {
            let options: Vec<String> = names.iter().map(|name| format!("--kernel '{name}'")).collect();
            format!("nothing is found in the kernels of this program; say what to look at: {}", options.join(", "))
        }
    }
}

fn is_error(finding: &Finding) -> bool {
    finding.kind.severity() == Severity::Error
}

fn piped(session: &mut Session<'_>) -> Result<()> {
    print(&session.opening())?;
    let mut input = stdin().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        line.clear();
        print(&format!("{PROMPT}{text}\n"))?;
        if !execute_line(session, &text)? {
            break;
        }
    }
    Ok(())
}

fn with_editor(session: &mut Session<'_>) -> Result<()> {
    print(&session.opening())?;
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
                if !execute_line(session, &last)? {
                    return Ok(());
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Executes a command, and returns whether there may be another.
fn execute_line(session: &mut Session<'_>, line: &str) -> io::Result<bool> {
    match session.execute(line) {
        Ok(None) => return Ok(false),
        Ok(Some(text)) => print(&text)?,
        Err(error) => print(&format!("{error}\n"))?,
    }
    Ok(true)
}

fn print(text: &str) -> io::Result<()> {
    let mut output = stdout();
    output.write_all(text.as_bytes())?;
    output.flush()
}
