//! The sources of the numbers of a page: a line to open at its end.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use crate::archive::Archive;
use crate::manifest::{Manifest, short};

/// Writes the end of a page: its records and its facts' sources. `counts` is true if it shows counts from its build. Returns nothing for a
/// page without numbers.
pub fn of_page(manifest: &Manifest, archive: &Archive, records: &BTreeSet<String>, facts: &[&str], counts: bool) -> Result<String> {
    let mut lines = records.iter().map(|record| line(manifest, archive, record)).collect::<Result<Vec<_>>>()?;
    // The lines read the records, too, and the next page must not list them.
    archive.take_used();
    lines.extend(facts.iter().map(|source| format!("- {source}\n")));
    if counts {
        lines.push("- Drawings and listings of single kernels: counted by the simulator when this page was built.\n".to_owned());
    }
    if lines.is_empty() {
        return Ok(String::new());
    }
    let summary = "<summary>Where the numbers on this page come from</summary>";
    Ok(format!("\n\n<details class=\"source\">\n{summary}\n\n{}\n</details>\n", lines.concat()))
}

/// Returns a record: its file, the device, the day, and the command that makes it.
fn line(manifest: &Manifest, archive: &Archive, record: &str) -> Result<String> {
    let entry = manifest.entries.get(record).with_context(|| format!("book/records.toml does not list {record}"))?;
    let mut line = format!("- `book/{record}`");
    if record.starts_with("results/") {
        let run = archive.run(short(record))?;
        let device = &run.record.device;
        line += &match &entry.model {
            Some(model) => format!(": measured on an {model}, driver {}, {}", device.driver, run.day()),
            None => format!(": counted by the simulator as a {}, {}", device.name, run.day()),
        };
    }
    Ok(line + &format!(". Command: `{}`.\n", entry.command))
}
