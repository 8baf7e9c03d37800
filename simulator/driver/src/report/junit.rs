//! The report as JUnit XML, for the test pages of GitLab, Jenkins, and others.
//!
//! There is no standard. This is the part that Jenkins' schema (`junit-10.xsd` of its plugin xUnit) and every reader know: one test case
//! for each kernel, with at most one failure, because GitLab shows only one.

use std::fmt::Write;

use simt::Severity;

use super::{Defect, Report, counted};

impl Report {
    /// Formats each kernel as a test case. It fails if the kernel has errors that are not suppressed.
    pub fn junit(&self) -> String {
        let defects_of = |kernel: &str| -> Vec<&Defect> { self.defects.iter().filter(|defect| defect.kernel == kernel).collect() };
        let failing = self.kernels.keys().filter(|kernel| defects_of(kernel).into_iter().any(is_failure)).count();
        let untested = self.untested();
        let (cases, failing) = (self.kernels.len() + 1, failing + usize::from(untested.is_some()));
        let counts = format!("tests=\"{cases}\" failures=\"{failing}\" errors=\"0\"");
        let mut xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"simcuda\" {counts}>\n  \
             <testsuite name=\"simcuda on {}\" {counts} skipped=\"0\">\n",
            escaped(&self.profile)
        );
        for (name, kernel) in &self.kernels {
            // Writing to a String never fails.
            let _ = writeln!(xml, "    <testcase classname=\"{}\" name=\"{}\">", escaped(&kernel.origin), escaped(name));
            test_case(&mut xml, &defects_of(name));
            xml.push_str("    </testcase>\n");
        }
        xml.push_str("    <testcase classname=\"simcuda\" name=\"every kernel ran\">\n");
        if let Some(untested) = untested {
            let _ = writeln!(xml, "      <failure message=\"{untested}\" type=\"untested\"/>");
        }
        xml.push_str("    </testcase>\n");
        if !self.refusals.is_empty() {
            let reasons: String = self.refusals.iter().map(|refusal| format!("refused: {}\n", refusal.reason)).collect();
            let _ = writeln!(xml, "    <system-err>{}</system-err>", escaped(&reasons));
        }
        xml.push_str("  </testsuite>\n</testsuites>\n");
        xml
    }
}

fn is_failure(defect: &Defect) -> bool {
    defect.suppressed.is_none() && defect.severity == Severity::Error
}

fn test_case(xml: &mut String, defects: &[&Defect]) {
    let (failures, others): (Vec<&Defect>, Vec<&Defect>) = defects.iter().partition(|defect| is_failure(defect));
    if let Some(first) = failures.first() {
        let message = match failures.len() {
            1 => first.message.lines().next().unwrap_or_default().to_owned(),
            several => format!("{several} defects, the first: {}", first.message.lines().next().unwrap_or_default()),
        };
        let texts: Vec<String> =
            failures.iter().map(|defect| format!("{}: {}\n", counted(defect.times, "time", "times"), defect.text())).collect();
        let (message, kind, text) = (escaped(&message), escaped(&first.kind), escaped(&texts.join("\n")));
        let _ = writeln!(xml, "      <failure message=\"{message}\" type=\"{kind}\">{text}</failure>");
    }
    if !others.is_empty() {
        let texts: Vec<String> = others
            .iter()
            .map(|defect| match &defect.suppressed {
                Some(reason) => format!("suppressed ({reason}): {}\n", defect.text()),
                None => format!("{}\n", defect.text()),
            })
            .collect();
        let _ = writeln!(xml, "      <system-out>{}</system-out>", escaped(&texts.join("\n")));
    }
}

/// Escapes text for an element or an attribute. A character that XML 1.0 cannot contain is replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use simt::FindingKind;

    use super::*;
    use crate::report::Suppression;
    use crate::tests::{failed, finding, finished};

    #[test]
    fn a_kernel_is_a_test_case_that_fails_because_of_its_errors() {
        let entry =
            Suppression { file: Some("a.cu".to_owned()), line: Some(5), reason: "a < b".to_owned(), ..Suppression::default() };
        let mut report = Report::new("t4", vec![entry]);
        let mut warning = finding(9);
        warning.kind = FindingKind::EndedBeforeBarrier { barrier: 0, ended: 3 };
        report.note(&finished("scale<float>", vec![]), || 0);
        report.note(&finished("k", vec![finding(5), warning]), || 0);
        report.note(&failed("k", Some(finding(3))), || 0);
        report.note(&failed("k", Some(finding(4))), || 0);
        report.note(&failed("\u{1}", None), || 0);
        report.note_refusal("no & never", true);
        let [trap, other] = [3, 4].map(|line| {
            let defect = report.defects.iter().find(|defect| defect.places.first().is_some_and(|place| place.line == line));
            defect.unwrap().id.clone()
        });
        let xml = report.junit();
        let expected = format!(
            "<failure message=\"2 defects, the first: the kernel executed a trap\" type=\"trap\">1 time: the kernel executed a trap\n  \
             in kernel k, block (0,0,0), thread (0,0,0)\n  at kernels/a.cu:3, PTX line 3: trap;\n  id {trap}\n\n\
             1 time: the kernel executed a trap\n  in kernel k, block (0,0,0), thread (0,0,0)\n  at kernels/a.cu:4, PTX line 4: trap;\n  \
             id {other}\n</failure>"
        );
        assert!(xml.contains(&expected), "{xml}");
        assert!(xml.contains("<testsuite name=\"simcuda on t4\" tests=\"4\" failures=\"3\" errors=\"0\" skipped=\"0\">"), "{xml}");
        assert!(xml.contains("name=\"scale&lt;float&gt;\">\n    </testcase>"), "{xml}");
        assert!(xml.contains("<system-out>suppressed (a &lt; b): the kernel executed a trap"), "{xml}");
        assert!(xml.contains("warning: barrier 0 reached by part of the block"), "{xml}");
        assert!(xml.contains("<system-err>refused: no &amp; never\n</system-err>"), "{xml}");
        assert!(xml.contains("name=\"\u{fffd}\""), "{xml}");
    }
}
