//! Headers that learners include by habit. The compilers know what a kernel needs of them without any, or it is given here.

use kernels::Header;

/// Names of headers from which a kernel needs nothing.
const EMPTY: &str = "cuda_runtime.h cuda.h device_launch_parameters.h stdio.h cstdio stdlib.h assert.h cassert math.h cmath";

/// Returns the headers that both compilers are given.
pub fn headers() -> impl Iterator<Item = Header> {
    EMPTY.split(' ').map(|name| header(name, "")).chain(["stdint.h", "cstdint"].map(|name| header(name, INTEGERS)))
}

/// Functions that NVRTC declares and does not define. The header is included before the learner's text.
pub const INTRINSICS: Header = header(
    "intrinsics.h",
    "\
__device__ unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{ asm(\"dp4a.u32.u32 %0, %1, %2, %0;\" : \"+r\"(c) : \"r\"(a), \"r\"(b)); return c; }
__device__ int __dp4a(int a, int b, int c)
{ asm(\"dp4a.s32.s32 %0, %1, %2, %0;\" : \"+r\"(c) : \"r\"(a), \"r\"(b)); return c; }
__device__ unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c)
{ asm(\"dp2a.lo.u32.u32 %0, %1, %2, %0;\" : \"+r\"(c) : \"r\"(a), \"r\"(b)); return c; }
__device__ int __dp2a_lo(int a, int b, int c)
{ asm(\"dp2a.lo.s32.s32 %0, %1, %2, %0;\" : \"+r\"(c) : \"r\"(a), \"r\"(b)); return c; }
__device__ unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c)
{ asm(\"dp2a.hi.u32.u32 %0, %1, %2, %0;\" : \"+r\"(c) : \"r\"(a), \"r\"(b)); return c; }
__device__ int __dp2a_hi(int a, int b, int c)
{ asm(\"dp2a.hi.s32.s32 %0, %1, %2, %0;\" : \"+r\"(c) : \"r\"(a), \"r\"(b)); return c; }
",
);

/// The header that leaves out `printf`, whose arguments go through local memory. It is included where a kernel is counted.
pub const QUIET: Header = header("quiet.h", "#define printf(...) 0\n");

const fn header(name: &'static str, text: &'static str) -> Header {
    Header { name, path: name, text }
}

/// The part of `stdint.h` that a kernel needs.
const INTEGERS: &str = "\
#pragma once
typedef signed char int8_t; typedef unsigned char uint8_t;
typedef short int16_t; typedef unsigned short uint16_t;
typedef int int32_t; typedef unsigned uint32_t;
typedef long long int64_t; typedef unsigned long long uint64_t;
";
