//! The solution of an exercise, and the starter that is made from it.
//!
//! The learner writes what is between `#ifdef SOLUTION` and `#endif`. The starter has the lines after `#else` instead, with a comment that
//! says what to do. Both versions compile as CUDA C, and they differ only in the marked parts. Other preprocessor conditions stay as they are.

/// One of the two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// The text that the learner starts with.
    Starter,
    /// The text that they should arrive at.
    Solution,
}

const BEGIN: &str = "#ifdef SOLUTION";

/// Returns one version of a marked text, without the marks.
/// The error names the line of a mark that has no end, or that is inside another one.
pub fn version(marked: &str, version: Version) -> Result<String, String> {
    let mut text = String::new();
    // The line that the part starts in, and whether we are past its `#else`.
    let mut part: Option<(usize, bool)> = None;
    // Other conditions that are open inside the part.
    let mut inner = 0;
    for (number, line) in (1..).zip(marked.lines()) {
        let directive = line.trim();
        match &mut part {
            None if directive == BEGIN => {
                part = Some((number, false));
                continue;
            }
            Some((first, _)) if directive == BEGIN => {
                return Err(format!("line {number}: a part to write inside the one of line {first}"));
            }
            Some((_, in_else)) if inner == 0 && directive == "#else" => {
                *in_else = true;
                continue;
            }
            Some(_) if inner == 0 && directive == "#endif" => {
                part = None;
                continue;
            }
            Some(_) if directive.starts_with("#if") => inner += 1,
            Some(_) if directive == "#endif" => inner -= 1,
            _ => {}
        }
        let shown = part.is_none_or(|(_, in_else)| in_else == (version == Version::Starter));
        if shown {
            text.push_str(line);
            text.push('\n');
        }
    }
    match part {
        Some((first, _)) => Err(format!("line {first}: {BEGIN} has no #endif")),
        None => Ok(text),
    }
}

/// Returns the value of an integer constant (`constexpr unsigned NAME = 256;`) in a text.
/// Fails when there is no such line, or when its value is not a plain number.
pub fn constant(text: &str, name: &str) -> Result<u32, String> {
    let definition = text.lines().find_map(|line| {
        let line = line.split("//").next().unwrap_or_default().trim();
        let (left, right) = line.strip_prefix("constexpr ")?.split_once('=')?;
        (left.split_whitespace().next_back()? == name).then(|| right.trim().trim_end_matches(';').trim().to_owned())
    });
    let Some(value) = definition else {
        return Err(format!("the launch needs a line `constexpr unsigned {name} = …;`, and there is no such line"));
    };
    let number = value.trim_end_matches(['u', 'U']).parse();
    number.map_err(|_| format!("the launch needs a plain number for {name}, but the file has `{value}`"))
}

/// Joins the lines of each paragraph, for wrapping to any width. Lines that begin with a space, such as formulas, stay.
pub fn paragraphs(text: &str) -> String {
    let mut joined = String::new();
    let mut in_prose = false;
    for line in text.trim().lines() {
        let is_prose = !line.is_empty() && !line.starts_with(' ');
        if !joined.is_empty() {
            joined.push(if in_prose && is_prose { ' ' } else { '\n' });
        }
        joined += line;
        in_prose = is_prose;
    }
    joined
}

const BY_HAND: &str = "#pragma unroll 1";

/// Returns the line (from 1) of the first loop that the compiler may unroll. Loops that the starter has without the pragma do not
/// count.
pub fn unrollable_loop(text: &str, starter: &str) -> Option<usize> {
    let mut given: Vec<&str> = free_loops(starter).map(|(_, header)| header).collect();
    free_loops(text).find_map(|(line, header)| match given.iter().position(|known| *known == header) {
        Some(known) => {
            given.swap_remove(known);
            None
        }
        None => Some(line),
    })
}

/// Returns the loops without the pragma: their lines, from 1, and texts.
fn free_loops(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut before = "";
    (1..).zip(text.lines()).filter_map(move |(number, line)| {
        let line = line.split("//").next().unwrap_or_default().trim();
        if line.is_empty() {
            return None;
        }
        let by_hand = before == BY_HAND;
        before = line;
        let words = || line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        (!by_hand && words().any(|word| matches!(word, "for" | "while" | "do" | "goto"))).then_some((number, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKED: &str =
        "one\n#ifdef SOLUTION\n  two\n#if X\n  three\n#endif\n#else\n  // write two\n#endif\nfour\n#ifdef SOLUTION\nfive\n#endif\n";

    #[test]
    fn the_starter_differs_from_the_solution_only_in_marked_parts() {
        assert_eq!(version(MARKED, Version::Starter).unwrap(), "one\n  // write two\nfour\n");
        assert_eq!(version(MARKED, Version::Solution).unwrap(), "one\n  two\n#if X\n  three\n#endif\nfour\nfive\n");
    }

    #[test]
    fn misplaced_marks_are_named() {
        assert_eq!(version("a\n#ifdef SOLUTION\n", Version::Starter).unwrap_err(), "line 2: #ifdef SOLUTION has no #endif");
        let nested = "#ifdef SOLUTION\n#ifdef SOLUTION\n#endif\n#endif\n";
        assert_eq!(version(nested, Version::Starter).unwrap_err(), "line 2: a part to write inside the one of line 1");
    }

    #[test]
    fn prose_becomes_one_line_for_each_paragraph() {
        assert_eq!(paragraphs("\none\ntwo\n\n    a = b\n    c = d\n\nthree\n"), "one two\n\n    a = b\n    c = d\n\nthree");
    }

    #[test]
    fn a_loop_without_the_pragma_is_found_unless_it_was_given() {
        let starter = "for (given) {\n#pragma unroll 1\nfor (a) {}\n}\n";
        assert_eq!(unrollable_loop(starter, starter), None);
        assert_eq!(unrollable_loop("for (given) {\n#pragma unroll 1\n// so\nfor (b) {}\n}\n", starter), None);
        assert_eq!(unrollable_loop("for (given) {\nfor (a) {}\n}\n", starter), Some(2), "the pragma is gone");
        assert_eq!(unrollable_loop("for (given) {\n#pragma unroll 4\nfor (a) {}\n}\n", starter), Some(3));
        assert_eq!(unrollable_loop("for (given) {\n}\nfor (given) {}\n", starter), Some(3), "one was given");
        assert_eq!(unrollable_loop("before(); // for\n", starter), None);
    }

    #[test]
    fn constants_are_read_from_the_text() {
        let text = "// constexpr unsigned TILE = 8;\nconstexpr unsigned TILE = 32; // columns\nconstexpr int HALF = TILE / 2;\n";
        assert_eq!(constant(text, "TILE"), Ok(32));
        assert!(constant(text, "HALF").unwrap_err().contains("`TILE / 2`"));
        assert!(constant(text, "BLOCK").unwrap_err().contains("no such line"));
    }
}
