//! Reads sounds from WAV files of one or two channels of integers or floats, and writes them as 32-bit floats.
//!
//! A convolution sums thousands of products and rarely stays within full scale, so an integer file would clip it.

use std::io::{BufReader, BufWriter, Seek, Write};
use std::path::Path;

use hound::{SampleFormat, WavReader, WavSpec, WavWriter};

use crate::error::{Error, Result};

/// A sound, channel by channel, in -1..1 for full scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Sound {
    /// The file's name, for messages.
    pub name: String,
    /// Frames per second.
    pub rate: u32,
    /// One or two channels of the same length, at least one sample each.
    pub channels: Vec<Vec<f32>>,
}

impl Sound {
    /// Reads a WAV file: mono or stereo, integers of 8, 16, 24 or 32 bits, or 32-bit floats.
    ///
    /// Integers of 32 bits are rounded to the 24 significant bits of f32.
    ///
    /// # Errors
    ///
    /// [`Error::Input`], when the file cannot be read, is damaged, is empty, or has another format.
    pub fn read(path: &Path) -> Result<Self> {
        let bad = |reason: String| Error::Input { what: "sound file", path: path.to_owned(), reason };
        let file = std::fs::File::open(path).map_err(|error| bad(error.to_string()))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(bad("it is a folder".into()));
        }
        let mut reader = WavReader::new(BufReader::new(file)).map_err(|error| bad(describe(error)))?;
        let spec = reader.spec();
        if !(1..=2).contains(&spec.channels) {
            return Err(bad(format!("it has {} channels, expected 1 or 2", spec.channels)));
        }
        if spec.sample_rate == 0 {
            return Err(bad("it has 0 samples per second".into()));
        }
        let samples: Result<Vec<f32>, hound::Error> = match (spec.sample_format, spec.bits_per_sample) {
            (SampleFormat::Int, bits @ (8 | 16 | 24 | 32)) => {
                let full_scale = 2.0_f64.powi(i32::from(bits) - 1);
                let scaled = |sample: i32| (f64::from(sample) / full_scale) as f32;
                reader.samples::<i32>().map(|sample| sample.map(scaled)).collect()
            }
            (SampleFormat::Float, 32) => reader.samples::<f32>().collect(),
            (format, bits) => {
                return Err(bad(format!(
                    "it has {bits}-bit {format:?} samples, expected integers of 8, 16, 24 or 32 bits or 32-bit floats"
                )));
            }
        };
        let samples = samples.map_err(|error| bad(describe(error)))?;

        let channels = usize::from(spec.channels);
        if samples.len() < channels {
            return Err(bad("it holds no samples".into()));
        }
        if !samples.len().is_multiple_of(channels) {
            return Err(bad(format!("its {} samples do not divide into {channels} channels", samples.len())));
        }
        if let Some(position) = samples.iter().position(|sample| !sample.is_finite()) {
            return Err(bad(format!("sample {position} is {}, expected a finite number", samples[position])));
        }
        let channels = (0..channels).map(|channel| samples.iter().skip(channel).step_by(channels).copied().collect()).collect();
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(Self { name, rate: spec.sample_rate, channels })
    }

    /// Samples per channel.
    pub fn frames(&self) -> usize {
        self.channels[0].len()
    }
}

/// Writes channels of equal length as a 32-bit float WAV and returns the largest magnitude.
///
/// # Errors
///
/// [`Error::Encode`], when writing fails or the sound is longer than a WAV file can be.
pub fn write(file: &mut (impl Write + Seek), channels: &[Vec<f32>], rate: u32) -> Result<f32> {
    let unwritten = |reason: String| Error::Encode { what: "sound", reason };
    let failed = |error: hound::Error| unwritten(describe(error));
    let frames = channels.first().map_or(0, Vec::len);
    // The header counts bytes with 32 bits, itself included.
    if frames as u64 * channels.len() as u64 * 4 > u64::from(u32::MAX) - 1024 {
        return Err(unwritten(format!("{frames} frames of {} channel(s) are more than the 4 GiB of a WAV file", channels.len())));
    }
    let spec =
        WavSpec { channels: channels.len() as u16, sample_rate: rate, bits_per_sample: 32, sample_format: SampleFormat::Float };
    let mut writer = WavWriter::new(BufWriter::new(file), spec).map_err(failed)?;
    let mut peak = 0.0_f32;
    for frame in 0..frames {
        for channel in channels {
            peak = peak.max(channel[frame].abs());
            writer.write_sample(channel[frame]).map_err(failed)?;
        }
    }
    writer.finalize().map_err(failed)?;
    Ok(peak)
}

/// The library's errors in our form: one line, lowercase.
fn describe(error: hound::Error) -> String {
    match error {
        hound::Error::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            "it ends before its header says".into()
        }
        // The reader reports an end of file in the middle of a field in its own words.
        hound::Error::IoError(error) if error.to_string().contains("enough bytes") => "it ends before its header says".into(),
        hound::Error::IoError(error) => error.to_string(),
        hound::Error::FormatError(reason) => format!("it is not a valid WAV file: {reason}"),
        hound::Error::Unsupported => "its format is not supported: expected integer or 32-bit float samples".into(),
        hound::Error::TooWide => "its samples have more bits than its header says".into(),
        hound::Error::UnfinishedSample => "it ends in the middle of a frame".into(),
        hound::Error::InvalidSampleFormat => "its samples have another format than its header says".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::path::PathBuf;

    use super::*;

    fn file(folder: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn integers(bits: u16, channels: u16, samples: &[i32]) -> Vec<u8> {
        let spec = WavSpec { channels, sample_rate: 8000, bits_per_sample: bits, sample_format: SampleFormat::Int };
        let mut bytes = Cursor::new(Vec::new());
        let mut writer = WavWriter::new(&mut bytes, spec).unwrap();
        samples.iter().for_each(|&sample| writer.write_sample(sample).unwrap());
        writer.finalize().unwrap();
        bytes.into_inner()
    }

    #[test]
    fn integers_of_every_width_become_parts_of_full_scale() {
        let folder = tempfile::tempdir().unwrap();
        for bits in [8, 16, 24, 32] {
            let half = 1 << (bits - 2);
            let path = file(&folder, "a.wav", &integers(bits, 1, &[half, -half, -2 * (half - 1) - 2, 0]));
            assert_eq!(Sound::read(&path).unwrap().channels, [[0.5, -0.5, -1.0, 0.0]], "{bits} bits");
        }
    }

    #[test]
    fn stereo_is_split_and_written_floats_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder, "a.wav", &integers(16, 2, &[16384, -8192, 0, 4096]));
        let sound = Sound::read(&path).unwrap();
        assert_eq!(sound.channels, [[0.5, 0.0], [-0.25, 0.125]]);

        let mut bytes = Cursor::new(Vec::new());
        let loud = vec![vec![1.5, -3.0, 1e-9], vec![0.1, 0.2, 0.3]];
        assert_eq!(write(&mut bytes, &loud, 44_100).unwrap(), 3.0);
        let path = file(&folder, "b.wav", &bytes.into_inner());
        assert_eq!(Sound::read(&path).unwrap(), Sound { name: "b.wav".into(), rate: 44_100, channels: loud });
    }

    #[test]
    fn files_that_are_not_sounds_are_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let whole = integers(16, 2, &[1, 2, 3, 4]);
        let mut nan = Cursor::new(Vec::new());
        write(&mut nan, &[vec![0.0, f32::NAN]], 8000).unwrap();
        let cases: Vec<(&str, Vec<u8>)> = vec![
            ("empty file", vec![]),
            ("text", b"this is no sound, it is a sentence of some length".to_vec()),
            ("no samples", integers(16, 1, &[])),
            ("three channels", integers(16, 3, &[1, 2, 3])),
            ("not a number", nan.into_inner()),
        ];
        // A file cut short anywhere, in its header or in its samples.
        let cut = (1..whole.len()).map(|len| ("cut", whole[..len].to_vec()));
        for (what, bytes) in cases.into_iter().chain(cut) {
            let len = bytes.len();
            let path = file(&folder, "bad.wav", &bytes);
            let error = Sound::read(&path).err().unwrap_or_else(|| panic!("{what} of {len} bytes is accepted")).to_string();
            assert!(error.lines().count() == 1 && error.contains("bad.wav"), "{what}: {error}");
        }
        assert!(Sound::read(folder.path()).is_err());
        assert!(Sound::read(&folder.path().join("absent.wav")).is_err());
    }

    #[test]
    fn no_damage_to_a_header_makes_the_reader_panic() {
        let folder = tempfile::tempdir().unwrap();
        let whole = integers(16, 2, &[1, 2, 3, 4]);
        for position in 0..whole.len() {
            for value in [0, 1, 3, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[position] = value;
                // Some damage leaves a valid file; what counts is that it ends with an answer.
                let _ = Sound::read(&file(&folder, "bad.wav", &bytes));
            }
        }
    }
}
