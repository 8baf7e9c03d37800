//! The CUDA driver API over `simt`: a CUDA driver in software.
//!
//! Built as a shared library it takes the place of NVIDIA's `libcuda`, so that a CUDA program runs, unchanged, on a machine without
//! a GPU, with its kernels counted and checked. The `lib` half is for programs of this workspace: it finds that library, opens it
//! before the CUDA bindings look for theirs, and reads what the simulator saw ([`client`]).
//!
//! What a program may rely on is what CUDA promises it, and nothing more. Streams execute eagerly: an operation is complete when the
//! call that enqueues it returns. That is one of the orders that CUDA allows for any program, though not the one that a GPU would show.
//! Events record the clock of the host, so the time between two of them says how long *the simulator* took.
//!
//! # Layout
//!
//! What the library and its users agree on:
//!
//! - [`client`]: finds and opens the library, sets it up, takes its records.
//! - [`settings`]: what can be set.
//! - [`records`]: what is remembered of each launch.
//! - [`mod@occupancy`]: how a launch fills a multiprocessor.
//! - [`report`]: what the whole process did, for programs that know nothing of the simulator; `at_exit` writes it.
//! - [`install`]: the library under the names that programs ask the loader for.
//!
//! The driver, one module for each part of the API:
//!
//! - `error`: results, and the door through which every export leaves.
//! - `ffi`: what crosses the C boundary.
//! - `handles`: tokens for the objects that a program holds.
//! - `state`: the driver as a whole, from `cuInit` on.
//! - `device`, `attributes`: the device as its profile describes it.
//! - `context`, `primary`: contexts, the stack of current ones, errors that stick; the primary context.
//! - `allocations`, `memory`, `host_memory`, `copy`, `pointer`, `pool`: who owns which memory; allocating, registering what is the
//!   program's own, copying, asking about it, memory pools.
//! - `module`, `registers`, `function`, `launch`, `occupancy_api`: from PTX to a running kernel.
//! - `stream`, `event`: order and time.
//! - `graph`, `refused`: what this driver does not do, refused as a device without the feature would.
//! - `proc_address`: looks exports up by name.
//! - `extras`: the exports that CUDA does not have; the other side of [`client`].

pub mod client;
pub mod install;
pub mod occupancy;
pub mod records;
pub mod report;
pub mod settings;

mod allocations;
mod at_exit;
mod attributes;
mod context;
mod copy;
mod device;
mod error;
mod event;
mod extras;
mod ffi;
mod function;
mod graph;
mod handles;
mod host_memory;
mod launch;
mod memory;
mod module;
mod occupancy_api;
mod pointer;
mod pool;
mod primary;
mod proc_address;
mod refused;
mod registers;
mod state;
mod stream;

/// Defines exported functions. The body is an expression of [`error::Result`]`<()>`; the macro gives it the C interface, keeps panics
/// from crossing it, and lists the function for `cuGetProcAddress`.
///
/// Each is `unsafe` for the one reason that it is C: the caller promises that its pointers are null or point to what the CUDA driver
/// API says. The types in [`ffi`] carry that promise further.
macro_rules! exports {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$meta])*
            #[allow(non_snake_case, reason = "the name is the C API's")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> $crate::error::CuResult {
                $crate::error::guard(move || $body)
            }
        )*

        /// The functions that this module exports.
        pub const EXPORTS: &[$crate::proc_address::Export] =
            &[$($crate::proc_address::Export { name: stringify!($name), address: $name as *const () }),*];
    };
}

use exports;
