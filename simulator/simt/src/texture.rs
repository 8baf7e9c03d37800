//! Textures and surfaces: images in device memory, and how a coordinate becomes a value.
//!
//! The rules are those of the CUDA C++ Programming Guide, "Texture Fetching". An image is stored row by row. Where it is stored on a GPU
//! is not documented, and makes no difference to a program.

use std::collections::BTreeMap;

use alu::half::{F16, Half};

/// How a texture or a surface reads an image.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// The image.
    pub image: ImageView,
    /// Smaller copies of the image, each half as large as the one before (mipmaps).
    pub smaller: Vec<ImageView>,
    /// The meaning of a coordinate outside the image, in each dimension.
    pub addressing: [Addressing; 3],
    /// True if values between texels are interpolated.
    pub filters: bool,
    /// True if the image extends from 0 to 1, and not to its size in texels.
    pub normalized_coordinates: bool,
    /// True if integers of 8 or 16 bits are read as floats from 0 to 1, or from -1 to 1.
    pub normalized_values: bool,
    /// True if unsigned integers of 8 bits, read as floats, are values of sRGB, of which the linear ones are read.
    pub is_srgb: bool,
    /// The value beyond the border, by channel.
    pub border: [f32; 4],
    /// How one of the copies is chosen.
    pub mipmap: Mipmap,
}

/// How a level of detail chooses among the copies of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mipmap {
    /// True if values between two copies are interpolated.
    pub filters: bool,
    /// The number that is added to the level.
    pub bias: f32,
    /// The least level.
    pub least: f32,
    /// The greatest level.
    pub greatest: f32,
}

/// Where a texture is read.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The coordinates; 0 in dimensions that the image does not have.
    pub position: [Coordinate; 3],
    /// The layer.
    pub layer: u32,
    /// The level of detail: 0 for the image, 1 for the first smaller copy.
    pub level: f32,
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
    /// The format of a channel.
    pub format: Format,
    /// Channels of a texel: 1, 2, or 4.
    pub channels: u32,
}

/// The object that a program's handle stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Binding {
    /// Read by `tex` and `tld4`.
    Texture(Texture),
    /// Read and written by `suld` and `sust`.
    Surface(ImageView),
}

/// All textures and surfaces, by their handles.
pub type Bindings = BTreeMap<u64, Binding>;

/// The format of an image's channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An unsigned integer of so many bits.
    Unsigned(u32),
    /// A signed integer of so many bits.
    Signed(u32),
    /// A float of 16 or 32 bits.
    Float(u32),
}

/// The meaning of a coordinate outside the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// The image repeats; only with normalized coordinates.
    Wrap,
    /// The nearest texel.
    Clamp,
    /// The image repeats, every other time mirrored; only with normalized coordinates.
    Mirror,
    /// The border's value.
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
    /// Returns the number of bytes of a channel.
    pub fn bytes(self) -> u32 {
        let (Self::Unsigned(bits) | Self::Signed(bits) | Self::Float(bits)) = self;
        bits / 8
    }
}

impl ImageView {
    /// Returns the number of bytes of a texel.
    pub fn texel_bytes(&self) -> u32 {
        self.format.bytes() * self.channels
    }

    /// Returns the address of a texel, if it is in the image.
    pub fn texel(&self, [x, y, z]: [i64; 3], layer: u32) -> Option<u64> {
        let inside =
            [x, y, z].iter().zip(self.extent).all(|(at, extent)| (0..i64::from(extent)).contains(at)) && layer < self.layers;
        let plane = z as u64 + u64::from(layer) * u64::from(self.extent[2]);
        inside.then(|| self.address + plane * self.slice + y as u64 * self.pitch + x as u64 * u64::from(self.texel_bytes()))
    }
}

impl Texture {
    /// Makes a texture that reads the nearest texel by index, unchanged.
    pub fn of(image: ImageView) -> Self {
        Self {
            image,
            smaller: Vec::new(),
            addressing: [Addressing::Clamp; 3],
            filters: false,
            normalized_coordinates: false,
            normalized_values: false,
            is_srgb: false,
            border: [0.0; 4],
            mipmap: Mipmap { filters: false, bias: 0.0, least: 0.0, greatest: 0.0 },
        }
    }

    /// Reads the value at a place, four channels of 32 bits each. `read` returns the bytes of a channel at an address.
    pub fn fetch(&self, place: &Place, read: impl Fn(u64, u32) -> u32) -> [u32; 4] {
        if self.smaller.is_empty() {
            return self.fetch_in(&self.image, place, &read);
        }
        let Mipmap { filters, bias, least, greatest } = self.mipmap;
        let level = if place.level.is_nan() { 0.0 } else { place.level };
        let level = (level + bias).max(least).min(greatest).clamp(0.0, self.smaller.len() as f32);
        if !filters || !self.is_float() {
            return self.fetch_in(self.level((level + 0.5).floor() as usize), place, &read);
        }
        let (first, weight) = (level.floor(), f64::from(((level - level.floor()) * 256.0).round() / 256.0));
        let near = self.fetch_in(self.level(first as usize), place, &read);
        if weight == 0.0 {
            return near;
        }
        let far = self.fetch_in(self.level(first as usize + 1), place, &read);
        let mixed = |channel: usize| {
            let [near, far] = [near[channel], far[channel]].map(|bits| f64::from(f32::from_bits(bits)));
            ((near * (1.0 - weight) + far * weight) as f32).to_bits()
        };
        [0, 1, 2, 3].map(mixed)
    }

    /// Returns the image, or one of its smaller copies.
    fn level(&self, number: usize) -> &ImageView {
        number.checked_sub(1).map_or(&self.image, |index| &self.smaller[index.min(self.smaller.len() - 1)])
    }

    /// Returns true if floats are read.
    fn is_float(&self) -> bool {
        self.normalized_values || matches!(self.image.format, Format::Float(_))
    }

    fn fetch_in(&self, image: &ImageView, place: &Place, read: &impl Fn(u64, u32) -> u32) -> [u32; 4] {
        let (position, layer) = (place.position, place.layer.min(image.layers - 1));
        if !self.filters || !self.is_float() || matches!(position[0], Coordinate::Integer(_)) {
            return self.texel(image, [0, 1, 2].map(|axis| self.nearest(image, axis, position[axis])), layer, read);
        }
        let between = [0, 1, 2].map(|axis| self.between(image, axis, position[axis]));
        let mut sums = [0.0_f64; 4];
        for corner in 0..8_usize {
            let at = |axis: usize| if corner >> axis & 1 == 0 { between[axis].0 } else { between[axis].1 };
            let weight: f64 =
                (0..3).map(|axis| if corner >> axis & 1 == 0 { 1.0 - between[axis].2 } else { between[axis].2 }).product();
            if weight != 0.0 {
                let texel = self.texel(image, [at(0), at(1), at(2)], layer, read);
                for (sum, bits) in sums.iter_mut().zip(texel) {
                    *sum += weight * f64::from(f32::from_bits(bits));
                }
            }
        }
        sums.map(|sum| (sum as f32).to_bits())
    }

    /// Reads one channel of the four texels for interpolation at a place. They go counterclockwise in a plane, from the lower left one.
    pub fn gather(&self, place: &Place, channel: usize, read: impl Fn(u64, u32) -> u32) -> [u32; 4] {
        let image = &self.image;
        let layer = place.layer.min(image.layers - 1);
        let [x, y] = [0, 1].map(|axis| self.between(image, axis, place.position[axis]));
        [(x.0, y.1), (x.1, y.1), (x.1, y.0), (x.0, y.0)].map(|(x, y)| self.texel(image, [x, y, Some(0)], layer, &read)[channel])
    }

    /// Returns the texel that a coordinate is in; `None` for one beyond the border.
    fn nearest(&self, image: &ImageView, axis: usize, at: Coordinate) -> Option<i64> {
        match at {
            Coordinate::Integer(index) => self.addressed(image, axis, i64::from(index), false),
            Coordinate::Float(at) => {
                self.addressed(image, axis, self.scaled(image, axis, at).floor() as i64, self.normalized_coordinates)
            }
        }
    }

    /// Returns the texels on both sides of a coordinate. The number is how far it is from the first to the second, in steps of 1/256.
    fn between(&self, image: &ImageView, axis: usize, at: Coordinate) -> (Option<i64>, Option<i64>, f64) {
        // An axis that the image does not have.
        if image.extent[axis] == 1 && axis > 0 && at == Coordinate::Integer(0) {
            return (Some(0), Some(0), 0.0);
        }
        let Coordinate::Float(at) = at else { return (self.nearest(image, axis, at), None, 0.0) };
        let at = self.scaled(image, axis, at) - 0.5;
        let first = at.floor();
        let fraction = ((at - first) * 256.0).round() / 256.0;
        let side = |index: f64| self.addressed(image, axis, index as i64, self.normalized_coordinates);
        (side(first), side(first + 1.0), fraction)
    }

    /// Returns a coordinate in texels.
    fn scaled(&self, image: &ImageView, axis: usize, at: f32) -> f64 {
        let at = if at.is_nan() { 0.0 } else { f64::from(at) };
        if self.normalized_coordinates { at * f64::from(image.extent[axis]) } else { at }
    }

    /// Returns the texel that an index means.
    fn addressed(&self, image: &ImageView, axis: usize, index: i64, normalized: bool) -> Option<i64> {
        let extent = i64::from(image.extent[axis]);
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

    /// Returns the channels of a texel, or of the border. A channel that the image does not have is zero.
    fn texel(&self, image: &ImageView, at: [Option<i64>; 3], layer: u32, read: &impl Fn(u64, u32) -> u32) -> [u32; 4] {
        let address = match at {
            [Some(x), Some(y), Some(z)] => image.texel([x, y, z], layer),
            _ => None,
        };
        let bytes = image.format.bytes();
        let mut channels = [0; 4];
        for (number, channel) in channels.iter_mut().take(image.channels as usize).enumerate() {
            *channel = match address {
                Some(address) => self.value(number, read(address + number as u64 * u64::from(bytes), bytes)),
                None => self.border[number].to_bits(),
            };
        }
        channels
    }

    /// Returns the value of a channel with these bits.
    fn value(&self, channel: usize, bits: u32) -> u32 {
        let signed = |width: u32| (bits << (32 - width)) as i32 >> (32 - width);
        match self.image.format {
            Format::Float(16) => F16(bits as u16).widen().to_bits(),
            Format::Float(_) => bits,
            // The fourth channel is no color.
            Format::Unsigned(8) if self.normalized_values && self.is_srgb && channel < 3 => linear(bits as f32 / 255.0).to_bits(),
            Format::Unsigned(width @ (8 | 16)) if self.normalized_values => (bits as f32 / ((1_u32 << width) - 1) as f32).to_bits(),
            Format::Signed(width @ (8 | 16)) if self.normalized_values => {
                (signed(width) as f32 / ((1_i32 << (width - 1)) - 1) as f32).max(-1.0).to_bits()
            }
            Format::Unsigned(_) => bits,
            Format::Signed(width) => signed(width) as u32,
        }
    }
}

/// Returns the linear value of a value of sRGB (IEC 61966-2-1).
fn linear(value: f32) -> f32 {
    let value = f64::from(value);
    let linear = if value <= 0.040_45 { value / 12.92 } else { libm::pow((value + 0.055) / 1.055, 2.4) };
    linear as f32
}

/// Returns the cube face that a direction meets, and where on it. Places go from 0 to 1: see the guide's section "Cubemap Textures".
pub fn on_cube([x, y, z]: [f32; 3]) -> (u32, [f32; 2]) {
    let (face, depth, s, t) = if z.abs() >= x.abs() && z.abs() >= y.abs() {
        if z >= 0.0 { (4, z, x, -y) } else { (5, -z, -x, -y) }
    } else if y.abs() >= x.abs() {
        if y >= 0.0 { (2, y, x, z) } else { (3, -y, x, -z) }
    } else if x >= 0.0 {
        (0, x, -z, -y)
    } else {
        (1, -x, z, -y)
    };
    (face, [s, t].map(|at| (at / depth + 1.0) / 2.0))
}

/// Returns the level of detail for the distance between neighboring positions. A texel of that level is as large as this distance.
/// `changes` are those of the coordinates in two directions.
pub fn level_of(texture: &Texture, changes: [[f32; 3]; 2]) -> f32 {
    let texels = |axis: usize| if texture.normalized_coordinates { texture.image.extent[axis] as f32 } else { 1.0 };
    let length = |change: [f32; 3]| [0, 1, 2].map(|axis| (change[axis] * texels(axis)).powi(2)).iter().sum::<f32>().sqrt();
    changes.map(length).into_iter().fold(0.0, f32::max).log2()
}
