//! Reads sounds from WAV files of one or two channels of integers or floats, and writes them as 32-bit floats.
//!
//! A convolution sums thousands of products and rarely stays within full scale, so an integer file would clip it.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use hound::{SampleFormat, WavSpec, WavWriter};

use crate::error::{Error, Result};
use crate::files::input_file;

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

/// The facts about a sound that are known before it is read.
#[derive(Clone, Debug)]
pub struct Length {
    /// The file's name, for messages.
    pub name: String,
    /// Frames per second.
    pub rate: u32,
    /// Samples per channel, at least one.
    pub frames: usize,
}

/// A sound file whose header is read, and whose samples are not: it may be too long for the memory of this machine.
#[derive(Debug)]
pub struct Unread {
    /// The length.
    pub length: Length,
    channels: usize,
    encoding: Encoding,
    path: PathBuf,
    /// Where the samples begin.
    samples: BufReader<File>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    /// Integers of 1 to 4 bytes.
    Integer(usize),
    /// 32-bit floats.
    Float,
}

impl Encoding {
    fn bytes(self) -> usize {
        match self {
            Encoding::Integer(bytes) => bytes,
            Encoding::Float => 4,
        }
    }

    fn value(self, sample: &[u8]) -> f32 {
        match (self, sample) {
            // Bytes have no sign: 128 is silence.
            (Encoding::Integer(1), &[byte]) => (f32::from(byte) - 128.0) / 128.0,
            (Encoding::Float, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
            _ => {
                let mut word = [0; 4];
                word[4 - sample.len()..].copy_from_slice(sample);
                (f64::from(i32::from_le_bytes(word)) / 2.0_f64.powi(31)) as f32
            }
        }
    }
}

const READ: &str = "integers of 8, 16, 24, or 32 bits and 32-bit floats can be read: convert it, for example with `ffmpeg -i OLD.wav -c:a \
                    pcm_f32le NEW.wav`";

/// Length that some programs write when they stream samples to a pipe. They do not know it yet; others write 0.
const STREAMED: u32 = u32::MAX;

impl Sound {
    /// Reads the header of a WAV file: mono or stereo, integers of 8, 16, 24 or 32 bits, or 32-bit floats.
    ///
    /// Integers of 32 bits are rounded to the 24 significant bits of f32.
    /// Fails when the file is damaged, is empty, or has another format.
    pub fn open(path: &Path) -> Result<Unread> {
        let (file, length) = input_file::open(path, WHAT)?;
        let file = Counted { file: BufReader::new(file), at: 0, length };
        Unread::of(file, path).map_err(|reason| Error::Input { what: WHAT, path: path.to_owned(), reason })
    }

    /// Returns the length.
    pub fn length(&self) -> Length {
        Length { name: self.name.clone(), rate: self.rate, frames: self.channels[0].len() }
    }
}

const WHAT: &str = "sound file";

impl Unread {
    fn of(mut file: Counted, path: &Path) -> Result<Self, String> {
        let [kind, whole, form] = [file.bytes()?, file.bytes()?, file.bytes()?];
        if &kind != b"RIFF" || &form != b"WAVE" {
            return Err("it is not a WAV file".into());
        }
        let mut format = None;
        let announced = loop {
            let (name, size) = (file.bytes()?, u32::from_le_bytes(file.bytes()?));
            match &name {
                b"data" => break size,
                b"fmt " => format = Some(Format::read(&mut file, size)?),
                // Chunks begin at even bytes.
                _ => file.skip(u64::from(size) + u64::from(size % 2))?,
            }
        };
        let format = format.ok_or("it is not a valid WAV file: its samples come before their format")?;
        let encoding = format.encoding()?;
        let (channels, rate) = (usize::from(format.channels), format.rate);
        if !(1..=2).contains(&channels) {
            return Err(format!("it has {channels} channels, expected 1 or 2"));
        }
        if rate == 0 {
            return Err("it has 0 samples per second".into());
        }
        let frame = channels * encoding.bytes();
        if usize::from(format.frame_bytes) != frame {
            return Err(format!("it is not a valid WAV file: frames of {} bytes, expected {frame}", format.frame_bytes));
        }
        let there = file.length - file.at;
        // A file without samples also announces 0. There, the header is right about the length of the whole.
        let unknown = announced == STREAMED || (announced == 0 && u64::from(u32::from_le_bytes(whole)) + 8 <= file.at);
        let bytes = if unknown { there } else { u64::from(announced) };
        if bytes > there {
            return Err(format!("it ends before its header says: expected {bytes} bytes of samples, found {there}"));
        }
        if bytes % frame as u64 != 0 {
            return Err(format!("its {bytes} bytes of samples end in the middle of a frame of {frame} bytes"));
        }
        let frames = usize::try_from(bytes / frame as u64).map_err(|_| format!("its {bytes} bytes are too many"))?;
        if frames == 0 {
            return Err("it holds no samples".into());
        }
        let length = Length { name: input_file::name(path), rate, frames };
        Ok(Self { length, channels, encoding, path: path.to_owned(), samples: file.file })
    }

    /// Reads the samples.
    pub fn read(self) -> Result<Sound> {
        let Self { length: Length { name, rate, frames }, channels, encoding, path, mut samples } = self;
        let bad = |reason: String| Error::Input { what: WHAT, path: path.clone(), reason };
        let mut read: Vec<Vec<f32>> = (0..channels).map(|_| Vec::with_capacity(frames)).collect();
        let mut frame = [0; 8];
        let frame = &mut frame[..channels * encoding.bytes()];
        for index in 0..frames {
            samples.read_exact(frame).map_err(|error| bad(error.to_string()))?;
            for (channel, sample) in read.iter_mut().zip(frame.chunks_exact(encoding.bytes())) {
                let value = encoding.value(sample);
                if !value.is_finite() {
                    return Err(bad(format!("sample {index} is {value}, expected a finite number")));
                }
                channel.push(value);
            }
        }
        Ok(Sound { name, rate, channels: read })
    }
}

/// A file with the number of bytes that are read.
struct Counted {
    file: BufReader<File>,
    at: u64,
    length: u64,
}

impl Counted {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        let (at, length) = (self.at, self.length);
        let short = |_| format!("it ends before its header says: expected {} bytes and more, found {length}", at + N as u64);
        self.file.read_exact(&mut bytes).map_err(short)?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn half(&mut self) -> Result<u16, String> {
        self.bytes().map(u16::from_le_bytes)
    }

    fn skip(&mut self, bytes: u64) -> Result<(), String> {
        let end = self.at + bytes;
        if end > self.length {
            return Err(format!("it ends before its header says: expected {end} bytes and more, found {}", self.length));
        }
        self.file.seek_relative(bytes as i64).map_err(|error| error.to_string())?;
        self.at = end;
        Ok(())
    }
}

/// The `fmt ` chunk. Its definition: <https://learn.microsoft.com/windows/win32/api/mmreg/ns-mmreg-waveformatextensible>.
struct Format {
    /// Names the encoding.
    tag: u16,
    channels: u16,
    rate: u32,
    frame_bytes: u16,
    bits: u16,
    /// How many of the bits count, the highest ones. The others are 0.
    valid_bits: u16,
}

/// Tag of a format that is named later in the chunk.
const EXTENSIBLE: u16 = 0xfffe;

impl Format {
    fn read(file: &mut Counted, size: u32) -> Result<Self, String> {
        if size < 16 {
            return Err(format!("it is not a valid WAV file: its format takes {size} bytes, expected 16 or more"));
        }
        let end = file.at + u64::from(size) + u64::from(size % 2);
        let (mut tag, channels) = (file.half()?, file.half()?);
        let rate = u32::from_le_bytes(file.bytes()?);
        let _bytes_per_second: [u8; 4] = file.bytes()?;
        let (frame_bytes, bits) = (file.half()?, file.half()?);
        let mut valid_bits = bits;
        if tag == EXTENSIBLE && size >= 40 {
            let _size_of_the_rest = file.half()?;
            // Some programs leave it out.
            valid_bits = Some(file.half()?).filter(|valid| *valid > 0).unwrap_or(bits);
            let _speakers: [u8; 4] = file.bytes()?;
            tag = file.half()?;
        }
        file.skip(end - file.at)?;
        Ok(Self { tag, channels, rate, frame_bytes, bits, valid_bits })
    }

    /// Returns the encoding, or a message that names an unsupported one.
    fn encoding(&self) -> Result<Encoding, String> {
        let Self { tag, bits, valid_bits, .. } = *self;
        let kind = match (tag, bits) {
            (1, 8 | 16 | 24 | 32) if valid_bits == bits || (valid_bits == 24 && bits == 32) => {
                return Ok(Encoding::Integer(usize::from(bits / 8)));
            }
            (3, 32) => return Ok(Encoding::Float),
            (1, _) => format!("{valid_bits}-bit integers"),
            (3, _) => format!("{bits}-bit floats"),
            (2, _) => "Microsoft ADPCM".into(),
            (6, _) => "A-law".into(),
            (7, _) => "µ-law".into(),
            (0x11, _) => "IMA ADPCM".into(),
            (0x31, _) => "GSM 6.10".into(),
            (0x50 | 0x55, _) => "MPEG audio".into(),
            _ => format!("format {tag:#x}"),
        };
        Err(format!("its samples are {kind}, but only {READ}"))
    }
}

/// Writes equally long channels as a 32-bit float WAV. Returns the largest magnitude.
/// Fails when the sound is longer than a WAV file can be.
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

fn describe(error: hound::Error) -> String {
    match error {
        hound::Error::IoError(error) => error.to_string(),
        error => error.to_string().to_lowercase(),
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

    fn read(path: &Path) -> Result<Sound> {
        Sound::open(path)?.read()
    }

    #[test]
    fn integers_of_every_width_become_parts_of_full_scale() {
        let folder = tempfile::tempdir().unwrap();
        for bits in [8, 16, 24, 32] {
            let half = 1 << (bits - 2);
            let path = file(&folder, "a.wav", &integers(bits, 1, &[half, -half, -2 * (half - 1) - 2, 0]));
            assert_eq!(read(&path).unwrap().channels, [[0.5, -0.5, -1.0, 0.0]], "{bits} bits");
        }
    }

    #[test]
    fn stereo_is_split_and_written_floats_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder, "a.wav", &integers(16, 2, &[16384, -8192, 0, 4096]));
        let sound = read(&path).unwrap();
        assert_eq!(sound.channels, [[0.5, 0.0], [-0.25, 0.125]]);

        let mut bytes = Cursor::new(Vec::new());
        let loud = vec![vec![1.5, -3.0, 1e-9], vec![0.1, 0.2, 0.3]];
        assert_eq!(write(&mut bytes, &loud, 44_100).unwrap(), 3.0);
        let path = file(&folder, "b.wav", &bytes.into_inner());
        assert_eq!(read(&path).unwrap(), Sound { name: "b.wav".into(), rate: 44_100, channels: loud });
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
            let error = read(&path).err().unwrap_or_else(|| panic!("{what} of {len} bytes is accepted")).to_string();
            assert!(error.lines().count() == 1 && error.contains("bad.wav"), "{what}: {error}");
        }
        assert!(read(folder.path()).is_err());
        assert!(read(&folder.path().join("absent.wav")).is_err());
    }

    /// Returns a WAV file with this format and samples. `whole` and `announced` are its headers' lengths.
    fn wav([tag, bits, frame_bytes]: [u16; 3], extension: &[u8], [whole, announced]: [u32; 2], samples: &[u8]) -> Vec<u8> {
        let size = 16 + extension.len() as u32;
        let [tag, bits, frame_bytes, channels] = [tag, bits, frame_bytes, 1].map(u16::to_le_bytes);
        let [whole, size, rate, speed, announced] = [whole, size, 8000, 16000, announced].map(u32::to_le_bytes);
        let format = [&channels[..], &rate, &speed, &frame_bytes, &bits, extension].concat();
        [&b"RIFF"[..], &whole, b"WAVEfmt ", &size, &tag, &format, b"data", &announced, samples].concat()
    }

    #[test]
    fn a_streamed_file_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let samples = [0, 64, 0, 192];
        for lengths in [[u32::MAX; 2], [0, 0], [36, 0], [0, u32::MAX]] {
            let path = file(&folder, "streamed.wav", &wav([1, 16, 2], &[], lengths, &samples));
            assert_eq!(read(&path).unwrap().channels, [[0.5, -0.5]], "{lengths:?}");
        }
        // This one holds no samples, and something else after them.
        let path = file(&folder, "silent.wav", &wav([1, 16, 2], &[], [36 + 8, 0], b"LIST\0\0\0\0"));
        assert!(read(&path).unwrap_err().to_string().contains("no samples"));
        let path = file(&folder, "cut.wav", &wav([1, 16, 2], &[], [u32::MAX; 2], &samples[..3]));
        assert!(read(&path).unwrap_err().to_string().contains("its 3 bytes of samples end in the middle of a frame"));
    }

    #[test]
    fn what_is_not_read_is_named_together_with_what_is() {
        let folder = tempfile::tempdir().unwrap();
        let extensible =
            |valid: u8, tag: u8| [22, 0, valid, 0, 4, 0, 0, 0, tag, 0, 0, 0, 0, 0, 16, 0, 128, 0, 0, 170, 0, 56, 155, 113];
        for (format, extension, words) in [
            ([3, 64, 8], &[][..], "64-bit floats"),
            ([2, 4, 256], &[4, 0, 0, 0, 0, 0], "Microsoft ADPCM"),
            ([0x11, 4, 256], &[2, 0, 0, 0], "IMA ADPCM"),
            ([1, 12, 2], &[], "12-bit integers"),
            ([7, 8, 1], &[], "µ-law"),
            ([0x1234, 8, 1], &[], "format 0x1234"),
            ([EXTENSIBLE, 16, 2], &extensible(12, 1), "12-bit integers"),
            ([EXTENSIBLE, 64, 8], &extensible(64, 3), "64-bit floats"),
        ] {
            let path = file(&folder, "other.wav", &wav(format, extension, [1000, 16], &[0; 16]));
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("32-bit floats can be read") && error.lines().count() == 1, "{error}");
        }
        for (format, extension) in [([EXTENSIBLE, 16, 2], extensible(16, 1)), ([EXTENSIBLE, 32, 4], extensible(24, 1))] {
            let path = file(&folder, "read.wav", &wav(format, &extension, [1000, 4], &[0, 64, 0, 64]));
            assert_eq!(read(&path).unwrap().channels[0].last().map(|value| (value * 100.0).round()), Some(50.0));
        }
    }

    #[test]
    fn a_file_that_was_cut_short_is_told_with_the_bytes_expected_and_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder, "cut.wav", &wav([1, 16, 2], &[], [1000, 400], &[0; 100]));
        let error = Sound::open(&path).unwrap_err().to_string();
        assert!(error.contains("expected 400 bytes of samples, found 100"), "{error}");
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
                let _ = read(&file(&folder, "bad.wav", &bytes));
            }
        }
    }
}
