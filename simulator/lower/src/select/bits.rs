//! Bits taken as another type.

use super::prelude::*;

impl Selector<'_> {
    pub fn bitcast(&mut self, from: &Type, to: &Type, value: &Value, result: Option<u32>) -> Result<Vec<Part>> {
        if from == to {
            return self.parts_as(value, from, result);
        }
        let (sources, targets) = (self.scalars(from)?, self.scalars(to)?);
        let parts = self.parts(value, from)?;
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
        let ops = vec![Op::Reg(reg)];
        Ok(match (class(from), class(to)) {
            (Class::B32, Class::B16) => self.made("cvt.u16.u32", Class::B16, ops),
            (Class::B16, Class::B32) => Part::Reg(self.one("cvt.u32.u16", Class::B32, ops), Ext::Zero),
            (from, to_class) if from == to_class => Part::of(to, reg),
            (_, to_class @ (Class::F32 | Class::B32)) => self.made("mov.b32", to_class, ops),
            (_, to_class) => self.made("mov.b64", to_class, ops),
        })
    }

    /// Packs parts into words of 32 bits; the last one may have fewer.
    fn pack_words(&mut self, parts: &[Part], scalars: &[Scalar]) -> Result<Vec<Op>> {
        let mut words = Vec::new();
        let mut at = 0;
        while at < parts.len() {
            let scalar = scalars[at];
            match scalar.bits() {
                64 => {
                    let reg = self.in_register(&parts[at], scalar)?;
                    let (low, high) = (self.new_reg(Class::B32), self.new_reg(Class::B32));
                    self.push("mov.b64", vec![Op::List(vec![Op::Reg(low), Op::Reg(high)])], vec![reg], false);
                    words.extend([Op::Reg(low), Op::Reg(high)]);
                    at += 1;
                }
                32 => {
                    let reg = self.register(&parts[at], scalar)?;
                    let is_float = class(scalar) != Class::B32;
                    words.push(Op::Reg(if is_float { self.one("mov.b32", Class::B32, vec![Op::Reg(reg)]) } else { reg }));
                    at += 1;
                }
                16 => {
                    let mut halves = Vec::new();
                    while halves.len() < 2 && at < parts.len() && scalars[at].bits() == 16 {
                        let reg = self.in_register(&parts[at], scalars[at])?;
                        let is_half = class(scalars[at]) == Class::B16;
                        halves.push(if is_half { self.value("cvt.u32.u16", Class::B32, vec![reg]) } else { reg });
                        at += 1;
                    }
                    words.push(self.packed(&halves, "0x5410"));
                }
                _ => {
                    let mut bytes = Vec::new();
                    while bytes.len() < 4 && at < parts.len() && scalars[at].bits() == 8 {
                        bytes.push(self.in_register(&parts[at], scalars[at])?);
                        at += 1;
                    }
                    let pairs: Vec<Op> = bytes.chunks(2).map(|pair| self.packed(pair, "0x3340")).collect();
                    words.push(self.packed(&pairs, "0x5410"));
                }
            }
        }
        Ok(words)
    }

    fn packed(&mut self, pair: &[Op], selector: &'static str) -> Op {
        match pair {
            [a, b] => self.value("prmt.b32", Class::B32, vec![a.clone(), b.clone(), Op::Text(selector.into())]),
            _ => pair[0].clone(),
        }
    }

    fn unpack_words(&mut self, words: &[Op], scalars: &[Scalar]) -> Result<Vec<Part>> {
        let mut parts = Vec::with_capacity(scalars.len());
        let mut bit = 0_u32;
        for scalar in scalars {
            let Some(word) = words.get((bit / 32) as usize).cloned() else {
                return self.fail("a bitcast of too few bits");
            };
            let start = i64::from(bit % 32);
            let target = class(*scalar);
            parts.push(match scalar.bits() {
                64 => {
                    let Some(next) = words.get((bit / 32) as usize + 1).cloned() else {
                        return self.fail("a bitcast of too few bits");
                    };
                    let reg = self.one("mov.b64", target, vec![Op::List(vec![word, next])]);
                    Part::of(*scalar, reg)
                }
                32 => match word {
                    Op::Reg(reg) if target == Class::B32 => Part::reg(reg),
                    word => self.made(mov(target), target, vec![word]),
                },
                width => {
                    let reg = self.one("bfe.u32", Class::B32, vec![word, int(start), int(i64::from(width))]);
                    if target == Class::B16 {
                        self.made("cvt.u16.u32", Class::B16, vec![Op::Reg(reg)])
                    } else {
                        Part::Reg(reg, Ext::Zero)
                    }
                }
            });
            bit += scalar.bits();
        }
        Ok(parts)
    }
}
