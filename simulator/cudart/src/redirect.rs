//! Sends the calls of NVIDIA's runtime to this library, also where that runtime is a part of the program.
//!
//! `nvcc` puts NVIDIA's runtime into each program that it builds, unless it is told not to. That runtime asks the driver for private tables,
//! so it works with NVIDIA's driver only. The dynamic loader can load this library twice:
//!
//! - `LD_PRELOAD` makes it a library of the program.
//! - `LD_AUDIT` makes it one that the loader tells about each object, before any code of that object runs (`man 7 rtld-audit`). This copy has a
//!   namespace of its own. It looks the runtime's functions up in the object's symbols, and writes a jump to the same function of the first copy
//!   over the start of each.
//!
//! The audit copy also gives a program that loads NVRTC by its path, as CuPy does, our NVRTC, which lies in the folder `nvrtc` beside it. That one
//! calls NVIDIA's, and returns PTX for machine code.
//!
//! A program whose symbols were removed (`strip`) keeps NVIDIA's runtime. So does one that is linked statically as a whole: it has no loader.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_long, c_uint, c_void};
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};

use object::LittleEndian;
use object::elf::{FileHeader64, SHT_DYNSYM, SHT_SYMTAB, STT_FUNC, STT_OBJECT, SectionType};
use object::read::ReadCache;
use object::read::elf::{FileHeader, Sym};
use parking_lot::Mutex;

use crate::compat::Version;
use crate::driver;

/// The namespace of the program (`LM_ID_BASE`).
const PROGRAM: c_long = 0;
/// All objects of a change are there (`LA_ACT_CONSISTENT`).
const COMPLETE: c_uint = 0;
/// The name as the program gave it (`LA_SER_ORIG`).
const AS_GIVEN: c_uint = 1;

/// Each program with kernels calls this function before `main`.
const REGISTRATION: &str = "__cudaRegisterFatBinary";

/// The file of our NVRTC, in the folder of this library.
const COMPILER: &str = "nvrtc/libnvrtc.so.12";
/// Marks our NVRTC, which may ask for NVIDIA's.
const OF_COMPILER: usize = 1;

/// An object of the loader: the beginning of `link_map`.
#[repr(C)]
pub struct LinkMap {
    base: usize,
    name: *const c_char,
}

/// An object that has not been looked at.
struct Object {
    /// What the loader adds to the addresses of its file.
    base: usize,
    file: PathBuf,
}

/// A function or a variable of a file.
struct Symbol {
    /// Its address without the object's base.
    offset: usize,
    /// Bytes up to the next one.
    room: usize,
}

/// Functions and variables of a file by their names.
type Symbols = HashMap<String, Symbol>;

#[derive(Default)]
struct Auditor {
    waiting: Vec<Object>,
    /// The copy of this library in the program.
    runtime: Option<Object>,
    version: i32,
    compiler: Option<Compiler>,
}

/// The compiler that a program asked for by its path.
struct Compiler {
    asked: CString,
    ours: CString,
}

static AUDITOR: Mutex<Option<Auditor>> = parking_lot::const_mutex(None);

/// Tells the loader that this library can audit. Later interfaces only add functions.
#[unsafe(no_mangle)]
extern "C" fn la_version(newest: c_uint) -> c_uint {
    *AUDITOR.lock() = Some(Auditor::default());
    newest
}

/// Hears that a library is searched for. Its name tells which CUDA the program was built with. `LD_PRELOAD` has paths, and so has a compiler that
/// is to be replaced.
#[unsafe(no_mangle)]
unsafe extern "C" fn la_objsearch(name: *mut c_char, cookie: *mut usize, stage: c_uint) -> *mut c_char {
    if stage == AS_GIVEN
        && let Some(auditor) = AUDITOR.lock().as_mut()
    {
        // SAFETY: the loader passes a text with a 0 at its end.
        let asked = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
        match asked.rsplit_once('/') {
            None => auditor.hear_of(Version::of_library(asked)),
            // SAFETY: the loader keeps a word for each object, which it passes here for the one that searches.
            Some((folder, file)) if file.starts_with("libnvrtc.so") && unsafe { *cookie } != OF_COMPILER => {
                if let Some(ours) = auditor.replace_compiler(folder, file) {
                    return ours;
                }
            }
            Some(_) => {}
        }
    }
    name
}

/// Hears of a new object of the program. Nothing of it has run.
#[unsafe(no_mangle)]
unsafe extern "C" fn la_objopen(map: *const LinkMap, namespace: c_long, cookie: *mut usize) -> c_uint {
    if namespace == PROGRAM
        && let Some(auditor) = AUDITOR.lock().as_mut()
    {
        // SAFETY: the loader passes its description of the object, whose name is null or a text with a 0 at its end.
        let object = unsafe {
            let name = if (*map).name.is_null() { c"" } else { CStr::from_ptr((*map).name) }.to_bytes();
            let file = if name.is_empty() { Path::new("/proc/self/exe") } else { Path::new(OsStr::from_bytes(name)) };
            Object { base: (*map).base, file: file.to_owned() }
        };
        if Some(&object.file) == own_compiler().as_ref() {
            // SAFETY: the word is this library's to use.
            unsafe { *cookie = OF_COMPILER };
        }
        auditor.waiting.push(object);
    }
    // No call from or to the object is to be reported.
    0
}

/// Hears that all new objects are there.
#[unsafe(no_mangle)]
extern "C" fn la_activity(_cookie: *mut usize, change: c_uint) {
    if change == COMPLETE
        && let Some(auditor) = AUDITOR.lock().as_mut()
    {
        auditor.redirect();
    }
}

impl Auditor {
    /// Keeps the first version that a program's part was built with.
    fn hear_of(&mut self, version: Option<Version>) {
        if self.version == 0 {
            self.version = version.map_or(0, Version::number);
        }
    }

    /// Returns the path of our compiler, to be loaded instead. Returns `None` if there is none.
    fn replace_compiler(&mut self, folder: &str, file: &str) -> Option<*mut c_char> {
        // The loader remembers what the program asked for as a name of what it got. It takes this for another name.
        let asked = CString::new(format!("{folder}/./{file}")).ok()?;
        let ours = own_compiler().filter(|path| path.exists())?;
        let ours = CString::new(ours.into_os_string().into_vec()).ok()?;
        Some(self.compiler.insert(Compiler { asked, ours }).ours.as_ptr().cast_mut())
    }

    /// Tells our compiler which one the program asked for.
    fn tell_compiler(&self, base: usize, file: &Path) {
        let Some(variable) = symbols(file, SHT_DYNSYM).and_then(|mut symbols| symbols.remove("simcuda_nvrtc_path")) else { return };
        let Some(compiler) = &self.compiler else { return };
        for (index, &byte) in compiler.asked.to_bytes_with_nul().iter().enumerate().take(variable.room) {
            // SAFETY: this is the variable of our NVRTC, an array of such bytes, which is longer.
            unsafe { &*((base + variable.offset + index) as *const AtomicU8) }.store(byte, Ordering::Relaxed);
        }
    }

    /// Redirects the runtime's functions of all new objects.
    fn redirect(&mut self) {
        let mut runtimes = Vec::new();
        for object in std::mem::take(&mut self.waiting) {
            if driver::own_path().is_some_and(|own| own == object.file) {
                self.runtime = Some(object);
            } else if Some(&object.file) == own_compiler().as_ref() {
                self.tell_compiler(object.base, &object.file);
            } else if let Some(theirs) = symbols(&object.file, SHT_SYMTAB).filter(|theirs| theirs.contains_key(REGISTRATION)) {
                self.hear_of(Some(version_of(&theirs)));
                runtimes.push((object.base, theirs));
            }
        }
        if self.version == 0 {
            return;
        }
        let Some(Object { base: own_base, file }) = &self.runtime else { return };
        let Some(ours) = symbols(file, SHT_DYNSYM) else { return };
        for (base, theirs) in &runtimes {
            for (name, theirs) in theirs.iter().filter(|(_, symbol)| symbol.room >= JUMP_BYTES) {
                if let Some(ours) = ours.get(name) {
                    // SAFETY: both are functions of the same name and type. No code of the object has run, so no thread is in the function.
                    // The loader keeps both objects: it has just loaded one, and the other is never unloaded.
                    unsafe { put_jump(base + theirs.offset, own_base + ours.offset) };
                }
            }
        }
        if let Some(variable) = ours.get("simcuda_runtime_version") {
            // SAFETY: this is the variable of `compat`, in the program's copy of this library.
            unsafe { &*((own_base + variable.offset) as *const AtomicI32) }.store(self.version, Ordering::Relaxed);
        }
    }
}

/// Returns the path of our NVRTC. It is a link or a file beside this library.
fn own_compiler() -> Option<PathBuf> {
    Some(driver::own_path()?.with_file_name(COMPILER))
}

/// Tells a runtime's version by functions that came or went with it.
fn version_of(runtime: &Symbols) -> Version {
    let has = |name| runtime.contains_key(name);
    // CUDA 12 has both structures, CUDA 11 and CUDA 13 one each. Functions for texture references went with CUDA 11.
    if has("cudaGetDeviceProperties_v2") || has("cudaBindTexture") { Version::Cuda12 } else { Version::Cuda13 }
}

/// Reads the functions and variables that an object defines. They are from a table, or else from that of what it exports. Returns `None` if it
/// is no object of this machine, or cannot be read.
fn symbols(file: &Path, wanted: SectionType) -> Option<Symbols> {
    let data = &ReadCache::new(File::open(file).ok()?);
    let header = FileHeader64::<LittleEndian>::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, data).ok()?;
    let all = sections.symbols(endian, data, wanted).ok().filter(|table| !table.is_empty());
    let table = all.or_else(|| sections.symbols(endian, data, SHT_DYNSYM).ok())?;
    let kinds = [STT_FUNC, STT_OBJECT];
    let defined = || table.iter().filter(|symbol| !symbol.is_undefined(endian) && kinds.contains(&symbol.st_type()));
    let starts: BTreeSet<u64> = defined().map(|symbol| symbol.st_value(endian)).collect();
    let named = defined().filter_map(|symbol| {
        let name = symbol.name(endian, table.strings()).ok()?;
        let is_ours = [&b"cuda"[..], b"__cuda", b"simcuda"].iter().any(|start| name.starts_with(start));
        let start = symbol.st_value(endian);
        let room = starts.range(start + 1..).next().map_or(symbol.st_size(endian), |next| next - start);
        is_ours.then(|| Some((String::from_utf8(name.into()).ok()?, Symbol { offset: start as usize, room: room as usize })))?
    });
    Some(named.collect())
}

/// The bytes of a jump.
const JUMP_BYTES: usize = if cfg!(target_arch = "aarch64") { 16 } else { 12 };

/// Returns instructions that jump to an address.
fn jump_to(target: usize) -> [u8; JUMP_BYTES] {
    let mut code = [0; JUMP_BYTES];
    if cfg!(target_arch = "aarch64") {
        // ldr x16, #8; br x16; and the address
        code[..8].copy_from_slice(&[0x50, 0x00, 0x00, 0x58, 0x00, 0x02, 0x1f, 0xd6]);
        code[8..].copy_from_slice(&target.to_le_bytes());
    } else {
        // mov rax, address; jmp rax
        code[..2].copy_from_slice(&[0x48, 0xb8]);
        code[2..10].copy_from_slice(&target.to_le_bytes());
        code[10..].copy_from_slice(&[0xff, 0xe0]);
    }
    code
}

/// Replaces the start of a function by a jump. Leaves the function as it is if the system does not let its memory be written.
///
/// # Safety
///
/// The address is that of a function that is not running, the target that of a function of the same type.
unsafe fn put_jump(function: usize, target: usize) {
    let page = function & !(page_bytes() - 1);
    let (start, bytes) = (page as *mut c_void, function + JUMP_BYTES - page);
    // SAFETY: the pages belong to the object's code. They may be executed at all times, because the loader's own code may lie beside.
    unsafe {
        if libc::mprotect(start, bytes, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC) == 0 {
            std::ptr::copy_nonoverlapping(jump_to(target).as_ptr(), function as *mut u8, JUMP_BYTES);
            let _: c_int = libc::mprotect(start, bytes, libc::PROT_READ | libc::PROT_EXEC);
        }
    }
}

fn page_bytes() -> usize {
    // SAFETY: the function only returns a number.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}
