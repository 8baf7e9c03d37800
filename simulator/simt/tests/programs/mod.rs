//! Whole programs: CUDA C in `*.cu`, next to it the PTX that NVRTC 12.0 makes of it (`compute_70`; `polls`, `calls`, `halves`,
//! `tensor` and `async_copy` `compute_80`, `mbarrier`, `cluster` and `stores` `compute_90`; `-lineinfo`), and in the module of that name the
//! same computation in Rust. Every program runs with one and two workers, with and without vector instructions.

mod async_copy;
mod calls;
mod cluster;
mod convolution;
mod cooperation;
mod divergence;
mod functions;
mod grid;
mod halves;
mod heap;
mod mathematics;
mod mbarrier;
mod memory;
mod merging;
mod numbers;
mod recursion;
mod tensor;
mod tensor_copy;
mod textures;
mod waiting;
