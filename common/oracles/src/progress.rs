//! Shows how far a run is, if it takes longer than a second or two.
//!
//! Progress goes to stderr: as a bar to a terminal, and as a line every few seconds to a log. Standard output gets only results.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// Least duration of work that shows progress. A line that only flashes is worse than none.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(250);
const EVERY: Duration = Duration::from_secs(5);
const STEPS: u64 = 1000;
/// Largest share shown before the end, however long the work takes.
const NEARLY: f64 = 0.99;

/// Shows the progress of work whose parts are counted.
pub fn bar(what: impl Into<String>, total: u64) -> Progress {
    Progress::start(State::new(what.into(), Amount::Counted { done: 0, total }))
}

/// Shows a clock next to the name of work of unknown length.
pub fn spinner(what: impl Into<String>) -> Progress {
    Progress::start(State::new(what.into(), Amount::Unknown))
}

/// Shows the progress of work that should take this long. [`Progress::part`] names its parts.
pub fn expected(total: Duration) -> Progress {
    Progress::start(State::new(String::new(), Amount::Expected { total, done: Duration::ZERO, part: Duration::ZERO }))
}

/// Returns the remaining time, from the finished share and the elapsed time. Everything that reports it uses this.
pub fn left(share: f64, elapsed: Duration) -> Duration {
    if share > 0.0 { elapsed.mul_f64(((1.0 - share) / share).clamp(0.0, 1e6)) } else { Duration::ZERO }
}

/// Formats a duration as exactly as an estimate can be: `40 s`, `3 min`, `5 h`, `2 days`, `300 years`.
pub fn words(duration: Duration) -> String {
    const UNITS: [(f64, &str); 4] = [(60.0, "s"), (60.0, "min"), (24.0, "h"), (365.0, "days")];
    let mut number = duration.as_secs_f64();
    for (size, unit) in UNITS {
        // Up to 90 s, and so on: 1 min says less.
        if number < 1.5 * size {
            return format!("{:.0} {unit}", number.ceil());
        }
        number /= size;
    }
    format!("{number:.0} years")
}

/// Progress that is shown until it is dropped.
pub struct Progress {
    state: Arc<Mutex<State>>,
    /// Closes when the work is done.
    done: Option<Sender<()>>,
    shown: Option<JoinHandle<()>>,
}

struct State {
    what: String,
    amount: Amount,
    begun: Instant,
    /// When the part that runs now began.
    part_begun: Instant,
}

#[derive(Clone, Copy)]
enum Amount {
    Unknown,
    Counted {
        done: u64,
        total: u64,
    },
    /// `done` is what the finished parts should have taken, and `part` what this one should take.
    Expected {
        total: Duration,
        done: Duration,
        part: Duration,
    },
}

impl State {
    fn new(what: String, amount: Amount) -> Self {
        let now = Instant::now();
        Self { what, amount, begun: now, part_begun: now }
    }

    /// Returns the share that is done, if it can be known.
    fn share(&self, now: Instant) -> Option<f64> {
        match self.amount {
            Amount::Unknown => None,
            Amount::Counted { done, total } => Some(done as f64 / total.max(1) as f64),
            Amount::Expected { total, done, part } => {
                let of_part = (now - self.part_begun).min(part.mul_f64(NEARLY));
                Some(((done + of_part).as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE)).min(NEARLY))
            }
        }
    }

    /// Returns the elapsed time, or the finished share and the remaining time.
    fn figures(&self, now: Instant) -> String {
        let elapsed = now - self.begun;
        match self.share(now) {
            Some(share) if share > 0.0 => format!("{:.0} %, about {} left", 100.0 * share, words(left(share, elapsed))),
            _ => format!("{} so far", words(elapsed)),
        }
    }
}

/// Number of progress displays at the moment. Of work inside other work, a log shows the inner one.
static DEPTH: AtomicUsize = AtomicUsize::new(0);

/// Returns all bars of this process, one under the other.
fn bars() -> &'static MultiProgress {
    static BARS: OnceLock<MultiProgress> = OnceLock::new();
    BARS.get_or_init(MultiProgress::new)
}

impl Progress {
    fn start(state: State) -> Self {
        let state = Arc::new(Mutex::new(state));
        let (done, hung_up) = channel::<()>();
        let depth = DEPTH.fetch_add(1, Ordering::Relaxed) + 1;
        let of_thread = state.clone();
        let is_terminal = stderr().is_terminal();
        let shown = thread::Builder::new().spawn(move || {
            let ended = |patience| hung_up.recv_timeout(patience) != Err(RecvTimeoutError::Timeout);
            if is_terminal {
                draw(&of_thread, ended);
            } else {
                log(&of_thread, ended, EVERY, |line| {
                    if DEPTH.load(Ordering::Relaxed) == depth {
                        // If stderr is closed, no one is left to tell.
                        let _ = stderr().lock().write_all(line.as_bytes());
                    }
                });
            }
        });
        // Without a thread to show it, the work goes on all the same.
        Self { state, done: Some(done), shown: shown.ok() }
    }

    /// Adds to what is done.
    pub fn inc(&self, amount: usize) {
        if let Amount::Counted { done, .. } = &mut lock(&self.state).amount {
            *done += amount as u64;
        }
    }

    /// Names the current part and its expected duration. All parts before it are done.
    pub fn part(&self, what: String, expected: Duration) {
        let mut state = lock(&self.state);
        state.what = what;
        state.part_begun = Instant::now();
        if let Amount::Expected { done, part, .. } = &mut state.amount {
            *done += *part;
            *part = expected;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.done.take());
        // The next output must not be overwritten.
        if let Some(shown) = self.shown.take() {
            let _ = shown.join();
        }
        DEPTH.fetch_sub(1, Ordering::Relaxed);
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn draw(state: &Mutex<State>, ended: impl Fn(Duration) -> bool) {
    if ended(PATIENCE) {
        return;
    }
    let bar = bars().add(ProgressBar::new(STEPS));
    let template =
        if matches!(lock(state).amount, Amount::Unknown) { "{spinner} {msg} {prefix}" } else { "{msg} {wide_bar} {prefix}" };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    loop {
        let now = Instant::now();
        let (what, figures, share) = {
            let state = lock(state);
            (state.what.clone(), state.figures(now), state.share(now))
        };
        bar.set_message(what);
        bar.set_prefix(figures);
        bar.set_position((STEPS as f64 * share.unwrap_or(0.0)) as u64);
        bar.tick();
        if ended(TICK) {
            break;
        }
    }
    bar.finish_and_clear();
    bars().remove(&bar);
}

fn log(state: &Mutex<State>, ended: impl Fn(Duration) -> bool, every: Duration, write: impl Fn(&str)) {
    while !ended(every) {
        let line = {
            let state = lock(state);
            format!("{}: {}\n", state.what, state.figures(Instant::now()))
        };
        write(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn the_share_of_expected_work_grows_with_time_and_never_beyond_its_part() {
        let begun = Instant::now();
        let amount = Amount::Expected { total: 10 * S, done: 4 * S, part: 2 * S };
        let state = State { what: String::new(), amount, begun, part_begun: begun + 5 * S };
        // The finished parts took a second longer than expected, so what is left takes longer, too.
        for (at, share, figures) in
            [(6, 0.5, "50 %, about 6 s left"), (7, 0.598, "60 %, about 5 s left"), (20, 0.598, "60 %, about 14 s left")]
        {
            let now = begun + at * S;
            assert!((state.share(now).unwrap() - share).abs() < 1e-9, "{at}");
            assert_eq!(state.figures(now), figures, "{at}");
        }
    }

    #[test]
    fn work_without_a_known_share_shows_its_time() {
        for amount in [Amount::Unknown, Amount::Counted { done: 0, total: 100 }] {
            let state = State::new("oracle".to_owned(), amount);
            assert_eq!(state.figures(state.begun + 7 * S), "7 s so far");
        }
        let state = State::new("oracle".to_owned(), Amount::Counted { done: 25, total: 100 });
        assert_eq!(state.figures(state.begun + 7 * S), "25 %, about 21 s left");
    }

    #[test]
    fn a_log_gets_a_line_every_so_often_until_the_work_ends() {
        let state = Mutex::new(State::new("unroll-8 (4 of 12)".to_owned(), Amount::Counted { done: 1, total: 4 }));
        let (asked, lines) = (Cell::new(0), RefCell::new(Vec::new()));
        let ended = |patience| {
            assert_eq!(patience, EVERY);
            asked.set(asked.get() + 1);
            asked.get() > 3
        };
        log(&state, ended, EVERY, |line| lines.borrow_mut().push(line.to_owned()));
        let lines = lines.into_inner();
        assert_eq!(lines.len(), 3);
        assert!(
            lines.iter().all(|line| line.starts_with("unroll-8 (4 of 12): 25 %, about ") && line.ends_with(" left\n")),
            "{lines:?}"
        );
    }

    #[test]
    fn durations_are_as_exact_as_an_estimate_can_be() {
        for (seconds, text) in [
            (0.2, "1 s"),
            (41.3, "42 s"),
            (89.0, "89 s"),
            (150.0, "3 min"),
            (3600.0 * 5.0, "5 h"),
            (86_400.0 * 20.0, "20 days"),
            (3.15e9, "100 years"),
        ] {
            assert_eq!(words(Duration::from_secs_f64(seconds)), text);
        }
    }
}
