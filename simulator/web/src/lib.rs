//! The simulator for web pages: a session with one module and its buffers, driven by requests in JSON.
//!
//! `cargo book web` compiles this crate to a WebAssembly module, and `js/` holds the JavaScript that runs it in a worker. Natively it is a library
//! with the same behavior: a test replays requests in both and compares the answers byte by byte.
//!
//! # The interface
//!
//! A request is one JSON object, and so is its answer ([`Session::call`]). The contents of buffers cross as bytes, because JSON would make them
//! several times as large. `js/simt.d.ts` has the types of both.
//!
//! The module's exports are a few functions on numbers (`exports`); wasm-bindgen is not used. It would generate conversions for each type that
//! crosses, but here everything crosses as one string, and pages would depend on a tool that must have the very version of a library. Pages need no
//! bundler: the module imports nothing, so `WebAssembly.instantiate(bytes)` is all it takes.
//!
//! # Layout
//!
//! - [`request`]: the requests. [`answer`]: the answers and the errors.
//! - [`session`]: executes requests.
//! - `exports`: what JavaScript calls; it exists only in WebAssembly.

pub mod answer;
#[cfg(target_arch = "wasm32")]
pub mod exports;
pub mod request;
pub mod session;

pub use session::Session;
