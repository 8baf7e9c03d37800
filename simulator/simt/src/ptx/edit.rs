//! Edits of a text, by the spans that the tree has.

use std::ops::Range;

/// The text with other text in these places, which must not overlap. An empty text removes; an empty span inserts, and what is inserted at
/// one place is in the order of the edits.
///
/// # Panics
///
/// When two places overlap or one is not in the text.
pub fn edit(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    let mut edited = String::with_capacity(text.len());
    let mut at = 0;
    for (span, replacement) in edits {
        assert!(at <= span.start, "an edit at byte {} overlaps with one that ends at byte {at}", span.start);
        edited.push_str(&text[at..span.start]);
        edited.push_str(&replacement);
        at = span.end;
    }
    edited + &text[at..]
}

/// The span with the rest of the last line and its end, where nothing else is on that line: what to remove so that no empty line is left.
pub fn to_line_end(text: &str, span: Range<usize>) -> Range<usize> {
    let rest = &text[span.end..];
    let line = rest.find('\n').map_or(rest.len(), |end| end + 1);
    let is_empty = rest[..line].trim().is_empty();
    span.start..span.end + if is_empty { line } else { 0 }
}
