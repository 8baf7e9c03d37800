//! The rest of the API of CUDA 12 and CUDA 13: features that this library does not have, refused as on a device without them.
//!
//! None of these functions reads its arguments, so none declares them: in the C calling convention, on every 64-bit target, a function may
//! leave its arguments unread.

use std::collections::BTreeSet;
use std::io::Write;

use parking_lot::Mutex;

use crate::compat::refused_functions;
use crate::error::{Code, Result};
use crate::export::exports;

/// Names the function on standard error, once: a program that sees only 801 cannot tell which of its calls failed.
fn refuse(function: &'static str, feature: &str, instead: &str) -> Result {
    static NAMED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let is_silent = std::env::var_os("SIMCUDA_REPORT").is_some_and(|report| report == "off");
    if NAMED.lock().insert(function) && !is_silent {
        let _ = writeln!(std::io::stderr(), "simcuda: {function}: {feature} are not supported by this runtime library; {instead}");
    }
    Err(Code::NOT_SUPPORTED)
}

/// Exports functions that refuse, grouped by feature: each group comes with what to do instead.
macro_rules! refused {
    ($($feature:literal, $instead:literal: $($name:ident)*;)*) => {
        exports! {
            $($(fn $name() { refuse(stringify!($name), $feature, $instead) })*)*
        }
    };
}

refused_functions!(refused);
