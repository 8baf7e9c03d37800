//! The learner's host code. A compiler for GPUs compiles it, one thread of the simulator executes it, and its launches are noted.
//!
//! So whatever CUDA C says about `dim3`, integers and conversions holds, because a compiler said it. Addresses of arrays are made up, since
//! host code must not follow them.

use std::sync::Arc;

use simt::{
    Call, Dim3, FindingKind, Image, LaunchConfig, LaunchError, LaunchMisuse, LaunchOptions, LaunchReport, Memory, MemoryError,
    Module, Profile, check_shape,
};

use crate::device::Value;
use crate::simulated::profile;

/// Declarations before the learner's text. They begin with the line by which the compilers know host code.
const PROLOGUE: &str = include_str!("host.h");

/// The kernel that calls the host code.
pub const ENTRY: &str = "unrolled_host";

const BEFORE_NAME: &str = "unrolled_launch<decltype(";

/// The notes of launches, and the words of each.
const NOTES: (&str, usize, usize) = ("unrolled_launches", 16, 24);

/// Distance of the made-up addresses.
const APART: u64 = 1 << 40;

/// Instructions that host code may execute.
const FUEL: u64 = 1 << 20;

/// A launch in the learner's text: `NAME<<<SHAPE>>>`, by the offsets of its parts.
struct Site {
    name: usize,
    name_end: usize,
    open: usize,
    close: usize,
}

/// Returns the launches in a text.
fn sites(text: &str) -> Vec<Site> {
    let opens: Vec<usize> = text.match_indices("<<<").map(|(at, _)| at).collect();
    let ends = opens.iter().skip(1).copied().chain([text.len()]);
    let site = |(&open, end): (&usize, usize)| {
        let close = open + text[open..end].find(">>>")?;
        let before = text[..open].trim_end();
        // The name of a template has its arguments after it.
        let is_of_name = |letter: char| letter.is_alphanumeric() || "_:".contains(letter);
        let without = if before.ends_with('>') { before.rsplit_once('<')?.0 } else { before };
        let name = without.trim_end_matches(is_of_name).len();
        (name < without.len()).then_some(Site { name, name_end: before.len(), open, close })
    };
    opens.iter().zip(ends).filter_map(site).collect()
}

/// Returns the text that is compiled: each launch is a call that notes it. Every line stays where it was.
pub fn source(name: &str, text: &str, function: &str, parameters: usize) -> String {
    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
    let calls = format!(
        "extern \"C\" __global__ void {ENTRY}(const unsigned long long *values) {{ unrolled_call<{parameters}>({function}, values); }}"
    );
    format!("{PROLOGUE}#line 1 \"{name}\"\n{}\n{calls}\n", rewritten(text))
}

fn rewritten(text: &str) -> String {
    let (mut new, mut done) = (String::new(), 0);
    for (number, Site { name, name_end, open, close }) in sites(text).into_iter().enumerate() {
        let [before, name, space, shape] =
            [&text[done..name], &text[name..name_end], &text[name_end..open], &text[open + 3..close]];
        // What follows has the same distance from what was there before, so that a compiler's marks can be put back.
        new += &format!("{before}{BEFORE_NAME}{name}{space}), {number}>().with({shape})  ");
        done = close + 3;
    }
    new + &text[done..]
}

/// Puts the learner's lines back where a compiler quotes the lines that it got, with its marks below them.
pub fn unwritten(log: &str, text: &str) -> String {
    let new = rewritten(text);
    let changed: Vec<(&str, &str)> = new.lines().zip(text.lines()).filter(|(new, old)| new != old).collect();
    let (mut said, mut quoted, mut is_ours, mut is_call) = (String::new(), None, false, false);
    for line in log.lines() {
        // What the check adds is before the text and after it.
        let number = line.split_once("): error").and_then(|(place, _)| place.rsplit_once('(')?.1.parse().ok());
        let is_error_of_ours =
            number.is_some_and(|number: usize| number > text.lines().count() || line.starts_with("unrolled-prelude.h"));
        is_call |= is_error_of_ours;
        is_ours = is_error_of_ours || (is_ours && !line.is_empty());
        if is_ours {
            continue;
        }
        let known = changed.iter().find(|(new, _)| new.trim() == line.trim());
        if known.is_some() || line.is_empty() || line.contains("): ") {
            quoted = known;
        }
        said += &match (known, quoted) {
            (Some((new, old)), _) => line.replace(new.trim(), old.trim()),
            (None, Some((new, old))) => moved(line, new, old),
            (None, None) => line.to_owned(),
        };
        said.push('\n');
    }
    if is_call {
        said += "\nThe check calls your function with the arguments that it had: leave its first line as it was.";
    }
    said.trim_end().to_owned()
}

/// Moves a compiler's marks from below a line to below the line that was there before.
fn moved(marks: &str, new: &str, old: &str) -> String {
    let same = new.chars().zip(old.chars()).take_while(|(new, old)| new == old).count();
    let longer = new.chars().count() - old.chars().count();
    let mut line: Vec<char> = Vec::new();
    for (column, mark) in marks.chars().enumerate().filter(|(_, mark)| *mark != ' ') {
        let mut place = if column < same { column } else { column.saturating_sub(longer).max(same) };
        if !"~^".contains(mark) {
            place = place.max(line.len());
        }
        line.resize(line.len().max(place + 1), ' ');
        if line[place] != '^' {
            line[place] = mark;
        }
    }
    line.into_iter().collect()
}

/// A launch that host code asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Noted {
    /// The kernel's name in the text.
    pub kernel: String,
    /// Where the launch is: a line of the text, from 1.
    pub line: u32,
    /// Its grid, its block, and its dynamic shared memory.
    pub config: LaunchConfig,
    /// A word for each argument.
    pub words: Vec<u64>,
}

/// The mistake of host code, and its line if that is known.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// A line of the text, from 1.
    pub line: Option<u32>,
    /// The mistake, in words.
    pub reason: String,
}

/// Compiled host code.
pub struct Host {
    module: Arc<Module>,
    /// The name and the line of each launch in the text.
    sites: Vec<(String, u32)>,
}

impl Host {
    /// Takes the code out of PTX. The error says what the simulator does not support.
    pub fn new(ptx: &str, text: &str) -> Result<Self, String> {
        let module = Module::parse_in_part(ptx).map_err(|error| error.to_string())?;
        if let Some((_, error)) = module.refused().iter().find(|(name, _)| name == ENTRY) {
            return Err(error.to_string());
        }
        let line = |offset: usize| text[..offset].matches('\n').count() as u32 + 1;
        let sites = sites(text).iter().map(|site| (text[site.name..site.name_end].to_owned(), line(site.name))).collect();
        Ok(Self { module: Arc::new(module), sites })
    }

    /// Executes the code with these values, and returns its launches in their order.
    pub fn launches(&self, values: &[Value]) -> Result<Result<Vec<Noted>, Mistake>, MemoryError> {
        let memory = Memory::new(1 << 24);
        let image = Image::new(self.module.clone(), &memory)?;
        let list = memory.allocate(8 * values.len() as u64, None)?;
        let bytes: Vec<u8> = values.iter().enumerate().flat_map(|(at, value)| word(at, *value).to_le_bytes()).collect();
        memory.write(list, &bytes)?;
        let one = Dim3::new(1, 1, 1);
        let config = LaunchConfig { grid: one, block: one, dynamic_shared_bytes: 0 };
        let call = Call { kernel: ENTRY, config, params: &list.to_le_bytes() };
        let options = LaunchOptions { fuel: FUEL, workers: Some(1), ..LaunchOptions::default() };
        match simt::launch(&memory, &image, call, profile(), &options) {
            Ok(LaunchReport { findings, .. }) if findings.is_empty() => self.noted(&memory, &image).map(Ok),
            Ok(LaunchReport { findings, .. }) => Ok(Err(mistake(LaunchError::Fault {
                finding: Box::new(findings[0].clone()),
                printed: String::new(),
                overwritten: 0,
            }))),
            Err(error) => Ok(Err(mistake(error))),
        }
    }

    /// Returns CUDA's error for a shape that no GPU may get, and the reason. More shared memory than every kernel may have must be asked for
    /// in host code (CUDA C++ Programming Guide, Compute Capability 7.x, Shared Memory), which these exercises do not do.
    pub fn refusal(&self, kernel: &str, config: LaunchConfig) -> Option<String> {
        let profile = profile();
        let profile = Profile { shared_bytes_per_block_optin: profile.shared_bytes_per_block, ..profile.clone() };
        match check_shape(self.module.kernel(kernel)?, config, &profile).err()? {
            LaunchMisuse::Extent { what, extent, limit } => Some(format!(
                "cudaErrorInvalidConfiguration, \"invalid configuration argument\". Its {what} is {extent}, and must be 1 to {limit}"
            )),
            LaunchMisuse::SharedMemory { asked, limit, .. } => Some(format!(
                "cudaErrorInvalidValue, \"invalid argument\". It asks for {asked} bytes of shared memory per block, and may have {limit}"
            )),
            other => Some(other.to_string()),
        }
    }

    fn noted(&self, memory: &Memory, image: &Image) -> Result<Vec<Noted>, MemoryError> {
        let (variable, most, each) = NOTES;
        let Some((address, bytes)) = image.variable(variable) else { return Ok(Vec::new()) };
        let mut notes = vec![0; bytes as usize];
        memory.read(address, &mut notes)?;
        let words: Vec<u64> = notes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).collect();
        let noted = words[1..].chunks_exact(each).take((words[0] as usize).min(most)).map(|words| {
            let three = |at: usize| Dim3::new(words[at] as u32, words[at + 1] as u32, words[at + 2] as u32);
            let (kernel, line) = self.sites.get(words[0] as usize).cloned().unwrap_or_default();
            let shared = u32::try_from(words[7]).unwrap_or(u32::MAX);
            let config = LaunchConfig { grid: three(1), block: three(4), dynamic_shared_bytes: shared };
            Noted { kernel, line, config, words: words[8..].to_vec() }
        });
        Ok(noted.collect())
    }
}

/// Returns the word that host code gets for a value. An array has an address that nothing is at.
fn word(at: usize, value: Value) -> u64 {
    match value {
        Value::Array(..) => (at as u64 + 1) * APART,
        Value::Size(size) => size.into(),
        Value::Sum(sum) => sum as u64,
    }
}

/// Returns the value that a kernel gets for a word of `bytes` bytes. `values` are those that the host code got.
pub fn value(word: u64, bytes: u64, values: &[Value]) -> Value {
    let at = ((word.wrapping_add(APART / 2)) / APART).wrapping_sub(1) as usize;
    match (bytes, values.get(at)) {
        (8, Some(Value::Array(name, _))) => Value::Array(name, word.wrapping_sub((at as u64 + 1) * APART) as i64),
        (8, _) => Value::Sum(word as i64),
        _ => Value::Size(word as u32),
    }
}

/// Writes a shape as in the source: `4, 256`, or with `dim3` for more axes than one.
pub fn shape(config: &LaunchConfig) -> String {
    let extent = |Dim3 { x, y, z }: Dim3| if y == 1 && z == 1 { x.to_string() } else { format!("dim3({x}, {y}, {z})") };
    let shared = if config.dynamic_shared_bytes == 0 { String::new() } else { format!(", {}", config.dynamic_shared_bytes) };
    format!("{}, {}{shared}", extent(config.grid), extent(config.block))
}

/// Writes a number of things: `1 thread`, `256 threads`.
pub fn so_many(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

fn mistake(error: LaunchError) -> Mistake {
    let (line, reason) = match &error {
        LaunchError::Fault { finding, .. } => {
            let is_followed = matches!(finding.kind, FindingKind::OutOfBounds { .. } | FindingKind::Null { .. });
            let reason = if is_followed {
                "it reads or writes memory of the GPU, where the host cannot. A pointer to that memory is only for passing it on"
                    .to_owned()
            } else {
                finding.kind.to_string()
            };
            (finding.location.source.as_ref().map(|source| source.line), reason)
        }
        LaunchError::OutOfFuel { .. } => (None, "it does not come to its end: is there a loop that never stops?".to_owned()),
        LaunchError::Misuse(_) => (None, error.to_string()),
    };
    Mistake { line, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "// k<<<1, 2>>>, or <<< alone\nvoid launch(int n)\n{\n    ns::k<4, 8> <<<n, dim3(2)>>>(n, m);\n    k<<<1\n, 2>>>();\n}\n";

    #[test]
    fn launches_become_calls_and_lines_stay() {
        let new = rewritten(TEXT);
        assert_eq!(new.lines().count(), TEXT.lines().count());
        let fourth = "    unrolled_launch<decltype(ns::k<4, 8> ), 1>().with(n, dim3(2))  (n, m);";
        assert_eq!(new.lines().nth(3), Some(fourth));
        assert!(new.contains("    unrolled_launch<decltype(k), 2>().with(1\n, 2)  ();\n"), "{new}");
        assert_eq!(rewritten("a <<< b;\n<<<1, 2>>>(c);"), "a <<< b;\n<<<1, 2>>>(c);", "no name, or no end");
    }

    #[test]
    fn a_compiler_quotes_the_learner() {
        let new = rewritten(TEXT);
        let quoted = new.lines().nth(3).unwrap();
        let under = |text: &str, mark: &str| format!("{}{mark}", " ".repeat(text.find("m)").unwrap()));
        let old = TEXT.lines().nth(3).unwrap();
        let log = format!("x.cu(4): error: no m\n{quoted}\n{}\n\nx.cu(9): error: no call\nvoid\n\n2 errors", under(quoted, "^ n"));
        let advice = "The check calls your function with the arguments that it had: leave its first line as it was.";
        let expected = format!("x.cu(4): error: no m\n{old}\n{}\n\n\n2 errors\n\n{advice}", under(old, "^ n"));
        assert_eq!(unwritten(&log, TEXT), expected);
    }

    #[test]
    fn words_are_values_again() {
        let given = [Value::Size(7), Value::Array("signal", 0), Value::Sum(-1)];
        for (at, bytes, offset, expected) in [
            (0, 4, 0, Value::Size(7)),
            (1, 8, 0, Value::Array("signal", 0)),
            (1, 8, -4, Value::Array("signal", -4)),
            (2, 8, 0, Value::Sum(-1)),
        ] {
            assert_eq!(value(word(at, given[at]).wrapping_add_signed(offset), bytes, &given), expected);
        }
    }
}
