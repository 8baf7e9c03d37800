//! The report as annotations of GitHub Actions, which shows them at the lines of a pull request that they name.
//!
//! The form is that of GitHub's documentation, "Workflow commands for GitHub Actions": one line of `::error file=…,line=…::message` each.

use std::fmt::Write;

use super::{Defect, Report};

impl Report {
    /// One line per defect: an error where it ended the kernel, otherwise a warning.
    pub fn github(&self) -> String {
        self.defects.iter().map(annotation).collect()
    }
}

fn annotation(defect: &Defect) -> String {
    let command = if defect.fatal { "error" } else { "warning" };
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

    #[test]
    fn a_defect_is_annotated_at_its_line() {
        let mut report = Report::new();
        report.note(&failed("k", Some(finding(12))));
        let mut elsewhere = finding(1);
        elsewhere.location.source = None;
        report.note(&finished("a,b", vec![elsewhere]));
        let message = "the kernel executed a trap, as a failed assert does%0A  in kernel k, block (0,0,0), thread (0,0,0)%0A  at ";
        assert_eq!(
            report.github(),
            format!(
                "::error title=kernel k,file=kernels/a.cu,line=12::{message}kernels/a.cu:12, PTX line 12: trap;\n\
                 ::warning title=kernel a%2Cb::{message}PTX line 1: trap;\n"
            )
        );
    }
}
