//! Register counts: read from machine code, and written into the stored PTX.

use std::collections::BTreeSet;

use compilers::input::Input;
use compilers::nvrtc::Nvrtc;
use compilers::registers::{comments, of_cubin};
use compilers::versions::COUNTED_ARCHITECTURES;
use ptx::register_counts;

/// Cubin of `cubin/two.cu` from NVRTC 12.0.140 (`--gpu-architecture=sm_90 --std=c++17`); `ptxas -v` of the same release prints 40
/// registers for `hungry` and 8 for `modest`.
const CUBIN: &[u8] = include_bytes!("cubin/two.sm_90.cubin");

fn input(text: &str) -> Input<'_> {
    Input { name: "two.cu", text, headers: &[] }
}

#[test]
fn counts_are_those_that_ptxas_prints() {
    let counts = of_cubin(CUBIN).unwrap();
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [("hungry".to_owned(), 40), ("modest".to_owned(), 8)]);
}

#[test]
fn the_comments_have_a_line_for_each_architecture_that_the_compiler_knows() {
    let Ok(nvrtc) = Nvrtc::find() else {
        eprintln!("skipped: no NVRTC on this machine");
        return;
    };
    let comments = |text: &str| comments(&nvrtc, input(text), "compute_80");
    let two = comments(include_str!("cubin/two.cu"));
    let targets: Vec<u32> =
        COUNTED_ARCHITECTURES.into_iter().filter(|target| two.contains(&format!("// registers sm_{target}: "))).collect();
    let known = nvrtc.architectures();
    let expected: Vec<u32> = COUNTED_ARCHITECTURES.into_iter().filter(|target| *target >= 80 && known.contains(target)).collect();
    assert_eq!(targets, expected, "those that are not older than compute_80 and that this NVRTC knows");
    assert_eq!(two.lines().count(), targets.len());
    for target in targets {
        let counts = register_counts::read(&two, (target / 10, target % 10));
        assert_eq!(counts.into_keys().collect::<Vec<_>>(), ["hungry", "modest"], "sm_{target}");
    }
    assert_eq!(comments("not CUDA C"), "");
}

#[test]
fn damaged_machine_code_is_refused_or_read_but_never_panics() {
    for length in 0..CUBIN.len() {
        let _ = of_cubin(&CUBIN[..length]);
    }
    let mut damaged = CUBIN.to_vec();
    for position in 0..damaged.len() {
        for value in [0, 0x7f, 0xff] {
            let whole = std::mem::replace(&mut damaged[position], value);
            let _ = of_cubin(&damaged);
            damaged[position] = whole;
        }
    }
}

#[test]
fn the_stored_ptx_has_the_registers_of_every_kernel() {
    for source in kernels::sources() {
        let oldest = source.architecture.trim_start_matches("compute_");
        let only = oldest.strip_suffix('a');
        let oldest: u32 = only.unwrap_or(oldest).parse().unwrap();
        let wanted: BTreeSet<&str> = source.kernels.iter().copied().collect();
        for target in COUNTED_ARCHITECTURES.into_iter().filter(|target| *target == oldest || only.is_none() && *target > oldest) {
            let counts = register_counts::read(source.ptx, (target / 10, target % 10));
            let listed: BTreeSet<&str> = counts.keys().map(String::as_str).collect();
            assert_eq!(listed, wanted, "{}, sm_{target}: run `cargo ptx`", source.ptx_path);
        }
    }
}
