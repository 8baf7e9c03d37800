//! clang as a compiler: names of files, headers, messages, and programs that are no clang.

use std::env;
use std::path::Path;

use compilers::Error;
use compilers::clang::Clang;
use compilers::compiler::Compiler;
use compilers::input::{Form, Input};
use compilers::variables::REQUIRE_CLANG;
use kernels::Header;

/// Returns the compiler; on a machine without it, a line on stderr says so.
fn clang() -> Option<Compiler> {
    let found = Clang::find().map(Compiler::Clang);
    if let Err(why) = &found {
        REQUIRE_CLANG.skip("clang as a compiler", why);
    }
    found.ok()
}

/// Returns the files that PTX names, as their owner wrote them.
fn files(ptx: &str) -> Vec<String> {
    let parsed = ptx::parse(ptx).unwrap_or_else(|error| panic!("{error}"));
    parsed.files.iter().map(|(_, file)| (*file).to_owned()).collect()
}

#[test]
fn files_keep_the_names_that_they_were_given() {
    let Some(clang) = clang() else { return };
    let text = "#include \"part.cuh\"\n#include <stdint.h>\n#include <cuda_runtime.h>\n\
                extern \"C\" __global__ void k(uint32_t* p)\n{\n    p[0] = one(p[1]);\n}\n";
    let part = Header {
        name: "part.cuh",
        path: "kernels/part.cuh",
        text: "#pragma once\n__device__ __noinline__ unsigned one(unsigned x)\n{\n    return x + 1;\n}\n",
    };
    // As LLVM and NVRTC write them: a byte that is not ASCII in octal, and a backslash before another one.
    for (name, written) in [
        ("kernels/cuda/k.cu", "kernels/cuda/k.cu"),
        ("/tmp/mein Gerät/k.cu", r"/tmp/mein Ger\303\244t/k.cu"),
        (r#"/tmp/a "q" $(x) `y` %z% k.cu"#, r#"/tmp/a \"q\" $(x) `y` %z% k.cu"#),
        (r"C:\learner\k.cu", r"C:\\learner\\k.cu"),
    ] {
        let (ptx, remarks) = clang
            .compile(Input { name, text, headers: &[part] }, "compute_80", Form::Optimized)
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(remarks, "");
        let mut files = files(&ptx);
        files.sort();
        let mut expected = [written, "part.cuh"];
        expected.sort_unstable();
        assert_eq!(files, expected);
        let wrong = text.replace("one(p[1])", "two(p[1])");
        let error = clang
            .compile(Input { name, text: &wrong, headers: &[part] }, "compute_80", Form::Optimized)
            .expect_err("it has a mistake");
        let Error::Compile { log, .. } = error else { panic!("{error}") };
        assert!(
            log.starts_with(&format!("{name}(6): error: use of undeclared identifier 'two'\n    p[0] = two(p[1]);\n")),
            "{log}"
        );
        assert!(log.ends_with(&format!("\n\n1 error detected in the compilation of \"{name}\".")), "{log}");
    }
}

#[test]
fn remarks_come_with_the_ptx() {
    let Some(clang) = clang() else { return };
    let text = "extern \"C\" __global__ void k(int* p)\n{\n    int unused;\n    p[0] = 1;\n}\n";
    let (_, remarks) = clang
        .compile(Input { name: "k.cu", text, headers: &[] }, "compute_50", Form::Optimized)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(remarks, "k.cu(3): warning: unused variable 'unused'\n    int unused;\n        ^~~~~~");
}

#[test]
fn bytes_and_short_vectors_are_loaded_with_hints_as_with_nvidia_s_headers() {
    let Some(clang) = clang() else { return };
    for (ty, loads) in
        [("char", "s8"), ("signed char", "s8"), ("unsigned char", "u8"), ("uchar2", "u16"), ("char4", "u32"), ("ushort2", "u32")]
    {
        let text = format!("extern \"C\" __global__ void k(const {ty} *from, {ty} *to)\n{{\n    __stcs(to, __ldg(from));\n}}\n");
        let (ptx, _) = clang
            .compile(Input { name: "k.cu", text: &text, headers: &[] }, "compute_80", Form::Optimized)
            .unwrap_or_else(|error| panic!("{ty}: {error}"));
        assert!(ptx.contains(&format!("ld.global.nc.{loads}")) && ptx.contains("st.global.cs."), "{ty}: {ptx}");
    }
}

#[test]
fn what_is_no_clang_is_refused_by_name() {
    let this = env::current_exe().expect("this program has a path");
    for (program, why) in [(this.as_path(), "has no back end for NVIDIA's GPUs"), (Path::new("/nowhere/clang"), "does not run")] {
        let text = Clang::open(program).expect_err("it is no clang").to_string();
        assert!(text.contains(&program.display().to_string()) && text.contains(why), "{text}");
        assert!(text.contains("pip install ziglang") && text.contains("UNROLLED_CLANG"), "{text}");
    }
}
