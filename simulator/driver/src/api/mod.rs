//! The exported functions, one module for each part of the CUDA driver API.
//!
//! A module may use the modules before it in this list: `prelude` and `context`; `array`, `attribute`, `event`; `transfer`; `image`, `function`, `module`,
//! `library`; `argument`; `kernel`, `user_object`; `operation`, which is what a stream executes and a graph keeps; `run`, which executes it;
//! `stream`, which decides between the two; everything else, which nothing uses but `older`, which has functions of old programs, and
//! `proc_address`, where functions are looked up by name. (`memory`, `virtual_memory` and `graph` also use `pool`, and `capture` uses `graph`.)

mod argument;
mod array;
mod attribute;
mod capture;
mod context;
mod copy;
mod core_dump;
mod device;
mod event;
mod extras;
mod fill;
mod function;
mod graph;
mod green;
mod image;
mod init;
mod ipc;
mod jit_log;
mod kernel;
mod launch;
mod library;
mod linker;
mod memory;
mod module;
mod occupancy;
mod older;
mod operation;
mod pointer;
mod pool;
mod prelude;
mod primary;
mod proc_address;
mod reference;
mod refused;
mod run;
mod stream;
mod tensor_map;
mod texture;
mod transfer;
mod user_object;
mod value;
mod value_op;
mod virtual_memory;

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use extras::ours;
pub use older::OF_32_BITS;
pub use proc_address::every_export;
pub use refused::REFUSED;
