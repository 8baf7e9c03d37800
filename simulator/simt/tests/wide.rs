//! Accesses of 16 and 32 bytes at once: vectors of 256 bits, atomic operations of 128, and vectors of 16-bit floats.

use simt::{FindingKind, LaunchError, Module};

use crate::common::{Gpu, Params, every_way};

/// Returns a kernel on a buffer. `%rd1` has the thread's address, `stride` bytes after that of the thread before.
fn kernel(target: &str, stride: u32, body: &str) -> String {
    format!(
        "
.version 8.8
.target {target}
.address_size 64
.visible .entry kernel(.param .b64 buffer) {{
    .reg .pred %p<4>; .reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .b128 %q<6>;
    .shared .align 16 .b8 tile[512];
    ld.param.b64 %rd1, [buffer];
    mov.u32 %r18, %tid.x;
    mad.wide.u32 %rd1, %r18, {stride}, %rd1;
    {body}
    ret;
}}
"
    )
}

#[test]
fn eight_words_or_four_doubles_move_at_once() {
    let body = "
    ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, _, %r7}, [%rd1];
    mov.u32 %r6, 77;
    add.u32 %r0, %r0, 1;
    st.global.L2::cache_hint.v8.f32 [%rd1], {%r7, %r6, %r5, %r4, %r3, %r2, %r1, %r0}, %rd9;
    ld.global.v4.b64 {%rd2, %rd3, %rd4, %rd5}, [%rd1+32];
    st.global.v4.u64 [%rd1+32], {%rd5, %rd4, %rd3, %rd2};";
    let numbers: Vec<u32> = (0..40 * 16).collect();
    every_way(&kernel("sm_100", 64, body), |gpu| {
        let buffer = gpu.buffer(&numbers);
        let report = gpu.launch("kernel", 1, 40, 0, &Params::new().with(buffer));
        let results = gpu.read::<u32>(buffer, numbers.len());
        for (i, found) in results.chunks(16).enumerate() {
            let n = |k: u32| i as u32 * 16 + k;
            let words = [n(7), 77, n(5), n(4), n(3), n(2), n(1), n(0) + 1];
            let doubles = [n(14), n(15), n(12), n(13), n(10), n(11), n(8), n(9)];
            assert_eq!(found, [words, doubles].concat());
        }
        // Two full sectors of each thread.
        assert_eq!((report.counters.global_load_sectors, report.counters.global_load_bytes), (80, 40 * 64));
    });
}

#[test]
fn accesses_of_32_bytes_need_their_target_and_alignment() {
    let load = "ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%rd1];";
    let message = Module::parse(&kernel("sm_90", 16, load)).unwrap_err().to_string();
    assert!(message.contains("from .target sm_100 on"), "{message}");
    for refused in [
        "ld.shared.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [tile];",
        "st.global.v8.b64 [%rd1], {%rd1, %rd1, %rd1, %rd1, %rd1, %rd1, %rd1, %rd1};",
    ] {
        assert!(Module::parse(&kernel("sm_100", 16, refused)).is_err(), "{refused}");
    }
    let gpu = Gpu::load(&kernel("sm_100", 16, load));
    let buffer = gpu.buffer(&[0_u32; 64]);
    match gpu.try_launch("kernel", 1, 2, 0, &Params::new().with(buffer)) {
        Err(LaunchError::Fault { finding, .. }) => assert!(matches!(finding.kind, FindingKind::Misaligned { .. }), "{finding}"),
        other => panic!("expected a finding, got {other:?}"),
    }
}

/// Programs of one thread for sm_90, with the buffer before and after.
fn programs() -> Vec<(&'static str, String, Vec<u64>, Vec<u64>)> {
    let exchange = |space: &str, place: &str| {
        format!(
            "
    mov.b64 %rd2, 5; mov.b64 %rd3, 6; mov.b128 %q1, {{%rd2, %rd3}};
    mov.b64 %rd4, 0x100000007; mov.b128 %q2, {{%rd4, %rd2}};
    atom.relaxed.gpu{space}.exch.b128 %q3, [{place}], %q1;
    st.global.b128 [%rd1+16], %q3;
    atom.gpu{space}.cas.b128 %q4, [{place}], %q2, %q2;
    st.global.b128 [%rd1+32], %q4;
    atom.gpu{space}.cas.b128 %q4, [{place}], %q1, %q2;
    ld{space}.b128 %q5, [{place}];
    st.global.b128 [%rd1], %q5;"
        )
    };
    let in_shared = format!("mov.b64 %rd8, 0; st.shared.v2.b64 [tile+16], {{%rd8, %rd8}}; {}", exchange(".shared", "tile+16"));
    // 1.0 and 2.0 against 1.5, and as bf16.
    let halves = "
    mov.b16 %h1, 0x3e00; mov.b32 %r1, 0x3fc03fc0;
    atom.global.max.noftz.v2.f16 {%h2, %h3}, [%rd1], {%h1, %h1};
    st.global.v2.b16 [%rd1+4], {%h2, %h3};
    red.global.min.noftz.v2.bf16x2 [%rd1+8], {%r1, %r1};";
    let tokens = "
    mbarrier.init.shared.b64 [tile], 5;
    mbarrier.arrive.shared.b64 %rd2, [tile];
    mbarrier.arrive.expect_tx.shared.b64 %rd3, [tile], 100;
    mbarrier.pending_count.b64 %r1, %rd2;
    mbarrier.pending_count.b64 %r2, %rd3;
    mbarrier.arrive.shared.b64 _, [tile], 3;
    mbarrier.test_wait.shared.b64 %p1, [tile], %rd3;
    selp.u32 %r3, 1, 0, %p1;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [tile], 100;
    mbarrier.test_wait.shared.b64 %p1, [tile], %rd3;
    selp.u32 %r4, 1, 0, %p1;
    st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};";
    vec![
        ("16 bytes in global memory", exchange(".global", "%rd1"), vec![11, 12, 0, 0, 0, 0], vec![0x1_0000_0007, 5, 11, 12, 5, 6]),
        ("16 bytes in shared memory", in_shared, vec![0; 6], vec![0x1_0000_0007, 5, 0, 0, 5, 6]),
        (
            "minimum and maximum of vectors of 16-bit floats",
            halves.to_owned(),
            vec![0x4000_3c00, 0x3f80_4000_4000_3f80],
            vec![0x4000_3c00_4000_3e00, 0x3f80_3fc0_3fc0_3f80],
        ),
        ("arrivals that a phase lacks, and bytes completed by hand", tokens.to_owned(), vec![0; 2], vec![4 << 32 | 5, 1 << 32]),
    ]
}

#[test]
fn programs_of_one_thread_give_what_is_expected() {
    for (what, body, before, after) in programs() {
        every_way(&kernel("sm_90", 0, &body), |gpu| {
            let buffer = gpu.buffer(&before);
            gpu.launch("kernel", 1, 1, 0, &Params::new().with(buffer));
            assert_eq!(gpu.read::<u64>(buffer, after.len()), after, "{what}");
        });
    }
    assert!(Module::parse(&kernel("sm_90", 0, "red.global.min.noftz.f16 [%rd1], %h1;")).is_err());
}

#[test]
#[ignore = "needs a GPU of compute capability 9.0"]
fn a_gpu_gives_the_same() {
    use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
    let stream = CudaContext::new(0).expect("a GPU").default_stream();
    let mut others = Vec::new();
    for (what, body, before, after) in programs() {
        let ptx = cudarc::nvrtc::Ptx::from_src(kernel("sm_90", 0, &body).replace(".version 8.8", ".version 8.6"));
        let found = stream.context().load_module(ptx).and_then(|module| {
            let function = module.load_function("kernel")?;
            let mut buffer = stream.clone_htod(&before)?;
            let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
            // SAFETY: the kernel reads and writes only as many bytes of its one parameter as the buffer has.
            unsafe { stream.launch_builder(&function).arg(&mut buffer).launch(config) }?;
            stream.clone_dtoh(&buffer)
        });
        if found.as_ref() != Ok(&after) {
            others.push(format!("{what}: {after:x?} here, {found:x?} there"));
        }
    }
    assert!(others.is_empty(), "{others:#?}");
}
