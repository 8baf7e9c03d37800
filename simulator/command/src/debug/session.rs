//! The commands, and where the user is.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use driver::report::Sources;
use driver::stepping::{Step, Wanted};
use ptx::finding::OtherAccess;
use simt::{Finding, FindingKind, Location, SourceLine, WgmmaMisuse};

use super::replay::{parse_block, record, warp_and_lane};
use super::trace::{LANES, Trace};
use super::values::{Format, effect, in_all_lanes, in_lane, lanes};
use crate::ending::{Result, bail};
use crate::program::Program;

/// Lines that `list` and `disassemble` show above and below the current one.
const AROUND: u32 = 5;

const HELP: &str = include_str!("help.txt");

/// The user's position in the record of a warp.
pub struct Session<'a> {
    program: &'a Program<'a>,
    trace: Trace,
    position: usize,
    lane: u32,
    breakpoints: BTreeSet<(Option<String>, u32)>,
    sources: Sources,
    /// The side of a race that `other` came from: warp, position and lane.
    this_side: Option<(Wanted, usize, u32)>,
}

/// An answer, or the mistake in a command.
type Said = Result<String>;

impl<'a> Session<'a> {
    /// Starts at the warp's first defect, or at its first instruction.
    pub fn new(program: &'a Program<'a>, trace: Trace) -> Self {
        let (breakpoints, sources) = (BTreeSet::new(), Sources::default());
        let mut session = Self { program, trace, position: 0, lane: 0, breakpoints, sources, this_side: None };
        session.go_to_the_defect();
        session
    }

    /// Describes where the session begins.
    pub fn opening(&mut self) -> String {
        let launched = &self.trace.launched;
        let (grid, block) = (launched.config.grid, launched.config.block);
        let mut text =
            format!("launch {} of the process, kernel {}, grid {grid}, block {block}\n", launched.number, launched.kernel);
        if let Some(failure) = &launched.failure {
            let _ = writeln!(text, "{}", failure.message);
        }
        let is_told = launched.failure.as_ref().is_some_and(|failure| failure.warp.is_none());
        text + &self.recorded() + &if is_told { self.brief() } else { self.stop() } + "Type help for the commands.\n"
    }

    /// Executes a command, and returns the answer, or `None` to quit. After an error, the user stays where they were.
    pub fn execute(&mut self, line: &str) -> Result<Option<String>> {
        let (command, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        let (command, format) = command.split_once('/').unwrap_or((command, ""));
        let said = match command {
            "" => String::new(),
            "help" | "h" | "?" => HELP.to_owned(),
            "quit" | "q" | "exit" => return Ok(None),
            "step" | "s" | "next" | "n" => self.by_lines(rest, Self::step_forward)?,
            "reverse-step" | "rs" | "reverse-next" | "rn" => self.by_lines(rest, Self::step_backward)?,
            "stepi" | "si" | "nexti" | "ni" => self.repeat(rest, |here| here.forward(|_| true))?,
            "reverse-stepi" | "rsi" | "reverse-nexti" | "rni" => self.repeat(rest, |here| here.position.checked_sub(1))?,
            "continue" | "c" => self.repeat(rest, |here| here.forward(|at| here.stops_at(at)))?,
            "reverse-continue" | "rc" => self.repeat(rest, |here| here.backward(|at| here.stops_at(at)))?,
            "origin" => self.go_to_origin(rest)?,
            "goto" => self.go_to(rest)?,
            "break" | "b" => self.set_breakpoint(rest)?,
            "delete" | "d" => self.delete_breakpoints(rest)?,
            "print" | "p" => self.print(rest, format)?,
            "info" | "i" => self.info(rest)?,
            "where" | "w" => self.whereabouts() + &self.brief(),
            "list" | "l" => self.list(rest)?,
            "disassemble" | "disas" => self.disassemble()?,
            "lane" => self.set_lane(rest)?,
            "warp" => self.change_warp(Wanted { warp: number(rest)?, ..self.trace.wanted.clone() })?,
            "block" => self.change_warp(Wanted { block: parse_block(rest)?, ..self.trace.wanted.clone() })?,
            "other" => self.go_to_the_other_side()?,
            "record" => self.record_from(number(rest)?)?,
            _ => bail!("there is no command {command}; type help"),
        };
        Ok(Some(said))
    }

    /// Names the current thread.
    fn whereabouts(&self) -> String {
        let Wanted { block, warp, .. } = &self.trace.wanted;
        let thread = self.trace.launched.config.block.index_of(u64::from(*warp) * LANES + u64::from(self.lane));
        format!("warp {warp} of block {block}, lane {} is thread {thread}\n", self.lane)
    }

    /// Names the current thread, and describes the record of its warp.
    fn recorded(&self) -> String {
        format!("{}{}\n", self.whereabouts(), self.part())
    }

    /// Describes the record of the warp.
    fn part(&self) -> String {
        let Trace { wanted: Wanted { first, .. }, executed, .. } = self.trace;
        let last = first + self.trace.len() as u64;
        if (first, last) == (0, executed) {
            return format!("{executed} instructions are recorded, all of this warp");
        }
        format!("instructions {first} to {} of {executed} are recorded; `record N` records from another one on", last - 1)
    }

    /// Describes the position where the user arrives, and its defects.
    fn stop(&mut self) -> String {
        let found = self.trace.found.iter().filter(|(position, _)| *position == self.position);
        found.map(|(_, finding)| format!("{finding}\n")).collect::<String>() + &self.brief()
    }

    /// Describes the position where the user is.
    fn brief(&mut self) -> String {
        let Some((step, location)) = self.trace.step(self.position) else {
            let is_end = self.trace.wanted.first + self.trace.len() as u64 == self.trace.executed;
            return format!("the end of {}\n", if is_end { "the warp" } else { "the record" });
        };
        let number = self.trace.wanted.first + self.position as u64;
        let mut text = format!("instruction {number}, after {} of the block, in {}\n", step.clock, lanes(step.lanes));
        if let Some(SourceLine { file, line }) = &location.source {
            let code = self.sources.text(file, *line).map(|text| format!("  {}", text.line)).unwrap_or_default();
            let _ = writeln!(text, "  {}:{line}{code}", self.sources.name(file));
        }
        let _ = writeln!(
            text,
            "  ptx:{}  {}{}",
            location.ptx_line,
            location.instruction,
            effect(&self.trace, self.position, self.lane)
        );
        text
    }

    fn by_lines(&mut self, times: &str, movement: impl Fn(&Self) -> Option<usize>) -> Said {
        match self.trace.has_lines() {
            true => self.repeat(times, movement),
            false => Err("the PTX has no lines of CUDA C: compile with -lineinfo, or use stepi".into()),
        }
    }

    /// Moves as often as the user says, and says where that leads.
    fn repeat(&mut self, times: &str, movement: impl Fn(&Self) -> Option<usize>) -> Said {
        let times: u64 = if times.is_empty() { 1 } else { number(times)? };
        for _ in 0..times {
            let Some(position) = movement(self) else {
                let edge = if self.position == 0 { "This is the first recorded instruction.\n" } else { "" };
                return Ok(edge.to_owned() + &self.stop());
            };
            self.position = position;
        }
        Ok(self.stop())
    }

    /// Returns the first instruction of another line. Instructions without a line belong to the one before.
    fn step_forward(&self) -> Option<usize> {
        let from = self.line_before(self.position + 1);
        self.forward(|at| self.trace.line(at).is_some_and(|line| Some(line) != from))
    }

    /// Returns the first instruction of the previous line. Inside a line, it returns the first instruction of that line.
    fn step_backward(&self) -> Option<usize> {
        let last = self.position.checked_sub(1)?;
        let line = self.line_before(self.position)?;
        let of_line = (0..=last).rev().take_while(|&at| self.trace.line(at).is_none_or(|other| other == line));
        of_line.filter(|&at| self.trace.line(at).is_some()).last().or(Some(last))
    }

    /// Returns the line of the last instruction before a position. It skips instructions without a line.
    fn line_before(&self, position: usize) -> Option<&SourceLine> {
        (0..position.min(self.trace.len())).rev().find_map(|at| self.trace.line(at))
    }

    /// Returns the next position at which a movement stops (at the latest, the end).
    fn forward(&self, stops: impl Fn(usize) -> bool) -> Option<usize> {
        let end = self.trace.len();
        (self.position + 1..=end).find(|&at| at == end || stops(at))
    }

    /// Returns the previous position at which a movement stops (at the latest, the first one).
    fn backward(&self, stops: impl Fn(usize) -> bool) -> Option<usize> {
        (0..self.position).rev().find(|&at| at == 0 || stops(at))
    }

    /// Returns true at a defect and at a breakpoint's first instruction.
    fn stops_at(&self, position: usize) -> bool {
        let is_broken = |SourceLine { file, line }: &SourceLine| {
            self.breakpoints.iter().any(|(of_file, of_line)| {
                of_line == line && of_file.as_ref().is_none_or(|name| file == name || file.ends_with(&format!("/{name}")))
            })
        };
        let line = self.trace.line(position).filter(|line| is_broken(line));
        let begins = line.is_some() && position.checked_sub(1).is_none_or(|before| self.trace.line(before) != line);
        begins || self.trace.found.iter().any(|(found, _)| *found == position)
    }

    fn go_to_origin(&mut self, name: &str) -> Said {
        let register = self.register(name)?;
        let lane = self.lane;
        let position = self.trace.origin(&register, lane, self.position).ok_or_else(|| match self.trace.wanted.first {
            0 => format!("nothing has written {name} in lane {lane} yet"),
            _ => format!("no recorded instruction before this one writes {name} in lane {lane}; `record 0` records from the start"),
        })?;
        self.position = position;
        Ok(self.stop())
    }

    fn go_to(&mut self, text: &str) -> Said {
        let position =
            number::<u64>(text)?.checked_sub(self.trace.wanted.first).filter(|position| *position <= self.trace.len() as u64);
        self.position = position.ok_or_else(|| format!("that is not recorded: {}", self.part()))? as usize;
        Ok(self.stop())
    }

    fn set_breakpoint(&mut self, text: &str) -> Said {
        let (file, line) = match text.rsplit_once(':') {
            Some((file, line)) => (Some(file.to_owned()), number(line)?),
            None => (None, number(text)?),
        };
        self.breakpoints.insert((file, line));
        let is_there = (0..self.trace.len()).any(|at| self.trace.line(at).is_some_and(|at| at.line == line));
        let hint = if is_there { "" } else { "; no recorded instruction of this warp is at that line" };
        Ok(format!("breakpoint at {text}{hint}\n"))
    }

    fn delete_breakpoints(&mut self, text: &str) -> Said {
        let before = self.breakpoints.len();
        let line: Option<u32> = if text.is_empty() { None } else { Some(number(text.rsplit(':').next().unwrap_or(text))?) };
        self.breakpoints.retain(|(_, of_line)| line.is_some_and(|line| line != *of_line));
        Ok(format!("{} deleted\n", before - self.breakpoints.len()))
    }

    fn print(&mut self, text: &str, letter: &str) -> Said {
        let format = Format::of_letter(letter);
        if format.is_none() && !letter.is_empty() {
            bail!("there is no format {letter}; there are d, u, x and f");
        }
        if text.is_empty() {
            bail!("print what? A register, as PTX names it; `info registers` lists them");
        }
        let (name, lane) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((register, lane)) => (register, Some(self.lane_number(lane)?)),
            None => (text, None),
        };
        let register = self.register(name)?;
        if let Some(lane) = lane {
            return Ok(format!("{name}[{lane}] = {}\n", in_lane(&self.trace, &register, lane, self.position, format)));
        }
        let shown = (0..self.trace.threads()).map(|lane| in_lane(&self.trace, &register, lane, self.position, format)).collect();
        Ok(format!("{name}{}", in_all_lanes(shown)))
    }

    /// Returns the whole name of a register.
    fn register(&self, name: &str) -> Result<String> {
        let known = self.trace.register(name, self.position).map(str::to_owned);
        Ok(known.ok_or_else(|| match name {
            "" => "which register? `info registers` lists them".to_owned(),
            "%tid.x" | "%ctaid.x" | "%ntid.x" | "%laneid" => {
                format!("{name} is no register of the program; print the register that an instruction moves it to")
            }
            _ => {
                format!("there is no register {name}; PTX keeps no names of C variables, and `info registers` lists what there is")
            }
        })?)
    }

    fn info(&mut self, what: &str) -> Said {
        let (title, rows, none): (_, String, _) = match what {
            "registers" | "r" => {
                let shown = |register| in_lane(&self.trace, register, self.lane, self.position, None);
                let registers = self.trace.in_use(self.lane, self.position);
                let rows = registers.map(|register| format!("  {register} = {}\n", shown(register)));
                (format!("lane {}:\n", self.lane), rows.collect(), "  nothing is written yet\n")
            }
            "breakpoints" | "b" => {
                let rows = self.breakpoints.iter().map(|(file, line)| match file {
                    Some(file) => format!("{file}:{line}\n"),
                    None => format!("{line}\n"),
                });
                (String::new(), rows.collect(), "there are no breakpoints\n")
            }
            "found" => {
                let number = |at: usize| self.trace.wanted.first + at as u64;
                let rows = self.trace.found.iter().map(|(at, finding)| format!("at instruction {}: {finding}\n", number(*at)));
                (String::new(), rows.collect(), "nothing was found in this warp\n")
            }
            _ => bail!("info about what? registers, found or breakpoints"),
        };
        Ok(title + if rows.is_empty() { none } else { &rows })
    }

    fn list(&mut self, text: &str) -> Said {
        let here = self.line_before(self.position + 1).cloned().ok_or("the PTX has no lines of CUDA C; compile with -lineinfo")?;
        let middle = if text.is_empty() { here.line } else { number(text)? };
        let name = self.sources.name(&here.file);
        let lines = around(middle, here.line, |line| self.sources.line(&here.file, line).map(str::to_owned));
        if lines.is_empty() {
            bail!("{name} has no line {middle}, or is not here");
        }
        Ok(format!("{name}\n{lines}"))
    }

    fn disassemble(&self) -> Said {
        let here = self.trace.step(self.position).map(|(_, location)| location.ptx_line).ok_or("this is the end of the record")?;
        Ok(around(here, here, |line| self.trace.ptx.lines().nth(line as usize - 1).map(str::to_owned)))
    }

    fn set_lane(&mut self, text: &str) -> Said {
        self.lane = self.lane_number(text)?;
        Ok(self.whereabouts() + &self.brief())
    }

    fn lane_number(&self, text: &str) -> Result<u32> {
        let (lane, threads) = (number(text)?, self.trace.threads());
        if lane < threads { Ok(lane) } else { Err(format!("this warp has lanes 0 to {}", threads - 1).into()) }
    }

    /// Changes to another warp. If it is in the same block, the time stays the same.
    fn change_warp(&mut self, wanted: Wanted) -> Said {
        let last = self.trace.len().saturating_sub(1);
        let clock = self.trace.step(self.position.min(last)).map(|(step, _)| step.clock);
        let clock = clock.filter(|_| wanted.block == self.trace.wanted.block);
        self.change(&Wanted { first: 0, ..wanted })?;
        match clock {
            Some(clock) => self.position = self.trace.at_clock(clock),
            None => self.go_to_the_defect(),
        }
        Ok(self.recorded() + &self.stop())
    }

    fn record_from(&mut self, first: u64) -> Said {
        if first >= self.trace.executed {
            bail!("the warp executed {} instructions, counted from 0", self.trace.executed);
        }
        self.change(&Wanted { first, ..self.trace.wanted.clone() })?;
        self.position = 0;
        Ok(self.recorded() + &self.stop())
    }

    fn change(&mut self, wanted: &Wanted) -> Result<()> {
        if *wanted == self.trace.wanted {
            return Ok(());
        }
        let trace = record(self.program, wanted)?;
        let launch = |trace: &Trace| (trace.launched.kernel.clone(), trace.launched.config);
        if launch(&trace) != launch(&self.trace) {
            let number = wanted.launch;
            bail!("launch {number} is another one in this run; does the program depend on time or chance?");
        }
        self.trace = trace;
        self.position = 0;
        self.lane = self.lane.min(self.trace.threads() - 1);
        Ok(())
    }

    fn go_to_the_other_side(&mut self) -> Said {
        let here = (self.trace.wanted.clone(), self.position, self.lane);
        if let Some((wanted, position, lane)) = self.this_side.take().filter(|(wanted, ..)| *wanted != here.0) {
            self.change(&wanted)?;
            (self.position, self.lane, self.this_side) = (position, lane, Some(here));
            return Ok(self.recorded() + &self.stop());
        }
        let before = self.trace.found.iter().rev().filter(|(at, _)| *at <= self.position);
        let after = self.trace.found.iter().filter(|(at, _)| *at > self.position);
        let two_sided = before.chain(after).find_map(|(at, finding)| Some((*at, other_side(finding)?.clone())));
        let Some((found_at, OtherAccess { block, thread, location, .. })) = two_sided else {
            bail!("nothing is found in this warp that has another side");
        };
        let (warp, lane) = warp_and_lane(self.trace.launched.config.block, thread);
        let until = self.trace.step(found_at).map(|(step, _)| step.clock).filter(|_| block == self.trace.wanted.block);
        self.change(&Wanted { block, warp, first: 0, ..self.trace.wanted.clone() })?;
        self.lane = lane;
        let is_it = |step: &Step, found: &Location| found.ptx_line == location.ptx_line && step.lanes >> lane & 1 == 1;
        // The latest time before the access that raced with it; in another block, there is no common time.
        let end = until.map_or(self.trace.len(), |clock| self.trace.at_clock(clock));
        self.this_side = Some(here);
        let position = (0..end).rev().find(|at| self.trace.step(*at).is_some_and(|(step, found)| is_it(step, found)));
        self.position = position.ok_or_else(|| {
            let (line, instruction) = (location.ptx_line, location.instruction.trim_end_matches(';'));
            format!("the other access is at PTX line {line}, {instruction}, and is not in the record\n{}", self.part())
        })?;
        Ok(self.recorded() + &self.stop())
    }

    /// Goes to the warp's first defect. If the kernel was stopped because it does not end, it goes to the last instruction.
    fn go_to_the_defect(&mut self) {
        match self.trace.found.first() {
            Some((position, finding)) => {
                (_, self.lane) = warp_and_lane(self.trace.launched.config.block, finding.thread);
                self.position = *position;
            }
            None if self.trace.is_endless() => self.position = self.trace.len().saturating_sub(1),
            None => {}
        }
    }
}

/// Shows the lines around one, with a mark at the current line.
fn around(middle: u32, here: u32, mut text: impl FnMut(u32) -> Option<String>) -> String {
    let lines = middle.saturating_sub(AROUND).max(1)..=middle.saturating_add(AROUND);
    let marked = |line| Some(format!("{} {line:>5}  {}\n", if line == here { "=>" } else { "  " }, text(line)?));
    lines.filter_map(marked).collect()
}

/// Returns the access of another thread that a defect is about.
fn other_side(finding: &Finding) -> Option<&OtherAccess> {
    match &finding.kind {
        FindingKind::Race { other, .. } => Some(other),
        FindingKind::MissingProxyFence { writer, .. } => Some(writer),
        FindingKind::Wgmma(WgmmaMisuse::SharedInUse { product, .. }) => Some(product),
        _ => None,
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.trim().parse().map_err(|_| match text {
        "" => "a number is missing".into(),
        _ => format!("{text} is not a number").into(),
    })
}
