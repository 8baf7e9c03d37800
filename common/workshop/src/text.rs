//! The solution of an exercise, and the starter that is made from it.
//!
//! What the learner is to write stands between `#ifdef SOLUTION` and `#endif`. What stands after an `#else` is in its place in the starter;
//! a comment there says what to do. So both are CUDA C that a compiler takes, and the starter is the solution but for the marked parts.
//! Other conditions of the preprocessor stay as they are.

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// What the learner begins with.
    Starter,
    /// What they should come to.
    Solution,
}

/// The mark of a part to write.
const BEGIN: &str = "#ifdef SOLUTION";

/// One of the two versions of a marked text, without the marks.
///
/// # Errors
///
/// The line of a mark that does not end, or that stands within another one.
pub fn version(marked: &str, version: Version) -> Result<String, String> {
    let mut text = String::new();
    // The line that the part began in, and whether we are behind its `#else`.
    let mut part: Option<(usize, bool)> = None;
    // Other conditions that began within the part.
    let mut inner = 0;
    for (number, line) in (1..).zip(marked.lines()) {
        let directive = line.trim();
        match &mut part {
            None if directive == BEGIN => {
                part = Some((number, false));
                continue;
            }
            Some((first, _)) if directive == BEGIN => {
                return Err(format!("line {number}: a part to write within the one of line {first}"));
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

/// The value of an integer constant of a text, `constexpr unsigned NAME = 256;`.
///
/// # Errors
///
/// When there is no such line, or no plain number in it.
pub fn constant(text: &str, name: &str) -> Result<u32, String> {
    let definition = text.lines().find_map(|line| {
        let line = line.split("//").next().unwrap_or_default().trim();
        let (left, right) = line.strip_prefix("constexpr ")?.split_once('=')?;
        (left.split_whitespace().next_back()? == name).then(|| right.trim().trim_end_matches(';').trim().to_owned())
    });
    let Some(value) = definition else {
        return Err(format!("the launch needs `constexpr unsigned {name} = …;`, and there is no such line"));
    };
    let number = value.trim_end_matches(['u', 'U']).parse();
    number.map_err(|_| format!("the launch needs a plain number for {name}, and the file has `{value}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKED: &str =
        "one\n#ifdef SOLUTION\n  two\n#if X\n  three\n#endif\n#else\n  // write two\n#endif\nfour\n#ifdef SOLUTION\nfive\n#endif\n";

    #[test]
    fn a_starter_is_the_solution_but_for_the_marked_parts() {
        assert_eq!(version(MARKED, Version::Starter).unwrap(), "one\n  // write two\nfour\n");
        assert_eq!(version(MARKED, Version::Solution).unwrap(), "one\n  two\n#if X\n  three\n#endif\nfour\nfive\n");
    }

    #[test]
    fn marks_that_do_not_fit_are_named() {
        assert_eq!(version("a\n#ifdef SOLUTION\n", Version::Starter).unwrap_err(), "line 2: #ifdef SOLUTION has no #endif");
        let nested = "#ifdef SOLUTION\n#ifdef SOLUTION\n#endif\n#endif\n";
        assert_eq!(version(nested, Version::Starter).unwrap_err(), "line 2: a part to write within the one of line 1");
    }

    #[test]
    fn constants_are_read_from_the_text() {
        let text = "// constexpr unsigned TILE = 8;\nconstexpr unsigned TILE = 32; // columns\nconstexpr int HALF = TILE / 2;\n";
        assert_eq!(constant(text, "TILE"), Ok(32));
        assert!(constant(text, "HALF").unwrap_err().contains("`TILE / 2`"));
        assert!(constant(text, "BLOCK").unwrap_err().contains("no such line"));
    }
}
