//! Bulk copies to shared memory, whose bytes a barrier counts.

use super::footprint::{Footprint, UNIT};
use crate::exec::copies::Unit;
use crate::exec::core::Core;
use crate::exec::machine::Stop;
use crate::exec::request::{Pattern, Request};
use crate::tensor_map::{Element, TensorMap};
use alu::registers::LANES;
use alu::windows::WINDOW_OFFSET;
use ptx::finding::AccessOp;
use ptx::program::Semantics;

/// The half word that an H200 fills in for NaN. It is a NaN in every width of float.
const NAN: [u8; 2] = 0x7ff7_u16.to_le_bytes();

/// The only NaN of rounded elements.
const TF32_NAN: u32 = 0x7fff_e000;

/// Starts the copy of one lane. `barrier` is its request to the barrier. The blocks of the mask `receivers` all get the bytes.
pub fn begin(core: &mut Core<'_>, footprint: &Footprint, barrier: &Request<'_>, receivers: Option<u32>) -> Result<(), Stop> {
    let machine = core.machine;
    let lane = barrier.first_lane();
    core.check_shared(barrier)?;
    let mut units = Vec::with_capacity(footprint.bytes() as usize / UNIT as usize);
    for row in footprint.rows() {
        let mut bytes = filled(footprint.map(), row.bytes);
        if !row.inside.is_empty() {
            let addresses = [row.address; LANES];
            let read = Request { op: AccessOp::Load, bytes: row.inside.end - row.inside.start, addresses: &addresses, ..*barrier };
            core.check_row(footprint, &row, &read)?;
            core.watch_global_load(&read, Pattern::Same(row.address), Semantics::default());
            let inside = &mut bytes[row.inside.start as usize..row.inside.end as usize];
            if let Some(region) = machine.region(&mut core.check_hint, row.address, read.bytes.into()) {
                region.buffer.read(row.address - region.base, inside);
            }
            if let Some(map) = footprint.map() {
                convert(map.element, inside);
            }
        }
        core.count_load_row(barrier, row.address, row.bytes);
        for (at, data) in (row.offset..).step_by(UNIT as usize).zip(bytes.chunks_exact(UNIT as usize)) {
            let words: [u32; UNIT as usize / 4] = bytemuck::pod_read_unaligned(data);
            units.push(Unit::new(footprint.place(at), &words));
        }
    }
    let Some(receivers) = receivers else { return core.send(units, footprint.global(), barrier) };
    let places = core.in_blocks(barrier.addresses[lane], receivers);
    for (place, first) in places.zip(core.in_blocks(0, receivers)) {
        let there = [place; LANES];
        let barrier = Request { addresses: &there, ..*barrier };
        core.check_shared(&barrier)?;
        let in_block = |unit: &Unit| core.machine.clusters.in_block(unit.place.into()) as u32 + (first & WINDOW_OFFSET) as u32;
        let units = units.iter().map(|unit| Unit::new(in_block(unit), unit.data())).collect();
        core.send(units, footprint.global(), &barrier)?;
    }
    Ok(())
}

/// Returns a row of the fill for elements outside the tensor.
fn filled(map: Option<&TensorMap>, bytes: u32) -> Vec<u8> {
    let mut row = vec![0; bytes as usize];
    if map.is_some_and(|map| map.fills_with_nan) {
        row.chunks_exact_mut(NAN.len()).for_each(|half| half.copy_from_slice(&NAN));
    }
    row
}

/// Rounds the elements that do not load as they are: to tf32, the upper 19 bits. An H200 rounds to the nearest, ties to even (992 of 992
/// bit patterns tried), and makes every NaN the same one.
fn convert(element: Element, bytes: &mut [u8]) {
    if !matches!(element, Element::Tf32 | Element::Tf32Ftz) {
        return;
    }
    for word in bytes.chunks_exact_mut(4) {
        let bits = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        let rounded = if f32::from_bits(bits).is_nan() { TF32_NAN } else { (bits + 0xfff + (bits >> 13 & 1)) & !0x1fff };
        word.copy_from_slice(&rounded.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_of_tf32_are_rounded_to_nearest_with_ties_to_even() {
        // As an H200 loads them.
        let cases = [
            (0x3f80_0fff, 0x3f80_0000),
            (0x3f80_1000, 0x3f80_0000),
            (0x3f80_1001, 0x3f80_2000),
            (0x3f80_2fff, 0x3f80_2000),
            (0x3f80_3000, 0x3f80_4000),
            (0x3f80_5000, 0x3f80_4000),
            (0x7f7f_ffff, 0x7f80_0000),
            (0x8000_1001, 0x8000_2000),
            (0x7fc0_0000, TF32_NAN),
            (0xff80_0000, 0xff80_0000_u32),
        ];
        for (from, to) in cases {
            let mut bytes = u32::to_le_bytes(from);
            convert(Element::Tf32, &mut bytes);
            assert_eq!(u32::from_le_bytes(bytes), to, "{from:x}");
        }
    }
}
