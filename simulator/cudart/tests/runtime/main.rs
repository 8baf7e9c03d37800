//! The runtime API, called as a C program calls it, on the simulator: each part with an effect that can be seen, and with wrong arguments.

mod arrays;
mod copies;
mod launches;
mod memory;
mod support;
mod textures;
