//! How we look for a compiler or a library: the paths to try, the first that works, and what to say if none does.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::variables::Variable;

/// Returns only the path that an environment variable names, completed by `resolve`. Without the variable, returns the `searched` paths.
///
/// No file comes twice.
pub fn candidates(
    variable: Variable,
    resolve: impl FnOnce(PathBuf) -> PathBuf,
    searched: impl Iterator<Item = PathBuf>,
) -> impl Iterator<Item = PathBuf> {
    let named = variable.path();
    let searched = named.is_none().then_some(searched);
    let mut seen = HashSet::new();
    let all = named.map(resolve).into_iter().chain(searched.into_iter().flatten());
    all.filter(move |path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())))
}

/// Says in words where [`candidates`] looks: `searched`, unless the environment variable names a path.
pub fn places(variable: Variable, searched: String) -> String {
    variable.path().map_or(searched, |path| format!("at {} (from {variable})", path.display()))
}

/// Returns the first success. If there is none, the error says so in the words of `none`, or, if something was tried, in those of `unusable`,
/// then the places, and why each attempt failed.
pub fn first<T>(tried: impl Iterator<Item = Result<T>>, none: &str, unusable: &str, places: &str) -> Result<T, String> {
    let mut refused = Vec::new();
    for result in tried {
        match result {
            Ok(found) => return Ok(found),
            Err(error) => refused.push(Error::reason(error)),
        }
    }
    Err(if refused.is_empty() { format!("{none} {places}") } else { format!("{unusable} {places}: {}", refused.join("; ")) })
}
