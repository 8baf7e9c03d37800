//! `cargo simcuda install FOLDER`: the simulator for programs that do not know about it.

use std::process::ExitCode;

use simcuda::install::{LOADER_VARIABLE, install};

const USAGE: &str = "\
Install the simulated CUDA driver and a CUDA runtime into a folder, under the names that programs ask the loader for

Usage: cargo simcuda install FOLDER

Prints the environment variable that makes a program use them, as NAME=VALUE. Run your program with it:

    export \"$(cargo simcuda install FOLDER)\"
    cargo run

A program that nvcc compiles needs `-cudart shared` and PTX: `-gencode arch=compute_80,code=compute_80`.
SIMCUDA_PROFILE, SIMCUDA_REPORT and other variables set what is simulated and reported: see simulator/README.md";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["install", folder] if !folder.starts_with('-') => match install(folder.as_ref()) {
            Ok(folder) => {
                println!("{LOADER_VARIABLE}={}", folder.display());
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::from(2)
            }
        },
        ["--help" | "-h" | "help"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}
