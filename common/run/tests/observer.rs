//! The simulator's observations stay exact, however many kernels a program launches.

use cudarc::driver::LaunchConfig;
use cudarc::nvrtc::Ptx;
use driver::records::KEPT_LAUNCHES;
use run::device::Request;
use run::gpu::Gpu;
use run::observer;

const NOTHING: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .entry nothing() { ret; }";

#[test]
fn counts_cover_launches_whose_details_were_dropped() {
    let gpu = Gpu::open(&Request::Sim(None)).expect("the simulator is built with this test");
    let context = gpu.stream.context();
    let nothing = context.load_module(Ptx::from_src(NOTHING)).unwrap().load_function("nothing").unwrap();
    let observe = |launches: usize| {
        observer::forget(&gpu).unwrap();
        for _ in 0..launches {
            let config = LaunchConfig { grid_dim: (2, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
            // SAFETY: the kernel has no parameters and does nothing.
            unsafe { gpu.stream.launch_builder(&nothing).launch(config) }.unwrap();
        }
        observer::take(&gpu).unwrap()
    };

    let one = observe(1);
    let instructions = one.counters.unwrap().ptx_instructions;
    assert!(instructions > 0);
    assert_eq!((one.launches.len(), one.dropped), (1, 0));

    let many = observe(KEPT_LAUNCHES + 7);
    assert_eq!(many.counters.unwrap().ptx_instructions, (KEPT_LAUNCHES as u64 + 7) * instructions);
    assert_eq!((many.launches.len(), many.dropped), (0, 7), "some details are missing, so none are shown");
    let [warning] = &many.warnings()[..] else { panic!("{:?}", many.warnings()) };
    assert!(warning.contains("dropped the details of 7 launches"), "{warning}");

    let all_kept = observe(KEPT_LAUNCHES);
    assert_eq!((all_kept.launches.len(), all_kept.dropped), (KEPT_LAUNCHES, 0));
    assert_eq!(all_kept.warnings(), [""; 0]);
}
