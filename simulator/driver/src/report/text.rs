//! The report as text, for people.

use std::fmt;

use simt::Severity;

use super::{KernelSummary, Report, counted};
use crate::variables::BLOCKS;

/// Columns of the kernel table, after the kernel's name.
const COLUMNS: [&str; 6] = ["launches", "failed", "PTX instructions", "sectors per load", "sectors per store", "bank conflicts"];

/// Formats a ratio as `4.00`. Without requests, the text is empty.
fn ratio(sectors: u64, requests: u64) -> String {
    if requests == 0 { String::new() } else { format!("{:.2}", sectors as f64 / requests as f64) }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.profile.is_empty() {
            let loaded: Vec<&str> = self.processes.iter().map(|process| process.program.as_str()).collect();
            return match loaded[..] {
                [] => writeln!(f, "simcuda: no process loaded the driver"),
                _ => writeln!(f, "simcuda: no process called cuInit; these loaded the driver: {}", loaded.join(", ")),
            };
        }
        write!(
            f,
            "simcuda: {} on the profile {}: {}, {}",
            counted(self.launches(), "launch", "launches"),
            self.profile,
            counted(self.count(Severity::Error), "error", "errors"),
            counted(self.count(Severity::Warning), "warning", "warnings"),
        )?;
        let suppressed = self.defects.iter().filter(|defect| defect.suppressed.is_some()).count();
        if suppressed > 0 {
            write!(f, ", {suppressed} suppressed")?;
        }
        writeln!(f)?;
        self.table(f)?;
        if let [_, _, ..] = self.processes[..] {
            let launches: Vec<_> = self.processes.iter().map(|of| format!("{} {}", of.program, of.launches)).collect();
            writeln!(f, "\nlaunches of each process: {}", launches.join(", "))?;
        }
        for defect in self.reported() {
            let times = counted(defect.times, "time", "times");
            writeln!(f, "\n{times}: {}", defect.text())?;
        }
        if self.defects_not_kept > 0 {
            writeln!(f, "\n{} more, not listed", self.defects_not_kept)?;
        }
        for refusal in &self.refusals {
            writeln!(f, "\nrefused {}: {}", counted(refusal.times, "time", "times"), refusal.reason)?;
        }
        Ok(())
    }
}

impl Report {
    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kernels.is_empty() {
            return Ok(());
        }
        let width = self.kernels.keys().map(|name| name.chars().count()).max().unwrap_or(0).max("kernel".len());
        write!(f, "\n  {:width$}", "kernel")?;
        for column in COLUMNS {
            write!(f, "  {column}")?;
        }
        writeln!(f)?;
        for (name, kernel) in &self.kernels {
            let counters = &kernel.counters;
            let cells = [
                kernel.launches.to_string(),
                kernel.failed.to_string(),
                counters.ptx_instructions.to_string(),
                ratio(counters.global_load_sectors, counters.global_load_requests),
                ratio(counters.global_store_sectors, counters.global_store_requests),
                counters.bank_conflicts().to_string(),
            ];
            write!(f, "  {name:width$}")?;
            for (column, cell) in COLUMNS.iter().zip(cells) {
                write!(f, "  {cell:>width$}", width = column.len())?;
            }
            writeln!(f)?;
        }
        for (name, KernelSummary { partial, .. }) in self.kernels.iter().filter(|(_, kernel)| kernel.partial > 0) {
            let launches = counted(*partial, "launch", "launches");
            writeln!(f, "\n{launches} of {name} ran only some blocks, as {} asks, so its counts are of these", BLOCKS.name)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{failed, finding, finished};

    #[test]
    fn a_launch_of_which_only_some_blocks_ran_is_told() {
        let mut report = Report { profile: "t4".to_owned(), ..Report::default() };
        let whole = finished("k", vec![]);
        let mut part = whole.clone();
        part.config.grid.x = 100;
        report.note(&whole, || 0);
        assert!(!report.to_string().contains("only some blocks"), "{report}");
        report.note(&part, || 0);
        assert!(report.to_string().contains("\n1 launch of k ran only some blocks, as SIMCUDA_BLOCKS asks"), "{report}");
    }

    #[test]
    fn the_text_shows_the_kernels_and_then_the_defects() {
        let mut report = Report { profile: "t4".to_owned(), ..Report::default() };
        report.note(&finished("first", vec![]), || 0);
        for _ in 0..3 {
            report.note(&failed("k", Some(finding(12))), || 0);
        }
        report.note_refusal("PTX line 3: no", true);
        let expected = "\
simcuda: 4 launches on the profile t4: 1 error, 0 warnings

  kernel  launches  failed  PTX instructions  sectors per load  sectors per store  bank conflicts
  first          1       0                 7              4.50                                  0
  k              3       3                 0                                                    0

3 times: the kernel executed a trap
  in kernel k, block (0,0,0), thread (0,0,0)
  at kernels/a.cu:12, PTX line 12: trap;
  id {}

refused 1 time: PTX line 3: no
";
        assert_eq!(report.to_string(), expected.replace("{}", &report.defects[0].id));
    }
}
