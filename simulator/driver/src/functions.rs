//! Which functions of the CUDA driver API this driver has: the list that a page of the book is made of.
//!
//! The names are those of `cuda.h` and `cudaProfiler.h` of CUDA 13.5. What the driver does with each one follows from its own tables, so
//! the page cannot disagree with the library.

use crate::api::{OF_32_BITS, REFUSED, every_export};

/// The names, in sections with the titles of NVIDIA's documentation. A line that begins with `!` has a limit of functions, or their difference from
/// a GPU's driver, and their names.
const NAMES: &str = include_str!("cuda_functions.txt");

/// A part of the API.
#[derive(Clone, Debug)]
pub struct Section {
    /// As NVIDIA's documentation calls it.
    pub title: &'static str,
    /// Its functions, in the order of the header.
    pub functions: Vec<Function>,
}

/// A function of the API.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name under which a driver exports it.
    pub name: &'static str,
    /// The driver's answer to a call.
    pub support: Support,
}

/// The driver's answer to a call of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// It does as CUDA says.
    Done,
    /// It does as CUDA says, with a limit.
    Limited(&'static str),
    /// It refuses, and names the feature and what to do instead.
    Refused(String),
    /// The library has no such function.
    Missing,
}

/// Lists all functions of the API.
pub fn sections() -> Vec<Section> {
    let texts = NAMES.split("\n[").skip(1).filter_map(|text| text.split_once(']'));
    let names = |lines: &'static str| lines.lines().filter(|line| !line.starts_with('!')).flat_map(str::split_whitespace);
    let function = |name| Function { name, support: support(name) };
    texts.map(|(title, lines)| Section { title, functions: names(lines).map(function).collect() }).collect()
}

fn support(name: &str) -> Support {
    let is_exported =
        |name: &str| every_export().any(|export| export.name == name || export.per_thread.is_some_and(|(form, _)| form == name));
    if !is_exported(name) {
        return Support::Missing;
    }
    if let Some(refused) = REFUSED.iter().find(|refused| refused.functions.contains(&name)) {
        return Support::Refused(format!("{}; {}", refused.feature, refused.instead));
    }
    if OF_32_BITS.contains(&name) {
        return Support::Refused("addresses of 32 bits; use the form with a suffix".to_owned());
    }
    let remark = remarks().find(|(_, names)| names.split_whitespace().any(|other| other == name));
    remark.map_or(Support::Done, |(remark, _)| Support::Limited(remark))
}

/// Returns the limits, each with the names of its functions.
fn remarks() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.lines().filter_map(|line| line.strip_prefix("! ")?.split_once(": "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_function_of_the_api_is_done_or_refused_by_name() {
        let functions: Vec<Function> = sections().into_iter().flat_map(|section| section.functions).collect();
        let missing: Vec<&str> =
            functions.iter().filter(|function| function.support == Support::Missing).map(|function| function.name).collect();
        assert_eq!(missing, [""; 0]);
        let names: BTreeSet<&str> = functions.iter().map(|function| function.name).collect();
        assert_eq!(names.len(), functions.len(), "a name is listed twice");
        assert!(names.len() > 600);
    }

    #[test]
    fn remarks_are_about_functions_that_the_driver_has() {
        assert!(remarks().count() > 10);
        for (remark, names) in remarks() {
            for name in names.split_whitespace() {
                assert_eq!(support(name), Support::Limited(remark), "{name}");
            }
        }
    }
}
