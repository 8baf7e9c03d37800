//! Callouts: block quotes that start with their name in bold, `> **Predict:** …`. Pages stay plain Markdown; a class on the name is all that
//! the style sheet needs.

/// The names, each with its class.
const CALLOUTS: [(&str, &str); 4] =
    [("In one sentence", "sentence"), ("Predict", "predict"), ("Try it", "try"), ("Watch out", "watch")];

/// Marks the names of the callouts of a page. The name is on a line of its own, so the colon goes and the sentence starts with a capital.
pub fn mark(page: &str) -> String {
    let mut in_fence = false;
    let lines = page.split('\n').map(|line| {
        in_fence ^= line.trim_start().starts_with("```");
        if in_fence { line.to_owned() } else { marked(line).unwrap_or_else(|| line.to_owned()) }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn marked(line: &str) -> Option<String> {
    let (indent, quoted) = line.split_at(line.find("> **")?);
    if !indent.trim().is_empty() {
        return None;
    }
    let (name, rest) = quoted.strip_prefix("> **")?.split_once("**")?;
    let name = name.strip_suffix([':', '.']).unwrap_or(name);
    let (_, class) = CALLOUTS.into_iter().find(|(known, _)| *known == name)?;
    let rest = capital(rest.strip_prefix(':').unwrap_or(rest).trim_start());
    Some(format!("{indent}> <strong class=\"callout {class}\">{name}</strong> {rest}"))
}

/// Starts a text with a capital.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_that_starts_with_a_known_name_is_a_callout() {
        for (line, expected) in [
            ("> **Watch out:** a barrier.", "> <strong class=\"callout watch\">Watch out</strong> A barrier."),
            ("> **Predict.** How many?", "> <strong class=\"callout predict\">Predict</strong> How many?"),
            ("  > **Try it**: now.", "  > <strong class=\"callout try\">Try it</strong> Now."),
            ("> **Remember:** no name.", "> **Remember:** no name."),
            ("a > **Predict:** b", "a > **Predict:** b"),
            ("```\n> **Predict:** code\n```", "```\n> **Predict:** code\n```"),
        ] {
            assert_eq!(mark(line), expected);
        }
    }
}
