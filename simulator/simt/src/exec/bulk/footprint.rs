//! The bytes that a bulk copy moves: row by row in global memory, and where they are in shared memory.

use std::ops::Range;

use crate::tensor_map::{Swizzle, TensorMap};

/// The unit of a bulk copy, in bytes. Its size and its addresses are multiples of this.
pub const UNIT: u32 = 16;

/// The bytes that a bulk copy moves.
#[derive(Clone, Debug)]
pub struct Footprint {
    extent: Extent,
    /// Offset in shared memory.
    shared: u32,
}

/// The bytes in global memory.
#[derive(Clone, Debug)]
enum Extent {
    Line { address: u64, bytes: u32 },
    Box { map: Box<TensorMap>, origin: [i32; 5] },
}

/// All bytes of a copy in global memory: ranges in the order of their addresses.
#[derive(Clone, Debug, Default)]
pub struct GlobalBytes(Vec<Range<u64>>);

impl GlobalBytes {
    /// Returns true if some of these bytes are among them.
    pub fn meets(&self, bytes: &Range<u64>) -> bool {
        let next = self.0.partition_point(|range| range.end <= bytes.start);
        self.0.get(next).is_some_and(|range| range.start < bytes.end)
    }
}

/// Neighboring bytes in global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where the row begins in the box in shared memory.
    pub offset: u32,
    pub bytes: u32,
    /// The bytes of the row that are in the tensor.
    pub inside: Range<u32>,
    /// Address of the first of these.
    pub address: u64,
}

impl Row {
    /// Returns the box offsets of the 16-byte pieces with tensor bytes.
    pub fn units(&self) -> impl Iterator<Item = u32> + use<> {
        let first = self.inside.start / UNIT * UNIT;
        (self.offset + first..self.offset + self.inside.end).step_by(UNIT as usize)
    }
}

impl Footprint {
    pub fn line(address: u64, bytes: u32, shared: u32) -> Self {
        Self { extent: Extent::Line { address, bytes }, shared }
    }

    pub fn of_box(map: TensorMap, origin: [i32; 5], shared: u32) -> Self {
        Self { extent: Extent::Box { map: Box::new(map), origin }, shared }
    }

    pub fn map(&self) -> Option<&TensorMap> {
        match &self.extent {
            Extent::Box { map, .. } => Some(map),
            Extent::Line { .. } => None,
        }
    }

    /// Returns the bytes from the first to the last in shared memory.
    pub fn bytes(&self) -> u32 {
        match &self.extent {
            Extent::Line { bytes, .. } => *bytes,
            Extent::Box { map, .. } => map.span_bytes() as u32,
        }
    }

    /// Returns the offset in shared memory of a byte of the box. The 16 bytes around it stay together.
    pub fn place(&self, at: u32) -> u32 {
        self.map().map_or(Swizzle::None, |map| map.swizzle).place(self.shared + at)
    }

    /// Returns the shared-memory offsets of the 16-byte pieces with tensor bytes.
    pub fn units(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows().into_iter().flat_map(|row| row.units()).map(|at| self.place(at))
    }

    /// Returns the bytes in global memory.
    pub fn global(&self) -> GlobalBytes {
        let rows = self.rows();
        let inside = rows.iter().filter(|row| !row.inside.is_empty());
        let mut ranges: Vec<_> =
            inside.map(|row| row.address..row.address + u64::from(row.inside.end - row.inside.start)).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        GlobalBytes(ranges)
    }

    /// Returns the rows in their order in shared memory.
    pub fn rows(&self) -> Vec<Row> {
        match &self.extent {
            Extent::Line { address, bytes } => vec![Row { offset: 0, bytes: *bytes, inside: 0..*bytes, address: *address }],
            Extent::Box { map, origin } => (0..map.rows()).map(|number| row_of_box(map, *origin, number)).collect(),
        }
    }
}

fn row_of_box(map: &TensorMap, origin: [i32; 5], number: u32) -> Row {
    let (width, bytes) = (map.element.bytes(), map.row_bytes());
    let nothing = Row { offset: number * map.row_pitch(), bytes, inside: 0..0, address: map.address };
    let mut address = map.address;
    let mut rest = number;
    for (dimension, start) in origin.into_iter().enumerate().take(map.rank as usize).skip(1) {
        let moved = map.moved(dimension);
        let at = i64::from(start) + i64::from(rest % moved * map.steps[dimension]);
        rest /= moved;
        match u64::try_from(at) {
            Ok(at) if at < map.extents[dimension] => address = address.wrapping_add(at.wrapping_mul(map.strides[dimension - 1])),
            _ => return nothing,
        }
    }
    // Elements of the box from the tensor's first one on, up to its last one.
    let (origin, extent) = (i64::from(origin[0]), map.extents[0] as i64);
    let first = (-origin).clamp(0, map.box_extents[0].into());
    let end = (extent - origin).clamp(first, map.box_extents[0].into());
    if first == end {
        return nothing;
    }
    let inside = first as u32 * width..end as u32 * width;
    Row { inside, address: address.wrapping_add((origin + first) as u64 * u64::from(width)), ..nothing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor_map::{Element, Interleave};

    fn map() -> TensorMap {
        TensorMap {
            element: Element::F32,
            rank: 3,
            address: 0x1000,
            extents: [10, 4, 2, 0, 0],
            strides: [64, 256, 0, 0],
            box_extents: [8, 3, 2, 0, 0],
            steps: [1, 2, 1, 0, 0],
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            fills_with_nan: false,
        }
    }

    #[test]
    fn rows_end_where_the_tensor_does() {
        let rows = Footprint::of_box(map(), [4, 1, -1, 0, 0], 0).rows();
        // Of three rows every second one moves, so two of each of two planes; the first plane is before the tensor.
        let row = |offset, inside, address| Row { offset, bytes: 32, inside, address };
        let outside = |offset| row(offset, 0..0, 0x1000);
        let row_1 = 0x1000 + 64 + 16;
        assert_eq!(rows, [outside(0), outside(32), row(64, 0..24, row_1), row(96, 0..24, row_1 + 128)]);
        let before = Footprint::of_box(map(), [-4, 3, 1, 0, 0], 0).rows();
        assert_eq!(before[0], row(0, 16..32, 0x1000 + 3 * 64 + 256));
        assert_eq!(before[1], outside(32), "the row after the last one");
        for far in [i32::MIN, i32::MAX, 10, -8] {
            assert!(Footprint::of_box(map(), [far, 0, 0, 0, 0], 0).rows().iter().all(|row| row.inside.is_empty()));
        }
    }

    #[test]
    fn the_bytes_in_global_memory_are_those_of_the_rows() {
        let global = Footprint::of_box(map(), [4, 1, 0, 0, 0], 0).global();
        let row = 0x1000 + 64 + 16;
        for (bytes, meets) in [
            (row - 4..row, false),
            (row - 4..row + 1, true),
            (row + 23..row + 24, true),
            (row + 24..row + 128, false),
            (row + 24..row + 129, true),
            (0..0x10000, true),
        ] {
            assert_eq!(global.meets(&bytes), meets, "{bytes:x?} of {global:x?}");
        }
    }

    #[test]
    fn a_line_is_one_row() {
        let line = Footprint::line(0x40, 48, 256);
        assert_eq!(line.rows(), [Row { offset: 0, bytes: 48, inside: 0..48, address: 0x40 }]);
        assert_eq!((line.bytes(), line.place(32)), (48, 288));
    }

    #[test]
    fn rows_shorter_than_the_swizzle_keep_their_distance() {
        let swizzled = TensorMap { swizzle: Swizzle::Bytes128, ..map() };
        let of_box = Footprint::of_box(swizzled, [0; 5], 0);
        assert_eq!(of_box.rows().iter().map(|row| row.offset).collect::<Vec<_>>(), [0, 128, 256, 384]);
        assert_eq!((of_box.bytes(), swizzled.box_bytes(), of_box.place(128)), (416, 128, 144));
    }
}
