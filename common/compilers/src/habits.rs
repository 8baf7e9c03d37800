//! Headers that learners include by habit. The compilers know what a kernel needs of them without any, or it is given here.

use kernels::Header;

/// Names of headers from which a kernel needs nothing.
const EMPTY: &str = "cuda_runtime.h cuda.h device_launch_parameters.h stdio.h cstdio stdlib.h assert.h cassert math.h cmath";

/// Returns the headers that both compilers are given.
pub fn headers() -> impl Iterator<Item = Header> {
    EMPTY.split(' ').map(|name| header(name, "")).chain(["stdint.h", "cstdint"].map(|name| header(name, INTEGERS)))
}

/// Functions that NVRTC declares and does not define. The header is included before the learner's text.
pub const INTRINSICS: Header = header("intrinsics.h", include_str!("intrinsics.h"));

/// The header that leaves out `printf`, whose arguments go through local memory. It is included where a kernel is counted.
pub const QUIET: Header = header("quiet.h", "#define printf(...) 0\n");

const fn header(name: &'static str, text: &'static str) -> Header {
    Header { name, path: name, text }
}

/// The part of `stdint.h` that a kernel needs.
const INTEGERS: &str = include_str!("integers.h");
