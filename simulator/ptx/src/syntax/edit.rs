//! Edits a text by the spans of its tree.

use std::ops::Range;

/// Replaces these spans of a text, which must not overlap. An empty replacement removes its span. An empty span inserts; several
/// texts that are inserted at the same place stay in the order of `edits`.
///
/// # Panics
///
/// When two spans overlap, or one is not in the text.
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

/// Extends a span by the rest of its last line, if empty. Removing the span then leaves no empty line.
pub fn to_line_end(text: &str, span: Range<usize>) -> Range<usize> {
    let rest = &text[span.end..];
    let line = rest.find('\n').map_or(rest.len(), |end| end + 1);
    let is_empty = rest[..line].trim().is_empty();
    span.start..span.end + if is_empty { line } else { 0 }
}
