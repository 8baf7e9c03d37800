//! Which functions of the CUDA driver API this driver has: the list that a page of the book is made of.
//!
//! The names are those of `cuda.h` and `cudaProfiler.h` of CUDA 12.9. What the driver does with each one follows from its own tables, so
//! the page cannot disagree with the library.

use crate::api::{OF_32_BITS, REFUSED, every_export};

/// The names, in sections with the titles of NVIDIA's documentation.
const NAMES: &str = include_str!("cuda_functions.txt");

/// The limits of functions, and their differences from a GPU's driver.
const REMARKS: &[(&str, &str)] = &[
    ("cuCoredumpSetAttribute", "stored, without effect"),
    ("cuCoredumpSetAttributeGlobal", "stored, without effect"),
    ("cuCtxCreate_v3", "no execution affinity"),
    ("cuCtxCreate_v4", "no execution affinity, no sharing with graphics"),
    ("cuCtxSetCacheConfig", "stored, without effect"),
    ("cuCtxSetFlags", "stored, without effect"),
    ("cuCtxSetLimit", "stored, without effect"),
    ("cuCtxSetSharedMemConfig", "stored, without effect"),
    ("cuFuncSetCacheConfig", "stored, without effect"),
    ("cuFuncSetSharedMemConfig", "stored, without effect"),
    ("cuGraphAddNode", "no conditional nodes, no external semaphores"),
    ("cuGraphAddNode_v2", "no conditional nodes, no external semaphores"),
    ("cuGreenCtxCreate", "its share of the multiprocessors is remembered, without effect"),
    ("cuIpcGetMemHandle", "on Linux"),
    ("cuIpcOpenMemHandle_v2", "on Linux"),
    ("cuIpcGetEventHandle", "on Linux; what another process recorded counts as complete"),
    ("cuIpcOpenEventHandle", "on Linux; what another process recorded counts as complete"),
    ("cuKernelSetCacheConfig", "stored, without effect"),
    ("cuMemAdvise", "stored, without effect"),
    ("cuMemAdvise_v2", "stored, without effect"),
    ("cuMemAddressReserve", "on Linux; the hint for the address is not taken"),
    ("cuMemCreate", "on Linux; memory of the device, shared by file descriptors"),
    ("cuMemHostRegister_v2", "at addresses that are multiples of 4; no memory of other devices, no read-only memory"),
    ("cuMemPrefetchAsync", "stored, without effect"),
    ("cuMemPrefetchAsync_v2", "stored, without effect"),
    ("cuModuleLoadData", "needs PTX; a cubin is refused"),
    ("cuModuleLoadDataEx", "needs PTX; a cubin is refused"),
    ("cuLibraryLoadData", "needs PTX; a cubin is refused"),
    ("cuTexObjectCreate", "no compressed formats, no filtering across the edges of a cube, no anisotropic filtering"),
    ("cuTexRefSetMaxAnisotropy", "stored, without effect"),
    ("cuTensorMapEncodeTiled", "copies of interleaved tensors are refused when they start; the promotion is without effect"),
    ("cuStreamSetAttribute", "stored, without effect"),
];

/// A part of the API.
#[derive(Clone, Debug)]
pub struct Section {
    /// As NVIDIA's documentation calls it.
    pub title: &'static str,
    /// Its functions, in the order of the header.
    pub functions: Vec<Function>,
}

/// A function of the API.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name under which a driver exports it.
    pub name: &'static str,
    /// The driver's answer to a call.
    pub support: Support,
}

/// The driver's answer to a call of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// It does as CUDA says.
    Done,
    /// It does as CUDA says, with a limit.
    Limited(&'static str),
    /// It refuses, and names the feature and what to do instead.
    Refused(String),
    /// The library has no such function.
    Missing,
}

/// Lists all functions of the API.
pub fn sections() -> Vec<Section> {
    let texts = NAMES.split("\n[").skip(1).filter_map(|text| text.split_once(']'));
    let function = |name| Function { name, support: support(name) };
    texts.map(|(title, names)| Section { title, functions: names.split_whitespace().map(function).collect() }).collect()
}

fn support(name: &str) -> Support {
    let is_exported =
        |name: &str| every_export().any(|export| export.name == name || export.per_thread.is_some_and(|(form, _)| form == name));
    if !is_exported(name) {
        return Support::Missing;
    }
    if let Some(refused) = REFUSED.iter().find(|refused| refused.functions.contains(&name)) {
        return Support::Refused(format!("{}; {}", refused.feature, refused.instead));
    }
    if OF_32_BITS.contains(&name) {
        return Support::Refused("addresses of 32 bits; use the form with a suffix".to_owned());
    }
    let remark = REMARKS.iter().find(|(other, _)| *other == name);
    remark.map_or(Support::Done, |(_, remark)| Support::Limited(remark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_function_of_the_api_is_done_or_refused_by_name() {
        let functions: Vec<Function> = sections().into_iter().flat_map(|section| section.functions).collect();
        let missing: Vec<&str> =
            functions.iter().filter(|function| function.support == Support::Missing).map(|function| function.name).collect();
        assert_eq!(missing, [""; 0]);
        let names: BTreeSet<&str> = functions.iter().map(|function| function.name).collect();
        assert_eq!(names.len(), functions.len(), "a name is listed twice");
        assert!(names.len() > 600);
    }

    #[test]
    fn remarks_are_about_functions_that_the_driver_has() {
        for (name, remark) in REMARKS {
            assert_eq!(support(name), Support::Limited(remark), "{name}");
        }
    }
}
