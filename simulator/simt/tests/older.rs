//! PTX 1.0 to 1.4, as tutorials of 2008 were compiled to. ptxas 13.0 accepts all of it.

use crate::common::{Gpu, Params};

/// The code of nvcc 2.0 and 2.1 for a saxpy: parameters in the body, special registers of 16 bits, `mad` without a rounding.
const IN_BODY: &str = "
.version 1.2
.target sm_10, map_f64_to_f32
.entry saxpy
{
    .reg .u32 $r1,$r2,$r3,$r4,$r5,$r6;
    .reg .u64 $rd1,$rd2,$rd3,$rd4,$rd5,$rd6;
    .reg .f32 $f1,$f2,$f3,$f4;
    .reg .pred $p0,$p1;
    .param .u64 __cudaparm_saxpy_x;
    .param .u64 __cudaparm_saxpy_y;
    .param .f32 __cudaparm_saxpy_a;
    .param .s32 __cudaparm_saxpy_n;
$LBB1_saxpy:
    cvt.u32.u16 $r1, %tid.x;
    cvt.u32.u16 $r2, %ctaid.x;
    cvt.u32.u16 $r3, %ntid.x;
    mul24.lo.u32 $r4, $r2, $r3;
    add.u32 $r5, $r1, $r4;
    ld.param.s32 $r6, [__cudaparm_saxpy_n];
    setp.le.s32 $p1, $r6, $r5;
    @$p1 bra $Lt_0_1026;
    cvt.u64.s32 $rd1, $r5;
    mul.lo.u64 $rd2, $rd1, 4;
    ld.param.u64 $rd3, [__cudaparm_saxpy_x];
    add.u64 $rd4, $rd3, $rd2;
    ld.global.f32 $f1, [$rd4+0];
    ld.param.u64 $rd5, [__cudaparm_saxpy_y];
    add.u64 $rd6, $rd5, $rd2;
    ld.global.f32 $f2, [$rd6+0];
    ld.param.f32 $f3, [__cudaparm_saxpy_a];
    mad.f32 $f4, $f1, $f3, $f2;
    st.global.f32 [$rd6+0], $f4;
$Lt_0_1026:
    exit;
}
";

#[test]
fn a_kernel_of_2008_runs_with_its_parameters_in_its_body() {
    let gpu = Gpu::load(IN_BODY);
    let (x, y): (Vec<f32>, Vec<f32>) = (0..70).map(|i| (i as f32, 0.5 * i as f32)).unzip();
    let (x, y) = (gpu.buffer(&x), gpu.buffer(&y));
    let report = gpu.launch("saxpy", 3, 32, 0, &Params::new().with(x).with(y).with(3.0_f32).with(69_i32));
    assert_eq!(report.findings, []);
    let expected: Vec<f32> = (0..70).map(|i| if i < 69 { 3.5 } else { 0.5 } * i as f32).collect();
    assert_eq!(gpu.read::<f32>(y, 70), expected);
}

/// Returns the bits that an instruction leaves in `%f3` or `%d3`.
///
/// Its operands are `%f1` and `%f2`, or `%d1` and `%d2`.
fn result(version: &str, instruction: &str, operands: [u64; 2]) -> u64 {
    let ptx = format!(
        ".version {version}\n.target sm_13\n.entry k {{\n.param .u64 p; .reg .u64 %rd1, %d<4>; .reg .f32 %f<4>; .reg .b32 %r1;\n\
         ld.param.u64 %rd1, [p]; ld.global.b64 %d1, [%rd1]; ld.global.b64 %d2, [%rd1+8]; mov.b64 %d3, 0; mov.b32 %f3, 0;\n\
         ld.global.b32 %f1, [%rd1]; ld.global.b32 %f2, [%rd1+8];\n{instruction}\nst.global.b64 [%rd1], %d3; exit; }}"
    );
    // Up to 1.3, parameters are declared in the body.
    let ptx = if version < "1.4" { ptx } else { ptx.replace("k {\n.param .u64 p;", "k (.param .u64 p) {\n") };
    let gpu = Gpu::load(&ptx);
    let buffer = gpu.buffer(&operands);
    gpu.launch("k", 1, 1, 0, &Params::new().with(buffer));
    gpu.read::<u64>(buffer, 1)[0]
}

#[test]
fn a_missing_rounding_is_the_one_of_the_time() {
    let f = |value: f32| u64::from(value.to_bits());
    let wide = "cvt.u64.u32 %d3, %r1;";
    for (version, instruction, operands, expected) in [
        // PTX ISA, `div`: from 1.0 to 1.3, without a rounding, `div.f32` is `.approx` and `div.f64` is `.rn`.
        ("1.3", "div.f32 %f3, %f1, %f2;", [f(6.0), f(3.0)], f(2.0)),
        ("1.3", "rcp.f32 %f3, %f1;", [f(4.0), 0], f(0.25)),
        ("1.0", "sqrt.f32 %f3, %f1;", [f(9.0), 0], f(3.0)),
        ("1.0", "rsqrt.f32 %f3, %f1;", [f(4.0), 0], f(0.5)),
        ("1.3", "ex2.f32 %f3, %f1;", [f(3.0), 0], f(8.0)),
        ("1.3", "lg2.f32 %f3, %f1;", [f(8.0), 0], f(3.0)),
        ("1.3", "cos.f32 %f3, %f1;", [0, 0], f(1.0)),
        ("1.3", "sin.f32 %f3, %f1;", [0, 0], 0),
        ("1.3", "div.f64 %d3, %d1, %d2;", [1.0_f64.to_bits(), 3.0_f64.to_bits()], (1.0_f64 / 3.0).to_bits()),
        ("1.3", "sqrt.f64 %d3, %d1;", [2.0_f64.to_bits(), 0], 2.0_f64.sqrt().to_bits()),
        ("1.3", "rcp.f64 %d3, %d1;", [3.0_f64.to_bits(), 0], (1.0_f64 / 3.0).to_bits()),
        ("1.3", "mad.f64 %d3, %d1, %d2, %d1;", [0.1_f64.to_bits(), 3.0_f64.to_bits()], 0.1_f64.mul_add(3.0, 0.1).to_bits()),
        // PTX ISA, `mad`: on newer GPUs, `mad.f32` of the time is a fused multiply-add, `fma.rn.ftz.f32`.
        ("1.4", "mad.f32 %f3, %f1, %f2, %f2;", [0x3f80_0001, 0x3f80_0001], f(1.000_000_1_f32.mul_add(1.000_000_1, 1.000_000_1))),
        ("1.4", "mad.f32 %f3, %f1, %f2, %f2;", [f(1.0), 1], 0),
        // Instructions of f32 flush subnormal numbers; `cvt` to 64 bits "did not flush".
        ("1.4", "add.f32 %f3, %f1, %f2;", [1, 1], 0),
        ("1.4", "mul.f32 %f3, %f1, %f2;", [f(f32::MIN_POSITIVE), f(0.5)], 0),
        ("1.4", "cvt.f64.f32 %d3, %f1;", [1, 0], f64::from(f32::from_bits(1)).to_bits()),
        ("1.4", "add.f64 %d3, %d1, %d2;", [1, 1], 2),
    ] {
        let is_wide = instruction.contains("%d3");
        let text = if is_wide { instruction.to_owned() } else { format!("{instruction} mov.b32 %r1, %f3; {wide}") };
        assert_eq!(result(version, &text, operands), expected, "{version}: {instruction}");
    }
}

#[test]
fn a_newer_target_needs_its_roundings() {
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { .reg .f32 %f<5>; mad.f32 %f1, %f2, %f3, %f4; ret; }";
    let error = simt::Module::parse(ptx).unwrap_err().to_string();
    assert!(error.contains("mad.f32 is not supported"), "{error}");
}
