//! A reader who types what the pages show. The reader has no GPU and works in an empty folder, with the files that the commands name.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use run::{audio, npy, picture};
use wait_timeout::ChildExt;

use crate::binary::Binary;
use crate::commands;
use crate::repository::root;

/// Options that are followed by files to read.
const INPUTS: [&str; 3] = ["--input", "--filter", "--template-file"];

/// The time after which a command hangs. Each needs about ten seconds at most on an idle machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Types every command that a chapter's pages show. Each must end as its page says.
pub fn types_what_the_pages_show(binary: &Binary) {
    let chapter = binary.chapter;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let commands = commands::of_pages();
    let mut typed = BTreeSet::new();
    let mut wrong = Vec::new();
    for command in commands.iter().filter(|command| command.is_not_run_because().is_none()) {
        let Some((_, arguments)) = command.chapter().filter(|(name, _)| *name == chapter) else { continue };
        if typed.insert((command.text.as_str(), command.status)) {
            bring_inputs(&arguments, folder.path());
            if let Err(what) = run(binary.path, &arguments, folder.path(), command.status) {
                wrong.push(format!("{}: `{}` {what}", command.place, command.text));
            }
        }
    }
    assert!(!typed.is_empty(), "no page shows how to start {chapter}");
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Runs the binary on the simulator, unless the command names another device.
fn run(binary: &str, arguments: &[&str], folder: &Path, status: i32) -> Result<(), String> {
    let mut command = Command::new(binary);
    if arguments.first() == Some(&"exercise") {
        // Not into the folder of whoever runs the tests.
        command.env(compilers::variables::EXERCISES, folder.join("exercises"));
    } else if !arguments.iter().any(|argument| argument.starts_with("--device")) {
        command.args(["--device", "sim"]);
    }
    // Output goes to files, because nothing reads a pipe while this function waits.
    let messages = folder.join("messages.txt");
    let file = |path: &Path| File::create(path).expect("a file for output");
    command
        .args(arguments)
        .env_remove("COLUMNS")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(file(&folder.join("table.txt")))
        .stderr(file(&messages));
    let mut child = command.spawn().expect("the chapter's binary can be started");
    let Some(ended) = child.wait_timeout(PATIENCE).expect("its own child") else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("takes longer than {} seconds", PATIENCE.as_secs()));
    };
    if ended.code() == Some(status) {
        return Ok(());
    }
    let messages = fs::read_to_string(&messages).unwrap_or_default();
    Err(format!("ends with {ended} instead of status {status}: {}", messages.trim()))
}

/// Puts the files that a command reads where it expects them: copies of the repository's files, or made-up files of the same kind.
fn bring_inputs(arguments: &[&str], folder: &Path) {
    let mut is_input = false;
    for &argument in arguments {
        if argument.starts_with("--") {
            is_input = INPUTS.contains(&argument);
            continue;
        }
        let (here, there) = (folder.join(argument), root().join(argument));
        if is_input && !here.exists() {
            fs::create_dir_all(here.parent().expect("it is in the folder")).expect("a folder");
            if there.is_file() {
                fs::copy(&there, &here).expect("a copy");
            } else {
                make(&here);
            }
        }
    }
}

/// Makes a small file of the kind that its extension names.
fn make(path: &Path) {
    let mut file = File::create(path).expect("an input");
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("wav") => {
            let sound = (0..600).map(|at| (at as f32 * 0.3).sin() / (1 + at) as f32).collect();
            audio::write(&mut file, &[sound], 8000).expect("a sound");
        }
        Some("npy") => {
            let (rows, columns) = (40, 40);
            let values = (0..rows * columns).map(|at| (at * 7 % 23) as f32 - 11.0).collect();
            npy::write(&npy::Matrix { rows, columns, values }, &mut file).expect("a matrix");
        }
        Some("png") => {
            let (width, height) = (200, 150);
            let rgb: Vec<u8> = (0..width * height).flat_map(|at| [(at * at / 7 % 251) as u8; 3]).collect();
            picture::write_png(&mut file, width, height, &rgb).expect("a picture");
        }
        other => panic!("{}: cannot make a file of the kind {other:?}", path.display()),
    }
}
