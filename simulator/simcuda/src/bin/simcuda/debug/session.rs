//! The commands, and where the user is.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;

use simcuda::report::Sources;
use simcuda::stepping::{Values, Wanted};
use simt::finding::OtherAccess;
use simt::{Finding, FindingKind, SourceLine, WgmmaMisuse};

use super::replay::{Program, Reached, lane_of, parse_block, warp_of};
use super::trace::Trace;
use super::values::{Format, in_all_lanes, in_lane, lanes};

/// Lines that `list` and `disassemble` show above and below the current one.
const AROUND: u32 = 5;

/// Registers that are shown of those that one instruction changes. A product of matrices changes many.
const MOST_WRITES: usize = 4;

const HELP: &str = "\
Movement; the first three lines take a count, such as `step 3`:
  step, s; reverse-step, rs            to the next line of CUDA C, or the one before
  stepi, si; reverse-stepi, rsi        one instruction of PTX
  continue, c; reverse-continue, rc    to the next breakpoint or defect, or to the end of the record
  origin REGISTER                      back to the instruction that gave a register its value in the current lane
  goto N                               to the instruction with this number
  break [FILE:]LINE, delete [LINE]     set a breakpoint; delete one, or all
What the warp has before the current instruction:
  print[/FORMAT] REGISTER[[LANE]]      values in all lanes or in one; formats: d, u, x, f
  info registers, info found           the registers in the current lane; the defects that were found in this warp
  where, list [LINE], disassemble      the place; CUDA C around it; PTX around it
Other threads. A warp that is not recorded yet costs a run of the program:
  lane N, warp N, block X,Y,Z          change the current lane, warp or block; in the same block, at the same time
  other                                to the other side of a race
  record N                             record from the instruction with this number on
  help, quit
An empty line repeats the last command.
";

/// What follows a command.
#[derive(Debug)]
pub enum Next {
    Say(String),
    Quit,
}

/// Where the user is.
pub struct Session<'a> {
    program: &'a Program<'a>,
    reached: Reached,
    trace: Trace,
    position: usize,
    lane: u32,
    breakpoints: BTreeSet<(Option<String>, u32)>,
    sources: Sources,
}

/// What to say, or what is wrong with a command.
type Said = Result<String, Box<dyn Error>>;

impl<'a> Session<'a> {
    /// Starts at the first defect that is found in the warp, or at its first instruction.
    pub fn new(program: &'a Program<'a>, mut reached: Reached) -> Self {
        let trace = trace_of(&mut reached);
        let mut session =
            Self { program, reached, trace, position: 0, lane: 0, breakpoints: BTreeSet::new(), sources: Sources::default() };
        session.go_to_the_defect();
        session
    }

    /// What the user reads first.
    pub fn opening(&mut self) -> String {
        let Reached { wanted, launched, .. } = &self.reached;
        let (grid, block) = (launched.config.grid, launched.config.block);
        let mut text = format!(
            "launch {} of the process, kernel {}, grid {grid}, block {block}: warp {} of block {}\n",
            launched.number, launched.kernel, wanted.warp, wanted.block
        );
        if let Some((failure, _)) = &launched.failure
            && launched.findings.is_empty()
        {
            let _ = writeln!(text, "{failure}");
        }
        text + &self.recorded() + &self.stop() + "Type help for the commands.\n"
    }

    /// Executes a command.
    ///
    /// # Errors
    ///
    /// If there is no such command, or it cannot be done. The message is for the user, who stays where they were.
    pub fn execute(&mut self, line: &str) -> Result<Next, Box<dyn Error>> {
        let (command, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        let (command, format) = command.split_once('/').unwrap_or((command, ""));
        let said = match command {
            "" | "#" => String::new(),
            "help" | "h" => HELP.to_owned(),
            "quit" | "q" | "exit" => return Ok(Next::Quit),
            "step" | "s" | "next" | "n" => self.repeat(rest, Self::step_forward)?,
            "reverse-step" | "rs" | "reverse-next" | "rn" => self.repeat(rest, Self::step_backward)?,
            "stepi" | "si" | "nexti" | "ni" => self.repeat(rest, Self::next_instruction)?,
            "reverse-stepi" | "rsi" | "reverse-nexti" | "rni" => self.repeat(rest, Self::previous_instruction)?,
            "continue" | "c" => self.repeat(rest, Self::run_forward)?,
            "reverse-continue" | "rc" => self.repeat(rest, Self::run_backward)?,
            "origin" => self.go_to_origin(rest)?,
            "goto" => self.go_to(rest)?,
            "break" | "b" => self.set_breakpoint(rest)?,
            "delete" | "d" => self.delete_breakpoints(rest)?,
            "print" | "p" => self.print(rest, format)?,
            "info" | "i" => self.info(rest)?,
            "where" | "w" => self.stop(),
            "list" | "l" => self.list(rest)?,
            "disassemble" | "disas" => self.disassemble()?,
            "lane" => self.set_lane(rest)?,
            "warp" => self.change_warp(Wanted { warp: number(rest)?, ..self.reached.wanted.clone() })?,
            "block" => self.change_warp(Wanted { block: parse_block(rest)?, ..self.reached.wanted.clone() })?,
            "other" => self.go_to_the_other_side()?,
            "record" => self.record_from(number(rest)?)?,
            _ => return Err(format!("there is no command {command}; type help").into()),
        };
        Ok(Next::Say(said))
    }

    /// What is recorded of the warp.
    fn recorded(&self) -> String {
        let Trace { first, executed, .. } = self.trace;
        let last = first + self.trace.len() as u64;
        if (first, last) == (0, executed) {
            return format!("{executed} instructions are recorded, all of this warp\n");
        }
        format!("instructions {first} to {} of {executed} are recorded; `record N` records from another one on\n", last - 1)
    }

    /// The place where the user is, and what is found there.
    fn stop(&mut self) -> String {
        let Some((step, place)) = self.trace.step(self.position) else {
            let end = if self.trace.first + self.trace.len() as u64 == self.trace.executed { "the warp" } else { "the record" };
            return format!("the end of {end}\n");
        };
        let mut text = String::new();
        for (_, finding) in self.trace.found.iter().filter(|(position, _)| *position == self.position) {
            let _ = writeln!(text, "{finding}");
        }
        let number = self.trace.first + self.position as u64;
        let _ = writeln!(text, "instruction {number}, after {} of the block, in {}", step.clock, lanes(step.lanes));
        if let Some(SourceLine { file, line }) = &place.source {
            let code = self.sources.text(file, *line).map(|text| text.line.to_owned()).unwrap_or_default();
            let _ = writeln!(text, "  {}:{line}  {code}", self.sources.name(file));
        }
        let _ = writeln!(text, "  ptx:{}  {}{}", place.ptx_line, place.instruction, self.effect());
        text
    }

    /// What the instruction here reads and writes in the current lane.
    fn effect(&self) -> String {
        let Some((step, place)) = self.trace.step(self.position) else { return String::new() };
        let mut written: Vec<&str> = step.writes.iter().map(|write| write.register.as_str()).collect();
        // A register that is written with the value it had is not among them.
        if let Some(result) = self.trace.result(&place.instruction)
            && !written.contains(&result)
        {
            written.insert(0, result);
        }
        let mentioned = self.trace.mentioned(&place.instruction);
        let shown = |register: &str, position| Some(format!("{register} = {}", self.in_lane(register, self.lane, position, None)?));
        let read = mentioned.iter().filter(|(register, times)| *times > 1 || !written.contains(register));
        let read: Vec<String> = read.filter_map(|(register, _)| shown(register, self.position)).collect();
        let written = written.into_iter().filter_map(|register| shown(register, self.position + 1));
        let written: Vec<String> = written.take(MOST_WRITES).collect();
        let is_active = step.lanes >> self.lane & 1 == 1;
        match (read.as_slice(), if is_active { written.as_slice() } else { &[] }) {
            ([], _) if !is_active => format!("  // lane {} does not execute it", self.lane),
            (read, _) if !is_active => format!("  // lane {} does not execute it: {}", self.lane, read.join(", ")),
            ([], []) => String::new(),
            (read, []) => format!("  // lane {}: {}", self.lane, read.join(", ")),
            ([], written) => format!("  // lane {}: makes {}", self.lane, written.join(", ")),
            (read, written) => format!("  // lane {}: {}; makes {}", self.lane, read.join(", "), written.join(", ")),
        }
    }

    /// The value of a register in a lane, before the instruction at a position.
    fn in_lane(&self, register: &str, lane: u32, position: usize, format: Option<Format>) -> Option<String> {
        let values = self.trace.values(register, position)?;
        let format = format.unwrap_or_else(|| self.format_of(register, position, values));
        Some(in_lane(values, lane, format))
    }

    /// How a register is shown if the user does not say.
    fn format_of(&self, register: &str, position: usize, values: &Values) -> Format {
        match self.trace.writer(register, position) {
            None if self.trace.is_float(register) => Format::Float,
            writer => Format::of_writer(writer, values),
        }
    }

    /// Moves as often as the user says, and says where that leads.
    fn repeat(&mut self, times: &str, mut movement: impl FnMut(&mut Self) -> Option<usize>) -> Said {
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

    fn next_instruction(&mut self) -> Option<usize> {
        Some(self.position + 1).filter(|position| *position <= self.trace.len())
    }

    fn previous_instruction(&mut self) -> Option<usize> {
        self.position.checked_sub(1)
    }

    /// To the first instruction of another line. Instructions without a line belong to the one before.
    fn step_forward(&mut self) -> Option<usize> {
        let from = self.line_before(self.position + 1);
        let other = (self.position + 1..self.trace.len()).find(|&at| self.trace.line(at).is_some_and(|line| Some(line) != from));
        other.or_else(|| Some(self.trace.len()).filter(|end| *end > self.position))
    }

    /// To the first instruction of the line before this one, or of this one if the user is in the middle of it.
    fn step_backward(&mut self) -> Option<usize> {
        let last = self.position.checked_sub(1)?;
        let line = self.line_before(self.position)?.clone();
        let of_line = (0..=last).rev().take_while(|&at| self.trace.line(at).is_none_or(|other| *other == line));
        of_line.filter(|&at| self.trace.line(at).is_some()).last().or(Some(last))
    }

    /// The line of the last instruction before a position that has one.
    fn line_before(&self, position: usize) -> Option<&SourceLine> {
        (0..position.min(self.trace.len())).rev().find_map(|at| self.trace.line(at))
    }

    fn run_forward(&mut self) -> Option<usize> {
        let stop = (self.position + 1..self.trace.len()).find(|&at| self.stops_at(at));
        stop.or_else(|| Some(self.trace.len()).filter(|end| *end > self.position))
    }

    fn run_backward(&mut self) -> Option<usize> {
        let stop = (0..self.position).rev().find(|&at| self.stops_at(at));
        stop.or_else(|| Some(0).filter(|_| self.position > 0))
    }

    /// Whether there is a defect, or the first instruction of a line with a breakpoint.
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

    fn go_to_origin(&mut self, register: &str) -> Said {
        self.check_register(register)?;
        match self.trace.origin(register, self.lane, self.position) {
            Some(position) => {
                self.position = position;
                Ok(self.stop())
            }
            None => {
                let since = if self.trace.first == 0 { "the warp began" } else { "the record begins" };
                Err(format!("{register} has not changed in lane {} since {since}", self.lane).into())
            }
        }
    }

    fn go_to(&mut self, text: &str) -> Said {
        let position = number::<u64>(text)?.checked_sub(self.trace.first).filter(|position| *position <= self.trace.len() as u64);
        self.position = position.ok_or_else(|| format!("that is not recorded: {}", self.recorded().trim_end()))? as usize;
        Ok(self.stop())
    }

    fn set_breakpoint(&mut self, text: &str) -> Said {
        let (file, line) = match text.rsplit_once(':') {
            Some((file, line)) => (Some(file.to_owned()), number(line)?),
            None => (None, number(text)?),
        };
        self.breakpoints.insert((file, line));
        let executed = (0..self.trace.len()).filter(|&at| self.trace.line(at).is_some_and(|at| at.line == line)).count();
        let hint = if executed == 0 { "; this warp does not execute that line" } else { "" };
        Ok(format!("breakpoint at {text}{hint}\n"))
    }

    fn delete_breakpoints(&mut self, text: &str) -> Said {
        let before = self.breakpoints.len();
        match text {
            "" => self.breakpoints.clear(),
            _ => {
                let line: u32 = number(text.rsplit(':').next().unwrap_or(text))?;
                self.breakpoints.retain(|(_, of_line)| *of_line != line);
            }
        }
        Ok(format!("{} deleted\n", before - self.breakpoints.len()))
    }

    fn print(&mut self, text: &str, format: &str) -> Said {
        let format = match format {
            "" => None,
            letter => {
                Some(Format::of_letter(letter).ok_or_else(|| format!("there is no format {letter}; there are d, u, x and f"))?)
            }
        };
        if text.is_empty() {
            return Err("print what? A register, as PTX names it; `info registers` lists them".into());
        }
        let (register, lane) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((register, lane)) => (register, Some(lane_number(lane)?)),
            None => (text, None),
        };
        self.check_register(register)?;
        if let Some(lane) = lane {
            let value = self.in_lane(register, lane, self.position, format).unwrap_or_default();
            return Ok(format!("{register}[{lane}] = {value}\n"));
        }
        let values = self.trace.values(register, self.position).ok_or("it has no value yet")?;
        let format = format.unwrap_or_else(|| self.format_of(register, self.position, values));
        Ok(format!("{register}{}", in_all_lanes(values, format)))
    }

    fn check_register(&self, name: &str) -> Result<(), Box<dyn Error>> {
        if self.trace.values(name, self.position).is_some() {
            return Ok(());
        }
        Err(match name {
            "" => "which register? `info registers` lists them".into(),
            _ => {
                format!("there is no register {name}; PTX keeps no names of C variables, and `info registers` lists what there is")
                    .into()
            }
        })
    }

    fn info(&mut self, what: &str) -> Said {
        match what {
            "registers" | "r" => {
                let rows = self.trace.in_use(self.position).filter_map(|register| {
                    let value = self.in_lane(register, self.lane, self.position, None)?;
                    Some(format!("  {register} = {value}\n"))
                });
                Ok(format!("lane {}:\n{}", self.lane, rows.collect::<String>()))
            }
            "found" => {
                let found = self
                    .trace
                    .found
                    .iter()
                    .map(|(at, finding)| format!("at instruction {}: {finding}\n", self.trace.first + *at as u64));
                let text: String = found.collect();
                Ok(if text.is_empty() { "nothing was found in this warp\n".to_owned() } else { text })
            }
            _ => Err("info about what? registers or found".into()),
        }
    }

    fn list(&mut self, text: &str) -> Said {
        let here = self.line_before(self.position + 1).cloned().ok_or("the PTX has no lines of CUDA C; compile with -lineinfo")?;
        let middle = if text.is_empty() { here.line } else { number(text)? };
        let name = self.sources.name(&here.file);
        let lines = (middle.saturating_sub(AROUND).max(1)..=middle.saturating_add(AROUND)).filter_map(|line| {
            let code = self.sources.line(&here.file, line)?;
            let mark = if line == here.line { "=>" } else { "  " };
            Some(format!("{mark} {line:>5}  {code}\n"))
        });
        let lines: String = lines.collect();
        if lines.is_empty() {
            return Err(format!("{name} has no line {middle}, or is not here").into());
        }
        Ok(format!("{name}\n{lines}"))
    }

    fn disassemble(&mut self) -> Said {
        let here = self.trace.step(self.position).map(|(_, place)| place.ptx_line).ok_or("this is the end of the record")?;
        let first = here.saturating_sub(AROUND).max(1);
        let lines = self.reached.warp.ptx.lines().zip(1..).skip(first as usize - 1).take(2 * AROUND as usize + 1);
        Ok(lines.map(|(text, line)| format!("{} {line:>5}  {text}\n", if line == here { "=>" } else { "  " })).collect())
    }

    fn set_lane(&mut self, text: &str) -> Said {
        self.lane = lane_number(text)?;
        Ok(self.stop())
    }

    /// Changes to another warp, at the same time if it is in the same block.
    fn change_warp(&mut self, wanted: Wanted) -> Said {
        let clock = self.clock().filter(|_| wanted.block == self.reached.wanted.block);
        self.change(&wanted)?;
        match clock {
            Some(clock) => self.position = self.trace.at_clock(clock),
            None => self.go_to_the_defect(),
        }
        Ok(self.recorded() + &self.stop())
    }

    fn record_from(&mut self, first: u64) -> Said {
        if first >= self.trace.executed {
            return Err(format!("the warp executed {} instructions, counted from 0", self.trace.executed).into());
        }
        self.change(&Wanted { first, ..self.reached.wanted.clone() })?;
        self.position = 0;
        Ok(self.recorded() + &self.stop())
    }

    fn change(&mut self, wanted: &Wanted) -> Result<(), Box<dyn Error>> {
        if *wanted == self.reached.wanted {
            return Ok(());
        }
        self.reached = self.program.record(wanted)?;
        self.trace = trace_of(&mut self.reached);
        self.position = 0;
        Ok(())
    }

    fn go_to_the_other_side(&mut self) -> Said {
        let found = self.trace.found.iter().rev().find(|(at, _)| *at <= self.position).or(self.trace.found.first());
        let other = found.and_then(|(_, finding)| other_side(finding)).cloned();
        let Some(OtherAccess { block, thread, location, .. }) = other else {
            return Err("nothing is found in this warp that has another side".into());
        };
        let shape = self.reached.launched.config.block;
        let (warp, lane) = (warp_of(shape, thread), lane_of(shape, thread));
        let found_at = found.map(|(at, _)| *at);
        let until =
            found_at.and_then(|at| self.trace.step(at)).map(|(step, _)| step.clock).filter(|_| block == self.reached.wanted.block);
        self.change(&Wanted { block, warp, first: 0, ..self.reached.wanted.clone() })?;
        self.lane = lane;
        let is_it = |at: &usize| {
            self.trace.step(*at).is_some_and(|(step, place)| place.ptx_line == location.ptx_line && step.lanes >> lane & 1 == 1)
        };
        // The latest time before the access that raced with it; in another block, there is no common time.
        let end = until.map_or(self.trace.len(), |clock| self.trace.at_clock(clock));
        let Some(position) = (0..end).rev().find(is_it) else {
            return Err(format!(
                "the other access, {}, is not in the record: {}",
                location.instruction,
                self.recorded().trim_end()
            )
            .into());
        };
        self.position = position;
        Ok(format!("warp {warp} of block {block}, lane {lane}\n") + &self.recorded() + &self.stop())
    }

    /// When the user is, in instructions that the block had executed.
    fn clock(&self) -> Option<u64> {
        let last = self.trace.len().checked_sub(1)?;
        self.trace.step(self.position.min(last)).map(|(step, _)| step.clock)
    }

    fn go_to_the_defect(&mut self) {
        let Some((position, finding)) = self.trace.found.first() else { return };
        self.lane = lane_of(self.reached.launched.config.block, finding.thread);
        self.position = *position;
    }
}

fn trace_of(reached: &mut Reached) -> Trace {
    let warp = reached.warp.clone();
    reached.warp.steps = Vec::new();
    Trace::new(warp, reached.wanted.first)
}

/// The access of another thread that a defect is about.
fn other_side(finding: &Finding) -> Option<&OtherAccess> {
    match &finding.kind {
        FindingKind::Race { other, .. } => Some(other),
        FindingKind::MissingProxyFence { writer, .. } => Some(writer),
        FindingKind::Wgmma(WgmmaMisuse::SharedInUse { product, .. }) => Some(product),
        _ => None,
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Box<dyn Error>> {
    text.trim().parse().map_err(|_| match text {
        "" => "a number is missing".into(),
        _ => format!("{text} is not a number").into(),
    })
}

fn lane_number(text: &str) -> Result<u32, Box<dyn Error>> {
    let lane = number(text)?;
    if lane < 32 { Ok(lane) } else { Err("a warp has lanes 0 to 31".into()) }
}
