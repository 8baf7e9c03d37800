//! The exported functions, one module for each part of the CUDA driver API.
//!
//! A module may use the modules before it in this list: `context`; `stream`; `event`; `image`, `function`, `module`; everything else, which
//! nothing uses but `older`, which has the names of old programs, and `proc_address`, where functions are looked up by name. (`memory` also
//! uses `pool`.)

mod context;
mod copy;
mod device;
mod errors;
mod event;
mod extras;
mod function;
mod graph;
mod image;
mod init;
mod jit_log;
mod launch;
mod library;
mod linker;
mod memory;
mod module;
mod occupancy;
mod older;
mod pointer;
mod pool;
mod primary;
mod proc_address;
mod refused;
mod stream;
