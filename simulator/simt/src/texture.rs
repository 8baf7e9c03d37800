//! Textures and surfaces: images in device memory, and how a coordinate becomes a value.
//!
//! The rules are those of the CUDA C++ Programming Guide, "Texture Fetching". An image is stored row by row. Where it is stored on a GPU
//! is not documented, and makes no difference to a program.

use std::collections::BTreeMap;

use crate::instructions::half::{F16, Half};

/// How a texture or a surface reads an image.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// The image.
    pub image: ImageView,
    /// What a coordinate outside the image means, in each dimension.
    pub addressing: [Addressing; 3],
    /// Whether values between texels are interpolated.
    pub filters: bool,
    /// Whether the image extends from 0 to 1, and not to its size in texels.
    pub normalized_coordinates: bool,
    /// Whether integers of 8 or 16 bits are read as floats from 0 to 1, or from -1 to 1.
    pub normalized_values: bool,
}

/// An image in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageView {
    /// Address of the first texel.
    pub address: u64,
    /// Texels in each dimension; 1 in those that the image does not have.
    pub extent: [u32; 3],
    /// Images of this extent, one after the other; 1 unless it is layered.
    pub layers: u32,
    /// Bytes from a row to the next.
    pub pitch: u64,
    /// Bytes from a plane or a layer to the next.
    pub slice: u64,
    /// What a channel holds.
    pub format: Format,
    /// Channels of a texel: 1, 2, or 4.
    pub channels: u32,
}

/// What the handle of a program stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Binding {
    /// Read by `tex` and `tld4`.
    Texture(Texture),
    /// Read and written by `suld` and `sust`.
    Surface(ImageView),
}

/// All textures and surfaces, by their handles.
pub type Bindings = BTreeMap<u64, Binding>;

/// What a channel of an image holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An unsigned integer of so many bits.
    Unsigned(u32),
    /// A signed integer of so many bits.
    Signed(u32),
    /// A float of 16 or 32 bits.
    Float(u32),
}

/// What a coordinate outside the image means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// The image repeats; only with normalized coordinates.
    Wrap,
    /// The nearest texel.
    Clamp,
    /// The image repeats, every other time mirrored; only with normalized coordinates.
    Mirror,
    /// Zero.
    Border,
}

/// A coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coordinate {
    /// In texels, or in shares of the image.
    Float(f32),
    /// The index of a texel.
    Integer(i32),
}

impl Format {
    /// Bytes of a channel.
    pub fn bytes(self) -> u32 {
        let (Self::Unsigned(bits) | Self::Signed(bits) | Self::Float(bits)) = self;
        bits / 8
    }
}

impl ImageView {
    /// Bytes of a texel.
    pub fn texel_bytes(&self) -> u32 {
        self.format.bytes() * self.channels
    }

    /// The address of a texel, if it is in the image.
    pub fn texel(&self, [x, y, z]: [i64; 3], layer: u32) -> Option<u64> {
        let inside =
            [x, y, z].iter().zip(self.extent).all(|(at, extent)| (0..i64::from(extent)).contains(at)) && layer < self.layers;
        let plane = z as u64 + u64::from(layer) * u64::from(self.extent[2]);
        inside.then(|| self.address + plane * self.slice + y as u64 * self.pitch + x as u64 * u64::from(self.texel_bytes()))
    }
}

impl Texture {
    /// Reads the value at a position, four channels of 32 bits each. `read` returns the bytes of a channel at an address.
    pub fn fetch(&self, position: [Coordinate; 3], layer: u32, read: impl Fn(u64, u32) -> u32) -> [u32; 4] {
        let layer = layer.min(self.image.layers - 1);
        let is_float = self.normalized_values || matches!(self.image.format, Format::Float(_));
        if !self.filters || !is_float || matches!(position[0], Coordinate::Integer(_)) {
            return self.texel([0, 1, 2].map(|axis| self.nearest(axis, position[axis])), layer, &read);
        }
        let between = [0, 1, 2].map(|axis| self.between(axis, position[axis]));
        let mut sums = [0.0_f64; 4];
        for corner in 0..8_usize {
            let at = |axis: usize| if corner >> axis & 1 == 0 { between[axis].0 } else { between[axis].1 };
            let weight: f64 =
                (0..3).map(|axis| if corner >> axis & 1 == 0 { 1.0 - between[axis].2 } else { between[axis].2 }).product();
            if weight != 0.0 {
                let texel = self.texel([at(0), at(1), at(2)], layer, &read);
                for (sum, bits) in sums.iter_mut().zip(texel) {
                    *sum += weight * f64::from(f32::from_bits(bits));
                }
            }
        }
        sums.map(|sum| (sum as f32).to_bits())
    }

    /// Reads one channel of the four texels that would be interpolated at a position in a plane: counterclockwise from the lower left one.
    pub fn gather(&self, position: [Coordinate; 3], layer: u32, channel: usize, read: impl Fn(u64, u32) -> u32) -> [u32; 4] {
        let layer = layer.min(self.image.layers - 1);
        let [x, y] = [0, 1].map(|axis| self.between(axis, position[axis]));
        [(x.0, y.1), (x.1, y.1), (x.1, y.0), (x.0, y.0)].map(|(x, y)| self.texel([x, y, Some(0)], layer, &read)[channel])
    }

    /// The texel that a coordinate is in; `None` for one beyond the border.
    fn nearest(&self, axis: usize, at: Coordinate) -> Option<i64> {
        match at {
            Coordinate::Integer(index) => self.addressed(axis, i64::from(index), false),
            Coordinate::Float(at) => self.addressed(axis, self.scaled(axis, at).floor() as i64, self.normalized_coordinates),
        }
    }

    /// The texels on both sides of a coordinate, and how far it is from the first to the second, in steps of 1/256.
    fn between(&self, axis: usize, at: Coordinate) -> (Option<i64>, Option<i64>, f64) {
        // An axis that the image does not have.
        if self.image.extent[axis] == 1 && axis > 0 && at == Coordinate::Integer(0) {
            return (Some(0), Some(0), 0.0);
        }
        let Coordinate::Float(at) = at else { return (self.nearest(axis, at), None, 0.0) };
        let at = self.scaled(axis, at) - 0.5;
        let first = at.floor();
        let fraction = ((at - first) * 256.0).round() / 256.0;
        let side = |index: f64| self.addressed(axis, index as i64, self.normalized_coordinates);
        (side(first), side(first + 1.0), fraction)
    }

    /// A coordinate in texels.
    fn scaled(&self, axis: usize, at: f32) -> f64 {
        let at = if at.is_nan() { 0.0 } else { f64::from(at) };
        if self.normalized_coordinates { at * f64::from(self.image.extent[axis]) } else { at }
    }

    /// The texel that an index means.
    fn addressed(&self, axis: usize, index: i64, normalized: bool) -> Option<i64> {
        let extent = i64::from(self.image.extent[axis]);
        match self.addressing[axis] {
            Addressing::Border => (0..extent).contains(&index).then_some(index),
            Addressing::Wrap if normalized => Some(index.rem_euclid(extent)),
            Addressing::Mirror if normalized => {
                let at = index.rem_euclid(2 * extent);
                Some(if at < extent { at } else { 2 * extent - 1 - at })
            }
            Addressing::Clamp | Addressing::Wrap | Addressing::Mirror => Some(index.clamp(0, extent - 1)),
        }
    }

    /// The channels of a texel; zeros beyond the border. A channel that the image does not have is zero.
    fn texel(&self, at: [Option<i64>; 3], layer: u32, read: &impl Fn(u64, u32) -> u32) -> [u32; 4] {
        let [Some(x), Some(y), Some(z)] = at else { return [0; 4] };
        let Some(address) = self.image.texel([x, y, z], layer) else { return [0; 4] };
        let bytes = self.image.format.bytes();
        let mut channels = [0; 4];
        for (number, channel) in channels.iter_mut().take(self.image.channels as usize).enumerate() {
            *channel = self.value(read(address + number as u64 * u64::from(bytes), bytes));
        }
        channels
    }

    /// The value of a channel with these bits.
    fn value(&self, bits: u32) -> u32 {
        let signed = |width: u32| (bits << (32 - width)) as i32 >> (32 - width);
        match self.image.format {
            Format::Float(16) => F16(bits as u16).widen().to_bits(),
            Format::Float(_) => bits,
            Format::Unsigned(width @ (8 | 16)) if self.normalized_values => (bits as f32 / ((1_u32 << width) - 1) as f32).to_bits(),
            Format::Signed(width @ (8 | 16)) if self.normalized_values => {
                (signed(width) as f32 / ((1_i32 << (width - 1)) - 1) as f32).max(-1.0).to_bits()
            }
            Format::Unsigned(_) => bits,
            Format::Signed(width) => signed(width) as u32,
        }
    }
}
