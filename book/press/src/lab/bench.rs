//! Runs a kernel of an experiment with chosen numbers, in this process: the same session that a page has in its module.

use anyhow::{Context, Result, anyhow, bail};
use kernels::Source;
use simt_web::Session;
use simt_web::answer::{Answer, Failure, Launched};
use simt_web::request::{Argument, Launch, Plain, Request};

/// The value of a parameter.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// A number.
    U32(u32),
    /// A buffer with these contents.
    F32(&'a [f32]),
    /// A buffer with these contents.
    Bytes(&'a [u8]),
    /// A buffer of this many bytes for results, which are returned.
    Results(u32),
}

/// Describes a launch of one block of a warp on an H200.
pub fn launch(kernel: &str) -> Launch {
    Launch {
        kernel: kernel.to_owned(),
        grid: [1, 1, 1],
        block: [32, 1, 1],
        shared: 0,
        arguments: Vec::new(),
        profile: "h200".to_owned(),
        checks: true,
        order: simt::WarpOrder::default(),
        cooperative: false,
        fuel: 1 << 25,
        trace: None,
        steps: None,
        least_bytes: None,
    }
}

/// Runs a launch with these arguments. Returns the counts, and the bytes of its results.
pub fn run<'a>(source: &Source, mut launch: Launch, arguments: impl IntoIterator<Item = Value<'a>>) -> Result<(Launched, Vec<u8>)> {
    let mut session = Session::default();
    session.execute(Request::Load { ptx: source.ptx.to_owned() }).map_err(failed)?;
    let mut results = None;
    for value in arguments {
        let contents: Vec<u8> = match value {
            Value::U32(number) => {
                launch.arguments.push(Argument::Value(Plain::U32(number)));
                continue;
            }
            Value::F32(floats) => floats.iter().flat_map(|float| float.to_le_bytes()).collect(),
            Value::Bytes(bytes) => bytes.to_vec(),
            Value::Results(bytes) => vec![0; bytes as usize],
        };
        let made = session.execute(Request::Allocate { bytes: contents.len() as u64, label: None }).map_err(failed)?;
        let Answer::Buffer { buffer, .. } = made else { bail!("no buffer") };
        session.upload(buffer, 0, &contents).map_err(failed)?;
        if let Value::Results(bytes) = value {
            results = Some((buffer, u64::from(bytes)));
        }
        launch.arguments.push(Argument::Buffer { buffer, offset: 0 });
    }
    let Answer::Launched(launched) = session.execute(Request::Launch(Box::new(launch))).map_err(failed)? else {
        bail!("no answer to a launch");
    };
    let (buffer, bytes) = results.context("the kernel has no results")?;
    Ok((*launched, session.download(buffer, 0, bytes).map_err(failed)?))
}

fn failed(failure: Failure) -> anyhow::Error {
    anyhow!(failure.message)
}
