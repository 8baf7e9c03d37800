//! The bound against times worked out by hand.

use simt::bound::{Unit, bound, busiest};
use simt::{Counters, Profile};

fn profile(name: &str) -> &'static Profile {
    Profile::named(name).expect("a profile of the table")
}

/// Checks the least times in microseconds, to a tenth of a percent.
fn assert_times(counters: &Counters, least_bytes: u64, name: &str, expected: &[(Unit, f64)]) {
    let bound = bound(counters, least_bytes, profile(name));
    let units: Vec<Unit> = bound.parts.iter().map(|part| part.unit).collect();
    assert_eq!(units, expected.iter().map(|(unit, _)| *unit).collect::<Vec<_>>(), "{name}: {bound:?}");
    for (part, (unit, microseconds)) in bound.parts.iter().zip(expected) {
        let got = 1e3 * part.least_ms;
        assert!((got / microseconds - 1.0).abs() < 1e-3, "{name}, {unit}: {got} microseconds");
    }
}

/// 294 912 outputs with 32 768 taps, one thread each: two loads per multiply-add of a warp, one from a single address and one from
/// adjacent addresses; one wavefront each.
fn naive() -> Counters {
    let multiply_adds = 294_912 * 32_768;
    let steps = multiply_adds / 32;
    Counters {
        ptx_instructions: 5 * steps,
        f32_fma: multiply_adds,
        int_mad: multiply_adds / 4,
        int_other: 3 * multiply_adds / 2,
        global_load_requests: 2 * steps,
        global_load_wavefronts: 2 * steps,
        global_load_sectors: 6 * steps,
        global_store_requests: 9216,
        global_store_sectors: 4 * 9216,
        ..Counters::default()
    }
}

#[test]
fn two_cached_loads_for_each_multiply_add_bind_by_the_passes_through_l1() {
    // 132 multiprocessors at 1.98 GHz: 261.36 G clocks per second together. 603 988 992 wavefronts, one per clock. 905 978 880
    // multiply-adds and requests of a warp, four per clock. 9 663 676 416 multiply-adds, 128 per clock. 2 621 436 bytes, 64 per
    // clock. They fit in L2, so memory is idle.
    let expected = [(Unit::L1Shared, 2310.9), (Unit::Issue, 866.6), (Unit::F32, 288.87), (Unit::L2, 0.15672)];
    assert_times(&naive(), 2_621_436, "h200", &expected);
}

#[test]
fn loads_of_a_bank_each_take_a_pass_each() {
    let strided = Counters { global_load_wavefronts: 9 * naive().f32_fma / 32, ..naive() };
    let expected = [(Unit::L1Shared, 10399.0), (Unit::Issue, 866.6), (Unit::F32, 288.87), (Unit::L2, 0.15672)];
    assert_times(&strided, 2_621_436, "h200", &expected);
}

#[test]
fn without_caches_memory_moves_every_sector() {
    // Six sectors and what is stored, 57 982 058 496 + 1 179 648 bytes at 2 x 1107 MHz x 64 bytes; 30 multiprocessors at 1.296 GHz,
    // where eight lanes multiply and add, and an instruction takes two clocks; the number of instructions does not follow from the
    // requests.
    let expected = [(Unit::Dram, 409_209.0), (Unit::F32, 31_068.9), (Unit::Issue, 15_534.5)];
    assert_times(&naive(), 2_621_436, "gtx280", &expected);
}

#[test]
fn shared_memory_binds_by_its_wavefronts_and_memory_by_what_l2_cannot_keep() {
    let counters = Counters {
        f32_fma: 132 * 128 * 1000,
        shared_load_requests: 132 * 1000,
        shared_load_wavefronts: 132 * 3000,
        shared_store_wavefronts: 132 * 960,
        ..Counters::default()
    };
    // 3960 wavefronts per multiprocessor; 8000 instructions' share of four per clock; 1000 clocks of multiply-adds; 128 MiB through
    // L2, of which 60 MiB may still be there; memory has 6016 bits x 2 x 3201 MHz = 4814.3 GB/s.
    let bytes = 128 << 20;
    let memory = (68 << 20) as f64 / 4814.304e9 * 1e6;
    let expected = [
        (Unit::Dram, memory),
        (Unit::L2, bytes as f64 / (64.0 * 132.0 * 1980.0)),
        (Unit::L1Shared, 2.0),
        (Unit::Issue, (4000.0 + 1000.0) / 4.0 / 1980.0),
        (Unit::F32, 1000.0 / 1980.0),
    ];
    assert_times(&counters, bytes, "h200", &expected);
}

#[test]
fn tensor_cores_take_twice_as_long_for_factors_twice_as_wide() {
    let products = |bytes: u64, of_four: u64| {
        let tensor_multiply_adds = 132 * 2048 * 1250;
        let tensor_factor_bytes = bytes * tensor_multiply_adds;
        let warpgroup_factor_bytes = of_four * tensor_factor_bytes / 4;
        let counters = Counters { tensor_multiply_adds, tensor_factor_bytes, warpgroup_factor_bytes, ..Counters::default() };
        bound(&counters, 0, profile("h200")).least_ms()
    };
    let is = |ms: f64, clocks: f64| (ms - clocks / 1.98e6).abs() < 1e-9;
    // f16: 2048 multiply-adds a clock with `wgmma`, 1250 with `mma`.
    assert!(is(products(2, 4), 1250.0) && is(products(2, 0), 2048.0));
    assert!(is(products(2, 1), (1250.0 + 3.0 * 2048.0) / 4.0));
    for of_four in [0, 4] {
        let [one, two, four] = [1, 2, 4].map(|bytes| products(bytes, of_four));
        assert_eq!((one, four), (two / 2.0, two * 2.0));
    }
}

#[test]
fn what_a_compiler_may_remove_never_binds() {
    let counters = Counters { f32_fma: 32, int_other: 1 << 40, int_mad: 1 << 38, ptx_instructions: 1 << 34, ..Counters::default() };
    let bound = bound(&counters, 0, profile("h200"));
    assert!(bound.parts.iter().all(|part| matches!(part.unit, Unit::F32 | Unit::Issue)), "{bound:?}");
    assert_eq!(bound.as_written[0].unit, Unit::IntOther);
    assert!(bound.as_written[0].least_ms > bound.least_ms());
}

#[test]
fn shares_are_of_the_binding_part() {
    let shares: Vec<(Unit, f64)> = bound(&naive(), 0, profile("h200")).shares().collect();
    assert_eq!(shares[0], (Unit::L1Shared, 1.0));
    // A quarter of the wavefronts' clocks would be enough for 128 lanes: 32 of two wavefronts.
    assert!((shares[2].1 - 0.125).abs() < 1e-4, "{shares:?}");
    assert_eq!(bound(&Counters::default(), 0, profile("h200")).binding(), None);
}

#[test]
fn the_busiest_multiprocessor_has_a_whole_number_of_blocks() {
    let h200 = profile("h200");
    for (blocks, expected) in [(1, 132.0), (132, 1.0), (144, 2.0 * 132.0 / 144.0), (1152, 9.0 * 132.0 / 1152.0)] {
        assert_eq!(busiest(blocks, h200), expected, "{blocks} blocks");
    }
}

#[test]
fn the_first_gpus_multiply_24_bits_as_fast_as_they_add() {
    // A million lanes of 30 multiprocessors at 1.296 GHz: two per clock if the factors are wide, eight if they are not.
    let wide = Counters { int_mad: 1_000_000, ..Counters::default() };
    let narrow = Counters { int_mul24: 1_000_000, ..wide };
    for (counters, name, unit, microseconds) in [
        (wide, "gtx280", Unit::IntMultiply, 12.860),
        (narrow, "gtx280", Unit::IntOther, 3.2150),
        (narrow, "h200", Unit::IntMultiply, 0.059784),
    ] {
        let as_written = bound(&counters, 0, profile(name)).as_written;
        assert_eq!((as_written.len(), as_written[0].unit), (1, unit), "{name}");
        let got = 1e3 * as_written[0].least_ms;
        assert!((got / microseconds - 1.0).abs() < 1e-3, "{name}: {got} microseconds");
    }
}
