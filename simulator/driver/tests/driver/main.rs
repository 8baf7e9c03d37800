//! The driver API, called by stock cudarc: each part of it, and what happens when it is misused.

mod contexts;
mod device;
mod events;
mod faults;
mod launches;
mod memory;
mod modules;
mod occupancy;
mod pools;
mod streams;
mod support;
mod unsupported;
