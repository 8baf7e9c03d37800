//! The chapter's binary as a person sees it in a terminal: exit statuses, what goes to which stream, files.
//!
//! Everything runs on the simulator, so that the answers are the same on every machine. Only one test compares the simulator with a GPU,
//! where there is one.

mod exercises;
mod installed;
#[cfg(target_os = "linux")]
mod interruptions;
mod patience;
mod width;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use hound::{SampleFormat, WavReader, WavSpec, WavWriter};
use serde_json::Value;

use support::Binary;
use support::binary::{stderr, stdout};

const BINARY: Binary = Binary { path: env!("CARGO_BIN_EXE_01-conv-naive"), chapter: "01-conv-naive" };

support::chapter_tests!(BINARY);

/// Returns the names of the chapter's stages.
fn stage_names() -> Vec<&'static str> {
    conv_naive::CHAPTER.stages.iter().map(|stage| stage.name).collect()
}

#[test]
fn every_stage_is_verified_at_sizes_of_every_kind() {
    for size in ["1x1", "1x700", "700x1", "257x31", "1000x256"] {
        let output = BINARY.run(&["--size", size]);
        assert_eq!(output.status.code(), Some(0), "{size}: {}", stderr(&output));
        let table = stdout(&output);
        for stage in stage_names() {
            let row = table.lines().find(|line| line.contains(&format!("│ {stage} ")));
            assert!(row.is_some_and(|row| row.contains("yes")), "{size}: {stage} in\n{table}");
        }
    }
}

#[test]
fn the_json_record_has_its_fixed_keys_and_no_times_of_a_simulated_device() {
    let output = BINARY.run(&["--size", "300x40", "--seed", "7", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON and nothing else");
    let assert_keys = |value: &Value, keys: &[&str]| {
        let object = value.as_object().expect("an object");
        keys.iter().for_each(|&key| assert!(object.contains_key(key), "no {key} in {value}"));
    };
    assert_keys(&record, &["chapter", "commit", "date", "device", "workload", "ceilings", "stages"]);
    assert_keys(&record["device"], &["kind", "name", "compute_capability", "profile", "driver", "compiler"]);
    assert_eq!(record["chapter"], "01-conv-naive");
    assert_eq!((&record["device"]["kind"], &record["device"]["profile"]), (&"sim".into(), &"h200".into()));
    assert_eq!((&record["workload"]["outputs"], &record["workload"]["taps"]), (&300.into(), &40.into()));
    assert_eq!(record["workload"]["seed"], 7);
    assert!(record["ceilings"].is_null());
    let stages = record["stages"].as_array().expect("an array");
    assert_eq!(stages.iter().map(|stage| stage["name"].as_str().unwrap()).collect::<Vec<_>>(), stage_names());
    for stage in stages {
        assert_keys(stage, &["name", "verified", "skipped", "median_ms", "p10_ms", "p90_ms", "max_error", "tolerance"]);
        assert_keys(stage, &["counters", "findings"]);
        assert_eq!(stage["verified"], true);
        assert!(stage["skipped"].is_null() && stage["findings"].as_array().is_some_and(Vec::is_empty));
        let on_cpu = stage["name"].as_str().unwrap().starts_with("cpu");
        for time in ["median_ms", "p10_ms", "p90_ms"] {
            assert_eq!(stage[time].is_number(), on_cpu, "{time} of {}", stage["name"]);
        }
    }
    // Every one of 300 outputs takes 40 multiply-adds.
    assert_eq!(stages[3]["counters"]["f32_fma"], 300 * 40);
}

#[test]
fn counts_and_results_repeat_from_run_to_run() {
    let record = || {
        let output = BINARY.run(&["--size", "900x70", "--format", "json", "--stage", "naive"]);
        let record: Value = serde_json::from_slice(&output.stdout).unwrap();
        (record["stages"].clone(), record["workload"].clone())
    };
    assert_eq!(record(), record());
}

#[test]
fn stages_are_listed_and_chosen_by_name() {
    let list = stdout(&BINARY.run(&["--list"]));
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, stage_names());

    let output = BINARY.run(&["--stage", "naive", "--stage", "cpu", "--size", "64x8", "--format", "markdown"]);
    let rows: Vec<String> = stdout(&output)
        .lines()
        .filter(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| line.split('|').nth(1).unwrap().trim().to_owned())
        .collect();
    assert_eq!(rows, ["cpu", "naive"]);

    BINARY.assert_refused(&["--stage", "fast"], &["fast", "cpu-parallel, naive-strided, naive"]);
}

#[test]
fn a_stage_is_explained_by_its_source_its_bound_and_a_warp() {
    let output = BINARY.run(&["--explain", "naive-strided"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    // The line of the inner loop: sectors of both loads per request, and what they would be at best.
    let line = text.lines().find(|line| line.contains("sum += window[j] * filter[j];")).expect("the inner loop is listed");
    assert!(line.contains("16.5 (2.50)"), "{line}");
    assert!(text.contains("bound by L1/shared on the NVIDIA H200"), "{text}");
    // Lane 3 reads the fourth sector of the first line, from which no other lane reads.
    assert!(text.contains("+0  0 · · · · · · ·  1 · · · · · · ·  2 · · · · · · ·  3 · · · · · · ·"), "{text}");
    assert!(text.contains("32 sectors read for 32 lanes, 4 at best"), "{text}");
    assert!(!text.contains('\x1b'), "{text}");
}

/// Returns the number of the first kernel line with this text.
fn source_line(text: &str) -> String {
    let index = kernels::conv_naive::SOURCE.cuda.lines().position(|line| line.contains(text)).expect("the text is in the source");
    (index + 1).to_string()
}

#[test]
fn a_line_can_be_chosen_and_drawn_into_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.svg");
    let line = source_line("output[i] = sum;");
    let output = BINARY.run(&["--explain", "naive", "--line", &line, "--svg", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains(&format!("store to global memory on line {line}")), "{}", stdout(&output));
    let svg = fs::read_to_string(&path).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("4 sectors written for 32 lanes, 4 at best"), "{svg}");
}

#[test]
fn what_cannot_be_explained_is_refused() {
    BINARY.assert_refused(&["--explain", "fast"], &["fast", "naive-strided, naive"]);
    BINARY.assert_refused(&["--explain", "cpu"], &["cpu", "no kernel", "naive-strided, naive"]);
    BINARY.assert_refused(&["--line", "3"], &["--explain"]);
    BINARY.assert_refused(&["--explain", "naive", "--stage", "naive"], &["--explain", "--stage"]);
    // The loop's head touches no memory. A header precedes the message, as in any run.
    let head = source_line("for (unsigned j = 0;");
    let output = BINARY.run(&["--explain", "naive", "--line", &head, "--svg", "/no/such/folder/a.svg"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("/no/such/folder/a.svg"), "{}", stderr(&output));
    let output = BINARY.run(&["--explain", "naive", "--line", &head]);
    assert_eq!(output.status.code(), Some(2));
    let (body, store) = (source_line("sum += window[j] * filter[j];"), source_line("output[i] = sum;"));
    let words = format!("on line {head}: expected one of the lines {body}, {store}");
    assert!(stderr(&output).contains(&words), "{}", stderr(&output));
    assert!(stdout(&output).is_empty());
}

#[test]
fn a_stage_is_diagnosed_by_what_is_left_without_its_loads() {
    let output = BINARY.run(&["--diagnose", "naive", "--size", "300x40"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("work      300 outputs x 40 taps"), "{}", stderr(&output));
    let text = stdout(&output);
    let cells = |name: &str| -> Vec<&str> {
        let row =
            text.lines().find(|line| line.starts_with(&format!("│ {name} "))).unwrap_or_else(|| panic!("no {name} in\n{text}"));
        row.split('│').map(str::trim).skip(4).take(3).collect()
    };
    // Sectors loaded and stored, and multiply-adds: those of every one of 300 outputs.
    let (whole, without) = (cells("whole"), cells("without global loads"));
    assert_eq!((&whole[1..], &without[..]), (&["38", "12.0 k"][..], &["0", "38", "12.0 k"][..]), "{text}");
    assert_ne!(whole[0], "0", "{text}");
    assert!(text.contains("Only the whole stage is compared with the oracle"), "{text}");
    assert!(text.contains("sets the least time that the whole needs on the NVIDIA H200"), "{text}");
    // It loads nothing from shared memory, so nothing else can be removed; and it has no times.
    assert!(!text.contains("shared loads") && !text.contains(" ms"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 150), "{text}");
}

#[test]
fn what_cannot_be_diagnosed_is_refused() {
    BINARY.assert_refused(&["--diagnose", "fast"], &["fast", "naive-strided, naive"]);
    for stage in ["cpu", "copy-only"] {
        BINARY.assert_refused(&["--diagnose", stage], &[stage, "no kernel", "naive-strided, naive"]);
    }
    for other in [&["--stage", "naive"][..], &["--list"], &["--save", "a.json"], &["--explain", "naive"], &["--format", "json"]] {
        BINARY.assert_refused(&[&["--diagnose", "naive"], other].concat(), &["--diagnose", other[0]]);
    }
    assert!(stdout(&BINARY.run(&["--help"])).contains("--diagnose <STAGE>"));
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    for size in ["0x1", "1x0", "12", "axb", "", "1x2x3", "9999999999x1", "99999999999999999999999x2"] {
        BINARY.assert_refused(&["--size", size], &["--size"]);
    }
    // 17 GB on a device that had 2.
    let mut large = Command::new(BINARY.path);
    let output = large.args(["--size", "2147483648x1", "--device", "sim:gtx680"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("this size needs") && stderr(&output).lines().count() == 1, "{}", stderr(&output));
}

#[test]
fn wrong_arguments_are_refused_on_one_line() {
    BINARY.assert_refused(&["--no-such-flag"], &["--no-such-flag"]);
    BINARY.assert_refused(&["--repeat", "0"], &["--repeat"]);
    // `assert_refused` puts `--device` before the subcommand, which has a `--device` of its own.
    BINARY.assert_refused(&["exercise", "1"], &["exercise", "--device"]);
    BINARY.assert_refused(&["--format", "xml"], &["xml", "markdown"]);
    BINARY.assert_refused(&["--input", "voice.wav"], &["--filter", "--output"]);
    BINARY.assert_refused(&["--input", "a.wav", "--filter", "b.wav", "--output", "c.wav", "--size", "8x8"], &["--size"]);
}

#[test]
fn a_device_that_is_not_there_is_refused() {
    let refused = |device: &str| {
        let output = Command::new(BINARY.path).args(["--device", device]).output().unwrap();
        (output.status.code(), stderr(&output))
    };
    let (status, message) = refused("sim:voodoo2");
    assert_eq!(status, Some(2), "{message}");
    assert!(message.contains("voodoo2") && message.contains("h200") && message.lines().count() == 1, "{message}");

    if Path::new("/dev/nvidiactl").exists() {
        eprintln!("skipped: this machine has an NVIDIA GPU, so a run on it is not refused");
        return;
    }
    let (status, message) = refused("gpu");
    assert_eq!(status, Some(2), "{message}");
    assert!(message.contains("GPU") && message.lines().count() == 1, "{message}");
}

#[test]
fn the_record_is_saved_beside_the_table_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let output = BINARY.run(&["--size", "64x8", "--save", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("verified"));
    let record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(record["stages"].as_array().unwrap().len(), stage_names().len());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    BINARY.assert_refused(&["--size", "64x8", "--save", folder.path().to_str().unwrap()], &["cannot write"]);
    BINARY.assert_refused(&["--size", "64x8", "--save", "/no/such/folder/record.json"], &["/no/such/folder/record.json"]);
}

/// Returns a shell that limits the binary's files to a few kilobytes. Streams and pipes have no such limit.
#[cfg(target_os = "linux")]
fn with_small_files(arguments: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh", BINARY.path, "--device", "sim"])
        .args(arguments)
        .stdin(Stdio::null());
    shell
}

#[test]
#[cfg(target_os = "linux")]
fn the_table_is_out_before_what_can_fail() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    fs::write(&path, "the old record").unwrap();
    let output = with_small_files(&["--size", "64x8", "--save", path.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stdout(&output).contains("│ naive-strided "), "{}", stdout(&output));
    assert!(stderr(&output).contains("cannot write") && stderr(&output).contains("record.json"), "{}", stderr(&output));
    // Nothing of the new record is there, and nothing of the old one is gone.
    assert_eq!(fs::read_to_string(&path).unwrap(), "the old record");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    let studio = Studio::new();
    studio.record("voice.wav", 8000, 1, &noise(2000, 1));
    studio.record("room.wav", 8000, 1, &noise(10, 2));
    let arguments = studio.arguments("voice.wav", "room.wav", "wet.wav");
    let output = with_small_files(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stdout(&output).contains("│ naive-strided "), "{}", stdout(&output));
    assert_eq!(studio.files(), ["room.wav", "voice.wav"]);
}

#[test]
fn a_reader_who_leaves_early_still_gets_the_record_that_they_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let arguments = ["--size", "64x8", "--save", path.to_str().unwrap()];
    let mut child = BINARY.command("sim", &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(fs::read_to_string(&path).unwrap().starts_with('{'));
}

#[test]
fn a_reader_who_leaves_early_is_no_error() {
    for arguments in [&["--size", "64x8"][..], &["--list"], &["--help"], &["--size", "64x8", "--format", "json"]] {
        let mut child = BINARY.command("sim", arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        assert!(!stderr(&output).contains("panicked") && !stderr(&output).contains("error"), "{}", stderr(&output));
    }
}

#[test]
fn messages_that_nobody_reads_are_no_error_either() {
    let mut child = BINARY.command("sim", &["--size", "64x8"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("naive-strided"));
}

/// A folder with sounds in it.
struct Studio(tempfile::TempDir);

impl Studio {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes 16-bit frames of interleaved channels.
    fn record(&self, name: &str, rate: u32, channels: u16, samples: &[i16]) {
        let spec = WavSpec { channels, sample_rate: rate, bits_per_sample: 16, sample_format: SampleFormat::Int };
        let mut writer = WavWriter::create(self.path(name), spec).unwrap();
        samples.iter().for_each(|&sample| writer.write_sample(sample).unwrap());
        writer.finalize().unwrap();
    }

    fn arguments(&self, input: &str, filter: &str, output: &str) -> Vec<String> {
        let flag = |flag: &str, name: &str| [flag.to_owned(), self.path(name).to_string_lossy().into_owned()];
        [flag("--input", input), flag("--filter", filter), flag("--output", output)].concat()
    }

    fn convolve(&self, input: &str, filter: &str, output: &str) -> Output {
        let arguments = self.arguments(input, filter, output);
        BINARY.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn assert_refused(&self, input: &str, filter: &str, output: &str, words: &[&str]) {
        let arguments = self.arguments(input, filter, output);
        BINARY.assert_refused(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), words);
    }

    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Returns `count` samples without a pattern.
fn noise(count: usize, start: u32) -> Vec<i16> {
    let mut state = start;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as i16 / 4
    };
    (0..count).map(|_| next()).collect()
}

/// Returns one channel of several.
fn channel(samples: &[i16], channels: usize, channel: usize) -> Vec<f64> {
    samples.iter().skip(channel % channels).step_by(channels).map(|&sample| f64::from(sample) / 32768.0).collect()
}

/// Computes a convolution by its definition: each sample starts an echo of the whole filter.
fn echoes(signal: &[f64], filter: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; signal.len() + filter.len() - 1];
    for (start, sample) in signal.iter().enumerate() {
        for (delay, weight) in filter.iter().enumerate() {
            sum[start + delay] += sample * weight;
        }
    }
    sum
}

#[test]
fn sounds_are_convolved_channel_by_channel() {
    for (input_channels, filter_channels) in [(1, 1), (2, 1), (1, 2), (2, 2)] {
        let studio = Studio::new();
        let (voice, room) = (noise(500 * input_channels, 1), noise(130 * filter_channels, 2));
        studio.record("voice.wav", 22_050, input_channels as u16, &voice);
        studio.record("room.wav", 22_050, filter_channels as u16, &room);
        let output = studio.convolve("voice.wav", "room.wav", "wet.wav");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains("computed by overlapped"), "{}", stderr(&output));

        let mut wet = WavReader::open(studio.path("wet.wav")).unwrap();
        let channels = input_channels.max(filter_channels);
        let spec =
            WavSpec { channels: channels as u16, sample_rate: 22_050, bits_per_sample: 32, sample_format: SampleFormat::Float };
        assert_eq!(wet.spec(), spec);
        let samples: Vec<f32> = wet.samples::<f32>().map(Result::unwrap).collect();
        assert_eq!(samples.len(), channels * (500 + 130 - 1));
        for number in 0..channels {
            let expected = echoes(&channel(&voice, input_channels, number), &channel(&room, filter_channels, number));
            for (frame, expected) in expected.iter().enumerate() {
                let got = f64::from(samples[frame * channels + number]);
                assert!((got - expected).abs() < 1e-5, "channel {number}, frame {frame}: {got}, expected {expected}");
            }
        }
        assert_eq!(studio.files(), ["room.wav", "voice.wav", "wet.wav"]);
    }
}

#[test]
fn sounds_that_do_not_go_together_are_refused_and_leave_nothing_behind() {
    let studio = Studio::new();
    studio.record("voice.wav", 8000, 1, &noise(50, 1));
    studio.record("room.wav", 8000, 1, &noise(10, 2));
    studio.record("room-44100.wav", 44_100, 1, &noise(10, 2));
    studio.record("long.wav", 8000, 1, &noise(51, 2));
    studio.record("silence.wav", 8000, 1, &[]);
    fs::write(studio.path("empty.wav"), b"").unwrap();
    fs::write(studio.path("text.wav"), b"once upon a time there was a sound, and that was in another file").unwrap();
    let whole = fs::read(studio.path("voice.wav")).unwrap();
    fs::write(studio.path("cut.wav"), &whole[..whole.len() - 7]).unwrap();
    let before = studio.files();

    studio.assert_refused("voice.wav", "room-44100.wav", "wet.wav", &["8000", "44100"]);
    studio.assert_refused("voice.wav", "long.wav", "wet.wav", &["long.wav", "longer", "swap"]);
    for bad in ["silence.wav", "empty.wav", "text.wav", "cut.wav", "absent.wav"] {
        studio.assert_refused(bad, "room.wav", "wet.wav", &[bad]);
        studio.assert_refused("voice.wav", bad, "wet.wav", &[bad]);
    }
    studio.assert_refused("voice.wav", "room.wav", "no-such-folder/wet.wav", &["no-such-folder"]);
    studio.assert_refused("voice.wav", "room.wav", "", &["cannot write"]);
    assert_eq!(studio.files(), before);
}

#[test]
fn no_result_replaces_an_input_or_another_result() {
    let studio = Studio::new();
    studio.record("voice.wav", 8000, 1, &noise(50, 1));
    studio.record("room.wav", 8000, 1, &noise(10, 2));
    let before = studio.files();
    for output in ["voice.wav", "./room.wav"] {
        studio.assert_refused("voice.wav", "room.wav", output, &["choose another name"]);
    }
    let save = studio.path("result").to_string_lossy().into_owned();
    let arguments = [studio.arguments("voice.wav", "room.wav", "./result"), vec!["--save".to_owned(), save]].concat();
    BINARY.assert_refused(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), &["two options of this command name it"]);
    assert_eq!(studio.files(), before);
}

/// Compares all bits. Both round every multiply-add once, and on both a thread adds in the order of the taps.
#[test]
fn a_gpu_and_the_simulator_agree_bit_for_bit() {
    if let Err(why) = run::probe::probe() {
        return compilers::variables::REQUIRE_GPU.skip("a GPU compared with the simulator", why);
    }
    let studio = Studio::new();
    studio.record("voice.wav", 48_000, 1, &noise(30_011, 3));
    studio.record("room.wav", 48_000, 1, &noise(4_099, 4));
    for stage in ["naive", "naive-strided"] {
        let result = |device: &str| {
            let mut command = Command::new(BINARY.path);
            command.args(["--device", device, "--stage", stage]).args(studio.arguments("voice.wav", "room.wav", "wet.wav"));
            let output = command.stdin(Stdio::null()).output().expect("the chapter's binary can be started");
            assert_eq!(output.status.code(), Some(0), "{stage} on {device}: {}", stderr(&output));
            fs::read(studio.path("wet.wav")).unwrap()
        };
        assert!(result("gpu") == result("sim"), "{stage}: the results differ");
    }
}
