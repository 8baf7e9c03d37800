//! The cases of all instructions on a GPU: `cargo test -p simt-tests instructions::gpu -- --ignored --nocapture`.
//!
//! Every spelling is a module of its own, so if the driver's compiler refuses one, the others still run. The test fails and prints
//! each case whose bits differ on the GPU, and each spelling that the compiler refuses. For approximate functions it prints the
//! largest error as a share of what PTX guarantees.

use alu::spellings;
use cudarc::driver::{CudaContext, CudaStream, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

use crate::instructions::approximations::{sampled_groups, worst};
use crate::instructions::{Group, Kernel, groups, module, rest};

/// The share of the guaranteed error that a GPU may use. The exponents in the PTX ISA are rounded, and an H200 slightly exceeds
/// them: its `tanh.approx.bf16x2` of 0.74609375 is 1.00007 times 2^-8 away.
const ALLOWED: f64 = 1.001;

/// Runs the cases of a module's only kernel.
fn results(stream: &CudaStream, ptx: &str, kernel: &Kernel) -> Result<Vec<u64>, DriverError> {
    let function = stream.context().load_module(Ptx::from_src(ptx))?.load_function(&kernel.name)?;
    let sources: Vec<u64> = kernel.cases.iter().flat_map(|(sources, _)| sources.iter().copied()).collect();
    let stream = stream.context().new_stream()?;
    let input = stream.clone_htod(&sources)?;
    let mut output = stream.alloc_zeros::<u64>(kernel.cases.len())?;
    let threads = kernel.cases.len() as u32;
    let mut launch = stream.launch_builder(&function);
    launch.arg(&input).arg(&mut output);
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: every thread reads the sources of its case and writes its result, and both buffers have an element for each thread.
    unsafe { launch.launch(config) }?;
    stream.clone_dtoh(&output)
}

/// Returns the module of one spelling of a group.
fn alone(group: &Group, opcode: String) -> (String, Kernel) {
    let (ptx, mut kernels) = module(&[Group { opcodes: opcode, ..group.clone() }]);
    (ptx, kernels.remove(0))
}

#[test]
#[ignore = "needs a GPU of compute capability 9.0"]
fn a_gpu_gives_the_same_bits() {
    let stream = CudaContext::new(0).expect("a GPU").default_stream();
    let (mut spelled, mut cases, mut others) = (0, 0, 0);
    let mut refused = Vec::new();
    for group in [groups(), rest::composed()].concat() {
        for opcode in spellings(&group.opcodes) {
            let (ptx, kernel) = alone(&group, opcode);
            let results = match results(&stream, &ptx, &kernel) {
                Ok(results) => results,
                Err(error) => {
                    refused.push(format!("{}: {error:?}", kernel.opcode));
                    continue;
                }
            };
            spelled += 1;
            cases += results.len();
            for ((sources, expected), result) in kernel.cases.iter().zip(results) {
                if result != *expected {
                    others += 1;
                    println!("{} ({}) of {sources:x?} is {expected:#x} here and {result:#x} there", kernel.opcode, kernel.operands);
                }
            }
        }
    }
    refused.iter().for_each(|refused| println!("refused: {refused}"));
    println!("{spelled} spellings, {cases} cases: {others} other results; {} spellings refused", refused.len());
    assert!(others == 0 && refused.is_empty(), "see above");
}

#[test]
#[ignore = "needs a GPU of compute capability 9.0"]
fn a_gpu_keeps_what_ptx_promises() {
    let stream = CudaContext::new(0).expect("a GPU").default_stream();
    let mut broken = 0;
    for (group, what) in sampled_groups() {
        let (ptx, kernel) = alone(&group, group.opcodes.clone());
        match results(&stream, &ptx, &kernel).map(|results| worst(&kernel, &what, &results)) {
            Ok(Some((share, place))) => {
                broken += usize::from(share.is_nan() || share > ALLOWED);
                println!("{share:.3} of what is promised: {place}");
            }
            Ok(None) => println!("nothing is promised of {}", kernel.opcode),
            Err(error) => println!("refused: {}: {error:?}", kernel.opcode),
        }
    }
    assert_eq!(broken, 0, "functions that deviate more than promised");
}
