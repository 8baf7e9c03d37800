//! How fast the native build is, for comparison with the WebAssembly module: `cargo run -p simt-web --example speed OUT` writes its requests and its
//! figures into a file, and `simulator/web/tests/speed.mjs` sends the same requests to the module.

use std::time::Instant;

use serde_json::{Value, json};
use simt_web::Session;

/// The number of short runs. The fastest of many is one that no other program disturbed.
const ROUNDS: usize = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = std::env::args_os().nth(1).ok_or("usage: speed OUT")?;
    let (outputs, taps, block) = (1024, 256, 256);
    let mut programs = Vec::new();
    for (name, kernel, ptx, checks) in [
        ("naive convolution", "naive", include_str!("../../../../kernels/ptx/01-conv-naive.ptx"), false),
        ("naive convolution, all checks", "naive", include_str!("../../../../kernels/ptx/01-conv-naive.ptx"), true),
        ("shared-memory convolution", "shared", include_str!("../../../../kernels/ptx/02-conv-shared.ptx"), false),
        ("shared-memory convolution, all checks", "shared", include_str!("../../../../kernels/ptx/02-conv-shared.ptx"), true),
    ] {
        let setup = [
            json!({ "do": "load", "ptx": ptx }),
            json!({ "do": "allocate", "bytes": 4 * (outputs + taps - 1) }),
            json!({ "do": "allocate", "bytes": 4 * taps }),
            json!({ "do": "allocate", "bytes": 4 * outputs }),
        ];
        let launch = json!({
            "do": "launch", "kernel": kernel, "grid": [outputs / block, 1, 1], "block": [block, 1, 1], "checks": checks,
            "arguments": [{ "buffer": 0 }, { "buffer": 1 }, { "u32": outputs }, { "u32": taps }, { "buffer": 2 }],
        });
        let mut session = Session::default();
        let mut call =
            |request: &Value| -> Value { serde_json::from_str(&session.call(request.to_string().as_bytes())).expect("JSON") };
        setup.iter().for_each(|request| drop(call(request)));
        let mut instructions = Err(format!("{name} failed"));
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let answer = call(&launch);
            best = best.min(start.elapsed().as_secs_f64());
            instructions = answer["report"]["counters"]["ptx_instructions"].as_u64().ok_or_else(|| answer.to_string());
        }
        let per_second = instructions? as f64 / best;
        programs.push(json!({ "name": name, "setup": setup, "launch": launch, "rounds": ROUNDS, "per_second": per_second }));
    }
    Ok(std::fs::write(out, serde_json::to_vec(&programs)?)?)
}
