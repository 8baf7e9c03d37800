//! An image of gray levels.

use crate::error::{NoSuchSize, Result};

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
    /// Returns true if its pixels, at least two, share one gray level.
    pub fn is_flat(&self) -> bool {
        self.pixels.len() > 1 && self.pixels.iter().all(|pixel| *pixel == self.pixels[0])
    }

    /// Returns one row of pixels.
    pub fn row(&self, y: u32) -> &[u8] {
        let start = y as usize * self.width as usize;
        &self.pixels[start..start + self.width as usize]
    }

    /// Returns a part of the image. Fails when the rectangle is empty or reaches over an edge.
    pub fn crop(&self, part: Rectangle) -> Result<Self> {
        let Rectangle { x, y, width, height } = part;
        let inside = |start: u32, length: u32, size: u32| length > 0 && start.checked_add(length).is_some_and(|end| end <= size);
        if !inside(x, width, self.width) || !inside(y, height, self.height) {
            let asked = format!("the rectangle {x},{y},{width},{height} of {}", self.name);
            return Err(NoSuchSize::new(asked, format!("it has {}x{} pixels", self.width, self.height)));
        }
        let columns = x as usize..(x + width) as usize;
        let pixels = (y..y + height).flat_map(|y| &self.row(y)[columns.clone()]).copied().collect();
        Ok(Self { name: format!("{} at {x},{y}", self.name), width, height, pixels })
    }
}
