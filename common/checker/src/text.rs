//! The solution of an exercise, the starter that is made from it, and host code as a compiler for GPUs gets it.
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

/// Returns true if a text has this word.
pub fn has_word(text: &str, word: &str) -> bool {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).any(|known| known == word)
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

/// Declarations before the learner's text. They begin with the line by which the compilers know host code.
const PROLOGUE: &str = include_str!("host.h");

/// The kernel that calls the host code.
pub const ENTRY: &str = "unrolled_host";

/// Returns the text that is compiled: each launch is a call that notes it. Every line stays where it was.
pub fn with_host_code(name: &str, text: &str, function: &str, parameters: usize) -> String {
    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
    let arguments: Vec<String> = (0..parameters).map(|at| format!("unrolled_value{{values + {at}}}")).collect();
    let call = format!("{function}({});", arguments.join(", "));
    // A compiler that refuses the call names its file.
    let entry = format!(
        "#line 1 \"leave the first line of {function} as it was: the call of {function}\"\n\
         extern \"C\" __global__ void {ENTRY}(const unsigned long long *values) {{ {call} }}"
    );
    format!("{PROLOGUE}#line 1 \"{name}\"\n{}\n{entry}\n", with_calls(text).0)
}

/// Replaces each `NAME<<<SHAPE>>>`. Returns the names with their lines, too.
pub fn with_calls(text: &str) -> (String, Vec<(String, u32)>) {
    let mut pieces = text.split("<<<");
    let (mut new, mut sites) = (pieces.next().unwrap_or_default().to_owned(), Vec::new());
    for piece in pieces {
        let before = new.trim_end();
        let start = before.trim_end_matches(|letter: char| letter.is_alphanumeric() || letter == '_').len();
        match piece.split_once(">>>") {
            Some((shape, after)) if start < before.len() => {
                let name = new.split_off(start);
                new += &format!("unrolled_launch<decltype({name}), {}>().with({shape}).call{after}", sites.len());
                sites.push((name.trim_end().to_owned(), new[..start].matches('\n').count() as u32 + 1));
            }
            _ => new = new + "<<<" + piece,
        }
    }
    (new, sites)
}

/// Puts the learner's lines back into a compiler's messages. The marks below such lines are left out.
pub fn without_calls(log: &str, text: &str) -> String {
    let (new, _) = with_calls(text);
    let mut is_mark = false;
    let lines = log.lines().filter_map(|line| {
        let known = new.lines().zip(text.lines()).find(|(new, old)| new != old && new.trim() == line.trim());
        is_mark &= !line.contains('(') && !line.is_empty() && known.is_none();
        let kept = (!is_mark).then(|| known.map_or(line, |(_, old)| old));
        is_mark |= known.is_some();
        kept
    });
    lines.collect::<Vec<&str>>().join("\n")
}

const BY_HAND: &str = "#pragma unroll 1";

/// Returns the line (from 1) of the first loop that the compiler may unroll. `remaining` are the lines at which its code goes back. A loop that is gone, such as one over an array in registers, may be unrolled. Loops that the starter has without the pragma
/// do not count.
pub fn unrollable_loop(text: &str, starter: &str, remaining: &[u32]) -> Option<usize> {
    let (text, starter) = (without_comments(text), without_comments(starter));
    let (lines, given): (Vec<&str>, Vec<&str>) = (text.lines().map(str::trim).collect(), starter.lines().map(str::trim).collect());
    let is_free = |lines: &[&str], header: usize| {
        let before = lines[..header].iter().rev().find(|line| !line.is_empty()).copied().unwrap_or_default();
        before.split_whitespace().ne(BY_HAND.split_whitespace())
    };
    // However it is spaced, and wherever its brace is.
    let words =
        |line: &str| line.chars().filter(|letter| !letter.is_whitespace()).collect::<String>().trim_end_matches('{').to_owned();
    let mut given: Vec<String> = (0..given.len()).filter(|&at| is_free(&given, at)).map(|at| words(given[at])).collect();
    let mut headers: Vec<usize> = remaining.iter().filter_map(|line| header(&lines, *line as usize)).collect();
    headers.sort_unstable();
    headers.dedup();
    headers.into_iter().filter(|&at| is_free(&lines, at)).find_map(|at| {
        match given.iter().position(|known| *known == words(lines[at])) {
            Some(known) => {
                given.swap_remove(known);
                None
            }
            None => Some(at + 1),
        }
    })
}

/// Returns the index of a loop's first line. The loop goes back at `line` (from 1). The condition of `do` is at its end.
fn header(lines: &[&str], line: usize) -> Option<usize> {
    let at = line.checked_sub(1)?;
    if !lines.get(at)?.starts_with('}') {
        return Some(at);
    }
    let mut open = 0;
    (0..=at).rev().find(|&above| {
        let braces = |brace| lines[above].matches(brace).count() as i64;
        open += braces('}') - braces('{');
        open <= 0
    })
}

/// Replaces comments with spaces, line by line.
fn without_comments(text: &str) -> String {
    let (mut code, mut rest) = (String::new(), text);
    while let Some(start) = rest.find('/') {
        let (before, comment) = rest.split_at(start);
        code += before;
        let length = match comment.as_bytes() {
            [b'/', b'/', ..] => comment.find('\n').unwrap_or(comment.len()),
            [b'/', b'*', ..] => comment.find("*/").map_or(comment.len(), |end| end + 2),
            _ => {
                code.push('/');
                rest = &comment[1..];
                continue;
            }
        };
        code.extend(comment[..length].chars().filter(|letter| *letter == '\n'));
        rest = &comment[length..];
    }
    code + rest
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
    fn a_loop_without_the_pragma_is_found_unless_it_was_given_or_is_gone() {
        let starter = "for (given) {\n#pragma unroll 1\nfor (a) {}\n}\n";
        assert_eq!(unrollable_loop(starter, starter, &[1, 3]), None);
        assert_eq!(unrollable_loop("for (given) {\n#pragma unroll 1\n// so\nfor (b) {}\n}\n", starter, &[1, 4]), None);
        assert_eq!(unrollable_loop("for (given) {\nfor (a) {}\n}\n", starter, &[1, 2]), Some(2), "the pragma is gone");
        assert_eq!(unrollable_loop("for (given) {\nfor (a) {}\n}\n", starter, &[1]), None, "the loop is gone");
        assert_eq!(
            unrollable_loop("for( given )\n{\n#pragma unroll 1\nfor (a) {}\n}\n", starter, &[1, 4]),
            None,
            "spaced otherwise"
        );
        assert_eq!(unrollable_loop("for (given) {\n#pragma unroll 4\nfor (a) {}\n}\n", starter, &[1, 3]), Some(3));
        assert_eq!(unrollable_loop("for (given) {\n/*\n#pragma unroll 1\n*/\nfor (a) {}\n}\n", starter, &[1, 5]), Some(5));
        assert_eq!(unrollable_loop("for (given) {\n}\nfor (given) {}\n", starter, &[1, 3]), Some(3), "one was given");
        assert_eq!(unrollable_loop("#define F for\nF (a) {}\n", starter, &[2]), Some(2));
        assert_eq!(unrollable_loop("#pragma unroll 1\ndo {\n    if (a) {\n    }\n} while (b);\n", starter, &[5]), None);
        assert_eq!(unrollable_loop("do {\n} while (b);\n", starter, &[2]), Some(1));
    }

    #[test]
    fn comments_leave_their_lines() {
        assert_eq!(without_comments("a / b // c\n/* d\ne */f\n// g"), "a / b \n\nf\n");
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("constexpr int TILE = 8;", "TILE") && !has_word("TILES", "TILE"));
    }

    const LAUNCHES: &str =
        "// k<<<1, 2>>>, or <<< alone\nvoid launch(int n)\n{\n    k <<<n, dim3(2)>>>(n, m);\n    k<<<1\n, 2>>>();\n}\n";

    #[test]
    fn launches_become_calls_and_lines_stay() {
        let (new, sites) = with_calls(LAUNCHES);
        assert_eq!(new.lines().count(), LAUNCHES.lines().count());
        assert_eq!(new.lines().nth(3), Some("    unrolled_launch<decltype(k ), 1>().with(n, dim3(2)).call(n, m);"));
        assert!(new.contains("    unrolled_launch<decltype(k), 2>().with(1\n, 2).call();\n"), "{new}");
        assert_eq!(sites.iter().map(|(name, line)| (name.as_str(), *line)).collect::<Vec<_>>(), [("k", 1), ("k", 4), ("k", 5)]);
        let other = "a <<< b;\n<<<1, 2>>>(c);";
        assert_eq!(with_calls(other), (other.to_owned(), Vec::new()), "no end, or no name");
    }

    #[test]
    fn a_compiler_quotes_the_learner() {
        let (new, old) = (with_calls(LAUNCHES).0.lines().nth(3).unwrap().to_owned(), LAUNCHES.lines().nth(3).unwrap());
        let log = |quoted: &str, marks: &str| {
            format!("x.cu(4): error: no m\n{quoted}\n{marks}x.cu(7): note: so\n}}\n^\n\n2 errors in x.cu")
        };
        assert_eq!(without_calls(&log(&new, "   ~~~^\n   n\n"), LAUNCHES), log(old, ""));
    }
}
