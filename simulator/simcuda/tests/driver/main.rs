//! The driver API, called by stock cudarc: each part of it, and what happens when it is misused.
//!
//! All tests are in one executable. A test that needs a process of its own starts this executable again
//! ([`support::in_own_process`]). That way the tests share their support as an ordinary module, and cargo links one executable instead of
//! six.

mod arguments;
mod before_init;
mod capture;
mod client;
mod clusters;
mod contexts;
mod cooperative;
mod device;
mod events;
mod fatbins;
mod faults;
mod graph_memory;
mod graph_support;
mod graphs;
mod images;
#[cfg(unix)]
mod ipc;
mod launches;
mod libraries;
mod limits;
mod links;
mod memory;
mod misuse;
mod modules;
mod names;
mod newer;
mod occupancy;
mod old_gpu;
// Processes share pools and memory by file descriptors.
#[cfg(unix)]
mod pools;
mod primary;
mod streams;
mod support;
mod tensor_maps;
mod textures;
mod unsupported;
mod values;
#[cfg(unix)]
mod virtual_memory;
