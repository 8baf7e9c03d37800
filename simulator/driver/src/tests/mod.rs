//! Launch records for the unit tests.

use ptx::finding::Location;
use simt::{Counters, Dim3, Finding, FindingKind, LaunchConfig, LaunchReport, Profile, SourceLine};

use crate::occupancy::{BlockNeeds, Occupancy};
use crate::records::{Failed, LaunchRecord, Outcome};

const ONE: Dim3 = Dim3 { x: 1, y: 1, z: 1 };
const CONFIG: LaunchConfig = LaunchConfig { grid: ONE, block: ONE, dynamic_shared_bytes: 0 };

fn record(kernel: &str, outcome: Outcome) -> LaunchRecord {
    let needs = BlockNeeds { threads: 1, registers_per_thread: None, shared_bytes: 0 };
    let occupancy = Occupancy::of(Profile::named("h200").unwrap(), needs);
    LaunchRecord { kernel: kernel.to_owned(), config: CONFIG, occupancy, outcome }
}

/// Returns a finding at a line of CUDA C.
pub fn finding(line: u32) -> Finding {
    Finding {
        kind: FindingKind::Trap,
        kernel: "k".to_owned(),
        block: Dim3::new(0, 0, 0),
        thread: Dim3::new(0, 0, 0),
        lanes: 1,
        times: 1,
        location: Location {
            ptx_line: line,
            instruction: "trap;".to_owned(),
            source: Some(SourceLine { file: "kernels/a.cu".to_owned(), line }),
            inlined_at: None,
        },
    }
}

/// Returns a launch that did not run to its end.
pub fn failed(kernel: &str, finding: Option<Finding>) -> LaunchRecord {
    let message = finding.as_ref().map_or("kernel k was stopped".to_owned(), Finding::to_string);
    record(kernel, Outcome::Failed(Failed { message, finding: finding.map(Box::new) }))
}

/// Returns a launch that ran to its end.
pub fn finished(kernel: &str, findings: Vec<Finding>) -> LaunchRecord {
    let counters = Counters { ptx_instructions: 7, global_load_requests: 2, global_load_sectors: 9, ..Counters::default() };
    let report = LaunchReport {
        kernel: kernel.to_owned(),
        config: CONFIG,
        counters,
        lines: Vec::new(),
        samples: Vec::new(),
        touched: Vec::new(),
        blocks: 1,
        footprint: Vec::new(),
        printed: String::new(),
        overwritten: 0,
        findings,
    };
    record(kernel, Outcome::Finished(Box::new(report)))
}
