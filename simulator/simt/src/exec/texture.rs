//! Reads textures, and reads and writes surfaces. The checks for races and for reads of what nobody wrote do not see these accesses.

use super::access::set_lane;
use super::core::Core;
use super::machine::{Machine, Stop};
use super::request::lanes_of;
use crate::texture::{Binding, Coordinate, ImageView, Place, Texture, level_of, on_cube};
use alu::registers::{Kind, Reg, Registers};
use ptx::finding::FindingKind;
use ptx::program::{OutsideSurface, TextureHandle, TextureLevel, TextureOp, TexturePlace, TextureQuery};

/// Executes the operation for the lanes in `active`.
pub fn execute(core: &mut Core<'_>, registers: &mut Registers, index: u32, active: u32, pc: u32) -> Result<(), Stop> {
    let machine = core.machine;
    let op = machine.program.textures[index as usize];
    for lane in lanes_of(active) {
        let (TextureOp::Fetch { handle, .. } | TextureOp::Query { handle, .. } | TextureOp::Surface { handle, .. }) = op;
        let handle = match handle {
            TextureHandle::Register(register) => registers.doubles(register)[lane],
            TextureHandle::Variable(register) => {
                let address = registers.doubles(register)[lane];
                read(machine, address, 8)
            }
        };
        let binding = machine.options.textures.get(&handle);
        match (op, binding) {
            (TextureOp::Fetch { place, by_index, gather, level, results, .. }, Some(Binding::Texture(texture))) => {
                let level = self::level(registers, texture, level, lane);
                let place = Place { level, ..position(registers, place, by_index, lane) };
                let read = |address, bytes| read(machine, address, bytes) as u32;
                let values = match gather {
                    Some(channel) => texture.gather(&place, channel, read),
                    None => texture.fetch(&place, read),
                };
                for (register, value) in results.iter().zip(values) {
                    set_lane(registers, *register, Kind::Word, lane, value.into());
                }
            }
            (TextureOp::Query { what, result, .. }, Some(binding)) => registers.words_mut(result)[lane] = property(binding, what),
            (TextureOp::Surface { loads, place, width, count, outside, registers: values, .. }, Some(Binding::Surface(image))) => {
                let kind = if width == 8 { Kind::Double } else { Kind::Word };
                let (bytes, at, layer) = texel(image, registers, place, lane);
                let address = match outside {
                    OutsideSurface::Clamp => {
                        let last = i64::from(image.extent[0]) * i64::from(image.texel_bytes()) - i64::from(width * count);
                        let inside = [0, 1, 2].map(|axis| at[axis].clamp(0, i64::from(image.extent[axis]) - 1));
                        image
                            .texel([0, inside[1], inside[2]], layer.min(image.layers - 1))
                            .map(|row| row + bytes.clamp(0, last.max(0)) as u64)
                    }
                    _ => image.texel(at, layer).and_then(|_| image.texel([0, at[1], at[2]], layer)).map(|row| row + bytes as u64),
                };
                let Some(address) = address else {
                    match outside {
                        OutsideSurface::Trap => {
                            return Err(core.stop(FindingKind::OutsideSurface { at, extent: image.extent }, 1 << lane, pc));
                        }
                        _ if loads => {
                            values.iter().take(count as usize).for_each(|register| set_lane(registers, *register, kind, lane, 0))
                        }
                        _ => {}
                    }
                    continue;
                };
                for (number, register) in values.iter().take(count as usize).enumerate() {
                    let address = address + number as u64 * u64::from(width);
                    if loads {
                        set_lane(registers, *register, kind, lane, read(machine, address, width));
                    } else {
                        write(machine, address, width, registers.lane(kind, *register, lane));
                    }
                }
                core.changed = true;
            }
            _ => return Err(core.stop(FindingKind::InvalidTexture { handle }, 1 << lane, pc)),
        }
    }
    Ok(())
}

fn position(registers: &Registers, place: TexturePlace, by_index: bool, lane: usize) -> Place {
    let layer = place.layer.map_or(0, |register| registers.words(register)[lane]);
    if place.is_cube {
        let (face, [s, t]) = on_cube(place.coordinates.map(|register| float(registers, register, lane)));
        let position = [Coordinate::Float(s), Coordinate::Float(t), Coordinate::Integer(0)];
        return Place { position, layer: layer.saturating_mul(6).saturating_add(face), level: 0.0 };
    }
    let coordinate = |register: Option<Reg>| match register {
        None => Coordinate::Integer(0),
        Some(register) if by_index => Coordinate::Integer(registers.words(register)[lane] as i32),
        register => Coordinate::Float(float(registers, register, lane)),
    };
    Place { position: place.coordinates.map(coordinate), layer, level: 0.0 }
}

fn float(registers: &Registers, register: Option<Reg>, lane: usize) -> f32 {
    register.map_or(0.0, |register| f32::from_bits(registers.words(register)[lane]))
}

fn level(registers: &Registers, texture: &Texture, level: TextureLevel, lane: usize) -> f32 {
    match level {
        TextureLevel::Base => 0.0,
        TextureLevel::At(register) => float(registers, Some(register), lane),
        TextureLevel::Changes(changes) => {
            level_of(texture, changes.map(|change| change.map(|register| float(registers, register, lane))))
        }
    }
}

/// Returns the first coordinate in bytes, the texel, and the layer.
fn texel(image: &ImageView, registers: &Registers, place: TexturePlace, lane: usize) -> (i64, [i64; 3], u32) {
    let at = |register: Option<Reg>| register.map_or(0, |register| i64::from(registers.words(register)[lane] as i32));
    let [bytes, y, z] = place.coordinates.map(at);
    (
        bytes,
        [bytes.div_euclid(i64::from(image.texel_bytes())), y, z],
        place.layer.map_or(0, |register| registers.words(register)[lane]),
    )
}

fn property(binding: &Binding, what: TextureQuery) -> u32 {
    let (image, normalized) = match binding {
        Binding::Texture(Texture { image, normalized_coordinates, .. }) => (image, *normalized_coordinates),
        Binding::Surface(image) => (image, false),
    };
    match what {
        TextureQuery::Extent(axis) => image.extent[axis],
        TextureQuery::Layers => image.layers,
        TextureQuery::Levels => match binding {
            Binding::Texture(texture) => texture.smaller.len() as u32 + 1,
            Binding::Surface(_) => 1,
        },
        TextureQuery::NormalizedCoordinates => u32::from(normalized),
    }
}

/// Reads 1, 2, 4, or 8 bytes, aligned to their number. Outside of every allocation there are zeros, which only a
/// program sees that freed the memory of its texture.
fn read(machine: &Machine<'_>, address: u64, bytes: u32) -> u64 {
    let region = machine.region(&mut 0, address, bytes.into());
    region.map_or(0, |region| region.buffer.element(address - region.base, bytes))
}

/// Writes 1, 2, 4, or 8 bytes, aligned to their number.
fn write(machine: &Machine<'_>, address: u64, bytes: u32, value: u64) {
    if let Some(region) = machine.region(&mut 0, address, bytes.into()) {
        let offset = address - region.base;
        region.buffer.note_written(offset, bytes.into());
        region.buffer.set_element(offset, bytes, value);
    }
}
