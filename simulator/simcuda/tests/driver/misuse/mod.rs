//! Anything that a program may do wrong: random calls with bad handles, freed pointers, absurd sizes and shapes, damaged PTX, from one
//! thread and from three at once. Each call must return in time, with a result that exists, and never with the result for a panic inside.
//!
//! Only on the simulator: a GPU's driver follows a bad handle and crashes. Each test has a process of its own, because it sets the fuel and
//! measures memory for the whole process.

mod calls;
mod given;
mod listed;

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use calls::{Call, call, number_of_functions};
use cudarc::driver::sys::{self, CUresult};
use given::{Given, Kind};
use proptest::prelude::*;
use simcuda::client::Simulator;

use crate::support::{self, cu, with_simulator};

/// Enough fuel for every kernel that ends.
const FUEL: u64 = 2000;

/// Makes the calls in a context of their own.
fn make(calls: &[Call], given: &Mutex<Given>) -> Result<(), TestCaseError> {
    let own_context = || lock(given).add(Kind::Context, support::raw_context() as usize);
    own_context();
    for (index, &each) in calls.iter().enumerate() {
        // The lock is not held during the call.
        let seen = lock(given).seen();
        let (result, new) = call(each, &seen);
        if let Some((kind, value)) = new {
            lock(given).add(kind, value);
        }
        prop_assert!(
            result != CUresult::CUDA_ERROR_UNKNOWN,
            "call {index} {each:?}: {:?}",
            Simulator::open().unwrap().take_error()
        );
        let mut name = null();
        prop_assert_eq!(cu!(cuGetErrorName(result, &mut name)), support::OK, "call {} {:?}", index, each);
        // If the context is gone or has failed, the thread continues in a new one.
        // Unlike a call that waits, this one leaves captures as they are.
        let mut config = sys::CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE;
        if cu!(cuCtxGetCacheConfig(&mut config)) != support::OK {
            own_context();
        }
    }
    Ok(())
}

/// Destroys what the calls left, so that the process does not grow. Most of it is gone, or goes with something else.
fn destroy(given: Given) {
    support::raw_context();
    for &(kind, value) in &given.all {
        let handle: *mut c_void = std::ptr::with_exposed_provenance_mut(value);
        match kind {
            Kind::Memory => {
                cu!(cuMemFree_v2(value as u64));
                cu!(cuMemFreeHost(handle));
                // A reserved range has up to three units.
                for bytes in [1, 2, 3].map(|units| units * (2 << 20)) {
                    cu!(cuMemUnmap(value as u64, bytes));
                    cu!(cuMemAddressFree(value as u64, bytes));
                }
                cu!(cuMemHostUnregister(handle))
            }
            Kind::Physical => cu!(cuMemRelease(value as u64)),
            Kind::Mipmap => cu!(cuMipmappedArrayDestroy(handle.cast())),
            Kind::Executable => cu!(cuGraphExecDestroy(handle.cast())),
            Kind::Graph => cu!(cuGraphDestroy(handle.cast())),
            Kind::Library => cu!(cuLibraryUnload(handle.cast())),
            Kind::Array => cu!(cuArrayDestroy(handle.cast())),
            Kind::View => {
                cu!(cuTexObjectDestroy(value as u64));
                cu!(cuSurfObjectDestroy(value as u64))
            }
            Kind::Link => cu!(cuLinkDestroy(handle.cast())),
            _ => support::OK,
        };
    }
    for &(kind, value) in &given.all {
        let handle: *mut c_void = std::ptr::with_exposed_provenance_mut(value);
        match kind {
            Kind::Pool => cu!(cuMemPoolDestroy(handle.cast())),
            Kind::Context => cu!(cuCtxDestroy_v2(handle.cast())),
            _ => support::OK,
        };
    }
    let mut context = null_mut();
    cu!(cuCtxGetCurrent(&mut context));
    cu!(cuCtxDestroy_v2(context));
    cu!(cuDevicePrimaryCtxReset_v2(0));
}

fn lock(given: &Mutex<Given>) -> MutexGuard<'_, Given> {
    given.lock().unwrap_or_else(PoisonError::into_inner)
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    proptest::collection::vec((0..number_of_functions(), any::<u32>(), any::<u32>(), any::<u32>()), 1..60)
}

#[test]
fn whatever_is_called_returns_a_result() {
    with_simulator(|simulator| {
        simulator.set_fuel(FUEL).unwrap();
        // A wait for a value that nobody writes fails at once.
        simulator.set_patience(0).unwrap();
        fuzz::check("driver-calls", 4000, calls(), |calls| {
            let given = Mutex::default();
            let made = make(&calls, &given);
            destroy(given.into_inner().unwrap_or_else(PoisonError::into_inner));
            simulator.take_records().unwrap();
            made
        });
    });
}

#[test]
fn whatever_three_threads_call_at_once_returns_a_result() {
    with_simulator(|simulator| {
        simulator.set_fuel(FUEL).unwrap();
        // A wait for a value that nobody writes fails at once.
        simulator.set_patience(0).unwrap();
        fuzz::check("driver-calls-of-threads", 2000, [calls(), calls(), calls()], |sequences| {
            // Each thread uses and destroys what the others made.
            let given = Mutex::default();
            let made: Vec<_> = std::thread::scope(|scope| {
                let threads = sequences.each_ref().map(|calls| scope.spawn(|| make(calls, &given)));
                threads.map(|thread| thread.join().expect("the thread does not panic")).into()
            });
            destroy(given.into_inner().unwrap_or_else(PoisonError::into_inner));
            simulator.take_records().unwrap();
            made.into_iter().collect()
        });
    });
}

#[test]
fn more_rows_than_the_memory_has_are_refused_at_once() {
    with_simulator(|_| {
        support::raw_context();
        let (mut memory, mut pitch) = (0, 0);
        // One by one, the rows until the end of this memory would take a minute.
        assert_eq!(cu!(cuMemAllocPitch_v2(&mut memory, &mut pitch, 1 << 20, 1 << 12, 4)), support::OK);
        for (pitch, rows) in [(2, 1 << 45), (4, usize::MAX), (1 << 20, (1 << 12) + 1), (usize::MAX - 1, 2)] {
            let result = cu!(cuMemsetD2D16_v2(memory, pitch, 1, 1, rows));
            assert_eq!(result, CUresult::CUDA_ERROR_INVALID_VALUE, "{rows} rows, {pitch} bytes apart");
        }
        assert_eq!(cu!(cuMemsetD2D16_v2(memory, 1 << 20, 1, 1, 1 << 12)), support::OK);
    });
}

#[test]
fn a_texture_of_more_bytes_than_can_be_counted_is_refused() {
    with_simulator(|_| {
        support::raw_context();
        // SAFETY: all fields of these structures may be zero.
        let (mut resource, texture): (sys::CUDA_RESOURCE_DESC, sys::CUDA_TEXTURE_DESC) = unsafe { std::mem::zeroed() };
        resource.resType = sys::CUresourcetype::CU_RESOURCE_TYPE_PITCH2D;
        let (mut memory, mut object) = (0, 0);
        assert_eq!(cu!(cuMemAlloc_v2(&mut memory, 4096)), support::OK);
        // SAFETY: all fields of this member of the union are numbers.
        let pitched = unsafe { &mut resource.res.pitch2D };
        pitched.devPtr = memory;
        pitched.format = sys::CUarray_format::CU_AD_FORMAT_FLOAT;
        (pitched.numChannels, pitched.width, pitched.height, pitched.pitchInBytes) = (1, 4, 1 << 30, 1 << 40);
        let result = cu!(cuTexObjectCreate(&mut object, &resource, &texture, null()));
        assert_eq!(result, CUresult::CUDA_ERROR_INVALID_VALUE, "{:?}", Simulator::open().unwrap().take_error());
    });
}

#[test]
fn absurd_declarations_are_refused_or_cost_little() {
    with_simulator(|simulator| {
        simulator.set_fuel(FUEL).unwrap();
        // A wait for a value that nobody writes fails at once.
        simulator.set_patience(0).unwrap();
        let head = ".version 7.0\n.target sm_70\n.address_size 64\n";
        let kernel = |inside: &str| format!("{head}.visible .entry k() {{ {inside} ret; }}");
        let loads = |inside: &str| kernel(&format!("{inside} mov.u32 %r1, 1;"));
        for text in [
            loads(".reg .b32 %r<4000000000>;"),
            loads(".reg .b32 %r<100000000000000000000>;"),
            loads(".reg .b32 %r<1000000>; .reg .b64 %rd<100000000>;"),
            kernel(".shared .b8 s[4294967295];"),
            kernel(".shared .b8 s[18446744073709551615];"),
            kernel(".local .b8 l[4294967296000];"),
            kernel(".local .align 1024 .b8 l[100000000];"),
            kernel(".shared .align 2147483648 .b8 s[4];"),
            format!("{head}.global .b8 g[18446744073709551615];"),
            format!("{head}.global .align 8 .b8 g[100000000000];"),
            format!("{head}.const .b8 c[100000000];"),
            format!("{head}.visible .entry k(.param .b8 p[4000000000]) {{ ret; }}"),
            format!("{head}.visible .entry k() .maxntid 4294967295, 4294967295, 4294967295 {{ ret; }}"),
            format!("{head}.visible .entry k() {{ {} ret; }}", "{".repeat(100_000)),
            format!(
                "{head}.visible .entry k() {{ .reg .b32 %r<2>; mov.u32 %r1, {}1{}; ret; }}",
                "(".repeat(50_000),
                ")".repeat(50_000)
            ),
        ] {
            let shown = &text[head.len()..text.len().min(head.len() + 100)];
            let context = support::raw_context();
            let image = CString::new(text.as_str()).unwrap();
            let (mut module, mut function) = (null_mut(), null_mut());
            let loaded = cu!(cuModuleLoadData(&mut module, image.as_ptr().cast()));
            assert_ne!(loaded, CUresult::CUDA_ERROR_UNKNOWN, "{shown}");
            if loaded == support::OK && cu!(cuModuleGetFunction(&mut function, module, c"k".as_ptr())) == support::OK {
                let mut each = [null_mut::<c_void>(); 1];
                let launched = cu!(cuLaunchKernel(function, 1, 1, 1, 1024, 1, 1, 0, null_mut(), each.as_mut_ptr(), null_mut()));
                assert_ne!(launched, CUresult::CUDA_ERROR_UNKNOWN, "{shown}");
                assert_ne!(cu!(cuCtxSynchronize()), CUresult::CUDA_ERROR_UNKNOWN, "{shown}");
            }
            cu!(cuCtxDestroy_v2(context));
            let peak = fuzz::memory("VmHWM:");
            assert!(peak < 1 << 30, "{shown}: {} MiB of the host's memory", peak >> 20);
        }
    });
}
