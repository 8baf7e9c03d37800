//! Reads images from PNG or PGM files as 8-bit gray levels, and writes PNG files.

use std::io::{BufReader, Seek, Write};
use std::path::Path;

use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder, ImageFormat, ImageReader};

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
    /// Reads a PNG or PGM file. Colors become gray by their luma (ITU-R BT.709, as the `image` crate has it), 16 bits become 8.
    ///
    /// # Errors
    ///
    /// [`Error::Picture`], when the file cannot be read, is damaged, or has another format.
    pub fn read(path: &Path) -> Result<Self> {
        let bad = |reason: String| Error::Picture { path: path.to_owned(), reason };
        let file = std::fs::File::open(path).map_err(|error| bad(error.to_string()))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(bad("it is a folder".into()));
        }
        let reader = ImageReader::new(BufReader::new(file)).with_guessed_format().map_err(|error| bad(error.to_string()))?;
        if !matches!(reader.format(), Some(ImageFormat::Png | ImageFormat::Pnm)) {
            return Err(bad("it is neither a PNG nor a PGM".into()));
        }
        let gray = reader.decode().map_err(|error| bad(one_line(&error.to_string())))?.into_luma8();
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let (width, height) = gray.dimensions();
        if width == 0 || height == 0 {
            return Err(bad("it has no pixels".into()));
        }
        Ok(Self { name, width, height, pixels: gray.into_raw() })
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

/// Writes rows of pixels of three bytes (red, green, blue) as PNG.
///
/// # Errors
///
/// [`Error::EncodePicture`], when writing fails.
pub fn write_png(file: &mut (impl Write + Seek), width: u32, height: u32, rgb: &[u8]) -> Result<()> {
    let encoder = PngEncoder::new(file);
    encoder
        .write_image(rgb, width, height, ExtendedColorType::Rgb8)
        .map_err(|error| Error::EncodePicture(one_line(&error.to_string())))
}

/// The library's errors in our form.
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
    fn a_part_is_what_is_in_the_rectangle() {
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
