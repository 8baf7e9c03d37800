//! The report as annotations for GitHub Actions, which shows each one at the line of the pull request that it names.
//!
//! GitHub's documentation "Workflow commands for GitHub Actions" has the format: one line `::error file=…,line=…::message` each.

use std::fmt::Write;

use simt::Severity;

use super::{Defect, Report};

impl Report {
    /// Formats each defect as one line.
    pub fn github(&self) -> String {
        self.reported().map(annotation).collect()
    }
}

fn annotation(defect: &Defect) -> String {
    let command = match defect.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut line = format!("::{command} title={}", property(&format!("kernel {}", defect.kernel)));
    // Without `-lineinfo`, a defect has no line of CUDA C, so the annotation belongs to the run and not to a file.
    if let Some(place) = defect.places.first() {
        // Writing to a String never fails.
        let _ = write!(line, ",file={},line={}", property(&place.file), place.line);
    }
    format!("{line}::{}\n", data(&defect.text()))
}

/// Escapes a message. A line break would end the command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property. A colon or a comma would end it too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{failed, finding, finished};
    use simt::{FindingKind, SourceLine};

    #[test]
    fn a_defect_is_annotated_at_its_line() {
        let mut report = Report::default();
        report.note(&failed("k", Some(finding(12))), || 0);
        let mut elsewhere = finding(1);
        elsewhere.location.source = None;
        elsewhere.kind = FindingKind::EndedBeforeBarrier { barrier: 0, ended: 3 };
        report.note(&finished("a,b", vec![elsewhere]), || 0);
        let mut inlined = finding(1834);
        inlined.location.inlined_at = inlined.location.source.replace(SourceLine { file: "cuda_fp16.hpp".to_owned(), line: 7 });
        report.note(&failed("k", Some(inlined)), || 0);
        let lines: Vec<String> = report.github().lines().map(str::to_owned).collect();
        assert_eq!(
            lines[0],
            "::error title=kernel k,file=kernels/a.cu,line=12::the kernel executed a trap\
             %0A  in kernel k, block (0,0,0), thread (0,0,0)%0A  at kernels/a.cu:12, PTX line 12: trap;%0A  id {}"
                .replace("{}", &report.defects[0].id)
        );
        assert!(
            lines[1].starts_with("::warning title=kernel a%2Cb::warning: barrier 0 reached by part of the block"),
            "{}",
            lines[1]
        );
        assert!(lines[2].starts_with("::error title=kernel k,file=kernels/a.cu,line=1834::"), "{}", lines[2]);
        assert!(lines[2].contains("at cuda_fp16.hpp:7, inlined at kernels/a.cu:1834, PTX line 1834"), "{}", lines[2]);
        assert_eq!(lines.len(), 3);
    }
}
