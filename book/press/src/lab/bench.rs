//! Runs a kernel of an experiment with chosen numbers, in this process: the same session that a page has in its module.

use anyhow::{Context, Result, anyhow};
use kernels::Source;
use simt_web::Session;
use simt_web::answer::{Answer, Failure, Launched};
use simt_web::request::{Argument, Launch, Plain, Request};

/// A launch of a kernel of an experiment.
pub struct Run<'a> {
    pub source: &'a Source,
    pub kernel: &'a str,
    pub profile: &'a str,
    /// Blocks, in two dimensions.
    pub grid: [u32; 2],
    pub block: u32,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    pub arguments: &'a [Value<'a>],
}

/// The value of a parameter.
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

impl<'a> Run<'a> {
    /// Describes a launch of one block of a warp on an H200, without arguments.
    pub fn of(source: &'a Source, kernel: &'a str) -> Self {
        Self { source, kernel, profile: "h200", grid: [1, 1], block: 32, shared: 0, arguments: &[] }
    }
}

/// Runs a kernel. Returns the counts, and the bytes of its results.
pub fn run(run: &Run<'_>) -> Result<(Launched, Vec<u8>)> {
    let mut session = Session::default();
    session.execute(Request::Load { ptx: run.source.ptx.to_owned() }).map_err(failed)?;
    let mut results = None;
    let mut arguments = Vec::new();
    for value in run.arguments {
        let contents: Vec<u8> = match value {
            Value::U32(number) => {
                arguments.push(Argument::Value(Plain::U32(*number)));
                continue;
            }
            Value::F32(floats) => floats.iter().flat_map(|float| float.to_le_bytes()).collect(),
            Value::Bytes(bytes) => bytes.to_vec(),
            Value::Results(bytes) => vec![0; *bytes as usize],
        };
        let made = session.execute(Request::Allocate { bytes: contents.len() as u64, label: None }).map_err(failed)?;
        let Answer::Buffer { buffer, .. } = made else { return Err(anyhow!("no buffer")) };
        session.upload(buffer, 0, &contents).map_err(failed)?;
        if let Value::Results(bytes) = value {
            results = Some((buffer, u64::from(*bytes)));
        }
        arguments.push(Argument::Buffer { buffer, offset: 0 });
    }
    let launch = Launch {
        kernel: run.kernel.to_owned(),
        grid: [run.grid[0], run.grid[1], 1],
        block: [run.block, 1, 1],
        shared: run.shared,
        arguments,
        profile: run.profile.to_owned(),
        checks: true,
        order: simt::WarpOrder::default(),
        cooperative: false,
        fuel: 1 << 25,
        trace: None,
        steps: None,
        least_bytes: None,
    };
    let Answer::Launched(launched) = session.execute(Request::Launch(Box::new(launch))).map_err(failed)? else {
        return Err(anyhow!("no answer to a launch"));
    };
    let (buffer, bytes) = results.context("the kernel has no results")?;
    Ok((*launched, session.download(buffer, 0, bytes).map_err(failed)?))
}

fn failed(failure: Failure) -> anyhow::Error {
    anyhow!(failure.message)
}
