//! Doubles a thousand numbers on a GPU, with stock cudarc and nothing from this repository. The tests run it on the simulator as a user
//! would, and `simulator/README.md` shows it.

use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

const DOUBLE: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .entry double_all(.param .u64 data, .param .u32 n) {
    .reg .pred %p<2>; .reg .f32 %f<3>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra $done;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    add.f32 %f2, %f1, %f1;
    st.global.f32 [%rd3], %f2;
$done:
    ret;
}";

fn main() -> Result<(), DriverError> {
    let context = CudaContext::new(0)?;
    println!("{}, compute capability {:?}", context.name()?, context.compute_capability()?);
    let stream = context.default_stream();
    let double = context.load_module(Ptx::from_src(DOUBLE))?.load_function("double_all")?;

    let n = 1000u32;
    let mut data = stream.clone_htod(&vec![21.0f32; n as usize])?;
    let start = stream.record_event(Some(CU_EVENT_DEFAULT))?;
    let mut launch = stream.launch_builder(&double);
    launch.arg(&mut data).arg(&n);
    // SAFETY: the kernel reads and writes `n` floats, which `data` has.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }?;
    let end = stream.record_event(Some(CU_EVENT_DEFAULT))?;

    let doubled = stream.clone_dtoh(&data)?;
    println!("all 42: {}, in {:.3} ms", doubled.iter().all(|&value| value == 42.0), start.elapsed_ms(&end)?);
    Ok(())
}
