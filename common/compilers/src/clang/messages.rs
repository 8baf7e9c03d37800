//! Messages of clang about a text, in the form in which NVRTC writes them.
//!
//! clang is asked for `file(line): error: …`, which is NVRTC's form, too. What is left to do: notes about our own header are of no use to the
//! author of a kernel, and the last line names no file.

/// The kinds of message, as they follow the place.
const KINDS: [&str; 5] = ["): error: ", "): fatal error: ", "): warning: ", "): note: ", "): remark: "];

/// Returns messages about the text `name`, without notes about the file `prelude`.
pub fn like_nvrtc(said: &str, name: &str, prelude: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut is_hidden = false;
    for line in said.lines() {
        if line.starts_with("In file included from ") {
            continue;
        }
        if let Some(counted) = line.split_once(" generated when compiling for ").map(|(counted, _)| counted) {
            // Warnings alone need no sum.
            if counted.contains("error") {
                lines.push(String::new());
                lines.push(format!("{counted} detected in the compilation of \"{name}\"."));
            }
            continue;
        }
        if let Some((place, is_note)) = place(line) {
            // What a macro pastes together has a place in angle brackets.
            is_hidden = is_note && (place == prelude || place.starts_with('<'));
            if !is_note && !lines.is_empty() {
                lines.push(String::new());
            }
        }
        if !is_hidden {
            lines.push(line.trim_end().to_owned());
        }
    }
    lines.join("\n").trim().to_owned()
}

/// Returns the file that a message's first line names. The flag is true for notes.
fn place(line: &str) -> Option<(&str, bool)> {
    let (at, kind) = KINDS.iter().filter_map(|kind| Some((line.find(kind)?, *kind))).min()?;
    let (file, number) = line[..at].rsplit_once('(')?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some((file, kind == "): note: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_keep_their_lines_and_lose_what_is_not_about_the_text() {
        let said = "\
In file included from <built-in>:1:
C:\\a (1)\\k.cu(4): error: use of undeclared identifier 'x'
    float v = x + p[0];
              ^
C:\\a (1)\\k.cu(5): error: no matching function for call to 'min'
    p[n] = min(v, 1, 2);
           ^~~
cuda.h(264): note: candidate function not viable
FN double min(double a, float b)
          ^
C:\\a (1)\\k.cu(1): note: it is declared here
extern
^
2 errors generated when compiling for sm_80.
";
        let expected = "\
C:\\a (1)\\k.cu(4): error: use of undeclared identifier 'x'
    float v = x + p[0];
              ^

C:\\a (1)\\k.cu(5): error: no matching function for call to 'min'
    p[n] = min(v, 1, 2);
           ^~~
C:\\a (1)\\k.cu(1): note: it is declared here
extern
^

2 errors detected in the compilation of \"k.cu\".";
        assert_eq!(like_nvrtc(said, "k.cu", "cuda.h"), expected);
    }

    #[test]
    fn warnings_alone_have_no_sum_and_other_words_are_kept() {
        let said =
            "k.cu(5): warning: division by zero is undefined\n    p[1] = n / 0;\n1 warning generated when compiling for sm_80.\n";
        assert_eq!(like_nvrtc(said, "k.cu", "cuda.h"), "k.cu(5): warning: division by zero is undefined\n    p[1] = n / 0;");
        assert_eq!(like_nvrtc("clang: error: no such target\n", "k.cu", "cuda.h"), "clang: error: no such target");
        assert_eq!(like_nvrtc("", "k.cu", "cuda.h"), "");
    }
}
