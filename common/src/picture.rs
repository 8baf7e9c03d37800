//! Reads images from PNG or PGM files as 8-bit gray levels, and writes PNG files.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use png::{BitDepth, ColorType, Decoder, Encoder, Transformations};

use crate::error::{Error, Result};

/// An image of gray levels, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gray {
    /// The file's name, or another description of where it comes from.
    pub name: String,
    /// Pixels per row, at least one.
    pub width: u32,
    /// Rows, at least one.
    pub height: u32,
    /// `width * height` gray levels, 0 is black.
    pub pixels: Vec<u8>,
}

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// Column of the left edge.
    pub x: u32,
    /// Row of the upper edge.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Gray {
    /// Reads a PNG or PGM file. Colors become gray by their luma (ITU-R BT.709), and 16 bits become 8.
    ///
    /// # Errors
    ///
    /// [`Error::Input`], when the file cannot be read, is damaged, or has another format.
    pub fn read(path: &Path) -> Result<Self> {
        let bad = |reason: String| Error::Input { what: "image", path: path.to_owned(), reason };
        if path.is_dir() {
            return Err(bad("it is a folder".into()));
        }
        let bytes = fs::read(path).map_err(|error| bad(error.to_string()))?;
        let (width, height, pixels) = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            decode_png(&bytes).map_err(|error| bad(one_line(&error.to_string())))?
        } else if bytes.starts_with(b"P5") || bytes.starts_with(b"P2") {
            decode_pgm(&bytes).ok_or_else(|| bad("it is a damaged PGM".into()))?
        } else {
            return Err(bad("it is neither a PNG nor a PGM".into()));
        };
        if width == 0 || height == 0 {
            return Err(bad("it has no pixels".into()));
        }
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(Self { name, width, height, pixels })
    }

    /// One row of pixels.
    pub fn row(&self, y: u32) -> &[u8] {
        let start = y as usize * self.width as usize;
        &self.pixels[start..start + self.width as usize]
    }

    /// A part of the image.
    ///
    /// # Errors
    ///
    /// [`Error::Size`], when the rectangle is empty or reaches over an edge.
    pub fn crop(&self, part: Rectangle) -> Result<Self> {
        let Rectangle { x, y, width, height } = part;
        let inside = |start: u32, length: u32, size: u32| length > 0 && start.checked_add(length).is_some_and(|end| end <= size);
        if !inside(x, width, self.width) || !inside(y, height, self.height) {
            return Err(Error::Size {
                asked: format!("the rectangle {x},{y},{width},{height} of {}", self.name),
                reason: format!("it has {}x{} pixels", self.width, self.height),
            });
        }
        let columns = x as usize..(x + width) as usize;
        let pixels = (y..y + height).flat_map(|y| &self.row(y)[columns.clone()]).copied().collect();
        Ok(Self { name: format!("{} at {x},{y}", self.name), width, height, pixels })
    }
}

/// Width, height and gray levels of a PNG.
fn decode_png(bytes: &[u8]) -> std::result::Result<(u32, u32, Vec<u8>), png::DecodingError> {
    let mut decoder = Decoder::new(Cursor::new(bytes));
    // Palettes become colors, and gray levels of fewer than 8 bits become bytes.
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info()?;
    let too_large = || png::DecodingError::LimitsExceeded;
    let mut samples = vec![0; reader.output_buffer_size().ok_or_else(too_large)?];
    let frame = reader.next_frame(&mut samples)?;
    samples.truncate(frame.buffer_size());
    let samples: Vec<u32> = match frame.bit_depth {
        BitDepth::Sixteen => samples.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).collect(),
        _ => samples.into_iter().map(u32::from).collect(),
    };
    let gray = |pixel: &[u32]| match frame.color_type {
        ColorType::Rgb | ColorType::Rgba => (2126 * pixel[0] + 7152 * pixel[1] + 722 * pixel[2]) / 10_000,
        _ => pixel[0],
    };
    let level = |pixel: &[u32]| match frame.bit_depth {
        BitDepth::Sixteen => ((gray(pixel) + 128) / 257) as u8,
        _ => gray(pixel) as u8,
    };
    Ok((frame.width, frame.height, samples.chunks_exact(frame.color_type.samples()).map(level).collect()))
}

/// Width, height and gray levels of a PGM, in binary (`P5`) or in decimal digits (`P2`).
fn decode_pgm(bytes: &[u8]) -> Option<(u32, u32, Vec<u8>)> {
    let mut rest = &bytes[2..];
    let [width, height, white] = [number(&mut rest)?, number(&mut rest)?, number(&mut rest)?];
    let count = usize::try_from(u64::from(width) * u64::from(height)).ok()?;
    if !(1..=65_535).contains(&white) || count > bytes.len() {
        return None;
    }
    let samples: Vec<u32> = if bytes[1] == b'2' {
        (0..count).map(|_| number(&mut rest)).collect::<Option<_>>()?
    } else {
        // One byte of white space ends the header.
        let rest = rest.get(1..)?;
        match white {
            ..256 => rest.get(..count)?.iter().map(|&byte| u32::from(byte)).collect(),
            _ => rest.get(..2 * count)?.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).collect(),
        }
    };
    let level = |sample: u32| ((sample.min(white) * 255 + white / 2) / white) as u8;
    Some((width, height, samples.into_iter().map(level).collect()))
}

/// The next number of a PGM's header, after white space and comments.
fn number(rest: &mut &[u8]) -> Option<u32> {
    loop {
        *rest = rest.trim_ascii_start();
        let Some(comment) = rest.strip_prefix(b"#") else { break };
        *rest = &comment[comment.iter().position(|&byte| byte == b'\n')?..];
    }
    let length = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(length);
    *rest = after;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Writes rows of pixels of three bytes (red, green, blue) as PNG.
///
/// # Errors
///
/// [`Error::Encode`], when writing fails.
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

/// An error of the `png` crate in one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(Gray::read(&pgm).unwrap().pixels, steps().pixels);
        let png = folder.path().join("steps.png");
        let rgb: Vec<u8> = steps().pixels.iter().flat_map(|&level| [level; 3]).collect();
        write_png(&mut std::fs::File::create(&png).unwrap(), 3, 2, &rgb).unwrap();
        assert_eq!(Gray::read(&png).unwrap(), Gray { name: "steps.png".into(), ..steps() });
    }

    #[test]
    fn the_other_kinds_of_png_and_pgm_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other");
        let read = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            Gray::read(&path).map(|gray| (gray.width, gray.height, gray.pixels)).map_err(|error| error.to_string())
        };
        assert_eq!(read(b"P2 # digits\n# and comments\n2 1 15\n0 15"), Ok((2, 1, vec![0, 255])));
        assert_eq!(read(b"P5\n1\n2\n65535\n\x00\x00\xff\xff"), Ok((1, 2, vec![0, 255])));
        for damaged in
            [&b"P5 4294967295 4294967295 255\n"[..], b"P5 1 1 0\n\x00", b"P5 1 1 65536\n\x00", b"P5 1", b"P2 2 1 9\n1", b"P5#"]
        {
            assert!(read(damaged).is_err_and(|error| error.contains("damaged")), "{damaged:?}");
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
    fn files_that_are_not_images_are_refused_with_their_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text.png");
        for (content, words) in [
            (&b"no picture"[..], "neither a PNG nor a PGM"),
            (b"P5\n3 2\n255\n\x01", "text.png"),
            (b"\x89PNG\r\n\x1a\n", "text.png"),
        ] {
            std::fs::write(&path, content).unwrap();
            let error = Gray::read(&path).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("text.png") && error.lines().count() == 1, "{error}");
        }
        assert!(Gray::read(folder.path()).unwrap_err().to_string().contains("folder"));
    }
}
