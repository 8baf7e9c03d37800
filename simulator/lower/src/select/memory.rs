//! Loads and stores.

use super::prelude::*;
use crate::ir::Access;
use crate::vectorize::{Bundle, is_read_only};

/// One access of a register, or of a vector of them.
struct Piece {
    offset: u64,
    /// Its scalars.
    first: usize,
    count: usize,
    /// For narrow scalars: the number of words of 32 bits that hold them.
    words: usize,
    /// For a scalar that is not aligned: the bytes that are accessed at once.
    fraction: u64,
}

/// Cuts a value into accesses that are as wide as its alignment allows.
fn pieces(places: &[(Scalar, u64)], align: u64) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < places.len() {
        let (scalar, offset) = places[at];
        let bytes = scalar.bytes();
        if !matches!(scalar.bits(), 1 | 8 | 16 | 32 | 64) {
            return None;
        }
        let aligned = if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) };
        let follows = |(next, (scalar, place)): (u64, &(Scalar, u64))| {
            scalar.bits() > 1 && scalar.bytes() == bytes && *place == offset + next * bytes
        };
        let run = (0..).zip(&places[at..]).take_while(|pair| follows(*pair)).count().max(1);
        let fits = |wide: u64| run as u64 * bytes >= wide && aligned >= wide;
        let (count, words, fraction) = if bytes < 4 && fits(16) {
            ((16 / bytes) as usize, 4, 0)
        } else if bytes < 4 && fits(8) {
            ((8 / bytes) as usize, 2, 0)
        } else if run >= 4 && 4 * bytes <= 16 && aligned >= 4 * bytes {
            (4, 0, 0)
        } else if run >= 2 && 2 * bytes <= 16 && aligned >= 2 * bytes {
            (2, 0, 0)
        } else if aligned >= bytes {
            (1, 0, 0)
        } else {
            (1, 0, aligned)
        };
        pieces.push(Piece { offset, first: at, count, words, fraction });
        at += count;
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
    pub fn load(&mut self, inst: &Inst, ptr: &Value, ptr_type: &Type, access: &Access) -> Result<Vec<Part>> {
        let places = layout::places(&inst.ty)?;
        let memory = self.memory_operand(ptr, ptr_type)?;
        let prefix = self.load_prefix(ptr, memory.space, access)?;
        let signed = self.is_sign_extended(inst);
        let mut parts = self.load_places(&places, &memory, &prefix, access.align, signed)?;
        // A pointer that the host passed.
        if let (Type::Ptr(0), Some(result)) = (&inst.ty, inst.result)
            && self.spaces.of_local(result) == Space::Global
            && let [part] = parts.as_mut_slice()
        {
            *part = self.from_host(part)?;
        }
        Ok(parts)
    }

    /// Returns a pointer of the host as one into global memory.
    pub fn from_host(&mut self, part: &Part) -> Result<Part> {
        let reg = self.in_register(part, Scalar::Ptr)?;
        Ok(Part::pointer(self.one("cvta.to.global.u64", Class::B64, vec![reg])))
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
        let cached = space == Space::Global && words.is_empty() && is_read_only(self.function, &self.uses, ptr, access);
        Ok(format!("ld{words}{}{}", space.suffix(), if cached { ".nc" } else { "" }))
    }

    /// Returns true if a narrow integer is only used as a signed number.
    fn is_sign_extended(&self, inst: &Inst) -> bool {
        let (Some(result), Type::Int(8 | 16)) = (inst.result, &inst.ty) else { return false };
        let is_signed = |(block, at): &(usize, usize)| {
            matches!(self.function.insts(*block)[*at].op, IrOp::Cast { op: Cast::Sext | Cast::SiToFp, .. })
        };
        let users = self.uses.users(result);
        !users.is_empty() && users.iter().all(is_signed)
    }

    /// Loads scalars; the prefix is the opcode without the type.
    pub fn load_places(
        &mut self,
        places: &[(Scalar, u64)],
        memory: &Memory,
        prefix: &str,
        align: u64,
        signed: bool,
    ) -> Result<Vec<Part>> {
        let Some(pieces) = pieces(places, align) else {
            return self.fail("a load that is not aligned, or of an integer of an odd width");
        };
        let effects = [".volatile", ".relaxed", ".acquire"].iter().any(|word| prefix.contains(word));
        let mut parts = Vec::with_capacity(places.len());
        for Piece { offset, first, count, words, fraction } in pieces {
            let scalars: Vec<Scalar> = places[first..first + count].iter().map(|(scalar, _)| *scalar).collect();
            let scalar = scalars[0];
            if fraction > 0 {
                // A scalar that is not aligned, loaded in smaller units.
                let units = vec![Scalar::Int(fraction as u32 * 8); (scalar.bytes() / fraction) as usize];
                let mut loaded = Vec::with_capacity(units.len());
                for at in 0..units.len() as u64 {
                    let reg = self.new_reg(class(units[0]));
                    let opcode = format!("{prefix}.{}", memory_type(units[0], false));
                    self.push(opcode, vec![Op::Reg(reg)], vec![memory.at(offset + at * fraction)], effects);
                    loaded.push(Part::Reg(reg, Ext::Zero));
                }
                parts.extend(self.reinterpret(&loaded, &units, &[scalar])?);
                continue;
            }
            let address = vec![memory.at(offset)];
            if words > 0 {
                let regs: Vec<Reg> = (0..words).map(|_| self.new_reg(Class::B32)).collect();
                let list = Op::List(regs.iter().map(|reg| Op::Reg(*reg)).collect());
                self.push(format!("{prefix}.v{words}.b32"), vec![list], address, effects);
                let loaded: Vec<Part> = regs.into_iter().map(Part::reg).collect();
                parts.extend(self.reinterpret(&loaded, &vec![Scalar::Int(32); words], &scalars)?);
                continue;
            }
            let regs: Vec<Reg> = scalars.iter().map(|scalar| self.new_reg(class_in_memory(*scalar))).collect();
            let ty = common_type(&scalars, signed);
            if let [reg] = regs.as_slice() {
                self.push(format!("{prefix}.{ty}"), vec![Op::Reg(*reg)], address, effects);
            } else {
                let list = Op::List(regs.iter().map(|reg| Op::Reg(*reg)).collect());
                self.push(format!("{prefix}.v{count}.{ty}"), vec![list], address, effects);
            }
            for (scalar, reg) in scalars.into_iter().zip(regs) {
                parts.push(match scalar {
                    Scalar::Int(1) => self.lowest_bit(Op::Reg(reg), 32),
                    Scalar::Int(_) => Part::Reg(reg, if signed { Ext::Sign } else { Ext::Zero }),
                    _ => Part::of(scalar, reg),
                });
            }
        }
        Ok(parts)
    }

    /// Makes all loads of a bundle, at its leader.
    pub fn load_bundle(&mut self, block: usize, bundle: &Bundle) -> Result<()> {
        let memory = self.bundle_address(block, bundle)?;
        let insts = self.function.insts(block);
        let mut places = Vec::new();
        let (mut prefix, mut lengths) = (String::new(), Vec::new());
        for (member, distance) in &bundle.members {
            let IrOp::Load { ptr, access, .. } = &insts[*member].op else { continue };
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
            let IrOp::Store { ty, value, .. } = &self.function.insts(block)[*member].op else { continue };
            places.extend(layout::places(ty)?.into_iter().map(|(scalar, place)| (scalar, place + distance)));
            parts.extend(self.data_parts(value, ty)?);
        }
        self.store_places(&places, &parts, &memory, &format!("st{}", memory.space.suffix()), bundle.align)
    }

    /// Returns the address of the first member, made from that of the leader.
    fn bundle_address(&mut self, block: usize, bundle: &Bundle) -> Result<Memory> {
        let distance = bundle.members.iter().find(|(member, _)| *member == bundle.leader).map(|(_, distance)| *distance);
        let (Some(distance), IrOp::Load { ptr, ptr_type, .. } | IrOp::Store { ptr, ptr_type, .. }) =
            (distance, &self.function.insts(block)[bundle.leader].op)
        else {
            return self.fail("a bundle of other instructions");
        };
        let memory = self.memory_operand(ptr, ptr_type)?;
        Ok(Memory { offset: memory.offset.wrapping_sub(distance as i64), ..memory })
    }

    pub fn store(&mut self, ty: &Type, value: &Value, ptr: &Value, ptr_type: &Type, access: &Access) -> Result<()> {
        let places = layout::places(ty)?;
        let memory = self.memory_operand(ptr, ptr_type)?;
        let words = self.order(access, Ordering::Release, "store")?;
        let parts = self.data_parts(value, ty)?;
        self.store_places(&places, &parts, &memory, &format!("st{words}{}", memory.space.suffix()), access.align)
    }

    /// Stores scalars; the prefix is the opcode without the type.
    fn store_places(&mut self, places: &[(Scalar, u64)], parts: &[Part], memory: &Memory, prefix: &str, align: u64) -> Result<()> {
        if parts.len() != places.len() {
            return self.fail("a store of a value of a wrong type");
        }
        let Some(pieces) = pieces(places, align) else {
            return self.fail("a store that is not aligned, or of an integer of an odd width");
        };
        for Piece { offset, first, count, words, fraction } in pieces {
            let parts = &parts[first..first + count];
            let scalars: Vec<Scalar> = places[first..first + count].iter().map(|(scalar, _)| *scalar).collect();
            // What is undefined need not be stored.
            if parts.iter().all(|part| *part == Part::Undef) && !prefix.contains(".volatile") {
                continue;
            }
            if fraction > 0 {
                let units = vec![Scalar::Int(fraction as u32 * 8); (scalars[0].bytes() / fraction) as usize];
                let cut = self.reinterpret(parts, &scalars, &units)?;
                for (at, part) in (0..).zip(&cut) {
                    let op = self.operand(part, units[0])?;
                    let address = memory.at(offset + at * fraction);
                    self.effect(format!("{prefix}.{}", memory_type(units[0], false)), vec![address, op]);
                }
                continue;
            }
            let address = memory.at(offset);
            if words > 0 {
                let packed = self.reinterpret(parts, &scalars, &vec![Scalar::Int(32); words])?;
                let regs = packed.iter().map(|part| self.in_register(part, Scalar::Int(32))).collect::<Result<_>>()?;
                self.effect(format!("{prefix}.v{words}.b32"), vec![address, Op::List(regs)]);
                continue;
            }
            let mut ops = Vec::with_capacity(count);
            for (scalar, part) in scalars.iter().zip(parts) {
                ops.push(match scalar {
                    Scalar::Int(1) => self.extended_in_register(part, 1, Ext::Zero)?,
                    // A vector takes registers only.
                    _ if count > 1 => self.in_register(part, *scalar)?,
                    _ => self.operand(part, *scalar)?,
                });
            }
            let ty = common_type(&scalars, false);
            match <[Op; 1]>::try_from(ops) {
                Ok([op]) => self.effect(format!("{prefix}.{ty}"), vec![address, op]),
                Err(ops) => self.effect(format!("{prefix}.v{count}.{ty}"), vec![address, Op::List(ops)]),
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
fn common_type(scalars: &[Scalar], signed: bool) -> &'static str {
    let ty = memory_type(scalars[0], signed);
    let is_mixed = scalars.iter().any(|scalar| memory_type(*scalar, signed) != ty);
    match scalars[0].bits() {
        _ if !is_mixed => ty,
        0..=8 => "b8",
        9..=16 => "b16",
        17..=32 => "b32",
        _ => "b64",
    }
}

/// Returns the type of an access. Narrow integers are extended by it.
fn memory_type(scalar: Scalar, signed: bool) -> &'static str {
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
