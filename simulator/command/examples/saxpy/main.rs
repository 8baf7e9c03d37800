//! `y = a * x + y` with a defect, for the book's page on tests without a GPU: stock cudarc, and a kernel that forgets to check its bounds.
//! On a GPU the program usually succeeds, because there is other memory after `y`.

// ANCHOR: program
use cudarc::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

fn main() -> Result<(), DriverError> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let saxpy = context.load_module(Ptx::from_src(include_str!("saxpy.ptx")))?.load_function("saxpy")?;

    let n = 1000u32;
    let x = stream.clone_htod(&vec![1.0f32; n as usize])?;
    let mut y = stream.clone_htod(&vec![2.0f32; n as usize])?;
    let mut launch = stream.launch_builder(&saxpy);
    launch.arg(&3.0f32).arg(&x).arg(&mut y).arg(&n);
    // SAFETY: the kernel reads and writes `n` floats. (Or so we think.)
    unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }?;

    let y = stream.clone_dtoh(&y)?;
    assert!(y.iter().all(|&value| value == 5.0));
    println!("all 5");
    Ok(())
}
// ANCHOR_END: program
