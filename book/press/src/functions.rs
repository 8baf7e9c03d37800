//! The functions of the CUDA driver API in the book, made from the tables of the driver itself.

use std::collections::BTreeMap;

use driver::functions::{Function, Section, Support, sections};

/// Draws a folded table for each section of the API.
pub fn tables() -> String {
    let sections = sections();
    let all = || sections.iter().flat_map(|section| &section.functions);
    let refused = all().filter(|function| is_refused(function)).count();
    let mut page = format!("{} functions: {} done, {refused} refused.\n", all().count(), all().count() - refused);
    sections.iter().for_each(|section| page += &table(section));
    page
}

/// Draws a section: a line of names that are done, and a row for each limit and each reason.
fn table(Section { title, functions }: &Section) -> String {
    let refused = functions.iter().filter(|function| is_refused(function)).count();
    let state = match functions.len() - refused {
        0 => "refused".to_owned(),
        done if refused == 0 => format!("{done} done"),
        done => format!("{done} done, {refused} refused"),
    };
    let mut groups: BTreeMap<(u32, String), Vec<String>> = BTreeMap::new();
    for Function { name, support } in functions {
        let state = match support {
            Support::Done => (0, "done".to_owned()),
            Support::Limited(limit) => (1, format!("done: {limit}")),
            Support::Refused(reason) => (2, format!("refused: {reason}")),
            Support::Missing => (3, "missing".to_owned()),
        };
        groups.entry(state).or_default().push(format!("`{name}`"));
    }
    let rows: String = groups.into_iter().map(|((_, state), names)| format!("| {state} | {} |\n", names.join(" "))).collect();
    format!("\n<details><summary>{title}: {state}</summary>\n\n| state | functions |\n|---|---|\n{rows}\n</details>\n")
}

fn is_refused(function: &Function) -> bool {
    matches!(function.support, Support::Refused(_) | Support::Missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_every_function_of_the_api() {
        let page = tables();
        for function in sections().iter().flat_map(|section| &section.functions) {
            assert!(page.contains(&format!("`{}`", function.name)), "{}", function.name);
        }
        assert!(!page.contains("missing"));
    }
}
