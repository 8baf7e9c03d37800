//! The simulated CUDA driver as a shared library, `libsimcuda`, and its typed client.
//!
//! All of it is in [`driver`]; this package only links it. A package of its own links in a second, once the simulator is compiled. The
//! programs that talk to the library need no more of the driver than its types, so cargo compiles them at the same time.

pub use driver::{
    client, coverage, files, functions, install, launch_files, mutants, occupancy, records, report, scores, settings, stepping,
    variables,
};
