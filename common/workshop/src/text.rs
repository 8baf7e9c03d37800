//! The solution of an exercise, and the starter that is made from it.
//!
//! The learner writes what is between `#ifdef SOLUTION` and `#endif`. The starter has the lines after `#else` instead, with a comment that
//! says what to do. Both versions compile as CUDA C, and they differ only in the marked parts. Other preprocessor conditions stay as they are.

/// One of the two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// What the learner starts with.
    Starter,
    /// What they should arrive at.
    Solution,
}

/// The mark at the start of a part to write.
const BEGIN: &str = "#ifdef SOLUTION";

/// A version of a marked text, without the marks.
///
/// # Errors
///
/// The line of a mark that has no end, or that is inside another one.
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

/// The value of an integer constant in a text, `constexpr unsigned NAME = 256;`.
///
/// # Errors
///
/// When there is no such line, or when its value is not a plain number.
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
    fn constants_are_read_from_the_text() {
        let text = "// constexpr unsigned TILE = 8;\nconstexpr unsigned TILE = 32; // columns\nconstexpr int HALF = TILE / 2;\n";
        assert_eq!(constant(text, "TILE"), Ok(32));
        assert!(constant(text, "HALF").unwrap_err().contains("`TILE / 2`"));
        assert!(constant(text, "BLOCK").unwrap_err().contains("no such line"));
    }
}
