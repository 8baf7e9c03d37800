//! The macros that define exported functions.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::driver;
use crate::error::{self, Code, Result};
use crate::pointer::Handle;

/// The time at which a copy or a fill is done.
#[derive(Clone, Copy)]
pub enum When {
    Now,
    /// In the order of a stream.
    In(Handle),
}

/// Runs the body of an export and remembers its failure. A panic must not reach the C caller, because Rust must not unwind the caller's
/// stack; the panic's own message is on standard error by then.
pub fn call(name: &str, body: impl FnOnce() -> Result) -> Code {
    let guarded = || catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(Code::UNKNOWN));
    error::record(driver::with_suffix_of(name, guarded))
}

/// Defines exported functions. A function with several names has them in brackets. One whose name ends in `_ptsz` or `_ptds` has the default
/// stream of the thread, because [`call`] looks at the name.
///
/// - `forward`: functions that pass their arguments to a function of the driver, after a step of [`context`](crate::context). The line also
///   declares the driver's function for the rest of the module.
/// - `timed`: functions that exist twice, at once and in a stream, which is then the last argument. The body gets a [`When`].
/// - `brief`: functions of one expression. `after`: the same, after a step of [`context`](crate::context).
/// - `fn`: all others. The body is an expression of type [`Result`].
///
/// Each function is `unsafe` for one reason: it is called from C. The caller promises that its pointers are null or point to what CUDA
/// says. [`Ptr`](crate::pointer::Ptr) relies on that promise.
macro_rules! exports {
    (
        $(forward {
            $($($name:ident)+ => $step:ident($($given:ident),*) $function:ident($($argument:ident: $type:ty),* $(,)?);)*
        })?
        $(timed { $($now:tt $later:tt($($input:ident: $kind:ty),* $(,)?) |$when:ident| $timed:block)* })?
        $(brief { $($brief:tt $taken:tt => $value:expr;)* })?
        $(after { $($after:tt $passed:tt => $first:ident($($known:ident),*), $then:expr;)* })?
        $(fn $names:tt $arguments:tt $body:block)*
    ) => {
        $($crate::driver::functions! { $(fn $function($($argument: $type),*);)* })?
        $($($crate::export::export!([$($name)+] ($($argument: $type),*) {
            $crate::context::$step($($given),*)?;
            $function($($argument),*)
        });)*)?
        $($(
            $crate::export::export!($now ($($input: $kind),*) {
                let $when = $crate::export::When::Now;
                $timed
            });
            $crate::export::export!($later ($($input: $kind,)* stream: $crate::pointer::Handle) {
                let $when = $crate::export::When::In(stream);
                $timed
            });
        )*)?
        $($($crate::export::export!($brief $taken { $value });)*)?
        $($($crate::export::export!($after $passed { $crate::context::$first($($known),*)?; $then });)*)?
        $($crate::export::export!($names $arguments $body);)*

        /// Names of the functions that this module exports; several names of one are in brackets.
        #[cfg(test)]
        pub const NAMES: &[&str] = &[
            $($(stringify!($($name)+),)*)? $($(stringify!($now), stringify!($later),)*)? $($(stringify!($brief),)*)?
            $($(stringify!($after),)*)? $(stringify!($names)),*
        ];
    };
}

/// Defines one exported function, under one name or several.
macro_rules! export {
    ([$($name:ident)+] $arguments:tt $body:block) => {
        $($crate::export::export!($name $arguments $body);)+
    };
    ($name:ident ($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        #[allow(non_snake_case, reason = "the name is the C API's")]
        #[allow(clippy::too_many_arguments, reason = "the arguments are the C API's")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $crate::error::Code {
            $crate::export::call(stringify!($name), move || $body)
        }
    };
}

/// Defines exported functions that cannot fail, or that are about failures: no failure is remembered.
macro_rules! plain_exports {
    ($($(#[$doc:meta])* fn $name:ident $arguments:tt $(-> $result:ty)? $body:block)*) => {
        $(
            $(#[$doc])*
            #[allow(non_snake_case, reason = "the name is the C API's")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name $arguments $(-> $result)? $body
        )*

        /// Names of the functions that this module exports.
        #[cfg(test)]
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

pub(crate) use {export, exports, plain_exports};
