//! A session as a page uses it. That the WebAssembly module gives the same answers is tested by `replay.mjs`.

use serde_json::{Value, json};
use simt_web::Session;

const STRIDED: &str = include_str!("../../../book/lab/slides/stride.ptx");

fn call(session: &mut Session, request: &Value) -> Value {
    serde_json::from_str(&session.call(request.to_string().as_bytes())).unwrap()
}

/// Makes a session with a kernel of the book and its buffers: 64 outputs of 2 taps.
fn session() -> Session {
    let mut session = Session::default();
    let loaded = call(&mut session, &json!({ "do": "load", "ptx": STRIDED }));
    assert_eq!(loaded["kernels"][0]["name"], "strided");
    assert_eq!(loaded["kernels"][0]["params"][6], json!({ "name": "strided_param_6", "bytes": 8 }));
    for (number, (label, floats)) in [("signal", 65), ("filter", 2), ("output", 64)].into_iter().enumerate() {
        let made = call(&mut session, &json!({ "do": "allocate", "bytes": 4 * floats, "label": label }));
        assert_eq!((&made["buffer"], &made["bytes"]), (&json!(number), &json!(4 * floats)));
    }
    let bytes = |floats: &[f32]| floats.iter().flat_map(|float| float.to_le_bytes()).collect::<Vec<u8>>();
    session.upload(0, 0, &bytes(&(0..65).map(|i| i as f32).collect::<Vec<_>>())).unwrap();
    session.upload(1, 0, &bytes(&[1.0, 10.0])).unwrap();
    session
}

fn launch(outputs: u32, more: &Value) -> Value {
    let mut arguments = vec![json!({ "buffer": 0 }), json!({ "buffer": 1 })];
    arguments.extend([outputs, 2, 1, 0].map(|number| json!({ "u32": number })));
    arguments.push(json!({ "buffer": 2 }));
    let mut request =
        json!({ "do": "launch", "kernel": "strided", "grid": [2, 1, 1], "block": [64, 1, 1], "arguments": arguments });
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

#[test]
fn a_launch_computes_counts_and_can_be_stepped() {
    let mut session = session();
    let answer = call(&mut session, &launch(64, &json!({ "steps": { "limit": 5 }, "least_bytes": 1000, "trace": [0, 0, 0] })));
    assert_eq!(answer["error"], Value::Null);
    let counters = &answer["report"]["counters"];
    // Two warps, two taps, two loads; 32 floats in four sectors, or five if they start at the second; the filter's value in one.
    assert_eq!((&counters["global_load_requests"], &counters["global_load_sectors"]), (&json!(8), &json!(4 + 5 + 4 + 5 + 4)));
    assert_eq!(answer["steps"].as_array().unwrap().len(), 5);
    assert_eq!(answer["steps"][0]["writes"][0]["bits"], 64);
    assert!(answer["bound"]["least_clocks"].as_f64().unwrap() > 0.0);
    let output = session.download(2, 0, 256).unwrap();
    let expected = (0..64).flat_map(|i| (i as f32 + 10.0 * (i + 1) as f32).to_le_bytes());
    assert!(output.into_iter().eq(expected));
}

#[test]
fn what_goes_wrong_is_said_with_its_line_and_the_session_goes_on() {
    let mut session = session();
    let fault = call(&mut session, &launch(65, &json!({ "steps": { "limit": 1000 }, "checks": false })));
    let fault = &fault["error"];
    assert_eq!((&fault["kind"], &fault["source"]["line"]), (&json!("fault"), &json!(18)));
    assert!(fault["message"].as_str().unwrap().contains("0 bytes past the end of signal (260 bytes)"), "{fault}");
    let endless = call(&mut session, &launch(64, &json!({ "fuel": 3 })));
    assert_eq!(endless["error"]["kind"], "out-of-fuel");
    for (request, kind, words) in [
        (json!({ "do": "allocate", "bytes": 1_u64 << 40 }), "memory", "out of memory"),
        (json!({ "do": "load", "ptx": STRIDED.replace("fma.rn", "fam.rn") }), "unsupported", "fam.rn.f32"),
        (json!({ "do": "load", "ptx": STRIDED.replace(".reg", ".leg") }), "syntax", "PTX line"),
        (json!({ "do": "free", "buffer": 3 }), "memory", "there is no buffer 3"),
        (json!({ "do": "nothing" }), "request", "nothing"),
        (launch(64, &json!({ "block": [2048, 1, 1] })), "misuse", "block.x 2048 is outside 1..=1024"),
    ] {
        let answer = call(&mut session, &request);
        assert_eq!(answer["error"]["kind"], kind, "{request}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{answer}");
    }
    assert!(session.upload(0, 260, &[1]).is_err());
    assert!(session.download(0, 0, 261).is_err());
    assert!(session.upload(0, u64::MAX, &[1]).is_err());
    // The last module that loaded is still there.
    assert_eq!(call(&mut session, &launch(64, &json!({})))["error"], Value::Null);
}

#[test]
fn variables_go_with_their_module_and_buffers_stay() {
    let mut session = Session::default();
    let with = |name: &str| {
        format!(".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 {name} = 7;\n.visible .entry k() {{ ret; }}")
    };
    call(&mut session, &json!({ "do": "load", "ptx": with("first") }));
    call(&mut session, &json!({ "do": "allocate", "bytes": 4 }));
    assert_eq!(call(&mut session, &json!({ "do": "variable", "name": "first" }))["buffer"], 1);
    assert_eq!(session.download(1, 0, 4).unwrap(), [7, 0, 0, 0]);
    call(&mut session, &json!({ "do": "load", "ptx": with("second") }));
    assert!(session.download(1, 0, 4).is_err());
    assert!(session.download(0, 0, 4).is_ok());
    assert_eq!(call(&mut session, &json!({ "do": "variable", "name": "first" }))["error"]["kind"], "misuse");
}
