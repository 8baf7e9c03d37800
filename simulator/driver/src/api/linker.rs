//! The linker as a program calls it. What a GPU's driver would return as machine code is PTX here, which this driver loads again.

use std::sync::OnceLock;

use super::image::{self, NO_PTX};
use super::jit_log::Logs;
use super::prelude::*;
use crate::link::{self, Input, LinkError};

/// `CU_JIT_INPUT_LIBRARY`, and the number of kinds of input
const LIBRARY: u32 = 4;
const INPUT_KINDS: u32 = 6;

/// The library for launches from kernels, which toolkits add to every link. Nothing in it is needed here.
const DEVICE_RUNTIME: &str = "cudadevrt";

/// Modules that are being linked.
#[derive(Debug)]
struct Link {
    context: Arc<Context>,
    inputs: Mutex<Vec<Input>>,
    /// The result with a NUL, which the program may read meanwhile.
    linked: OnceLock<Vec<u8>>,
}

kind!(Link: INVALID_HANDLE, of its context);

/// Adds an input. Its kind does not matter, because PTX is told by its first bytes.
fn add(link: Handle, kind: u32, name: String, bytes: impl FnOnce() -> Result<Vec<u8>>) -> Result<()> {
    let (driver, _) = context::current()?;
    let link = driver.handles.get::<Link>(link)?;
    refuse!(INVALID_VALUE if kind >= INPUT_KINDS || link.linked.get().is_some());
    let bytes = bytes()?;
    if kind == LIBRARY && name.contains(DEVICE_RUNTIME) {
        return Ok(());
    }
    let mut inputs = link.inputs.lock();
    let input = check(driver, kind, name, &bytes, &inputs).inspect_err(|failure| driver.reporter.note_refusal(failure))?;
    inputs.push(input);
    Ok(())
}

/// Refuses what cannot be linked with the other inputs.
fn check(driver: &Driver, kind: u32, name: String, bytes: &[u8], others: &[Input]) -> Result<Input> {
    if kind == LIBRARY {
        return Err(CuResult::NO_BINARY_FOR_GPU.because(format!("{name}: {NO_PTX}")));
    }
    let ptx = image::ptx_of(driver, bytes)?;
    let input = Input { name, text: String::from_utf8_lossy(image::until_nul(&ptx)).into_owned() };
    // Neither PTX nor anything else.
    refuse!(INVALID_IMAGE if !ptx::is_ptx(&input.text), "{}: it is not PTX", input.name);
    link::check(&input).map_err(code_of)?;
    // What is defined twice is refused here, not when the link is completed: so does the driver of an H200 (580.159).
    link::link(&[others, std::slice::from_ref(&input)].concat()).map_err(code_of)?;
    Ok(input)
}

/// Returns what a GPU's driver returns in this case.
fn code_of(error: LinkError) -> Failure {
    let code = match error {
        LinkError::Load { .. } => CuResult::INVALID_PTX,
        // The second was not tried on a GPU.
        LinkError::DefinedTwice { .. } | LinkError::Prototype { .. } => CuResult::INVALID_SOURCE,
    };
    code.because(error.to_string())
}

exports! {
    fn cuLinkCreate_v2 | cuLinkCreate(count: u32, options: In<u32>, values: Out<usize>, link: Out<Handle>) {
        let (driver, context) = context::current()?;
        link.check()?;
        // A link that fails says why when it fails, so the buffers stay empty.
        Logs::read(count, options, values)?.write("");
        link.put(driver.handles.add(Link { context, inputs: Mutex::default(), linked: OnceLock::new() }))
    }

    fn cuLinkAddData_v2 | cuLinkAddData(
        link: Handle, kind: u32, data: HostBytes, bytes: usize, name: Text, _count: u32, _options: In<u32>, _values: Out<usize>,
    ) => add(link, kind, if name.is_null() { "unnamed input".to_owned() } else { name.read()? }, || data.read(bytes));

    fn cuLinkAddFile_v2 | cuLinkAddFile(link: Handle, kind: u32, path: Text, _count: u32, _options: In<u32>, _values: Out<usize>) {
        let path = path.read()?;
        let read = || std::fs::read(&path).map_err(|error| CuResult::FILE_NOT_FOUND.because(format!("{path}: {error}")));
        add(link, kind, path.clone(), read)
    }

    /// The result belongs to the link. A second call returns the same one.
    fn cuLinkComplete(link: Handle, linked: Out<*const c_void>, bytes: Out<usize>) {
        let (driver, _) = context::current()?;
        let link = driver.handles.get::<Link>(link)?;
        linked.check()?;
        let inputs = link.inputs.lock();
        refuse!(INVALID_VALUE if inputs.is_empty(), "nothing was added to this link");
        let text = link::link(&inputs).map_err(code_of).inspect_err(|failure| driver.reporter.note_refusal(failure))?;
        let result = link.linked.get_or_init(|| [text.as_bytes(), &[0]].concat());
        linked.put(result.as_ptr().cast())?;
        bytes.put_if_asked(result.len());
        Ok(())
    }

    fn cuLinkDestroy(link: Handle) => driver()?.handles.remove::<Link>(link).map(drop);
}
