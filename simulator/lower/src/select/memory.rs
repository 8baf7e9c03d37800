//! Loads and stores.

use super::prelude::*;
use crate::ir::Access;
use crate::layout::Place;
use crate::vectorize::{Bundle, is_read_only};

/// Scalars that are accessed together.
struct Piece {
    offset: u64,
    /// The number of scalars.
    count: usize,
    /// The scalars; or words of 32 bits, for many narrow ones; or smaller units, for one that is not aligned.
    units: Vec<Scalar>,
    /// How many units an access has.
    width: usize,
}

/// Splits a value into accesses as wide as its alignment allows.
fn pieces(places: &[Place], align: u64) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = places;
    while let Some(&(scalar, offset)) = rest.first() {
        let bytes = scalar.bytes();
        if !matches!(scalar.bits(), 1 | 8 | 16 | 32 | 64) {
            return None;
        }
        let aligned = if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) };
        let follows = |(next, (scalar, place)): (u64, &(Scalar, u64))| {
            scalar.bits() > 1 && scalar.bytes() == bytes && *place == offset + next * bytes
        };
        let run = (0..).zip(rest).take_while(|pair| follows(*pair)).count().max(1);
        let fits = |wide: u64| wide <= 16 && run as u64 * bytes >= wide && aligned >= wide;
        let (count, units, width) = if let Some(wide) = [16, 8].into_iter().find(|wide| bytes < 4 && fits(*wide)) {
            ((wide / bytes) as usize, vec![Scalar::Int(32); wide as usize / 4], wide as usize / 4)
        } else if aligned < bytes {
            (1, vec![Scalar::Int(aligned as u32 * 8); (bytes / aligned) as usize], 1)
        } else {
            let count = [4, 2].into_iter().find(|count| fits(count * bytes)).unwrap_or(1) as usize;
            (count, rest[..count].iter().map(|(scalar, _)| *scalar).collect(), count)
        };
        pieces.push(Piece { offset, count, units, width });
        rest = &rest[count..];
    }
    Some(pieces)
}

/// Returns the scope of an atomic access.
pub fn scope(name: &str) -> &'static str {
    match name {
        "block" | "workgroup" => ".cta",
        "device" | "agent" => ".gpu",
        "cluster" => ".cluster",
        _ => ".sys",
    }
}

/// An address as the operand of accesses.
#[derive(Clone)]
pub struct Memory {
    pub base: Base,
    pub offset: i64,
    pub space: Space,
}

impl Memory {
    /// Returns the operand for an access some bytes further on.
    pub fn at(&self, bytes: u64) -> Op {
        Op::Mem(self.base.clone(), self.offset.wrapping_add(bytes as i64))
    }
}

impl Selector<'_> {
    pub fn load(&mut self, inst: &Inst, ptr: &Value, access: &Access) -> Result<Vec<Part>> {
        let places = layout::places(&inst.ty)?;
        let memory = self.memory_operand(ptr)?;
        let prefix = self.load_prefix(ptr, memory.space, access)?;
        let signed = self.is_sign_extended(inst);
        let mut parts = self.load_places(&places, &memory, &prefix, access.align, signed)?;
        // A pointer that the host passed.
        if let (Type::Ptr(0), Some(result)) = (&inst.ty, inst.result)
            && self.spaces.of_local(result) == Space::Global
            && let [part] = parts.as_mut_slice()
        {
            *part = self.pointer_from_host(part)?;
        }
        Ok(parts)
    }

    /// Returns a pointer of the host as one into global memory.
    pub fn pointer_from_host(&mut self, part: &Part) -> Result<Part> {
        let reg = self.register(part, Scalar::Ptr)?;
        Ok(Part::pointer(self.b64("cvta.to.global.u64", ops![reg])))
    }

    /// Returns the part of an opcode that orders an access. `ordered` is how such an access orders others: as an acquire or a release.
    fn order(&mut self, access: &Access, ordered: Ordering, what: &str) -> Result<String> {
        let scope = scope(&access.scope);
        match access.ordering {
            Ordering::NotAtomic | Ordering::Monotonic if access.volatile => return Ok(".volatile".to_owned()),
            Ordering::NotAtomic => return Ok(String::new()),
            Ordering::Monotonic => return Ok(format!(".relaxed{scope}")),
            Ordering::SeqCst => self.effect(format!("fence.sc{scope}"), Vec::new()),
            ordering if ordering == ordered => {}
            _ => return self.fail(format!("a {what} with this ordering")),
        }
        Ok(format!("{}{scope}", if ordered == Ordering::Acquire { ".acquire" } else { ".release" }))
    }

    fn load_prefix(&mut self, ptr: &Value, space: Space, access: &Access) -> Result<String> {
        let words = self.order(access, Ordering::Acquire, "load")?;
        let cached = space == Space::Global && words.is_empty() && is_read_only(&self.uses, ptr, access);
        Ok(format!("ld{words}{}{}", space.suffix(), if cached { ".nc" } else { "" }))
    }

    /// Returns true if every use of a narrow integer is signed.
    fn is_sign_extended(&self, inst: &Inst) -> bool {
        let (Some(result), Type::Int(8 | 16)) = (inst.result, &inst.ty) else { return false };
        let mut users = self.uses.users(result).peekable();
        users.peek().is_some() && users.all(|(_, _, user)| matches!(user.op, IrOp::Cast { op: Cast::Sext | Cast::SiToFp, .. }))
    }

    /// Loads scalars; the prefix is the opcode without the type.
    pub fn load_places(&mut self, places: &[Place], memory: &Memory, prefix: &str, align: u64, signed: bool) -> Result<Vec<Part>> {
        let Some(pieces) = pieces(places, align) else {
            return self.fail("a load that is not aligned, or of an integer of an odd width");
        };
        let effects = [".volatile", ".relaxed", ".acquire"].iter().any(|word| prefix.contains(word));
        let mut parts = Vec::with_capacity(places.len());
        for Piece { mut offset, count, units, width } in pieces {
            let scalars: Vec<Scalar> = places[parts.len()..][..count].iter().map(|(scalar, _)| *scalar).collect();
            let signed = signed && units == scalars;
            let mut loaded = Vec::with_capacity(units.len());
            for units in units.chunks(width) {
                let regs: Vec<Reg> = units.iter().map(|unit| self.new_reg(class_in_memory(*unit))).collect();
                let result = if let [reg] = *regs { reg.into() } else { Op::from(&*regs) };
                self.push(format!("{prefix}.{}", access_type(units, signed)), vec![result], vec![memory.at(offset)], effects);
                offset += units[0].bytes();
                for (unit, reg) in units.iter().zip(regs) {
                    loaded.push(match unit {
                        Scalar::Int(1) => self.lowest_bit(reg, 32),
                        Scalar::Int(_) => Part::Reg(reg, if signed { Ext::Sign } else { Ext::Zero }),
                        _ => Part::of(*unit, reg),
                    });
                }
            }
            parts.extend(if units == scalars { loaded } else { self.reinterpret(&loaded, &units, &scalars)? });
        }
        Ok(parts)
    }

    /// Makes all loads of a bundle, at its leader.
    pub fn load_bundle(&mut self, block: usize, bundle: &Bundle) -> Result<()> {
        let memory = self.bundle_address(block, bundle)?;
        let insts = &self.function.blocks[block];
        let mut places = Vec::new();
        let (mut prefix, mut lengths) = (String::new(), Vec::new());
        for (member, distance) in &bundle.members {
            let IrOp::Load { ptr, access } = &insts[*member].op else { continue };
            let own = layout::places(&insts[*member].ty)?;
            let own_prefix = self.load_prefix(ptr, memory.space, access)?;
            // The read-only cache is for all of them or for none.
            if prefix.is_empty() || own_prefix.len() < prefix.len() {
                prefix = own_prefix;
            }
            lengths.push((*member, own.len()));
            places.extend(own.into_iter().map(|(scalar, place)| (scalar, place + distance)));
        }
        let mut rest = self.load_places(&places, &memory, &prefix, bundle.align, false)?.into_iter();
        for (member, length) in lengths {
            let own: Vec<Part> = rest.by_ref().take(length).collect();
            if let Some(result) = insts[member].result {
                self.values[result as usize] = Some(own);
            }
        }
        Ok(())
    }

    /// Makes all stores of a bundle, at its leader.
    pub fn store_bundle(&mut self, block: usize, bundle: &Bundle) -> Result<()> {
        let memory = self.bundle_address(block, bundle)?;
        let (mut places, mut parts) = (Vec::new(), Vec::new());
        for (member, distance) in &bundle.members {
            let IrOp::Store { value, .. } = &self.function.blocks[block][*member].op else { continue };
            let own = layout::places(self.function.ty(value))?;
            places.extend(own.into_iter().map(|(scalar, place)| (scalar, place + distance)));
            parts.extend(self.data_parts(value)?);
        }
        self.store_places(&places, &parts, &memory, &format!("st{}", memory.space.suffix()), bundle.align)
    }

    /// Returns the address of the first member, derived from the leader's address.
    fn bundle_address(&mut self, block: usize, bundle: &Bundle) -> Result<Memory> {
        let distance = bundle.members.iter().find(|(member, _)| *member == bundle.leader).map(|(_, distance)| *distance);
        let (Some(distance), IrOp::Load { ptr, .. } | IrOp::Store { ptr, .. }) =
            (distance, &self.function.blocks[block][bundle.leader].op)
        else {
            return self.fail("a bundle of other instructions");
        };
        let memory = self.memory_operand(ptr)?;
        Ok(Memory { offset: memory.offset.wrapping_sub(distance as i64), ..memory })
    }

    pub fn store(&mut self, value: &Value, ptr: &Value, access: &Access) -> Result<Vec<Part>> {
        let places = layout::places(self.function.ty(value))?;
        let memory = self.memory_operand(ptr)?;
        let words = self.order(access, Ordering::Release, "store")?;
        let parts = self.data_parts(value)?;
        self.store_places(&places, &parts, &memory, &format!("st{words}{}", memory.space.suffix()), access.align)?;
        Ok(Vec::new())
    }

    /// Stores scalars; the prefix is the opcode without the type.
    fn store_places(&mut self, places: &[Place], parts: &[Part], memory: &Memory, prefix: &str, align: u64) -> Result<()> {
        if parts.len() != places.len() {
            return self.fail("a store of a value of a wrong type");
        }
        let Some(pieces) = pieces(places, align) else {
            return self.fail("a store that is not aligned, or of an integer of an odd width");
        };
        let mut first = 0;
        for Piece { mut offset, count, units, width } in pieces {
            let mut own = parts[first..first + count].to_vec();
            let scalars: Vec<Scalar> = places[first..first + count].iter().map(|(scalar, _)| *scalar).collect();
            first += count;
            // What is undefined need not be stored.
            if own.iter().all(|part| *part == Part::Undef) && !prefix.contains(".volatile") {
                continue;
            }
            if units != scalars {
                own = self.reinterpret(&own, &scalars, &units)?;
            }
            for (units, own) in units.chunks(width).zip(own.chunks(width)) {
                let mut ops = Vec::with_capacity(width);
                for (unit, part) in units.iter().zip(own) {
                    ops.push(match unit {
                        Scalar::Int(1) => self.extended_reg(part, 1, Ext::Zero)?.into(),
                        // A vector takes registers only.
                        _ if width > 1 => self.register(part, *unit)?.into(),
                        _ => self.operand(part, *unit)?,
                    });
                }
                let value = <[Op; 1]>::try_from(ops).map_or_else(Op::List, |[op]| op);
                self.effect(format!("{prefix}.{}", access_type(units, false)), vec![memory.at(offset), value]);
                offset += units[0].bytes();
            }
        }
        Ok(())
    }
}

/// Returns the class of the register that a scalar is loaded into. Truth values are bytes in memory.
pub fn class_in_memory(scalar: Scalar) -> Class {
    if scalar == Scalar::Int(1) { Class::B32 } else { class(scalar) }
}

/// Returns the type of an access to several scalars.
fn access_type(scalars: &[Scalar], signed: bool) -> String {
    let own = memory_type(scalars[0], signed);
    let is_mixed = scalars.iter().any(|scalar| memory_type(*scalar, signed) != own);
    let ty = if is_mixed { format!("b{}", scalars[0].bytes() * 8) } else { own.to_owned() };
    if scalars.len() == 1 { ty } else { format!("v{}.{ty}", scalars.len()) }
}

/// Returns the type of an access. Narrow integers are extended by it.
pub fn memory_type(scalar: Scalar, signed: bool) -> &'static str {
    match (scalar, signed) {
        (Scalar::Int(..=8), true) => "s8",
        (Scalar::Int(..=8), false) => "u8",
        (Scalar::Int(..=16), true) => "s16",
        (Scalar::Int(..=16), false) => "u16",
        (Scalar::Int(..=32), _) => "b32",
        (Scalar::Int(_) | Scalar::Ptr, _) => "b64",
        (Scalar::Half | Scalar::BFloat, _) => "b16",
        (Scalar::Float, _) => "f32",
        (Scalar::Double, _) => "f64",
    }
}
