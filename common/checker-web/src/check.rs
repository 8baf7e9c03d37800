//! Executes requests.

use std::cell::RefCell;

use checker::check::{self, Stop, Task, Text};
use checker::device::{self, Compilation, Form, Launch, Uncompiled};
use checker::manifest::Manifest;
use checker::simulated::Simulated;
use checker::text::paragraphs;
use checker::{feedback, predict};
use serde_json::{Value, json};
use simt::MemoryError;
use workloads::{Convolution, Correlation, Histogram, Matmul, Problem, WindowSums};

use crate::answer::Answer;
use crate::request::{Check, Forms, Output, Request};

/// Executes one request and returns its answer, both as JSON.
pub fn answered(request: &[u8]) -> Vec<u8> {
    let answer = match serde_json::from_slice(request) {
        Ok(request) => execute(request),
        Err(error) => failed(format!("this is not a request: {error}")),
    };
    serde_json::to_vec(&answer).expect("answers hold nothing that JSON cannot")
}

/// Executes one request.
pub fn execute(request: Request) -> Answer {
    match request {
        Request::Check(check) => match check.problem.as_str() {
            Convolution::NAME => checked::<Convolution>(&check),
            Correlation::NAME => checked::<Correlation>(&check),
            Histogram::NAME => checked::<Histogram>(&check),
            Matmul::NAME => checked::<Matmul>(&check),
            WindowSums::NAME => checked::<WindowSums>(&check),
            other => failed(format!("there is no workload {other}")),
        },
        Request::Source { manifest, name, text } => Answer::Source { source: manifest.source(&name, &text) },
        Request::Predict { manifest, counted, arithmetic, answers } => {
            let Some(questions) = manifest.predict.as_ref().map(|predict| &predict.questions) else {
                return failed("this exercise asks for a kernel".to_owned());
            };
            let lesson = paragraphs(&manifest.lesson);
            let Some(answers) = answers else {
                let message = format!("{}\n{lesson}", predict::answered(questions, &counted, arithmetic));
                return Answer::Verdict { passed: false, message, lines: Vec::new(), counted, printed: String::new() };
            };
            if answers.len() != questions.len() || counted.len() != questions.len() {
                return failed(format!("the exercise asks for {} numbers, and there are {}", questions.len(), answers.len()));
            }
            let (text, passed) = predict::judged(questions, &answers, &counted, arithmetic);
            let message = if passed { format!("{text}\npassed. {lesson}") } else { format!("{text}\nthink again, or open a hint") };
            Answer::Verdict { passed, message, lines: Vec::new(), counted: Vec::new(), printed: String::new() }
        }
    }
}

struct NoVerdict(String);

impl From<MemoryError> for NoVerdict {
    fn from(error: MemoryError) -> Self {
        Self(error.to_string())
    }
}

thread_local! {
    /// The beginning of what kernels of this check have printed.
    static PRINTED: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Most letters of it that a page shows.
const MOST_PRINTED: usize = 4096;

fn print(text: &str) {
    PRINTED.with_borrow_mut(|printed| {
        let left = MOST_PRINTED.saturating_sub(printed.chars().count());
        printed.extend(text.chars().take(left));
    });
}

fn checked<P: Problem>(check: &Check) -> Answer {
    let compiler = |form| compilation(&check.forms, form);
    // A page has one thread for this.
    PRINTED.take();
    let device = Simulated { compiler, workers: Some(1), print };
    let text = Text { path: &check.name, name: &check.name, text: &check.text };
    let task = Task { manifest: &check.manifest, starter: &check.starter, text };
    let answer = if check.only_shows {
        let shown = check::launch_to_show::<P, _>(&device, task, check.seed);
        shown.map(|(problem, launch)| Answer::Launch { at: problem.describe(), launch: stored(&check.manifest, &problem, &launch) })
    } else {
        check::check::<P, _>(&device, task, check.seed).map(|passed| {
            let message = feedback::passed(&check.manifest, &passed, text);
            Answer::Verdict { passed: true, message, lines: Vec::new(), counted: passed.counted, printed: PRINTED.take() }
        })
    };
    match answer {
        Ok(answer) => answer,
        Err(Stop::Rejected(rejection)) => {
            let (message, lines) = (feedback::rejected(&rejection, text), feedback::lines(&rejection, text));
            Answer::Verdict {
                passed: false,
                message: message.trim_end().to_owned(),
                lines,
                counted: Vec::new(),
                printed: PRINTED.take(),
            }
        }
        Err(Stop::Unusable(reason) | Stop::Device(NoVerdict(reason))) => failed(reason),
    }
}

/// Returns a launch with its arrays. Outputs hold no numbers yet.
fn stored<P: Problem>(manifest: &Manifest, problem: &P, launch: &Launch) -> Value {
    let outputs = vec![0xff; 4 * problem.output_len() / problem.outputs().len()];
    let mut arrays = problem.inputs();
    arrays.extend(problem.outputs().iter().map(|name| (*name, &outputs[..])));
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let argument = |value: &device::Value| match *value {
        device::Value::Array(name, offset) => {
            json!({ "buffer": arrays.iter().position(|(known, _)| *known == name), "offset": offset })
        }
        device::Value::Size(size) => json!({ "u32": size }),
        device::Value::Sum(sum) => json!({ "bytes": sum.to_le_bytes() }),
    };
    json!({
        "kernel": manifest.kernel.as_ref().map(|kernel| &kernel.name),
        "grid": launch.grid,
        "block": launch.block,
        "shared": launch.shared_bytes,
        "arguments": launch.values.iter().map(argument).collect::<Vec<_>>(),
        "buffers": arrays.iter().map(|(_, bytes)| json!({ "hex": hex(bytes) })).collect::<Vec<_>>(),
        "variables": [],
    })
}

/// Returns the output of the page's compiler for a form.
fn compilation(forms: &Forms, form: Form) -> Compilation<NoVerdict> {
    let (made, name) = match form {
        Form::Optimized => (Some(&forms.optimized), "optimized"),
        Form::Plain => (forms.plain.as_ref(), "plain"),
        Form::Quiet => (forms.quiet.as_ref(), "quiet"),
    };
    match made {
        Some(Output::Compiled(compiled)) => Ok(compiled.clone()),
        Some(Output::Refused { log }) => Err(Uncompiled::Refused(log.clone())),
        None => Err(Uncompiled::Error(NoVerdict(format!("the page has not made the {name} form of the kernel")))),
    }
}

fn failed(error: String) -> Answer {
    Answer::Failed { error }
}
