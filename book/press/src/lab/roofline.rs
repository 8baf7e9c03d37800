//! The roofline of a chapter, or of all, to which a reader adds a point.

use anyhow::Result;

use super::html::figure;
use crate::archive::Archive;
use crate::charts;
use crate::directive::Arguments;
use crate::drawing::svg::inline;

/// Returns the chart of a record, or `overview` of a device, and what it shows in words. The script finds the axes in the drawing.
pub fn roofline(archive: &Archive, arguments: &mut Arguments) -> Result<String> {
    let name = arguments.word("a record, or `overview` and a device")?;
    let (kind, record) = if name == "overview" { ("overview", arguments.word("a device")?) } else { ("roofline", name) };
    let svg = charts::draw_named(archive, kind, &record, arguments)?;
    let alternative = arguments.alternative()?;
    Ok(figure("roofline", &[], &inline(&svg, &alternative)))
}
