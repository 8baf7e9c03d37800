//! The loop of a kernel as its stored PTX has it, for the page that reads it line by line.

use anyhow::{Context, Result};

/// Returns one iteration of a kernel's loop that was not unrolled. It goes from the loop's label to the jump back.
pub fn remainder_loop(kernel: &str) -> Result<String> {
    let ptx = kernels::sources().iter().find_map(|source| source.ptx.split_once(&format!(".entry {kernel}(")));
    let (_, kernel) = ptx.with_context(|| format!("no stored PTX has a kernel {kernel}"))?;
    // NVRTC unrolls a loop by four and marks the loop over the remainder, so that it is not unrolled as well.
    let (before, after) = kernel.split_once("\t.pragma \"nounroll\";\n").context("a loop that is not unrolled")?;
    let label = before.trim_end().lines().next_back().context("the loop's label")?;
    let jump = format!("bra \t{};", label.trim_end_matches(':'));
    let (body, _) = after.split_once(&jump).with_context(|| format!("`{jump}`"))?;
    let instructions = body.lines().filter(|line| !line.trim().is_empty() && !line.contains(".loc"));
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: String = instructions.map(|line| format!("\n    {}", words(line))).collect();
    // The text was cut between the condition of the jump and the jump.
    Ok(format!("{label}{lines} {}\n", words(&jump)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iteration_of_the_first_kernel_is_two_loads_and_a_multiply_add() {
        let iteration = remainder_loop("naive").unwrap_or_else(|error| panic!("{error:#}"));
        let count = |spelling: &str| iteration.lines().filter(|line| line.contains(spelling)).count();
        assert_eq!((count("ld.global"), count("fma.rn.f32"), count("bra")), (2, 1, 1), "{iteration}");
        assert!(remainder_loop("lost").is_err());
    }
}
