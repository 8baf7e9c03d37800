//! Images: PTX, alone or in a fat binary, that was checked, parsed, and placed in device memory.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::Once;

use ptx::{is_ptx, register_counts};
use simt::{Image, LoadError, Memory, Module, Profile};

use super::prelude::*;
use crate::coverage::ModuleCounts;
use crate::fatbin::{self, FatbinError};
use crate::link::{self, Input};
use crate::name::readable;

/// The longest text that is accepted. An unterminated buffer must end somewhere.
const LONGEST_PTX: usize = 256 << 20;

/// The first version of PTX that the simulator does not know. It is tried, and refused only for what is not understood.
const UNKNOWN_PTX: (u32, u32) = (10, 0);

/// How many bytes tell what an image is.
const MAGIC_BYTES: usize = 4;

/// The first bytes of a cubin, which is an ELF file.
const CUBIN_MAGIC: [u8; MAGIC_BYTES] = *b"\x7fELF";

/// The reason for refusing machine code.
pub const NO_PTX: &str = "the image is machine code for a GPU, but the simulator executes PTX; compile to PTX, for example with \
                          `nvcc -ptx` or nvrtcGetPTX and `--gpu-architecture=compute_80`";

/// The first generation that today's compilers still support. An older profile loads their PTX anyway, because there is no other way to
/// get a kernel for such a GPU.
const OLDEST_WITH_COMPILER: (u32, u32) = (5, 0);

/// An image in device memory. It stays until the last launch that uses it has ended.
#[derive(Debug)]
pub struct LoadedImage {
    image: Option<Image>,
    memory: Arc<Memory>,
    parsed: ParsedImage,
}

/// Checked and parsed PTX, to be placed in memory for each context.
#[derive(Clone, Debug)]
pub struct ParsedImage {
    pub module: Arc<Module>,
    /// Registers per thread, by the kernel's name.
    registers: Arc<BTreeMap<String, u32>>,
    /// Where its launches are counted, if the environment asks for coverage.
    coverage: Option<Arc<ModuleCounts>>,
}

impl ParsedImage {
    /// Reads PTX, which ends at the first NUL if there is one.
    pub fn parse(driver: &Driver, bytes: &[u8]) -> Result<Self> {
        let bytes = until_nul(bytes);
        refuse!(INVALID_IMAGE if bytes.len() >= LONGEST_PTX, "the PTX has no terminating NUL within {} MiB", LONGEST_PTX >> 20);
        let text = String::from_utf8_lossy(bytes);
        refuse!(INVALID_IMAGE if !is_ptx(&text), "the text is not PTX: it has no .version directive");
        let text = driver.mutants.mutated(&text);
        // To a program, PTX that the simulator cannot execute is PTX that does not compile.
        let module = Module::parse_in_part(&text).map_err(|error| CuResult::INVALID_PTX.because(error.to_string()))?;
        warn_of_version(driver, module.ptx_version());
        check_target(module.target(), driver.profile)?;
        for (name, reason) in module.refused() {
            driver.reporter.note_missing(&cannot_run(name, reason));
        }
        let registers = Arc::new(register_counts::read(&text, driver.profile.compute_capability));
        let module = Arc::new(module);
        let coverage = driver.coverage.as_ref().map(|collector| collector.lock().counts_of(&module));
        Ok(Self { module, registers, coverage })
    }
}

impl LoadedImage {
    pub fn place(driver: &Driver, parsed: &ParsedImage) -> Result<Self> {
        let image = Image::new(parsed.module.clone(), &driver.memory)?;
        Ok(Self { image: Some(image), memory: driver.memory.clone(), parsed: parsed.clone() })
    }

    pub fn registers_per_thread(&self, kernel: &str) -> Option<u32> {
        self.parsed.registers.get(kernel).copied()
    }

    pub fn coverage(&self) -> &Option<Arc<ModuleCounts>> {
        &self.parsed.coverage
    }

    pub fn image(&self) -> &Image {
        self.image.as_ref().expect("the image is only taken out on drop")
    }
}

impl Drop for LoadedImage {
    fn drop(&mut self) {
        if let Some(image) = self.image.take() {
            image.unload(&self.memory);
        }
    }
}

/// Reads a module's PTX or fat binary from the caller's memory.
pub fn read(driver: &Driver, image: HostBytes) -> Result<ParsedImage> {
    refuse!(
        INVALID_IMAGE if image.until_nul(MAGIC_BYTES)? == fatbin::WRAPPER_MAGIC,
        "only a library loads the wrapper of a fat binary; a module loads what it points to"
    );
    read_library(driver, image)
}

/// Reads the same for a library, or a fat binary's wrapper.
pub fn read_library(driver: &Driver, image: HostBytes) -> Result<ParsedImage> {
    let start = image.until_nul(MAGIC_BYTES)?;
    // What is not text may contain NULs, so its first bytes are checked before the rest is read as text.
    let bytes = match start.as_slice() {
        start if start == fatbin::WRAPPER_MAGIC => read_wrapped(driver, image),
        start if start == fatbin::MAGIC => read_fatbin(image),
        start if start == CUBIN_MAGIC => Ok(start.to_vec()),
        _ => image.until_nul(LONGEST_PTX),
    };
    let parsed = bytes.and_then(|bytes| ParsedImage::parse(driver, &ptx_of(driver, &bytes)?));
    parsed.inspect_err(|failure| driver.reporter.note_refusal(failure))
}

/// Reads the fat binary that a wrapper points to. If it has parts, as after `nvcc -rdc=true`, the linked code is machine code, so the PTX of
/// the parts is linked here.
fn read_wrapped(driver: &Driver, wrapper: HostBytes) -> Result<Vec<u8>> {
    let whole = read_fatbin(wrapper.pointer_at(fatbin::WRAPPED_AT)?)?;
    if !fatbin::has_parts(&wrapper.read(fatbin::WRAPPER_START_BYTES)?) || ptx_of(driver, &whole).is_ok() {
        return Ok(whole);
    }
    let parts = wrapper.pointer_at(fatbin::PARTS_AT)?;
    let (mut inputs, mut first_failure) = (Vec::new(), None);
    for number in 0.. {
        let part = parts.pointer_at(number * size_of::<usize>())?;
        if part.is_null() {
            break;
        }
        // The library for launches from kernels is among the parts, and has PTX for the newest GPUs only. What needs it does not load.
        match read_fatbin(part).and_then(|bytes| ptx_of(driver, &bytes).map(Cow::into_owned)) {
            Ok(ptx) => {
                let text = String::from_utf8_lossy(until_nul(&ptx)).into_owned();
                inputs.push(Input { name: format!("part {}", number + 1), text });
            }
            Err(failure) => first_failure = first_failure.or(Some(failure)),
        }
    }
    if inputs.is_empty() {
        return Err(first_failure.unwrap_or_else(|| CuResult::INVALID_IMAGE.because(FatbinError::Empty.to_string())));
    }
    let linked = link::link(&inputs).map_err(|error| CuResult::INVALID_PTX.because(error.to_string()))?;
    Ok(linked.into_bytes())
}

fn read_fatbin(image: HostBytes) -> Result<Vec<u8>> {
    let header = image.read(fatbin::HEADER_BYTES)?;
    refuse!(INVALID_IMAGE if !header.starts_with(&fatbin::MAGIC), "the wrapper of a fat binary does not point to one");
    image.read(fatbin::total_bytes(&header).map_err(|error| CuResult::INVALID_IMAGE.because(error.to_string()))?)
}

/// Returns the text before the first NUL.
pub fn until_nul(text: &[u8]) -> &[u8] {
    CStr::from_bytes_until_nul(text).map_or(text, CStr::to_bytes)
}

pub fn read_file(driver: &Driver, path: Text) -> Result<ParsedImage> {
    let path = path.read()?;
    let bytes = std::fs::read(&path).map_err(|error| CuResult::FILE_NOT_FOUND.because(format!("{path}: {error}")))?;
    let parsed = ptx_of(driver, &bytes).and_then(|ptx| ParsedImage::parse(driver, &ptx));
    parsed.inspect_err(|failure| driver.reporter.note_refusal(failure))
}

/// Returns the PTX of an image: the image itself, or the best text in a fat binary. Refuses machine code, by its first bytes.
pub fn ptx_of<'a>(driver: &Driver, image: &'a [u8]) -> Result<Cow<'a, [u8]>> {
    if image.starts_with(&CUBIN_MAGIC) {
        return Err(CuResult::NO_BINARY_FOR_GPU.because(NO_PTX));
    }
    if !image.starts_with(&fatbin::MAGIC) {
        return Ok(Cow::Borrowed(image));
    }
    let has = driver.profile.compute_capability;
    let ptx = fatbin::best_ptx(image, has, has < OLDEST_WITH_COMPILER).map_err(|error| match &error {
        FatbinError::Damaged(_) => CuResult::INVALID_IMAGE.because(error.to_string()),
        FatbinError::Empty | FatbinError::OnlyMachineCode(_) | FatbinError::TooNew { .. } => {
            CuResult::NO_BINARY_FOR_GPU.because(error.to_string())
        }
    })?;
    Ok(Cow::Owned(ptx))
}

/// Refuses a kernel of a module whose other kernels can run.
pub fn cannot_run(kernel: &str, reason: &LoadError) -> Failure {
    CuResult::NOT_SUPPORTED.because(format!("kernel {} cannot run: {reason}", readable(kernel)))
}

/// Warns once of PTX of a version that is not known.
fn warn_of_version(driver: &Driver, (major, minor): (u32, u32)) {
    static WARNED: Once = Once::new();
    if (major, minor) >= UNKNOWN_PTX {
        WARNED.call_once(|| {
            let (known, _) = UNKNOWN_PTX;
            driver.reporter.tell(&format!(
                "PTX version {major}.{minor} is newer than this simulator, which knows versions before {known}.0; it runs as far as it \
                 is understood"
            ));
        });
    }
}

/// Refuses PTX for a newer GPU, because it does not compile there.
fn check_target((major, minor): (u32, u32), profile: &Profile) -> Result<()> {
    let has = profile.compute_capability;
    refuse!(
        INVALID_PTX if has >= OLDEST_WITH_COMPILER && (major, minor) > has,
        "the PTX needs compute capability {major}.{minor} or higher; the profile {} has {}.{}", profile.name, has.0, has.1
    );
    Ok(())
}
