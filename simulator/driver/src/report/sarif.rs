//! The report in SARIF 2.1.0, the OASIS standard for results of static analysis, which GitHub's code scanning and most editors read.

use serde_json::{Value, json};
use simt::Severity;

use super::{Defect, Place, RULES, Report};

/// The folder that paths are relative to. GitHub takes it for the root of the checkout.
const BASE: &str = "%SRCROOT%";

impl Report {
    /// Formats each defect as a result.
    pub fn sarif(&self) -> Value {
        let rules: Vec<Value> = RULES
            .iter()
            .map(|rule| {
                json!({
                    "id": rule.name,
                    "shortDescription": { "text": rule.summary },
                    "fullDescription": { "text": format!("{}.", rule.summary) },
                    "help": { "text": rule.text },
                    "defaultConfiguration": { "level": level(rule.severity) },
                })
            })
            .collect();
        let notifications: Vec<Value> =
            self.refusals.iter().map(|refusal| notification(refusal.stops_kernels, &refusal.reason)).collect();
        let untested = self.untested().map(|untested| notification(true, &untested.to_string()));
        let notifications: Vec<Value> = untested.into_iter().chain(notifications).collect();
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": { "name": "simcuda", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules } },
                "invocations": [{ "executionSuccessful": self.untested().is_none(), "toolExecutionNotifications": notifications }],
                "columnKind": "unicodeCodePoints",
                "properties": { "profile": self.profile },
                "results": self.defects.iter().map(result).collect::<Vec<_>>(),
            }],
        })
    }
}

fn notification(is_error: bool, text: &str) -> Value {
    json!({ "level": if is_error { "error" } else { "warning" }, "message": { "text": text } })
}

fn result(defect: &Defect) -> Value {
    let kernel = json!([{ "name": defect.kernel, "kind": "function" }]);
    let mut places = defect.places.iter();
    let location = match places.next() {
        Some(place) => json!({ "physicalLocation": physical(place), "logicalLocations": kernel }),
        None => json!({ "logicalLocations": kernel }),
    };
    let related = places
        .enumerate()
        .map(|(index, place)| json!({ "id": index + 1, "message": { "text": place.what }, "physicalLocation": physical(place) }));
    let suppressions = defect.suppressed.iter().map(|reason| json!({ "kind": "external", "justification": reason }));
    json!({
        "ruleId": defect.kind,
        "ruleIndex": RULES.iter().position(|rule| rule.name == defect.kind),
        "level": level(defect.severity),
        "message": { "text": defect.text() },
        "locations": [location],
        "relatedLocations": related.collect::<Vec<_>>(),
        "partialFingerprints": { "simcudaDefect/v1": defect.id },
        "occurrenceCount": defect.times,
        "suppressions": suppressions.collect::<Vec<_>>(),
    })
}

fn level(severity: Severity) -> &'static str {
    if severity == Severity::Error { "error" } else { "warning" }
}

fn physical(place: &Place) -> Value {
    let artifact = if is_absolute(&place.file) {
        json!({ "uri": format!("file://{}", uri(&place.file)) })
    } else {
        json!({ "uri": uri(&place.file), "uriBaseId": BASE })
    };
    let region = match &place.text {
        Some(text) => json!({ "startLine": place.line, "snippet": { "text": text } }),
        None => json!({ "startLine": place.line }),
    };
    json!({ "artifactLocation": artifact, "region": region })
}

fn is_absolute(file: &str) -> bool {
    file.starts_with('/')
}

/// Percent-encodes what a path in a URI cannot contain (RFC 3986).
fn uri(path: &str) -> String {
    path.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use simt::{FindingKind, SourceLine};

    use super::*;
    use crate::report::Suppression;
    use crate::tests::{failed, finding, finished};

    #[test]
    fn a_defect_is_a_result_with_its_places_its_rule_and_its_identity() {
        let entry = Suppression { kernel: Some("quiet".to_owned()), reason: "known".to_owned(), ..Suppression::default() };
        let mut report = Report::new("t4", vec![entry]);
        let mut inlined = finding(7);
        inlined.location.inlined_at = Some(SourceLine { file: "my kernels/b.cu".to_owned(), line: 9 });
        inlined.times = 4;
        report.note(&finished("k", vec![inlined]), || 0);
        report.note(&failed("quiet", Some(finding(3))), || 0);
        report.note(&failed("k", None), || 0);
        let mut warning = finding(1);
        warning.location.source = Some(SourceLine { file: "/usr/include/x.h".to_owned(), line: 2 });
        warning.kind = FindingKind::EndedBeforeBarrier { barrier: 0, ended: 3 };
        report.note(&finished("k", vec![warning]), || 0);
        let sarif = report.sarif();
        let run = &sarif["runs"][0];
        let results = run["results"].as_array().unwrap();
        for result in results {
            let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
            assert_eq!(rule["id"], result["ruleId"]);
            // None of these is milder than its rule can be.
            assert_eq!(rule["defaultConfiguration"]["level"], result["level"]);
        }
        let [inlined, quiet, endless, warning] = results.as_slice() else { panic!("{results:?}") };
        assert_eq!(inlined["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "my%20kernels/b.cu");
        assert_eq!(inlined["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 7);
        assert_eq!((&inlined["occurrenceCount"], &inlined["level"]), (&json!(4), &json!("error")));
        assert_eq!(inlined["partialFingerprints"]["simcudaDefect/v1"], report.defects[0].id);
        assert_eq!(inlined["suppressions"], json!([]));
        assert_eq!(quiet["suppressions"][0]["justification"], "known");
        assert_eq!((&endless["ruleId"], &endless["locations"][0]["logicalLocations"][0]["name"]), (&json!("endless"), &json!("k")));
        assert_eq!(warning["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "file:///usr/include/x.h");
        assert_eq!(warning["level"], "warning");
    }
}
