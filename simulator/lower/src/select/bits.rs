//! Bits taken as another type.

use super::prelude::*;

impl Selector<'_> {
    pub fn bitcast(&mut self, inst: &Inst, value: &Value) -> Result<Vec<Part>> {
        let from = self.function.ty(value);
        if *from == inst.ty {
            return self.parts_as(value, inst.result);
        }
        let (sources, targets) = (layout::parts(from)?, layout::parts(&inst.ty)?);
        let parts = self.parts(value)?;
        self.reinterpret(&parts, &sources, &targets)
    }

    /// Returns the same bits as scalars of other types.
    pub fn reinterpret(&mut self, parts: &[Part], sources: &[Scalar], targets: &[Scalar]) -> Result<Vec<Part>> {
        let bits = |scalars: &[Scalar]| scalars.iter().map(|scalar| scalar.bits()).sum::<u32>();
        if bits(sources) != bits(targets) || parts.len() != sources.len() {
            return self.fail("a bitcast between types of different sizes");
        }
        let is_odd = |scalar: &Scalar| !matches!(scalar.bits(), 8 | 16 | 32 | 64);
        if sources.iter().chain(targets).any(is_odd) {
            return self.fail("a bitcast of integers of an odd width");
        }
        let is_same = sources.len() == targets.len() && sources.iter().zip(targets).all(|(a, b)| a.bits() == b.bits());
        if is_same {
            return (0..parts.len()).map(|at| self.same_size(&parts[at], sources[at], targets[at])).collect();
        }
        if parts.iter().all(|part| *part == Part::Undef) {
            return Ok(vec![Part::Undef; targets.len()]);
        }
        let words = self.pack_words(parts, sources)?;
        self.unpack_words(&words, targets)
    }

    fn same_size(&mut self, part: &Part, from: Scalar, to: Scalar) -> Result<Part> {
        if matches!(part, Part::Bits(_) | Part::Undef) || class(from) == class(to) && from != Scalar::Ptr && to != Scalar::Ptr {
            return Ok(part.clone());
        }
        let reg = self.register(part, from)?;
        Ok(match (class(from), class(to)) {
            (Class::B32, Class::B16) => self.made("cvt.u16.u32", Class::B16, ops![reg]),
            (Class::B16, Class::B32) => Part::Reg(self.b32("cvt.u32.u16", ops![reg]), Ext::Zero),
            (from, to_class) if from == to_class => Part::of(to, reg),
            (_, to_class @ (Class::F32 | Class::B32)) => self.made("mov.b32", to_class, ops![reg]),
            (_, to_class) => self.made("mov.b64", to_class, ops![reg]),
        })
    }

    /// Packs parts into words of 32 bits; the last one may have fewer.
    fn pack_words(&mut self, parts: &[Part], scalars: &[Scalar]) -> Result<Vec<Reg>> {
        let mut words = Vec::new();
        let mut at = 0;
        while at < parts.len() {
            let width = scalars[at].bits();
            let mut pieces = Vec::new();
            while at < parts.len() && scalars[at].bits() == width && (pieces.len() as u32 + 1) * width <= width.max(32) {
                let reg = self.register(&parts[at], scalars[at])?;
                pieces.push(match class(scalars[at]) {
                    Class::B16 => self.b32("cvt.u32.u16", ops![reg]),
                    Class::F32 => self.b32("mov.b32", ops![reg]),
                    _ => reg,
                });
                at += 1;
            }
            if width == 64 {
                words.extend(self.halves(pieces[0]));
                continue;
            }
            if width == 8 {
                pieces = pieces.chunks(2).map(|pair| self.packed(pair, "0x3340")).collect();
            }
            words.push(self.packed(&pieces, "0x5410"));
        }
        Ok(words)
    }

    fn packed(&mut self, pair: &[Reg], selector: &'static str) -> Reg {
        if let [a, b] = *pair { self.b32("prmt.b32", ops![a, b, selector]) } else { pair[0] }
    }

    fn unpack_words(&mut self, words: &[Reg], scalars: &[Scalar]) -> Result<Vec<Part>> {
        let mut parts = Vec::with_capacity(scalars.len());
        let mut bit = 0_u32;
        for scalar in scalars {
            let word = (bit / 32) as usize;
            let Some(own) = words.get(word..word + scalar.bits().div_ceil(32) as usize) else {
                return self.fail("a bitcast of too few bits");
            };
            let target = class(*scalar);
            parts.push(match scalar.bits() {
                64 => Part::of(*scalar, self.one("mov.b64", target, ops![own])),
                32 if target == Class::B32 => Part::reg(own[0]),
                32 => self.made(mov(target), target, ops![own[0]]),
                width => {
                    let reg = self.b32("bfe.u32", ops![own[0], bit % 32, width]);
                    if target == Class::B16 { self.made("cvt.u16.u32", Class::B16, ops![reg]) } else { Part::Reg(reg, Ext::Zero) }
                }
            });
            bit += scalar.bits();
        }
        Ok(parts)
    }
}
