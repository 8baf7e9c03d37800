//! Names of kernels, for people.

use std::borrow::Cow;

use cpp_demangle::{DemangleOptions, Symbol};
use simt::{LaunchError, LaunchReport};

/// Returns a kernel's name as in its source, without parameters: `scale<float>` for `_Z5scaleIfEvPT_`. A name that no C++ compiler made
/// stays as it is.
pub fn readable(symbol: &str) -> Cow<'_, str> {
    // Without this prefix, the letters of a type would be one: `f` is `float`.
    if !symbol.starts_with("_Z") {
        return Cow::Borrowed(symbol);
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let name = Symbol::new(symbol).ok().and_then(|parsed| parsed.demangle_with_options(&options).ok());
    name.map_or(Cow::Borrowed(symbol), |name| Cow::Owned(without_tags(&name)))
}

/// Gives the kernel its readable name in all that a launch found. Every text about the kernel then has that name.
pub fn made_readable(ended: &mut Result<LaunchReport, LaunchError>) {
    let rename = |kernel: &mut String| *kernel = readable(kernel).into_owned();
    match ended {
        Ok(report) => report.findings.iter_mut().for_each(|finding| rename(&mut finding.kernel)),
        Err(LaunchError::Fault { finding, .. }) => rename(&mut finding.kernel),
        Err(LaunchError::OutOfFuel { kernel, .. }) => rename(kernel),
        Err(LaunchError::Misuse(_)) => {}
    }
}

/// Removes tags such as `[abi:v1]`. numba gives every kernel one of more than a hundred letters.
fn without_tags(name: &str) -> String {
    let mut parts = name.split("[abi:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(']').map_or("", |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_the_names_that_their_authors_gave_them() {
        for (symbol, name) in [
            ("saxpy", "saxpy"),
            ("_Z5saxpyfPKfPfi", "saxpy"),
            ("_Z5scaleIfEvPT_", "scale<float>"),
            ("_ZN5layer4normILi128EEEvPKfPfi", "layer::norm<128>"),
            ("_ZN8__main__4axpyB2v1B8cw51cXTLEf", "__main__::axpy"),
            ("_Z", "_Z"),
            ("f", "f"),
            ("Pf", "Pf"),
        ] {
            assert_eq!(readable(symbol), name, "{symbol}");
        }
    }
}
