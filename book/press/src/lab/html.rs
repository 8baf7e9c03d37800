//! Text and data inside HTML. A figure is one block of HTML for mdBook, so it must not contain an empty line.

use anyhow::Result;
use serde::Serialize;

pub use crate::drawing::svg::escape_all as escape;

/// Embeds data for a script in an element that browsers hide.
pub fn data(value: &impl Serialize) -> Result<String> {
    // Nothing in it can end the element.
    let json = serde_json::to_string(value)?.replace('<', "\\u003c");
    Ok(format!("<script type=\"application/json\">{json}</script>\n"))
}

/// Returns a figure of a kind, with attributes and a static version.
pub fn figure(kind: &str, attributes: &[(&str, &str)], body: &str) -> String {
    let attributes: String = attributes.iter().map(|(name, value)| format!(" data-{name}=\"{}\"", escape(value))).collect();
    format!("<figure class=\"lab\" data-lab=\"{kind}\"{attributes}>\n{}\n</figure>\n", body.trim_end())
}

/// Returns a table in a scrolling box, with a heading per column.
pub fn table<const N: usize>(titles: [&str; N], rows: &[[String; N]]) -> String {
    let titles = titles.map(|title| format!("<th>{}</th>", escape(title))).concat();
    let cells = |row: &[String; N]| row.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect::<String>();
    let rows: String = rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row))).collect();
    format!(
        "<div class=\"lab-scroll\"><table class=\"lab-numbers\">\n<thead><tr>{titles}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_figure_ends_it_early() {
        assert_eq!(data(&"</script>").unwrap(), "<script type=\"application/json\">\"\\u003c/script>\"</script>\n");
        assert_eq!(
            figure("slide", &[("name", "a\"b")], "<p>x</p>\n"),
            "<figure class=\"lab\" data-lab=\"slide\" data-name=\"a&quot;b\">\n<p>x</p>\n</figure>\n"
        );
        assert!(table(["<"], &[["&".to_owned()]]).contains("<th>&lt;</th>"));
    }
}
