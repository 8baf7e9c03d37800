//! Makes the cases of the differential test: requests, and what this machine's own build of the simulator answers.
//!
//! `cargo run -p simt-web --example cases LAUNCHES OUT` reads the files that the driver writes with `SIMCUDA_LAUNCHES=LAUNCHES` and repeats each launch
//! in several ways. `simulator/web/tests/replay.mjs` sends the same requests to the WebAssembly module.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use simt_web::Session;

/// A launch as the driver wrote it.
#[derive(Deserialize)]
struct LaunchFile {
    kernel: String,
    grid: simt::Dim3,
    block: simt::Dim3,
    dynamic_shared_bytes: u32,
    cooperative: bool,
    profile: String,
    arguments: Vec<Value>,
    buffers: Vec<String>,
    variables: Vec<Variable>,
    ptx: String,
}

#[derive(Deserialize)]
struct Variable {
    name: String,
    bytes: String,
}

/// One exchange with a session.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Exchange {
    Call {
        request: String,
        answer: String,
    },
    /// `input` is an index into the inputs of the case.
    Upload {
        buffer: usize,
        input: usize,
    },
    Download {
        buffer: usize,
        bytes: u64,
        hash: u32,
    },
}

/// A session and what was said to it and by it.
#[derive(Default)]
struct Recorder {
    session: Session,
    /// The uploads, as text.
    inputs: Vec<String>,
    exchanges: Vec<Exchange>,
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

impl Recorder {
    fn call(&mut self, request: &Value) -> Value {
        let request = request.to_string();
        let answer = self.session.call(request.as_bytes());
        let value = serde_json::from_str(&answer).expect("an answer is JSON");
        self.exchanges.push(Exchange::Call { request, answer });
        value
    }

    /// Makes the buffer that a request asks for. Returns its number and size.
    fn buffer(&mut self, request: &Value) -> Result<(usize, u64)> {
        let answer = self.call(request);
        let number = |name: &str| answer[name].as_u64().ok_or_else(|| format!("{request} failed: {answer}"));
        Ok((number("buffer")? as usize, number("bytes")?))
    }

    fn upload(&mut self, buffer: usize, bytes: &str) -> Result<()> {
        self.session.upload(buffer, 0, &binary(bytes)?).map_err(|failure| failure.message)?;
        let known = self.inputs.iter().position(|known| known == bytes);
        let input = known.unwrap_or_else(|| {
            self.inputs.push(bytes.to_owned());
            self.inputs.len() - 1
        });
        self.exchanges.push(Exchange::Upload { buffer, input });
        Ok(())
    }

    fn download(&mut self, buffer: usize, bytes: u64) -> Result<()> {
        let read = self.session.download(buffer, 0, bytes).map_err(|failure| failure.message)?;
        self.exchanges.push(Exchange::Download { buffer, bytes, hash: hash(&read) });
        Ok(())
    }
}

fn main() -> Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [launches, out] = arguments.as_slice() else { return Err("usage: cases LAUNCHES OUT".into()) };
    fs::create_dir_all(out)?;
    let mut files: Vec<PathBuf> = fs::read_dir(launches)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    for (number, file) in files.iter().enumerate() {
        let launch: LaunchFile = serde_json::from_slice(&fs::read(file)?)?;
        write(out, &format!("{number:03}-{}", launch.kernel), &repeat(&launch)?)?;
    }
    write(out, "programs", &programs())?;
    println!("{} cases", files.len() + 1);
    Ok(())
}

fn write(out: &Path, name: &str, Recorder { inputs, exchanges, .. }: &Recorder) -> Result<()> {
    let case = json!({ "name": name, "inputs": inputs, "exchanges": exchanges });
    Ok(fs::write(out.join(format!("{name}.json")), serde_json::to_vec(&case)?)?)
}

/// Warp instructions above which a launch is repeated only once.
const MANY: u64 = 100_000;

/// Repeats a launch as it was, then in other ways: other profiles and orders, without checks, step by step, and past the end of a buffer.
fn repeat(file: &LaunchFile) -> Result<Recorder> {
    let mut recorder = Recorder::default();
    let loaded = recorder.call(&json!({ "do": "load", "ptx": file.ptx }));
    if loaded["error"].is_object() {
        return Err(format!("{}: {}", file.kernel, loaded["error"]["message"]).into());
    }
    let mut buffers = Vec::new();
    for bytes in &file.buffers {
        buffers.push(recorder.buffer(&json!({ "do": "allocate", "bytes": bytes.len() / 2 }))?);
    }
    let mut variables = Vec::new();
    for variable in &file.variables {
        variables.push(recorder.buffer(&json!({ "do": "variable", "name": variable.name }))?.0);
    }
    let extents = |extents: simt::Dim3| [extents.x, extents.y, extents.z];
    let mut launch = json!({
        "do": "launch", "kernel": file.kernel, "grid": extents(file.grid), "block": extents(file.block),
        "shared": file.dynamic_shared_bytes, "cooperative": file.cooperative, "profile": file.profile,
        "arguments": file.arguments, "least_bytes": 1 << 20,
    });
    let first = run(&mut recorder, file, (&buffers, &variables), &launch)?;
    let executed = first["report"]["counters"]["ptx_instructions"].as_u64();
    let executed = executed.ok_or_else(|| format!("{} failed: {}", file.kernel, first["error"]["message"]))?;
    if executed > MANY {
        return Ok(recorder);
    }
    let variants = [
        json!({ "profile": "t4", "checks": false, "order": "descending" }),
        json!({ "profile": "gtx680", "checks": true, "order": { "shuffled": 7 }, "trace": [0, 0, 0] }),
        json!({ "profile": "gtx280", "order": "ascending", "steps": { "warp": 0, "limit": 60 } }),
        json!({ "profile": "h200", "fuel": 100 }),
    ];
    for variant in variants {
        merge(&mut launch, &variant);
        run(&mut recorder, file, (&buffers, &variables), &launch)?;
    }
    merge(&mut launch, &json!({ "fuel": 1 << 25 }));
    // Each buffer in turn starts four bytes before its end.
    for at in (0..file.arguments.len()).filter(|at| file.arguments[*at]["buffer"].is_u64()) {
        let mut broken = launch.clone();
        let bytes = buffers[file.arguments[at]["buffer"].as_u64().unwrap_or(0) as usize].1;
        broken["arguments"][at]["offset"] = bytes.saturating_sub(4).into();
        run(&mut recorder, file, (&buffers, &variables), &broken)?;
    }
    Ok(recorder)
}

/// Launches once with the file's bytes in all buffers, then reads them.
fn run(
    recorder: &mut Recorder,
    file: &LaunchFile,
    (buffers, variables): (&[(usize, u64)], &[usize]),
    launch: &Value,
) -> Result<Value> {
    for ((buffer, _), bytes) in buffers.iter().zip(&file.buffers) {
        recorder.upload(*buffer, bytes)?;
    }
    for (buffer, variable) in variables.iter().zip(&file.variables) {
        recorder.upload(*buffer, &variable.bytes)?;
    }
    let answer = recorder.call(launch);
    for (buffer, bytes) in buffers {
        recorder.download(*buffer, *bytes)?;
    }
    Ok(answer)
}

fn merge(into: &mut Value, from: &Value) {
    for (name, value) in from.as_object().into_iter().flatten() {
        into[name] = value.clone();
    }
}

/// Records what chapters' kernels never do: broken text, misuse, races, output, endless loops.
fn programs() -> Recorder {
    let mut recorder = Recorder::default();
    let text = include_str!("programs.ptx");
    let launch = |kernel: &str, arguments: Value| json!({ "do": "launch", "kernel": kernel, "grid": [2, 1, 1], "block": [64, 1, 1], "arguments": arguments });
    for request in [
        json!({ "do": "profiles" }),
        json!({ "do": "dance" }),
        json!([1, 2]),
        launch("race", json!([])),
        json!({ "do": "load", "ptx": "" }),
        json!({ "do": "load", "ptx": text.replace("add.s32", "ad.s32") }),
        json!({ "do": "load", "ptx": text.replace(".reg", ".leg") }),
        json!({ "do": "load", "ptx": &text[..text.len() / 2] }),
        json!({ "do": "load", "ptx": text }),
        json!({ "do": "allocate", "bytes": 1024, "label": "numbers" }),
        json!({ "do": "allocate", "bytes": 1_u64 << 40 }),
        json!({ "do": "allocate", "bytes": u64::MAX }),
        json!({ "do": "variable", "name": "nothing" }),
        json!({ "do": "free", "buffer": 7 }),
        launch("nothing", json!([])),
        launch("race", json!([])),
        launch("race", json!([{ "u32": 1 }])),
        launch("race", json!([{ "buffer": 9 }])),
        launch("race", json!([{ "buffer": 0 }])),
        launch("race", json!([{ "buffer": 0, "offset": 3 }])),
        launch("race", json!([{ "buffer": 0, "offset": -4 }])),
        launch("race", json!([{ "u64": 0 }])),
        launch("endless", json!([{ "i32": -1 }])),
        launch("diverges", json!([{ "buffer": 0 }])),
    ] {
        recorder.call(&request);
    }
    for (name, value) in [
        ("order", json!({ "shuffled": u64::MAX })),
        ("profile", json!("t5")),
        ("block", json!([2048, 1, 1])),
        ("grid", json!([0, 1, 1])),
        ("shared", json!(1 << 20)),
        ("fuel", json!(10)),
        ("steps", json!({ "block": [1, 0, 0], "warp": 1, "limit": 1000 })),
        ("cooperative", json!(true)),
    ] {
        let mut request = launch("race", json!([{ "buffer": 0 }]));
        request[name] = value;
        recorder.call(&request);
    }
    recorder.call(&json!({ "do": "free", "buffer": 0 }));
    recorder.call(&launch("race", json!([{ "u64": 1_u64 << 49 }])));
    recorder
}

/// Returns a hash of bytes (FNV-1a).
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn binary(text: &str) -> Result<Vec<u8>> {
    text.as_bytes().chunks(2).map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?)).collect()
}
