//! Every declaration of the header that clang compiles CUDA C with, compared with NVRTC's: one small kernel for each, made by both compilers
//! and run on the simulator, must leave the same bits.
//!
//! The declarations are read from the header, so a new one is tested, or fails here. Kernels are derived from the types of the parameters;
//! those that need more are written out in [`WRITTEN`].

use std::process::Command;
use std::sync::Arc;

use compilers::Error;
use compilers::clang::{Clang, PRELUDE, places};
use compilers::compiler::{Compiler, compile_with_nvrtc};
use compilers::input::{Form, Input};
use compilers::nvrtc::Nvrtc;
use compilers::variables::{REQUIRE_CLANG, REQUIRE_NVRTC, Variable};
use simt::{Call, Dim3, Image, LaunchConfig, LaunchOptions, Memory, Module, Profile, launch};

const ARCHITECTURE: &str = "compute_90";
/// Threads of each kernel: one for each pair of values.
const THREADS: u32 = 1024;
/// Values of each type.
const VALUES: usize = 32;
/// Bytes of each buffer: room for 32 of each thread.
const BYTES: usize = 32 * THREADS as usize;

/// Returns the compilers if both are there; otherwise, a line says what is missing, or the test fails where the environment asks for it.
fn compilers() -> Option<(Nvrtc, Clang)> {
    fn found<T>(result: Result<T, Error>, variable: Variable) -> Option<T> {
        result.map_err(|why| variable.skip("the header for clang compared with NVRTC", why)).ok()
    }
    Some((found(Nvrtc::find(), REQUIRE_NVRTC)?, found(Clang::find(), REQUIRE_CLANG)?))
}

fn clang_ptx(clang: &Clang, text: &str) -> String {
    let compiled =
        Compiler::Clang(clang.clone()).compile(Input { name: "test.cu", text, headers: &[] }, ARCHITECTURE, Form::Optimized);
    let (ptx, remarks) = compiled.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(remarks, "");
    ptx
}

fn nvrtc_ptx(nvrtc: &Nvrtc, text: &str) -> String {
    compile_with_nvrtc(nvrtc, Input { name: "test.cu", text, headers: &[] }, ARCHITECTURE, Form::Optimized)
        .unwrap_or_else(|error| panic!("{error}"))
        .0
}

/// A function of the header.
#[derive(Clone, Debug)]
struct Declaration {
    returns: String,
    name: String,
    parameters: Vec<Parameter>,
}

impl Declaration {
    /// Returns text like `float fmaf(float a, float b, float c)`.
    fn describe(&self) -> String {
        let parameters = self.parameters.iter().map(|Parameter { of, name, is_pointer, .. }| {
            let star = if *is_pointer { "*" } else { "" };
            format!("{of} {star}{name}")
        });
        format!("{} {}({})", self.returns, self.name, parameters.collect::<Vec<_>>().join(", "))
    }
}

#[derive(Clone, Debug)]
struct Parameter {
    /// Without `const` and `*`.
    of: String,
    name: String,
    is_pointer: bool,
    is_const: bool,
    has_default: bool,
}

/// Returns the functions that the header defines for [`ARCHITECTURE`].
fn declarations(clang: &Clang) -> Vec<Declaration> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("cuda.h"), PRELUDE).expect("a file can be written");
    let mut command = Command::new(clang.path());
    if places::is_zig(clang.path()) {
        command.arg("clang");
    }
    command.args(["-E", "-P", "-x", "c++", "-nostdinc", "-D__CUDA_ARCH__=900", "cuda.h"]).current_dir(folder.path());
    let output = command.output().expect("clang runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("the header is ASCII");
    text.split("nodebug)) ").skip(1).map(declaration).collect()
}

/// Reads `float __fadd_rn(float a, float b) { … `.
fn declaration(text: &str) -> Declaration {
    let (head, rest) = text.split_once('(').unwrap_or_else(|| panic!("not a function: {text}"));
    let (inside, _) = rest.split_once(')').unwrap_or_else(|| panic!("not a function: {text}"));
    let (returns, name) = head.rsplit_once(' ').unwrap_or(("", head));
    let stars = name.len() - name.trim_start_matches('*').len();
    let parameter = |text: &str| {
        let (text, default) = text.split_once('=').map_or((text, None), |(text, default)| (text, Some(default)));
        let (of, name) = text.trim().rsplit_once(' ').unwrap_or_else(|| panic!("not a parameter: {text}"));
        let of = of.trim();
        Parameter {
            of: of.trim_start_matches("const ").trim_end_matches('*').trim().to_owned(),
            name: name.trim_start_matches('*').to_owned(),
            is_pointer: name.starts_with('*'),
            is_const: of.starts_with("const "),
            has_default: default.is_some(),
        }
    };
    Declaration {
        returns: format!("{returns}{}", "*".repeat(stars)),
        name: name.trim_start_matches('*').to_owned(),
        parameters: inside.split(',').filter(|text| !text.trim().is_empty()).map(parameter).collect(),
    }
}

/// The input of a kernel: values to read, a place for each thread's result, and cells that threads share.
const HEAD: &str = "(const unsigned char* in, unsigned char* out, unsigned char* cells)\n{\n    \
    [[maybe_unused]] const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n";

/// Returns a kernel that calls a function on each pair of values. It follows from the types of the function's parameters. `defaults` leaves
/// out parameters that have a default.
fn derived(kernel: &str, declared: &Declaration, defaults: bool) -> String {
    let mut body = String::new();
    let mut arguments = Vec::new();
    let mut places = ["i % 32", "i / 32 % 32", "(7 * i + i / 64) % 32", "(11 * i + i / 8) % 32"].into_iter();
    for Parameter { of, name, is_pointer, is_const, has_default } in &declared.parameters {
        let argument = match (name.as_str(), is_pointer, is_const) {
            ("mask", ..) if *has_default && defaults => continue,
            ("mask", ..) => "0xffffffffu".to_owned(),
            ("width", ..) if defaults => continue,
            ("width", ..) => "8".to_owned(),
            ("ns", ..) => "5".to_owned(),
            ("all", true, false) => {
                body += "    int all = 7;\n";
                "&all".to_owned()
            }
            (_, true, true) => format!("({of}*)in + i % 64"),
            (_, true, false) if declared.name.starts_with("atomic") => format!("({of}*)cells + i / 4"),
            (_, true, false) => format!("({of}*)cells + i"),
            (_, false, _) if scalar(of).is_some() => {
                let place = places.next().unwrap_or_else(|| panic!("{declared:?} has too many parameters"));
                format!("(({of}*)(in + {}))[{place}]", scalar(of).unwrap_or_default())
            }
            (_, false, _) => format!("*({of}*)(in + 16 * (i % 64))"),
        };
        arguments.push(argument);
    }
    let call = format!("{}({})", declared.name, arguments.join(", "));
    body += &match declared.returns.as_str() {
        "void" => format!("    {call};\n"),
        "bool" => format!("    ((int*)out)[i] = {call};\n"),
        returns => format!("    (({returns}*)out)[i] = {call};\n"),
    };
    if body.contains("int all") {
        body += "    ((int*)cells)[i] = all;\n";
    }
    format!("extern \"C\" __global__ void {kernel}{HEAD}{body}}}\n")
}

/// The scalar types, with their size and a flag for floating point. Their values follow each other in this order.
const SCALARS: [(&str, usize, bool); 13] = [
    ("char", 1, false),
    ("signed char", 1, false),
    ("unsigned char", 1, false),
    ("short", 2, false),
    ("unsigned short", 2, false),
    ("int", 4, false),
    ("unsigned", 4, false),
    ("long", 8, false),
    ("unsigned long", 8, false),
    ("long long", 8, false),
    ("unsigned long long", 8, false),
    ("float", 4, true),
    ("double", 8, true),
];

/// Returns the offset of a scalar type's values.
fn scalar(name: &str) -> Option<usize> {
    let name = if name == "unsigned int" { "unsigned" } else { name };
    let at = SCALARS.iter().position(|(scalar, ..)| *scalar == name)?;
    Some(SCALARS[..at].iter().map(|(_, bytes, _)| bytes * VALUES).sum::<usize>().next_multiple_of(8))
}

/// Returns the values of every type: those at the edges first, then some of all sizes.
fn values() -> Vec<u8> {
    let mut bytes = vec![0; BYTES];
    let mut state = 13_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    for (name, width, is_float) in SCALARS {
        let start = scalar(name).expect("it is one");
        for k in 0..VALUES {
            let value: [u8; 8] = if is_float {
                let edges = [
                    0.0,
                    -0.0,
                    1.0,
                    -1.0,
                    0.5,
                    -0.5,
                    1.5,
                    2.5,
                    -2.5,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    f64::NAN,
                    f64::from(f32::MAX),
                    f64::from(f32::MIN_POSITIVE),
                    1e-42,
                    16_777_217.0,
                    -2_147_483_648.0,
                    4.3e9,
                    1e20,
                ];
                // Of every exponent, and more of those near one.
                let small = f64::from((random() >> 40) as i32 - (1 << 23)) / f64::from(1 << 18);
                let wide = small * 2_f64.powi((random() >> 58) as i32 * 4 - 128);
                let value = edges.get(k).copied().unwrap_or(if k % 2 == 0 { small } else { wide });
                if width == 4 { u64::from((value as f32).to_bits()).to_le_bytes() } else { value.to_bits().to_le_bytes() }
            } else {
                let edges = [0, 1, u64::MAX, 2, 31, 32, 33, 63, 64, 1 << 31, i64::MAX as u64, 1 << 63, 0x7fff_ffff, 0x80];
                edges.get(k).copied().unwrap_or(random() >> (k % 4 * 16)).to_le_bytes()
            };
            bytes[start + k * width..][..width].copy_from_slice(&value[..width]);
        }
    }
    bytes
}

/// Runs a kernel and returns the contents of `out` and `cells`.
fn run(image: &Image, memory: &Memory, kernel: &str) -> [Vec<u8>; 2] {
    let buffer = |bytes: &[u8]| {
        let address = memory.allocate(bytes.len() as u64, None).expect("the buffer fits");
        memory.write(address, bytes).expect("the buffer was just allocated");
        address
    };
    let values = values();
    let buffers = [buffer(&values), buffer(&vec![0; BYTES]), buffer(&values)];
    let parameters: Vec<u8> = buffers.iter().flat_map(|address| address.to_le_bytes()).collect();
    let config = LaunchConfig { grid: Dim3::new(1, 1, 1), block: Dim3::new(THREADS, 1, 1), dynamic_shared_bytes: 0 };
    let profile = Profile::named("h200").expect("a profile of the table");
    let options = LaunchOptions { workers: Some(1), ..LaunchOptions::default() };
    let call = Call { kernel, config, params: &parameters };
    launch(memory, image, call, profile, &options).unwrap_or_else(|error| panic!("{kernel}: {error}"));
    let results = [buffers[1], buffers[2]].map(|address| {
        let mut bytes = vec![0; BYTES];
        memory.read(address, &mut bytes).expect("the buffer is there");
        bytes
    });
    for address in buffers {
        memory.free(address).expect("the buffer is there");
    }
    results
}

/// NVIDIA math functions that the header reimplements, and their allowed difference. It is in units in the last place: as many as the CUDA
/// programming guide allows NVIDIA's, and one for ours.
const OWN: [(&str, u64); 9] =
    [("expf", 3), ("exp", 3), ("exp10f", 4), ("log2f", 2), ("logf", 2), ("log", 2), ("log10f", 3), ("powf", 5), ("pow", 5)];

/// Returns the distance between two results, in units in the last place: 0 for the same bits and for any two NaN.
fn distance(width: usize, a: &[u8], b: &[u8]) -> u64 {
    let bits = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    let (a, b) = (bits(a), bits(b));
    let (sign, infinity) = if width == 4 { (1 << 31, 0x7f80_0000) } else { (1 << 63, 0x7ff0_0000_0000_0000) };
    if a == b || (a & !sign > infinity && b & !sign > infinity) {
        return 0;
    }
    if (a ^ b) & sign != 0 {
        return u64::MAX;
    }
    a.abs_diff(b)
}

/// Kernels written by hand, where none can be derived or results vary. Each begins with the functions it is about.
const WRITTEN: &[(&[&str], &str)] = &[
    (&["__cvta_generic_to_shared", "__cvta_shared_to_generic"], "
    __shared__ int words[32];
    words[i % 32] = i;
    ((long*)out)[i] = __cvta_generic_to_shared(words + i % 32);
    ((int*)cells)[i] = *(int*)__cvta_shared_to_generic(__cvta_generic_to_shared(words + i % 32));"),
    (&["__cvta_generic_to_global", "__cvta_global_to_generic"], "
    ((long*)out)[i] = __cvta_generic_to_global(in + i) - (size_t)in;
    ((int*)cells)[i] = *(unsigned char*)__cvta_global_to_generic(__cvta_generic_to_global(in + i));"),
    (&["__cvta_generic_to_constant", "__cvta_constant_to_generic"], "
    ((int*)out)[i] = *(unsigned char*)__cvta_constant_to_generic(__cvta_generic_to_constant(constants + i % 4));"),
    (&["__cvta_generic_to_local", "__cvta_local_to_generic"], "
    int words[4] = {1, 2, 3, 4};
    words[i % 4] = i;
    ((int*)out)[i] = *(int*)__cvta_local_to_generic(__cvta_generic_to_local(words + i % 3));"),
    (&["__isGlobal", "__isShared", "__isLocal"], "
    __shared__ int words[32];
    volatile int own[4] = {1, 2, 3, 4};
    const void* all[] = {in, words + i % 32, (const void*)(own + i % 4), in + i};
    const void* p = all[i / 32 % 4];
    ((int4*)out)[i] = make_int4(__isGlobal(p) != 0, __isShared(p) != 0, i, __isLocal(p) != 0);"),
    (&["clock", "clock64"], "
    const clock_t before = clock();
    const long long before64 = clock64();
    ((int*)out)[i] = clock64() >= before64 && before != 0;"),
    (&["memcpy", "memset"], "
    memset(out + 16 * i, i, 5);
    memcpy(out + 16 * i + 8, in + i, 6);"),
    // The rest has no names of functions.
    (&["get_x", "get_y", "get_z", "uint3"], "
    const uint3 t = threadIdx, b = blockIdx;
    const dim3 n = blockDim, m = gridDim;
    ((int4*)out)[i] = make_int4(t.x + 1000 * t.y, b.x + b.y + b.z + t.z, n.x + threadIdx.x, n.y + m.x + warpSize);
    ((int4*)cells)[i] = make_int4(threadIdx.y + threadIdx.z, blockIdx.x + blockIdx.y + blockIdx.z, blockDim.x, gridDim.y + gridDim.z);"),
    (&["dim3"], "
    const dim3 one, some(3, i), from(make_uint3(1, 2, i));
    const uint3 back = from;
    ((int4*)out)[i] = make_int4(one.x + one.y + one.z, some.y, from.z + some.z, back.z);"),
    (&["__trap"], "
    if (blockDim.x + i == 7) __trap();"),
    (&[], "
    __syncthreads();
    assert(i < 5000);
    printf(\"%d %s\\n\", i, \"x\");"),
];

/// Lists the sizes and alignments of the header's types.
fn layouts() -> String {
    let scalars = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double"];
    let vectors = scalars.iter().flat_map(|scalar| (1..=4).map(move |n| format!("{scalar}{n}")));
    let types = vectors.chain(["dim3", "size_t", "ptrdiff_t", "clock_t", "long"].map(str::to_owned));
    let stores =
        types.enumerate().map(|(k, name)| format!("    ((int2*)out)[{k}] = make_int2(sizeof({name}), alignof({name}));\n"));
    format!("extern \"C\" __global__ void layouts{HEAD}    if (i > 0) return;\n{}}}\n", stores.collect::<String>())
}

#[test]
fn every_declaration_gives_nvrtcs_bits() {
    let Some((nvrtc, clang)) = compilers() else { return };
    let declarations = declarations(&clang);
    assert!(declarations.len() > 500, "only {} were read", declarations.len());
    let is_written = |name: &str| WRITTEN.iter().any(|(names, _)| names.contains(&name));
    // The kernels, with what each is for.
    let mut kernels: Vec<(String, String)> = Vec::new();
    let mut text = "__constant__ unsigned char constants[4] = {1, 2, 3, 4};\n".to_owned();
    for declared in declarations.iter().filter(|declared| !is_written(&declared.name) && !declared.name.starts_with("__unrolled")) {
        let has_defaults = declared.parameters.iter().any(|parameter| parameter.has_default);
        for defaults in [false, true].into_iter().take(1 + usize::from(has_defaults)) {
            let kernel = format!("k{}", kernels.len());
            text += &derived(&kernel, declared, defaults);
            kernels.push((kernel, declared.describe()));
        }
    }
    for (names, body) in WRITTEN {
        let kernel = format!("k{}", kernels.len());
        text += &format!("extern \"C\" __global__ void {kernel}{HEAD}{body}\n}}\n");
        kernels.push((kernel, format!("{names:?}")));
    }
    text += &layouts();
    kernels.push(("layouts".to_owned(), "layouts".to_owned()));

    let memory = Memory::new(1 << 30);
    let image = |ptx: String| {
        let module = Module::parse(&ptx).unwrap_or_else(|error| panic!("{error}"));
        Image::new(Arc::new(module), &memory).expect("the module's variables fit")
    };
    let images = [image(nvrtc_ptx(&nvrtc, &text)), image(clang_ptx(&clang, &text))];
    let mut differ = Vec::new();
    for (kernel, what) in &kernels {
        let [expected, found] = images.each_ref().map(|image| run(image, &memory, kernel));
        let width = if what.contains("double") { 8 } else { 4 };
        let tolerance = OWN.iter().find(|(name, _)| what.contains(&format!(" {name}("))).map_or(0, |(_, ulps)| *ulps);
        let is_float = what.contains("float") || what.contains("double");
        for (expected, found) in expected.iter().zip(&found) {
            let pairs = expected.chunks(width).zip(found.chunks(width));
            let wrong = pairs.enumerate().find(|(_, (a, b))| if is_float { distance(width, a, b) > tolerance } else { a != b });
            if let Some((at, (a, b))) = wrong {
                differ.push(format!("{what}: element {at} is {b:x?}, and NVRTC's {a:x?}"));
            }
        }
    }
    assert!(differ.is_empty(), "{} of {}:\n{}", differ.len(), kernels.len(), differ.join("\n"));
}

#[test]
fn what_the_header_lacks_is_refused_with_the_reason() {
    let Some((_, clang)) = compilers() else { return };
    let text = "extern \"C\" __global__ void k(float* p)\n{\n    *p = sinf(*p);\n}\n";
    let error = Compiler::Clang(clang)
        .compile(Input { name: "a b.cu", text, headers: &[] }, ARCHITECTURE, Form::Optimized)
        .expect_err("refused");
    let Error::Compile { log, .. } = error else { panic!("{error}") };
    assert!(log.starts_with("a b.cu(3): error: 'sinf' is unavailable: Unrolled's header for clang does not have it"), "{log}");
    assert!(!log.contains("note"), "{log}");
}
