//! The check of exercises for web pages: one request in JSON, one answer in JSON.
//!
//! The module that is made of this crate also has everything that a page asks of the simulator, because it contains `simt-web`. A page that
//! compiles a learner's text sends what the compiler made of it ([`request::Request`]), and shows the answer ([`answer::Answer`]).
//!
//! # Layout
//!
//! - [`request`]: the requests. [`answer`]: the answers.
//! - [`check`]: executes requests.

pub mod answer;
pub mod check;
pub mod request;

/// Executes the request in the input. Its answer is in the output.
// SAFETY: no other symbol of the module has this name.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
pub extern "C" fn check() {
    simt_web::exports::answer(check::answered);
}
