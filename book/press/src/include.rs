//! mdBook's own `{{#include path:anchor}}`, which is silent about an anchor that does not exist.

use std::fs;
use std::path::Path;

use anyhow::{Result, anyhow, ensure};

use crate::directive::nearest;
use crate::root;

/// Finds a page's includes: the offset of each, and what it includes.
pub fn find(page: &str) -> impl Iterator<Item = (usize, &str)> {
    page.match_indices("{{#").filter_map(|(start, _)| {
        let rest = page[start + 3..].split_once("}}")?.0;
        let target = rest.strip_prefix("include ").or_else(|| rest.strip_prefix("rustdoc_include "))?;
        Some((start, target.trim()))
    })
}

/// Checks that a page's include finds its file and its anchor.
pub fn check(page: &str, target: &str) -> Result<()> {
    let (path, anchor) = target.split_once(':').unwrap_or((target, ""));
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    let text =
        fs::read_to_string(root().join(folder).join(path)).map_err(|_| anyhow!("there is no {}", folder.join(path).display()))?;
    if anchor.is_empty() || anchor.starts_with(|first: char| first.is_ascii_digit()) {
        return Ok(());
    }
    let anchors = || text.lines().filter_map(|line| Some(line.trim().split_once("ANCHOR: ")?.1));
    let ends = text.lines().any(|line| line.trim().split_once("ANCHOR_END: ").is_some_and(|(_, end)| end == anchor));
    ensure!(ends && anchors().any(|start| start == anchor), "{path} has no anchor {anchor}{}", nearest(anchor, anchors()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_include_lacks_is_said() {
        let cases = [
            ("../../kernels/cuda/01-conv-naive.cu:naive", None),
            ("setup.md", None),
            ("setup.md:1:2", None),
            ("../../kernels/cuda/01-conv-naive.cu:naiv", Some("has no anchor naiv; nearest: naive")),
            ("lost.rs", Some("there is no book/src/lost.rs")),
        ];
        for (target, message) in cases {
            let error = check("book/src/x.md", target).err().map(|error| error.to_string());
            assert!(error.as_deref().unwrap_or_default().contains(message.unwrap_or_default()), "{target}: {error:?}");
            assert_eq!(error.is_some(), message.is_some(), "{target}: {error:?}");
        }
        let found: Vec<_> = find("a {{#include b:c}} {{#title x}} {{#rustdoc_include d}}").collect();
        assert_eq!(found, [(2, "b:c"), (32, "d")]);
    }
}
