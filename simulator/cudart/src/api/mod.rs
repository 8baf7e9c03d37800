//! The exported functions, one file for each part of the API.

mod array;
mod channel;
mod copy;
mod device;
mod entry_point;
mod errors;
mod event;
mod fill;
mod function;
mod ipc;
mod launch;
mod library;
mod memory;
mod pool;
mod properties;
mod refused;
mod register;
mod stream;
mod symbol;
mod texture;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Returns the names of the functions that modules export.
    macro_rules! names {
        ($($module:ident)*) => { [$($module::NAMES),*] };
    }

    #[test]
    fn every_function_of_cuda_12_and_13_is_exported_once() {
        let lists = names!(
            array channel copy device entry_point errors event fill function ipc launch library memory pool properties refused register stream
            symbol texture
        );
        let mut exported = BTreeSet::new();
        let words = |names: &'static str| {
            names.split(|sign: char| sign.is_whitespace() || matches!(sign, '[' | ']')).filter(|name| !name.is_empty())
        };
        for name in lists.into_iter().flatten().flat_map(|names| words(names)) {
            assert!(exported.insert(name), "{name} is exported twice");
        }
        let missing: Vec<_> = include_str!("../nvidia_exports.txt").lines().filter(|name| !exported.contains(name)).collect();
        assert!(missing.is_empty(), "missing: {}", missing.join(" "));
    }
}
