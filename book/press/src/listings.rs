//! Listings from NVIDIA's tools, as the book shows them: machine code in `book/listings/*.sass`, and the reports of
//! `compute-sanitizer` in `book/listings/*.txt`. `cargo book record` makes them.
//!
//! Every version of the compiler makes other machine code, and neither `nvdisasm` nor `compute-sanitizer` comes with a Python package. So
//! listings are kept like records: each says what it was made from and with what, and is labeled where it is shown when its kernel has changed
//! since.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use compilers::digest;
use compilers::input::Input;
use compilers::nvrtc::Nvrtc;
use compilers::recipe::options;
use kernels::{Kernel, conv_shared, unroll};
use run::atomic_file::AtomicFile;

use crate::archive::{Archive, STALE_NOTE};
use crate::digests::Kernels;
use crate::directive::named;
use crate::root;

/// The architecture that listings are of.
const ARCHITECTURE: &str = "sm_90";

/// The constant memory of a module in machine code; the kernel's parameters are in another bank.
const CONSTANT_MEMORY: &str = "c[0x3]";

/// The beginning of the lines of `compute-sanitizer`.
const MARK: &str = "=========";

/// A choice of what to show from a kernel's multiply-add loops. Each loop is a list of instructions.
type Choice = fn(Vec<Vec<String>>) -> Option<Vec<String>>;

/// Makes a listing of a kernel: what it was made with, and its lines.
type Make = fn(Kernel) -> Result<(String, String)>;

/// Each listing's name, file extension, kernel, and the way to make it.
const LISTINGS: [(&str, &str, Kernel, Make); 4] = [
    ("02-conv-shared.racecheck", "txt", conv_shared::SHARED_MISSING_BARRIER, |kernel| {
        races(kernel, "02-conv-shared", &["--device", "gpu", "--stage", "shared-missing-barrier", "--size", "256x512"])
    }),
    ("03-unroll.shared", "sass", unroll::SHARED, |kernel| code(kernel, shortest)),
    ("03-unroll.unroll-4", "sass", unroll::UNROLL_4, |kernel| code(kernel, shortest)),
    ("03-unroll.constant-filter", "sass", unroll::CONSTANT_FILTER, |kernel| code(kernel, constants)),
];

/// The listing to make.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The listing's name
    #[arg(value_parser = LISTINGS.map(|(name, ..)| name))]
    name: String,
    /// Where to write it
    #[arg(long, value_name = "FILE")]
    save: PathBuf,
}

impl Arguments {
    /// Makes the listing.
    pub fn run(self) -> Result<()> {
        let (_, kernel, make) = listing(&self.name)?;
        let file = AtomicFile::create(&self.save)?;
        let (maker, lines) = make(kernel)?;
        let digest = digest::of(kernel).with_context(|| format!("{} has no stored PTX: run `cargo ptx`", kernel.name))?;
        let text = format!("// kernel: {}\n// digest: {digest}\n// made by: {maker}\n{lines}", digest::name(kernel));
        Ok(file.finish(&text)?)
    }
}

fn listing(name: &str) -> Result<(&'static str, Kernel, Make)> {
    let listings = LISTINGS.map(|(name, extension, kernel, make)| (name, (extension, kernel, make)));
    named(format_args!("there is no listing {name}"), name, listings)
}

/// Returns the maker of a kernel's machine code, and its chosen part. The part has the meaning of each instruction.
fn code(kernel: Kernel, choice: Choice) -> Result<(String, String)> {
    let number = ARCHITECTURE.trim_start_matches("sm_").parse()?;
    let nvrtc = Nvrtc::find_where(|nvrtc| nvrtc.architectures().contains(&number))?;
    let instructions = choice(loops(&machine_code(&nvrtc, kernel)?));
    let instructions = instructions.with_context(|| format!("{} has no loop of the kind that is shown", kernel.name))?;
    let width = instructions.iter().map(String::len).max().unwrap_or(0);
    let lines = instructions.iter().map(|instruction| format!("{instruction:<width$}   {}\n", meaning(instruction)));
    let maker = format!("NVRTC {} for {ARCHITECTURE}, nvdisasm; what is on the right is ours", nvrtc.build());
    Ok((maker, lines.collect()))
}

/// Returns the tool that found a kernel's races, and its report.
fn races(kernel: Kernel, program: &str, arguments: &[&str]) -> Result<(String, String)> {
    const TOOL: &str = "compute-sanitizer";
    let program = std::env::current_exe()?.with_file_name(program);
    ensure!(program.is_file(), "there is no {}: build that chapter first", program.display());
    let run = |command: &mut Command| -> Result<String> {
        let output = command.output().with_context(|| format!("{TOOL} of the CUDA toolkit must be on the PATH"))?;
        Ok(String::from_utf8(output.stdout)?)
    };
    let version = run(Command::new(TOOL).arg("--version"))?;
    let version = version.lines().find_map(|line| line.strip_prefix("Version ")).unwrap_or("of unknown version").to_owned();
    let only = format!("kne={}", kernel.name);
    let options = ["--tool", "racecheck", "--demangle", "simple", "--kernel-name", &only];
    let report = report(&run(Command::new(TOOL).args(options).arg(&program).args(arguments))?);
    ensure!(report.contains("Race reported"), "{TOOL} found no race:\n{report}");
    Ok((format!("{TOOL} {version}"), report))
}

/// Finds a tool's errors among the lines of the watched program. The program launches the kernel many times, so errors at the same places
/// are shown once.
fn report(output: &str) -> String {
    let mut errors: Vec<Vec<&str>> = Vec::new();
    for line in output.lines().filter(|line| line.starts_with(MARK)) {
        match errors.last_mut() {
            _ if line.contains(" Error: ") => errors.push(vec![line]),
            Some(error) if line.trim_start_matches('=').trim_start().starts_with("and ") => error.push(line),
            _ => {}
        }
    }
    // How often it happened in one launch comes last, in brackets.
    let places = |error: &[&str]| error.iter().map(|line| line.split(" [").next().unwrap_or(line).to_owned()).collect::<Vec<_>>();
    let mut seen = HashSet::new();
    errors.retain(|error| seen.insert(places(error)));
    errors.concat().iter().map(|line| format!("{line}\n")).collect()
}

/// Returns a listing's code. A last line says so if its kernel has changed since.
pub fn read(archive: &Archive, name: &str) -> Result<String> {
    let (extension, ..) = listing(name)?;
    let path = format!("listings/{name}.{extension}");
    let text = fs::read_to_string(root().join("book").join(&path)).with_context(|| format!("there is no book/{path}"))?;
    archive.note(&path);
    let code: String = text.lines().filter(|line| !line.starts_with("//")).map(|line| format!("{line}\n")).collect();
    let label = if is_stale(&text, Kernels::stored())? { format!("{STALE_NOTE}\n") } else { String::new() };
    Ok(code + &label)
}

/// Returns true if a listing's kernel has changed since it was made.
pub fn is_stale(listing: &str, kernels: &Kernels) -> Result<bool> {
    let head = |key: &str| listing.lines().find_map(|line| line.strip_prefix(&format!("// {key}: ")));
    let (kernel, digest) =
        head("kernel").zip(head("digest")).context("a listing starts with its kernel and the digest of its PTX")?;
    Ok(kernels.digest(kernel) != Some(digest))
}

/// Returns the kernel's machine code: labels, and instructions without their addresses.
fn machine_code(nvrtc: &Nvrtc, kernel: Kernel) -> Result<Vec<String>> {
    let cubin = nvrtc.compile_to_cubin(Input::of(kernel.source), &options(ARCHITECTURE))?;
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(&cubin)?;
    let output = Command::new("nvdisasm").arg("-c").arg(file.path()).output();
    let output = output.context("nvdisasm of the CUDA toolkit must be on the PATH")?;
    ensure!(output.status.success(), "nvdisasm: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let (_, rest) =
        text.split_once(&format!(".section\t.text.{},", kernel.name)).context("the kernel is not in its machine code")?;
    let code = rest.split(".section").next().unwrap_or_default();
    Ok(code.lines().filter_map(line).collect())
}

/// Returns a label, or an instruction; other lines are for the assembler.
fn line(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with(".L_") {
        return Some(line.to_owned());
    }
    let (_, instruction) = line.strip_prefix("/*")?.split_once("*/")?;
    Some(instruction.split(';').next()?.trim().to_owned())
}

/// Returns the name of an instruction, without its predicate and its modifiers.
fn name(instruction: &str) -> &str {
    let mut words = instruction.split_whitespace().filter(|word| !word.starts_with('@'));
    words.next().and_then(|word| word.split('.').next()).unwrap_or_default()
}

/// Returns the instructions of every loop that has a multiply-add: from a label to a jump back to it.
fn loops(code: &[String]) -> Vec<Vec<String>> {
    let mut loops = Vec::new();
    for (end, jump) in code.iter().enumerate().filter(|(_, line)| name(line) == "BRA") {
        let begin =
            code[..end].iter().rposition(|line| line.ends_with(':') && jump.contains(&format!("({})", line.trim_end_matches(':'))));
        let Some(begin) = begin else { continue };
        let body: Vec<String> = code[begin..=end].iter().filter(|line| !line.ends_with(':')).cloned().collect();
        if body.iter().any(|line| name(line) == "FFMA") {
            loops.push(body);
        }
    }
    loops
}

fn shortest(loops: Vec<Vec<String>>) -> Option<Vec<String>> {
    loops.into_iter().min_by_key(Vec::len)
}

/// Chooses a load from constant memory and its first uses. The load is the longest loop's first of a pair. The uses are multiply-adds.
fn constants(loops: Vec<Vec<String>>) -> Option<Vec<String>> {
    let longest = loops.into_iter().max_by_key(Vec::len)?;
    let load = longest.iter().position(|line| name(line) == "ULDC" && line.contains(CONSTANT_MEMORY))?;
    // A load of 64 bits for the whole warp writes the register that it names, and the next one.
    let first: u32 = longest[load].split_whitespace().nth(1)?.trim_end_matches(',').strip_prefix("UR")?.parse().ok()?;
    let mut chosen = vec![longest[load].clone()];
    for register in [first, first + 1] {
        let uses_it = |line: &&String| name(line) == "FFMA" && line.contains(&format!(" UR{register},"));
        chosen.push(longest[load..].iter().find(uses_it)?.clone());
    }
    Some(chosen)
}

/// Says what an instruction does.
fn meaning(instruction: &str) -> &'static str {
    match name(instruction) {
        "LDS" if instruction.contains(".128") => "four words from shared memory",
        "LDS" => "a word from shared memory",
        "ULDC" => "two words from constant memory, once for the warp",
        "FFMA" => "multiply-add",
        "ISETP" => "compare",
        "VIADD" | "IADD3" => "add",
        "BRA" => "jump",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_found_among_the_lines_of_the_program() {
        let error = |place: &str, times: u32| {
            format!("{MARK} Error: Race reported between {place}\n{MARK}     and f+0x2 [{times} hazards]\n")
        };
        let (first, again, second) = (error("f+0x1", 7), error("f+0x1", 8), error("f+0x3", 9));
        let output = format!(
            "{MARK} COMPUTE-SANITIZER\ndevice\n{first}{MARK} \n{again}{second}naive\n{MARK} RACECHECK SUMMARY: 3 and more\n"
        );
        assert_eq!(report(&output), format!("{first}{second}"));
    }

    #[test]
    fn what_a_listing_shows_is_found_in_machine_code() {
        let code = ".L_x_1:\n/*0010*/ ULDC.64 UR4, c[0x3][UR9] ; /* 0x01 */\n/*0020*/ LDS R5, [R11] ;\n.L_x_2:\n/*0030*/ FFMA R4, R4, UR4, R20 ;\n\
                    /*0040*/ @P1 BRA `(.L_x_2) ;\n/*0050*/ FFMA R5, R5, UR5, R4 ;\n/*0060*/ @P2 BRA `(.L_x_1) ;\n/*0070*/ EXIT ;\n\t.align 4\n";
        let code: Vec<String> = code.lines().filter_map(line).collect();
        assert_eq!(shortest(loops(&code)).unwrap(), ["FFMA R4, R4, UR4, R20", "@P1 BRA `(.L_x_2)"]);
        let expected = ["ULDC.64 UR4, c[0x3][UR9]", "FFMA R4, R4, UR4, R20", "FFMA R5, R5, UR5, R4"];
        assert_eq!(constants(loops(&code)).unwrap(), expected);
        assert_eq!(shortest(loops(&code[3..4])), None);
    }
}
