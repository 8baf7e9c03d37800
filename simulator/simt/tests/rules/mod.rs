//! Rules of the PTX ISA and of the CUDA C++ Programming Guide that programs in the field rely on. Each test quotes its rule and runs
//! the smallest programs that depend on it.
//!
//! - `results`: the values that instructions compute.
//! - `alarms`: what the checks must accept, and what they must report.
//! - `copy_sources`: what an asynchronous copy reads is not written before it is complete.
//! - `counted_barriers`: barriers with a number of threads.
//! - `masks`: the lanes that meet at an instruction.
//! - `relaxed_barriers`: `mbarrier` with `.relaxed`.
//! - `warpgroups`: `setmaxnreg` and `griddepcontrol`.

mod alarms;
mod copy_sources;
mod counted_barriers;
mod masks;
mod relaxed_barriers;
mod results;
mod warpgroups;

use std::fmt::Write;

use crate::common::{Gpu, Params};

/// Returns a module with one kernel `k`. Its first parameter is the address of its output.
fn kernel(target: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n\
         .reg .b32 %r<40>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<40>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n\
         mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\n{body}\nret;\n}}\n"
    )
}

/// Returns the words that one thread's `lines` leave in `%r20` to `%r35`.
fn words(lines: &str, count: usize) -> Vec<u32> {
    let mut body = lines.to_owned();
    for word in 0..count {
        let _ = write!(body, "\nst.global.u32 [%rd1+{}], %r{};", 4 * word, 20 + word);
    }
    let gpu = Gpu::load(&kernel("sm_80", &body));
    let output = gpu.poisoned::<u32>(count);
    let report = gpu.launch("k", 1, 1, 0, &Params::new().with(output));
    assert_eq!(report.findings, [], "{lines}");
    gpu.read(output, count)
}
