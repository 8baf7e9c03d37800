//! Random tests of the simulator and the driver: the same inputs in every run, and a report of how many there were.
//!
//! `PROPTEST_CASES` sets how many inputs each test tries, and `PROPTEST_RNG_SEED` chooses other inputs. A million of each:
//!
//! ```console
//! $ PROPTEST_CASES=1000000 cargo test --release -p simt-tests robustness -- --nocapture --test-threads 1
//! $ PROPTEST_CASES=1000000 cargo test --release -p simcuda-library --test driver misuse -- --nocapture
//! ```
//!
//! An input that panics is made smaller and printed. An input that ends the process or never returns cannot be printed any more, so each
//! input is written to a file before it is tried, and [`check`] says which file that is.

use std::cell::Cell;
use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{env, process, thread};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

/// The seed when the environment does not name one.
const SEED: u64 = 1;

/// The longest that one input may take, on a busy machine. Most take less than a millisecond.
const PATIENCE: Duration = Duration::from_secs(60);

/// Inputs from which on a leak would show.
const MANY: u32 = 100_000;

/// Memory that may be added after the first tenth of the inputs: what tables and allocators keep. A leak of a hundred bytes per input is
/// more in a million inputs.
const GROWTH: u64 = 96 << 20;

/// Checks a property of `cases` random inputs and prints a summary. `PROPTEST_CASES` overrides the number of cases.
///
/// # Panics
///
/// If an input does not have the property, if it panics, or if the process keeps growing while many inputs are tried. If an input does not return, the process aborts.
pub fn check<S: Strategy>(name: &str, cases: u32, strategy: S, property: impl Fn(S::Value) -> Result<(), TestCaseError>)
where
    S::Value: Debug,
{
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(SEED);
    }
    let (cases, seed) = (config.cases, config.rng_seed);
    let path = env::temp_dir().join(format!("fuzz-{name}-{}.txt", process::id()));
    let file = File::create(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (tried, memory_before) = (AtomicU64::new(0), Cell::new(0));
    let started = Instant::now();
    let outcome = thread::scope(|scope| {
        let (_until_done, done) = channel();
        scope.spawn(|| watch(&tried, &path, done));
        TestRunner::new(config).run(&strategy, |input| {
            note(&file, &input).unwrap_or_else(|error| panic!("cannot write the input: {error}"));
            if tried.fetch_add(1, Relaxed) + 1 == u64::from(cases / 10) {
                memory_before.set(memory_in_use());
            }
            property(input)
        })
    });
    let growth = memory_in_use().saturating_sub(memory_before.get());
    println!(
        "{name}: {} inputs, seed {seed:?}, {:.1} s, peak memory {} MiB, {} MiB more than after a tenth of the inputs",
        tried.load(Relaxed),
        started.elapsed().as_secs_f64(),
        memory("VmHWM:") >> 20,
        growth >> 20,
    );
    if let Err(failure) = outcome {
        panic!("{name}, seed {seed:?}: {failure}");
    }
    // In an ordinary run, other tests of the same process use memory meanwhile.
    assert!(cases < MANY || growth < GROWTH, "{name}, seed {seed:?}: memory grows");
    // Nobody needs the last input of a test that passed.
    let _ = fs::remove_file(&path);
}

/// Writes the input to the file, in place of the one before.
fn note(mut file: &File, input: &impl Debug) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{input:#?}")
}

/// Watches that inputs return, until nobody sends any more. Aborts the process when one takes too long, because nothing else can stop it.
fn watch(tried: &AtomicU64, path: &Path, done: Receiver<()>) {
    let (mut last, mut since) = (0, Instant::now());
    while done.recv_timeout(Duration::from_millis(20)) == Err(RecvTimeoutError::Timeout) {
        let tried = tried.load(Relaxed);
        if tried != last {
            (last, since) = (tried, Instant::now());
        }
        if since.elapsed() > PATIENCE {
            eprintln!("input {tried} does not return after {PATIENCE:?}; it is in {}", path.display());
            process::abort();
        }
    }
}

/// Returns this process's memory in use, in bytes. Freed memory that the allocator keeps does not count: one input that needs much for a while is no
/// growth.
fn memory_in_use() -> u64 {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: the declaration has the type of glibc's function, which may be called at any time.
        unsafe extern "C" {
            safe fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        malloc_trim(0);
    }
    memory("VmRSS:")
}

/// Returns a number of `/proc/self/status` in bytes, such as `VmHWM:` (the peak of this process's memory); 0 if the system does not report it.
pub fn memory(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status.lines().find_map(|line| line.strip_prefix(key)?.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}
