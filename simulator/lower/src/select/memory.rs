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
    /// For narrow scalars: so many words of 32 bits hold them.
    words: usize,
    /// For a scalar that is not aligned: so many bytes are accessed at once.
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

/// The scope of an atomic access.
pub fn scope(name: &str) -> &'static str {
    match name {
        "block" | "workgroup" => ".cta",
        "device" | "agent" => ".gpu",
        "cluster" => ".cluster",
        _ => ".sys",
    }
}

impl Selector<'_> {
    pub fn load(&mut self, inst: &Inst, ptr: &Value, ptr_type: &Type, access: &Access) -> Result<Vec<Part>> {
        let places = layout::places(&inst.ty)?;
        let (base, offset, space) = self.memory_operand(ptr, ptr_type)?;
        let prefix = self.load_prefix(ptr, space, access)?;
        let signed = self.is_sign_extended(inst);
        let mut parts = self.load_places(&places, base, offset, &prefix, access.align, signed)?;
        if access.ordering == Ordering::SeqCst || access.ordering == Ordering::Acquire {
            self.mark_effects();
        }
        // A pointer that the host passed.
        if let (Type::Ptr(0), Some(result)) = (&inst.ty, inst.result)
            && self.spaces.of_local(result) == Space::Global
            && let [part] = parts.as_mut_slice()
        {
            let reg = self.register(part, Scalar::Ptr)?;
            *part = Part::pointer(self.one("cvta.to.global.u64", Class::B64, vec![Op::Reg(reg)]));
        }
        Ok(parts)
    }

    fn mark_effects(&mut self) {
        if let Some(last) = self.blocks[self.current].insts.last_mut() {
            last.effects = true;
        }
    }

    fn load_prefix(&mut self, ptr: &Value, space: Space, access: &Access) -> Result<String> {
        let words = match access.ordering {
            Ordering::NotAtomic | Ordering::Monotonic if access.volatile => ".volatile".to_owned(),
            Ordering::NotAtomic => String::new(),
            Ordering::Monotonic => format!(".relaxed{}", scope(&access.scope)),
            Ordering::Acquire => format!(".acquire{}", scope(&access.scope)),
            Ordering::SeqCst => {
                self.effect(format!("fence.sc{}", scope(&access.scope)), Vec::new());
                format!(".acquire{}", scope(&access.scope))
            }
            _ => return self.fail("a load with this ordering"),
        };
        let cached = space == Space::Global && words.is_empty() && is_read_only(self.function, &self.uses, ptr, access);
        Ok(format!("ld{words}{}{}", space.suffix(), if cached { ".nc" } else { "" }))
    }

    /// Whether a narrow integer is only used as a signed number.
    fn is_sign_extended(&self, inst: &Inst) -> bool {
        let (Some(result), Type::Int(8 | 16)) = (inst.result, &inst.ty) else {
            return false;
        };
        let users = self.uses.users(result);
        let blocks = self.function.body();
        !users.is_empty()
            && users
                .iter()
                .all(|(block, at)| matches!(blocks[*block].insts[*at].op, IrOp::Cast { op: Cast::Sext | Cast::SiToFp, .. }))
    }

    fn load_places(
        &mut self,
        places: &[(Scalar, u64)],
        base: Base,
        offset: i64,
        prefix: &str,
        align: u64,
        signed: bool,
    ) -> Result<Vec<Part>> {
        let Some(pieces) = pieces(places, align) else {
            return self.fail("a load that is not aligned, or of an integer of an odd width");
        };
        let effects = prefix.contains(".volatile") || prefix.contains(".relaxed") || prefix.contains(".acquire");
        let mut parts = Vec::with_capacity(places.len());
        for Piece { offset: start, first, count, words, fraction } in pieces {
            if fraction > 0 {
                parts.extend(self.load_fractions(
                    places[first].0,
                    &base,
                    offset.wrapping_add(start as i64),
                    prefix,
                    fraction,
                    effects,
                )?);
                continue;
            }
            let address = Op::Mem(base.clone(), offset.wrapping_add(start as i64));
            if words > 0 {
                let regs: Vec<Op> = (0..words).map(|_| Op::Reg(self.new_reg(Class::B32))).collect();
                self.push(format!("{prefix}.v{words}.b32"), vec![Op::List(regs.clone())], vec![address], effects);
                let targets: Vec<Scalar> = places[first..first + count].iter().map(|(scalar, _)| *scalar).collect();
                let sources = vec![Scalar::Int(32); words];
                let loaded: Vec<Part> =
                    regs.iter().filter_map(|op| if let Op::Reg(reg) = op { Some(Part::reg(*reg)) } else { None }).collect();
                parts.extend(self.reinterpret(&loaded, &sources, &targets)?);
                continue;
            }
            let regs: Vec<(Scalar, u32)> = places[first..first + count]
                .iter()
                .map(|(scalar, _)| {
                    let class = if *scalar == Scalar::Int(1) { Class::B32 } else { class(*scalar) };
                    (*scalar, self.new_reg(class))
                })
                .collect();
            let ty = memory_type(regs[0].0, signed);
            if count == 1 {
                self.push(format!("{prefix}.{ty}"), vec![Op::Reg(regs[0].1)], vec![address], effects);
            } else {
                let list = Op::List(regs.iter().map(|(_, reg)| Op::Reg(*reg)).collect());
                let ty = if regs.iter().all(|(scalar, _)| memory_type(*scalar, signed) == ty) { ty } else { plain_type(regs[0].0) };
                self.push(format!("{prefix}.v{count}.{ty}"), vec![list], vec![address], effects);
            }
            for (scalar, reg) in regs {
                parts.push(match scalar {
                    Scalar::Int(1) => {
                        let bit = self.one("and.b32", Class::B32, vec![Op::Reg(reg), int(1)]);
                        self.made("setp.ne.s32", Class::Pred, vec![Op::Reg(bit), int(0)])
                    }
                    Scalar::Int(_) => Part::Reg(reg, if signed { Ext::Sign } else { Ext::Zero }),
                    Scalar::Ptr => Part::pointer(reg),
                    _ => Part::reg(reg),
                });
            }
        }
        Ok(parts)
    }

    /// A scalar that is not aligned, loaded in smaller units.
    fn load_fractions(
        &mut self,
        scalar: Scalar,
        base: &Base,
        offset: i64,
        prefix: &str,
        bytes: u64,
        effects: bool,
    ) -> Result<Vec<Part>> {
        let units = vec![Scalar::Int(bytes as u32 * 8); (scalar.bytes() / bytes) as usize];
        let mut loaded = Vec::with_capacity(units.len());
        for at in 0..units.len() as i64 {
            let address = Op::Mem(base.clone(), offset.wrapping_add(at * bytes as i64));
            let reg = self.new_reg(class(units[0]));
            self.push(format!("{prefix}.{}", memory_type(units[0], false)), vec![Op::Reg(reg)], vec![address], effects);
            loaded.push(Part::Reg(reg, Ext::Zero));
        }
        self.reinterpret(&loaded, &units, &[scalar])
    }

    /// All loads of a bundle, made at its leader.
    pub fn load_bundle(&mut self, block: usize, bundle: &Bundle) -> Result<()> {
        let Some((base, offset, space, start)) = self.bundle_address(block, bundle)? else {
            return self.fail("a bundle of other instructions");
        };
        let insts = self.function.insts(block);
        let mut places = Vec::new();
        let (mut prefix, mut lengths) = (String::new(), Vec::new());
        for (member, distance) in &bundle.members {
            let IrOp::Load { ptr, access, .. } = &insts[*member].op else { continue };
            let own = layout::places(&insts[*member].ty)?;
            let own_prefix = self.load_prefix(ptr, space, access)?;
            // The read-only cache is for all of them or for none.
            if prefix.is_empty() || own_prefix.len() < prefix.len() {
                prefix = own_prefix;
            }
            lengths.push((*member, own.len()));
            places.extend(own.into_iter().map(|(scalar, place)| (scalar, place + distance)));
        }
        let parts = self.load_places(&places, base, offset.wrapping_sub(start), &prefix, bundle.align, false)?;
        let mut rest = parts.into_iter();
        for (member, length) in lengths {
            let own: Vec<Part> = rest.by_ref().take(length).collect();
            if let Some(result) = insts[member].result {
                self.values[result as usize] = Some(own);
            }
        }
        Ok(())
    }

    /// All stores of a bundle, made at its leader.
    pub fn store_bundle(&mut self, block: usize, bundle: &Bundle) -> Result<()> {
        let Some((base, offset, space, start)) = self.bundle_address(block, bundle)? else {
            return self.fail("a bundle of other instructions");
        };
        let insts = self.function.insts(block);
        let (mut places, mut parts) = (Vec::new(), Vec::new());
        for (member, distance) in &bundle.members {
            let IrOp::Store { ty, value, .. } = &insts[*member].op else { continue };
            let own = layout::places(ty)?;
            places.extend(own.into_iter().map(|(scalar, place)| (scalar, place + distance)));
            parts.extend(self.data_parts(value, ty)?);
        }
        self.store_places(&places, &parts, base, offset.wrapping_sub(start), &format!("st{}", space.suffix()), bundle.align)
    }

    /// The address of the leader, its space, and its distance from the first member.
    fn bundle_address(&mut self, block: usize, bundle: &Bundle) -> Result<Option<(Base, i64, Space, i64)>> {
        let insts = self.function.insts(block);
        let distance = bundle.members.iter().find(|(member, _)| *member == bundle.leader).map(|(_, distance)| *distance);
        let (Some(distance), IrOp::Load { ptr, ptr_type, .. } | IrOp::Store { ptr, ptr_type, .. }) =
            (distance, &insts[bundle.leader].op)
        else {
            return Ok(None);
        };
        let (base, offset, space) = self.memory_operand(ptr, ptr_type)?;
        Ok(Some((base, offset, space, distance as i64)))
    }

    pub fn store(&mut self, ty: &Type, value: &Value, ptr: &Value, ptr_type: &Type, access: &Access) -> Result<()> {
        let places = layout::places(ty)?;
        let (base, offset, space) = self.memory_operand(ptr, ptr_type)?;
        let words = match access.ordering {
            Ordering::NotAtomic | Ordering::Monotonic if access.volatile => ".volatile".to_owned(),
            Ordering::NotAtomic => String::new(),
            Ordering::Monotonic => format!(".relaxed{}", scope(&access.scope)),
            Ordering::Release => format!(".release{}", scope(&access.scope)),
            Ordering::SeqCst => {
                self.effect(format!("fence.sc{}", scope(&access.scope)), Vec::new());
                format!(".release{}", scope(&access.scope))
            }
            _ => return self.fail("a store with this ordering"),
        };
        let parts = self.data_parts(value, ty)?;
        self.store_places(&places, &parts, base, offset, &format!("st{words}{}", space.suffix()), access.align)
    }

    pub fn store_places(
        &mut self,
        places: &[(Scalar, u64)],
        parts: &[Part],
        base: Base,
        offset: i64,
        prefix: &str,
        align: u64,
    ) -> Result<()> {
        if parts.len() != places.len() {
            return self.fail("a store of a value of a wrong type");
        }
        let Some(pieces) = pieces(places, align) else {
            return self.fail("a store that is not aligned, or of an integer of an odd width");
        };
        for Piece { offset: start, first, count, words, fraction } in pieces {
            // What is undefined need not be stored.
            if parts[first..first + count].iter().all(|part| *part == Part::Undef) && !prefix.contains(".volatile") {
                continue;
            }
            if fraction > 0 {
                let (scalar, _) = places[first];
                let units = vec![Scalar::Int(fraction as u32 * 8); (scalar.bytes() / fraction) as usize];
                let cut = self.reinterpret(&parts[first..=first], &[scalar], &units)?;
                for (at, part) in (0_i64..).zip(&cut) {
                    let address = Op::Mem(base.clone(), offset.wrapping_add(start as i64 + at * fraction as i64));
                    let op = self.operand(part, units[0])?;
                    self.effect(format!("{prefix}.{}", memory_type(units[0], false)), vec![address, op]);
                }
                continue;
            }
            let address = Op::Mem(base.clone(), offset.wrapping_add(start as i64));
            if words > 0 {
                let sources: Vec<Scalar> = places[first..first + count].iter().map(|(scalar, _)| *scalar).collect();
                let packed = self.reinterpret(&parts[first..first + count], &sources, &vec![Scalar::Int(32); words])?;
                let mut regs = Vec::with_capacity(words);
                for part in &packed {
                    regs.push(self.in_register(part, Scalar::Int(32))?);
                }
                self.effect(format!("{prefix}.v{words}.b32"), vec![address, Op::List(regs)]);
                continue;
            }
            let mut ops = Vec::with_capacity(count);
            for ((scalar, _), part) in places[first..first + count].iter().zip(&parts[first..first + count]) {
                ops.push(match scalar {
                    Scalar::Int(1) => self.extended_in_register(part, 1, Ext::Zero)?,
                    // A vector takes registers only.
                    _ if count > 1 => self.in_register(part, *scalar)?,
                    _ => self.operand(part, *scalar)?,
                });
            }
            let scalar = places[first].0;
            let mixed =
                places[first..first + count].iter().any(|(other, _)| memory_type(*other, false) != memory_type(scalar, false));
            let ty = if mixed { plain_type(scalar) } else { memory_type(scalar, false) };
            match <[Op; 1]>::try_from(ops) {
                Ok([op]) => self.effect(format!("{prefix}.{ty}"), vec![address, op]),
                Err(ops) => self.effect(format!("{prefix}.v{count}.{ty}"), vec![address, Op::List(ops)]),
            }
        }
        Ok(())
    }

    /// A parameter, loaded from its space.
    pub fn load_parameter(&mut self, name: &str, places: &[(Scalar, u64)], align: u64) -> Result<Vec<Part>> {
        self.load_places(places, Base::Symbol(name.to_owned()), 0, "ld.param", align, false)
    }

    /// A copy of a part in a register of its own.
    pub fn copied(&mut self, part: &Part, scalar: Scalar, to: Reg) -> Result<()> {
        let op = self.operand(part, scalar)?;
        let class = self.class(to);
        self.push(mov(class), vec![Op::Reg(to)], vec![op], false);
        Ok(())
    }
}

/// The type of an access. Narrow integers are extended by it.
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

/// The same for a vector of scalars of several types.
fn plain_type(scalar: Scalar) -> &'static str {
    match scalar.bits() {
        0..=8 => "b8",
        9..=16 => "b16",
        17..=32 => "b32",
        _ => "b64",
    }
}
