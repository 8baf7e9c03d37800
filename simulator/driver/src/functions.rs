//! Which functions of the CUDA driver API this driver has: the list that a page of the book is made of.
//!
//! The names are those of `cuda.h` and `cudaProfiler.h` of CUDA 13.5. What the driver does with each one follows from its own tables, so
//! the page cannot disagree with the library.

use crate::api::{OF_32_BITS, REFUSED, every_export};

/// The names, in sections with the titles of NVIDIA's documentation.
const NAMES: &str = include_str!("cuda_functions.txt");

/// The limits of functions, and their differences from a GPU's driver. Each has the functions' names.
const REMARKS: &[(&str, &str)] = &[
    (
        "stored, without effect",
        "cuCoredumpSetAttribute cuCoredumpSetAttributeGlobal cuCtxSetCacheConfig cuCtxSetFlags cuCtxSetLimit cuCtxSetSharedMemConfig \
         cuFuncSetCacheConfig cuFuncSetSharedMemConfig cuKernelSetCacheConfig cuMemAdvise cuMemAdvise_v2 cuMemPrefetchAsync \
         cuMemPrefetchAsync_v2 cuMemPrefetchBatchAsync cuTexRefSetMaxAnisotropy cuStreamSetAttribute",
    ),
    ("no execution affinity", "cuCtxCreate_v3"),
    ("no execution affinity, no sharing with graphics", "cuCtxCreate_v4"),
    ("no conditional nodes, no external semaphores", "cuGraphAddNode cuGraphAddNode_v2"),
    ("its share of the multiprocessors is remembered, without effect", "cuGreenCtxCreate"),
    ("on Linux", "cuIpcGetMemHandle cuIpcOpenMemHandle_v2"),
    ("on Linux; what another process recorded counts as complete", "cuIpcGetEventHandle cuIpcOpenEventHandle"),
    ("on Linux; the hint for the address is not taken", "cuMemAddressReserve"),
    ("on Linux; memory of the device, shared by file descriptors", "cuMemCreate"),
    ("at addresses that are multiples of 4; no memory of other devices, no read-only memory", "cuMemHostRegister_v2"),
    ("needs PTX; a cubin is refused", "cuModuleLoadData cuModuleLoadDataEx cuLibraryLoadData"),
    ("no compressed, planar or normalized formats, no sparse arrays", "cuArrayCreate_v2 cuArray3DCreate_v2 cuMipmappedArrayCreate"),
    ("no compressed formats, no filtering across the edges of a cube, no anisotropic filtering", "cuTexObjectCreate"),
    ("copies of interleaved tensors are refused when they start; the promotion is without effect", "cuTensorMapEncodeTiled"),
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
    let remark = REMARKS.iter().find(|(_, names)| names.split_whitespace().any(|other| other == name));
    remark.map_or(Support::Done, |(remark, _)| Support::Limited(remark))
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
        for (remark, names) in REMARKS {
            for name in names.split_whitespace() {
                assert_eq!(support(name), Support::Limited(remark), "{name}");
            }
        }
    }
}
