//! Reads images from PNG or PGM files as 8-bit gray levels, and writes PNG files.

use std::io::{Cursor, Read, Write};
use std::path::Path;

use png::{BitDepth, ColorType, Decoder, Encoder, Transformations};

use crate::device::memory;
use crate::error::{Error, Result};
use crate::files::input_file;

pub use workloads::gray::{Gray, Rectangle};

/// Reads a PNG or PGM file. Colors become gray by their luma (ITU-R BT.709), and 16 bits become 8.
/// Fails when the file is damaged or has another format.
pub fn read(path: &Path) -> Result<Gray> {
    let (mut file, length) = input_file::open(path, "image")?;
    let bad = |reason: String| Error::Input { what: "image", path: path.to_owned(), reason };
    let mut bytes = Vec::new();
    let mut start = |most: u64| (&mut file).take(most).read_to_end(&mut bytes).map_err(|error| bad(error.to_string()));
    // A long file of another kind is not read.
    start(SIGNATURE_PNG.len() as u64)?;
    let is_png = bytes.starts_with(SIGNATURE_PNG);
    if !is_png && !bytes.starts_with(b"P5") && !bytes.starts_with(b"P2") {
        return Err(bad("it is neither a PNG nor a PGM".into()));
    }
    memory::require(length)?;
    file.read_to_end(&mut bytes).map_err(|error| bad(error.to_string()))?;
    let (width, height, pixels) = if is_png { decode_png(&bytes, bad)? } else { decode_pgm(&bytes).map_err(bad)? };
    Ok(Gray { name: input_file::name(path), width, height, pixels })
}

const SIGNATURE_PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Pixels of the largest image that a chapter can use.
const MOST_PIXELS: u64 = 1 << 29;

fn check_size(width: u32, height: u32) -> std::result::Result<(), String> {
    if width == 0 || height == 0 {
        return Err("it has no pixels".into());
    }
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(format!("it has {width}x{height} pixels, and {MOST_PIXELS} in all are the most"));
    }
    Ok(())
}

fn decode_png(bytes: &[u8], bad: impl Fn(String) -> Error) -> Result<(u32, u32, Vec<u8>)> {
    // The decoder says only that the file ends too early, or that its limits are exceeded.
    if let Some(cut) = cut_short(bytes) {
        return Err(bad(cut));
    }
    if let Some(&[a, b, c, d, e, f, g, h]) = bytes.get(16..24) {
        check_size(u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])).map_err(&bad)?;
    }
    let failed = |error: png::DecodingError| bad(one_line(&error.to_string()));
    let mut decoder = Decoder::new(Cursor::new(bytes));
    // Palettes become colors, and gray levels of fewer than 8 bits become bytes.
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(failed)?;
    let size = reader.output_buffer_size().ok_or_else(|| failed(png::DecodingError::LimitsExceeded))?;
    memory::require(size as u64)?;
    let mut samples = vec![0; size];
    let frame = reader.next_frame(&mut samples).map_err(failed)?;
    samples.truncate(frame.buffer_size());
    let wide = frame.bit_depth == BitDepth::Sixteen;
    let bytes_per_sample = if wide { 2 } else { 1 };
    let sample = |bytes: &[u8]| bytes.iter().fold(0, |value, &byte| value << 8 | u32::from(byte));
    let gray = |pixel: &[u8]| match frame.color_type {
        ColorType::Rgb | ColorType::Rgba => {
            let [red, green, blue] = [0, 1, 2].map(|color| sample(&pixel[color * bytes_per_sample..][..bytes_per_sample]));
            (2126 * red + 7152 * green + 722 * blue) / 10_000
        }
        _ => sample(&pixel[..bytes_per_sample]),
    };
    let level = |pixel: &[u8]| if wide { ((gray(pixel) + 128) / 257) as u8 } else { gray(pixel) as u8 };
    let pixel_bytes = frame.color_type.samples() * bytes_per_sample;
    Ok((frame.width, frame.height, samples.chunks_exact(pixel_bytes).map(level).collect()))
}

/// Returns the message for a PNG that ends early: inside a chunk, or before its last chunk.
fn cut_short(bytes: &[u8]) -> Option<String> {
    let found = bytes.len();
    let mut at = SIGNATURE_PNG.len();
    loop {
        // The length of its data, its name, the data, and a checksum.
        let Some(&[a, b, c, d]) = bytes.get(at..at + 4) else {
            return Some(format!("it ends early: expected more than {} bytes, found {found}", found.max(at)));
        };
        let end = at + 12 + u32::from_be_bytes([a, b, c, d]) as usize;
        if end > found {
            return Some(format!("it ends early: expected {end} bytes or more, found {found}"));
        }
        if &bytes[at + 4..at + 8] == b"IEND" {
            return None;
        }
        at = end;
    }
}

/// Returns a PGM's width, height, and gray levels, from binary (`P5`) or decimal (`P2`).
fn decode_pgm(bytes: &[u8]) -> std::result::Result<(u32, u32, Vec<u8>), String> {
    let damaged = |reason: String| format!("it is a damaged PGM: {reason}");
    let mut rest = &bytes[2..];
    let mut next = |what: &str| number(&mut rest).map_err(|reason| damaged(format!("its {what} {reason}")));
    let [width, height, white] = [next("width")?, next("height")?, next("white level")?];
    check_size(width, height)?;
    if !(1..=65_535).contains(&white) {
        return Err(damaged(format!("its white level is {white}, expected 1 to 65535")));
    }
    let count = width as usize * height as usize;
    let samples: Vec<u32> = if bytes[1] == b'2' {
        let read = |index| {
            number(&mut rest).map_err(|reason| damaged(format!("number {} of the {width}x{height} pixels {reason}", index + 1)))
        };
        (0..count).map(read).collect::<std::result::Result<_, _>>()?
    } else {
        let sample_bytes = if white < 256 { 1 } else { 2 };
        // One byte of white space ends the header.
        let rest = rest.get(1..).unwrap_or_default();
        let Some(samples) = rest.get(..count * sample_bytes) else {
            let (expected, found) = (count * sample_bytes, rest.len());
            return Err(damaged(format!("its {width}x{height} pixels are cut short: expected {expected} bytes, found {found}")));
        };
        samples.chunks(sample_bytes).map(|sample| sample.iter().fold(0, |value, &byte| value << 8 | u32::from(byte))).collect()
    };
    let level = |sample: u32| ((sample.min(white) * 255 + white / 2) / white) as u8;
    Ok((width, height, samples.into_iter().map(level).collect()))
}

/// Returns a PGM header's next number, after white space and comments.
fn number(rest: &mut &[u8]) -> std::result::Result<u32, String> {
    loop {
        *rest = rest.trim_ascii_start();
        let Some(comment) = rest.strip_prefix(b"#") else { break };
        let end = comment.iter().position(|&byte| byte == b'\n').unwrap_or(comment.len());
        *rest = &comment[end..];
    }
    let length = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(length);
    if digits.is_empty() {
        return Err(if after.is_empty() { "is missing: the file ends before it" } else { "is not a number" }.into());
    }
    *rest = after;
    let digits = String::from_utf8_lossy(digits);
    digits.parse().map_err(|_| format!("is too large: {digits}"))
}

/// Writes rows of pixels of three bytes (red, green, blue) as PNG.
pub fn write_png(file: &mut impl Write, width: u32, height: u32, rgb: &[u8]) -> Result<()> {
    let mut encoder = Encoder::new(file, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(rgb)?;
        writer.finish()
    });
    written.map_err(|error| Error::Encode { what: "image", reason: one_line(&error.to_string()) })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn steps() -> Gray {
        Gray { name: "steps".into(), width: 3, height: 2, pixels: vec![1, 2, 3, 4, 5, 6] }
    }

    #[test]
    fn a_part_is_the_content_of_the_rectangle() {
        let part = steps().crop(Rectangle { x: 1, y: 0, width: 2, height: 2 }).unwrap();
        assert_eq!((part.width, part.height, part.pixels), (2, 2, vec![2, 3, 5, 6]));
    }

    #[test]
    fn a_part_over_the_edge_is_refused() {
        for (x, y, width, height) in [(2, 0, 2, 1), (0, 2, 1, 1), (0, 0, 0, 1), (u32::MAX, 0, 2, 1)] {
            let error = steps().crop(Rectangle { x, y, width, height }).unwrap_err().to_string();
            assert!(error.contains("3x2"), "{error}");
        }
    }

    #[test]
    fn png_and_pgm_are_read_as_gray_levels() {
        let folder = tempfile::tempdir().unwrap();
        let pgm = folder.path().join("steps.pgm");
        std::fs::write(&pgm, b"P5\n3 2\n255\n\x01\x02\x03\x04\x05\x06").unwrap();
        assert_eq!(read(&pgm).unwrap().pixels, steps().pixels);
        let png = folder.path().join("steps.png");
        let rgb: Vec<u8> = steps().pixels.iter().flat_map(|&level| [level; 3]).collect();
        write_png(&mut std::fs::File::create(&png).unwrap(), 3, 2, &rgb).unwrap();
        assert_eq!(read(&png).unwrap(), Gray { name: "steps.png".into(), ..steps() });
    }

    #[test]
    fn the_other_kinds_of_png_and_pgm_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other");
        let read = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            read(&path).map(|gray| (gray.width, gray.height, gray.pixels)).map_err(|error| error.to_string())
        };
        assert_eq!(read(b"P2 # digits\n# and comments\n2 1 15\n0 15"), Ok((2, 1, vec![0, 255])));
        assert_eq!(read(b"P5\n1\n2\n65535\n\x00\x00\xff\xff"), Ok((1, 2, vec![0, 255])));
        for (damaged, words) in [
            (&b"P5 4294967295 4294967295 255\n"[..], "4294967295x4294967295 pixels"),
            (b"P5 99999999999 1 255\n", "width is too large: 99999999999"),
            (b"P5 0 1 255\n", "no pixels"),
            (b"P5 1 1 0\n\x00", "white level is 0"),
            (b"P5 1 1 65536\n\x00", "white level is 65536"),
            (b"P5 1", "height is missing"),
            (b"P5 1 x", "height is not a number"),
            (b"P2 2 1 9\n1", "number 2 of the 2x1 pixels is missing"),
            (b"P5#", "width is missing"),
            (b"P5 3 2 255\n\x01", "expected 6 bytes, found 1"),
            (b"P5 3 2 256\n\x01\x02", "expected 12 bytes, found 2"),
            (b"P5 3 2 255", "expected 6 bytes, found 0"),
        ] {
            assert!(read(damaged).is_err_and(|error| error.contains(words)), "{words}: {:?}", read(damaged));
        }
        let png = |color, depth, palette: Option<&'static [u8]>, samples: &[u8]| {
            let mut bytes = Vec::new();
            let mut encoder = Encoder::new(&mut bytes, 2, 1);
            encoder.set_color(color);
            encoder.set_depth(depth);
            if let Some(palette) = palette {
                encoder.set_palette(palette);
            }
            encoder.write_header().unwrap().write_image_data(samples).unwrap();
            bytes
        };
        let pixels = |bytes: Vec<u8>| read(&bytes).unwrap().2;
        assert_eq!(pixels(png(ColorType::Grayscale, BitDepth::One, None, &[0b0100_0000])), [0, 255]);
        assert_eq!(pixels(png(ColorType::GrayscaleAlpha, BitDepth::Eight, None, &[7, 0, 9, 255])), [7, 9]);
        assert_eq!(pixels(png(ColorType::Grayscale, BitDepth::Sixteen, None, &[0x80, 0x00, 0xff, 0xff])), [128, 255]);
        assert_eq!(pixels(png(ColorType::Rgb, BitDepth::Eight, None, &[255, 0, 0, 0, 255, 0])), [54, 182]);
        assert_eq!(pixels(png(ColorType::Rgba, BitDepth::Eight, None, &[0, 0, 255, 0, 100, 100, 100, 9])), [18, 100]);
        assert_eq!(pixels(png(ColorType::Indexed, BitDepth::Eight, Some(&[9, 9, 9, 200, 200, 200]), &[1, 0])), [200, 9]);
    }

    #[test]
    fn a_png_that_was_cut_anywhere_is_told_with_the_bytes_expected_and_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.png");
        let mut whole = Vec::new();
        write_png(&mut whole, 3, 2, &[7; 18]).unwrap();
        for length in SIGNATURE_PNG.len()..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains("it ends early: expected") && error.ends_with(&format!("found {length}")), "{error}");
        }
        whole[16..20].copy_from_slice(&u32::MAX.to_be_bytes());
        fs::write(&path, &whole).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("4294967295x2 pixels"));
    }

    #[test]
    fn files_that_are_not_images_are_refused_with_their_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text.png");
        for (content, words) in [
            (&b"no picture"[..], "neither a PNG nor a PGM"),
            (b"P5\n3 2\n255\n\x01", "text.png"),
            (b"\x89PNG\r\n\x1a\n", "text.png"),
        ] {
            std::fs::write(&path, content).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("text.png") && error.lines().count() == 1, "{error}");
        }
        assert!(read(folder.path()).unwrap_err().to_string().contains("folder"));
    }
}
