//! The report as annotations of GitHub Actions, which shows them at the lines of a pull request that they name.
//!
//! The form is that of GitHub's documentation, "Workflow commands for GitHub Actions": one line of `::error file=…,line=…::message` each.

use std::fmt::Write;

use simt::Severity;

use super::{Defect, Report};

impl Report {
    /// One line per defect.
    pub fn github(&self) -> String {
        self.defects.iter().map(annotation).collect()
    }
}

fn annotation(defect: &Defect) -> String {
    let command = match defect.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut line = format!("::{command} title={}", property(&format!("kernel {}", defect.kernel)));
    // Without `-lineinfo` a defect has no line of CUDA C, and the annotation stands at the run and at no file.
    if let Some(source) = defect.finding.as_ref().and_then(|finding| finding.location.source.as_ref()) {
        // A String takes all that is written to it.
        let _ = write!(line, ",file={},line={}", property(&source.file), source.line);
    }
    format!("{line}::{}\n", data(&defect.message))
}

/// A message, in which a line break would end the command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property, which a colon or a comma would end too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{failed, finding, finished};
    use super::*;
    use simt::FindingKind;

    #[test]
    fn a_defect_is_annotated_at_its_line() {
        let mut report = Report::new();
        report.note(&failed("k", Some(finding(12))));
        let mut elsewhere = finding(1);
        elsewhere.location.source = None;
        elsewhere.kind = FindingKind::EndedBeforeBarrier { barrier: 0, ended: 3 };
        report.note(&finished("a,b", vec![elsewhere]));
        let lines: Vec<String> = report.github().lines().map(str::to_owned).collect();
        assert_eq!(
            lines[0],
            "::error title=kernel k,file=kernels/a.cu,line=12::the kernel executed a trap\
             %0A  in kernel k, block (0,0,0), thread (0,0,0)%0A  at kernels/a.cu:12, PTX line 12: trap;"
        );
        assert!(
            lines[1].starts_with("::warning title=kernel a%2Cb::warning: barrier 0 reached by part of the block"),
            "{}",
            lines[1]
        );
        assert_eq!(lines.len(), 2);
    }
}
