//! The macro that defines exported functions.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{self, Code, Result};

/// Runs the body of an export and remembers its failure. A panic must not reach the C caller, because Rust must not unwind the caller's
/// stack; the panic's own message is on standard error by then.
pub fn call(body: impl FnOnce() -> Result) -> Code {
    error::record(catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(Code::UNKNOWN)))
}

/// Defines exported functions. One with several names has them in brackets: a name that ends in `_ptsz` or `_ptds` means the default stream of
/// the thread, and every stream of the simulator is idle when a call returns. The body is an expression of type [`Result`].
///
/// Each function is `unsafe` for one reason: it is called from C. The caller promises that its pointers are null or point to what CUDA
/// says. [`Ptr`](crate::pointer::Ptr) relies on that promise.
macro_rules! exports {
    ($(fn $names:tt $arguments:tt $body:block)*) => {
        $($crate::export::export!($names $arguments $body);)*

        /// The functions that this module exports; several names of one are in brackets.
        #[cfg(test)]
        pub const NAMES: &[&str] = &[$(stringify!($names)),*];
    };
}

/// Defines one exported function, under one name or several.
macro_rules! export {
    ([$($name:ident)+] $arguments:tt $body:block) => {
        $($crate::export::export!($name $arguments $body);)+
    };
    ($name:ident ($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        #[allow(non_snake_case, reason = "the name is the C API's")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $crate::error::Code {
            $crate::export::call(move || $body)
        }
    };
}

pub(crate) use {export, exports};
