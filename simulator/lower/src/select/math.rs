//! Intrinsic functions of LLVM.

use super::prelude::*;

impl Selector<'_> {
    /// Makes the code of `llvm.name.types`; the name comes without its first word.
    pub fn llvm(&mut self, inst: &Inst, name: &str, args: &[Arg], flags: Flags) -> Result<Vec<Part>> {
        let first = name.split('.').next().unwrap_or(name);
        match first {
            "memcpy" | "memmove" | "memset" => return self.copy_memory(first, args),
            "trap" | "ubsantrap" | "debugtrap" => {
                self.effect(if first == "debugtrap" { "brkpt" } else { "trap" }, Vec::new());
                return Ok(Vec::new());
            }
            "expect" | "launder" | "strip" | "ssa" => {
                return match args.first() {
                    Some(arg) if *self.function.ty(&arg.value) == inst.ty => self.data_parts(&arg.value),
                    _ => self.fail(format!("the intrinsic llvm.{name}")),
                };
            }
            "is" if name.starts_with("is.constant") => return Ok(vec![Part::Bits(0)]),
            "is" if name.starts_with("is.fpclass") => return self.float_class(args),
            "vector" => return self.reduce(name, args),
            "readcyclecounter" => return self.clock(),
            _ => {}
        }
        // All others work element by element.
        let operands = args.iter().map(|arg| self.data_parts(&arg.value)).collect::<Result<Vec<_>>>()?;
        let (Some(leading), Some(arg)) = (operands.first(), args.first()) else { return self.unsupported(name) };
        let ty = self.function.ty(&arg.value).scalar();
        let (lanes, scalar) = (leading.len(), self.scalar(ty)?);
        if matches!(ty, Type::Int(65..)) {
            return self.fail(format!("the intrinsic llvm.{name} with an integer of more than 64 bits"));
        }
        let mut results: Vec<Vec<Part>> = Vec::with_capacity(lanes);
        for lane in 0..lanes {
            // A flag, such as that of `ctlz`, is the same for all elements.
            let parts: Vec<Part> = operands.iter().filter_map(|parts| parts.get(lane).or(parts.first()).cloned()).collect();
            results.push(if scalar.is_float() {
                vec![self.float_function(name, scalar, &parts, flags, &inst.ty)?]
            } else {
                self.integer_function(name, first, scalar, &parts)?
            });
        }
        // `with.overflow` has a structure: all values, then all truths.
        let width = results.first().map_or(1, Vec::len);
        Ok((0..width).flat_map(|at| results.iter().filter_map(move |lane| lane.get(at).cloned())).collect())
    }

    fn float_function(&mut self, name: &str, scalar: Scalar, parts: &[Part], flags: Flags, result: &Type) -> Result<Part> {
        let first = name.split('.').next().unwrap_or(name);
        let ty = suffix(scalar);
        let is_half = scalar == Scalar::Half;
        let is_approximate = scalar == Scalar::Float && flags.afn;
        let opcode = match (first, parts) {
            ("fma" | "fmuladd", [a, b, c]) => return self.fma(scalar, a, b, c),
            ("fabs", [_]) => format!("abs.{ty}"),
            ("minnum" | "maxnum", [_, _]) => format!("{}.{ty}", &first[..3]),
            ("minimum" | "maximum", [_, _]) if scalar != Scalar::Double => format!("{}.NaN.{ty}", &first[..3]),
            _ if scalar == Scalar::BFloat => return self.no_function(name),
            ("minimumnum" | "maximumnum", [_, _]) => format!("{}.{ty}", &first[..3]),
            ("sqrt", [_]) if !is_half => format!("sqrt.rn.{ty}"),
            // PTX takes the sign first.
            ("copysign", [a, b]) if !is_half => return self.two(format!("copysign.{ty}"), scalar, b, a),
            ("floor", [_]) => format!("cvt.rmi.{ty}.{ty}"),
            ("ceil", [_]) => format!("cvt.rpi.{ty}.{ty}"),
            ("trunc", [_]) => format!("cvt.rzi.{ty}.{ty}"),
            ("rint" | "nearbyint" | "roundeven", [_]) => format!("cvt.rni.{ty}.{ty}"),
            ("round", [a]) if !is_half => return self.round(scalar, a),
            ("exp2", [_]) if is_approximate => "ex2.approx.f32".to_owned(),
            ("log2", [_]) if is_approximate => "lg2.approx.f32".to_owned(),
            ("sin" | "cos", [_]) if is_approximate => format!("{first}.approx.f32"),
            ("canonicalize", [a]) => return Ok(a.clone()),
            ("fptosi" | "fptoui", [a]) => {
                // `cvt` saturates, and makes zero of a NaN.
                let Type::Int(width @ (32 | 64)) = result.scalar() else { return self.no_function(name) };
                let letter = if first == "fptosi" { 's' } else { 'u' };
                let a = self.register(a, scalar)?;
                return Ok(self.made(format!("cvt.rzi.{letter}{width}.{ty}"), whole(*width).1, ops![a]));
            }
            _ => return self.no_function(name),
        };
        match parts {
            [a] => self.unary(opcode, scalar, a),
            [a, b] => self.two(opcode, scalar, a, b),
            _ => self.no_function(name),
        }
    }

    fn no_function<T>(&self, name: &str) -> Result<T> {
        self.fail(format!("the function llvm.{name} is not supported; it has no instruction of the same accuracy"))
    }

    fn unsupported<T>(&self, name: &str) -> Result<T> {
        self.fail(format!("the intrinsic llvm.{name} is not supported"))
    }

    /// Rounds to the nearest integer, halves away from zero. LLVM's back end expands it the same way.
    fn round(&mut self, scalar: Scalar, a: &Part) -> Result<Part> {
        let (ty, class) = (suffix(scalar), class(scalar));
        let a = self.register(a, scalar)?;
        let magnitude = self.one(format!("abs.{ty}"), class, ops![a]);
        let half = self.float_literal(scalar, 0.5)?;
        let below = self.pred(format!("setp.lt.{ty}"), ops![magnitude, half.clone()]);
        let whole = self.one(format!("cvt.rzi.{ty}.{ty}"), class, ops![a]);
        let large = self.float_literal(scalar, if scalar == Scalar::Double { 4_503_599_627_370_496.0 } else { 8_388_608.0 })?;
        let above = self.pred(format!("setp.gt.{ty}"), ops![magnitude, large]);
        let away = if scalar == Scalar::Double {
            let sum = self.one("add.rn.f64", class, ops![magnitude, half]);
            let sum = self.one("cvt.rzi.f64.f64", class, ops![sum]);
            self.one("copysign.f64", class, ops![a, sum])
        } else {
            let half = self.moved(half, class);
            let half = self.one("copysign.f32", class, ops![a, half]);
            let sum = self.one("add.rn.f32", class, ops![a, half]);
            self.one("cvt.rzi.f32.f32", class, ops![sum])
        };
        let rounded = self.one(format!("selp.{ty}"), class, ops![a, away, above]);
        Ok(self.made(format!("selp.{ty}"), class, ops![whole, rounded, below]))
    }

    fn integer_function(&mut self, name: &str, first: &str, scalar: Scalar, parts: &[Part]) -> Result<Vec<Part>> {
        let Scalar::Int(width @ 2..) = scalar else { return self.truth_function(name, first, parts) };
        let (bits, class) = whole(width);
        let is_exact = width == bits;
        let (ext, letter) = if first.starts_with('s') { (Ext::Sign, 's') } else { (Ext::Zero, 'u') };
        let unsigned = |this: &mut Self, part: &Part| this.extended_reg(part, width, Ext::Zero);
        Ok(vec![match (first, parts) {
            ("smax" | "smin" | "umax" | "umin", [a, b]) => {
                let args = ops![self.extended_reg(a, width, ext)?, self.extended(b, width, ext)?];
                Part::Reg(self.one(format!("{}.{letter}{bits}", &first[1..]), class, args), ext)
            }
            ("abs", [a, ..]) => {
                let a = self.extended_reg(a, width, Ext::Sign)?;
                self.made(format!("abs.s{bits}"), class, ops![a])
            }
            ("ctpop", [a]) => {
                let a = unsigned(self, a)?;
                self.counted(format!("popc.b{bits}"), a)
            }
            ("ctlz", [a, ..]) => {
                let a = unsigned(self, a)?;
                match self.counted(format!("clz.b{bits}"), a) {
                    Part::Reg(count, ext) if !is_exact => {
                        Part::Reg(self.one(format!("sub.s{bits}"), class, ops![count, bits - width]), ext)
                    }
                    count => count,
                }
            }
            ("cttz", [a, ..]) => {
                let mut a = unsigned(self, a)?;
                if !is_exact {
                    // A bit above stops the count.
                    a = self.one(format!("or.b{bits}"), class, ops![a, 1_i64 << width]);
                }
                let reversed = self.one(format!("brev.b{bits}"), class, ops![a]);
                self.counted(format!("clz.b{bits}"), reversed)
            }
            ("bitreverse", [a]) => {
                let a = unsigned(self, a)?;
                let reversed = self.one(format!("brev.b{bits}"), class, ops![a]);
                if is_exact {
                    Part::reg(reversed)
                } else {
                    Part::Reg(self.one(format!("shr.u{bits}"), class, ops![reversed, bits - width]), Ext::Zero)
                }
            }
            ("bswap", [a]) => self.byte_swap(a, width)?,
            ("fshl" | "fshr", [a, b, c]) => self.funnel(first == "fshl", width, a, b, c)?,
            ("sadd" | "ssub", [a, b]) if name.contains(".sat") && width == 32 => {
                let args = ops![self.extended_reg(a, width, ext)?, self.extended(b, width, ext)?];
                self.made(format!("{}.sat.s32", &first[1..]), class, args)
            }
            ("usub", [a, b]) if name.contains(".sat") => {
                let (a, b) = (unsigned(self, a)?, unsigned(self, b)?);
                let larger = self.one(format!("max.u{bits}"), class, ops![a, b]);
                Part::Reg(self.one(format!("sub.s{bits}"), class, ops![larger, b]), Ext::Zero)
            }
            ("uadd", [a, b]) if name.contains(".sat") && is_exact => {
                let (a, b) = (unsigned(self, a)?, unsigned(self, b)?);
                let room = self.one(format!("not.b{bits}"), class, ops![b]);
                let least = self.one(format!("min.u{bits}"), class, ops![a, room]);
                self.made(format!("add.s{bits}"), class, ops![least, b])
            }
            ("uadd" | "usub" | "umul" | "sadd" | "ssub" | "smul", [a, b]) if name.contains(".with.overflow") && is_exact => {
                return self.with_overflow(first, width, a, b);
            }
            ("scmp" | "ucmp", [a, b]) => {
                let (a, b) = (self.extended_reg(a, width, ext)?, self.extended(b, width, ext)?);
                let more = self.pred(format!("setp.gt.{letter}{bits}"), ops![a, b.clone()]);
                let less = self.pred(format!("setp.lt.{letter}{bits}"), ops![a, b]);
                let positive = self.b32("selp.b32", ops![1, 0, more]);
                Part::Reg(self.b32("selp.b32", ops![-1, positive, less]), Ext::Sign)
            }
            _ => return self.unsupported(name),
        }])
    }

    /// Functions of truth values, which optimizers leave rarely.
    fn truth_function(&mut self, name: &str, first: &str, parts: &[Part]) -> Result<Vec<Part>> {
        match (first, parts) {
            ("umax" | "smin", [a, b]) => Ok(vec![self.logic(Binary::Or, a, b)?]),
            ("umin" | "smax", [a, b]) => Ok(vec![self.logic(Binary::And, a, b)?]),
            ("abs" | "ctpop" | "bitreverse", [a, ..]) => Ok(vec![a.clone()]),
            ("ctlz" | "cttz", [a, ..]) => Ok(vec![self.not(a)?]),
            _ => self.unsupported(name),
        }
    }

    /// Makes a count of bits, which PTX returns in 32 of them.
    fn counted(&mut self, opcode: String, a: Reg) -> Part {
        let mut count = self.b32(opcode, ops![a]);
        if self.class(a) == Class::B64 {
            count = self.b64("cvt.u64.u32", ops![count]);
        }
        Part::Reg(count, Ext::Zero)
    }

    fn byte_swap(&mut self, a: &Part, width: u32) -> Result<Part> {
        let reg = self.register(a, Scalar::Int(width))?;
        match width {
            16 => Ok(Part::Reg(self.b32("prmt.b32", ops![reg, 0, "0x4401"]), Ext::Zero)),
            32 => Ok(self.made("prmt.b32", Class::B32, ops![reg, 0, "0x0123"])),
            64 => {
                let [low, high] = self.halves(reg).map(|half| self.b32("prmt.b32", ops![half, 0, "0x0123"]));
                Ok(self.made("mov.b64", Class::B64, ops![&[high, low][..]]))
            }
            _ => self.fail(format!("a swap of the bytes of an integer of {width} bits")),
        }
    }

    /// Makes the code of `fshl` and `fshr`: a shift of two words.
    fn funnel(&mut self, is_left: bool, width: u32, a: &Part, b: &Part, c: &Part) -> Result<Part> {
        if width == 32 {
            let opcode = if is_left { "shf.l.wrap.b32" } else { "shf.r.wrap.b32" };
            let [high, low] = [self.register(a, Scalar::Int(32))?, self.register(b, Scalar::Int(32))?];
            let amount = self.operand(c, Scalar::Int(32))?;
            return Ok(self.made(opcode, Class::B32, ops![low, high, amount]));
        }
        if !matches!(width, 8 | 16 | 64) {
            return self.fail(format!("a funnel shift of integers of {width} bits"));
        }
        let (bits, class) = whole(width);
        let (high, low) = (self.extended_reg(a, width, Ext::Zero)?, self.extended_reg(b, width, Ext::Zero)?);
        let amount = match self.extended(c, width, Ext::Zero)? {
            Op::Reg(reg) if width == 64 => self.b32("cvt.u32.u64", ops![reg]),
            amount => self.in_register(amount, Class::B32),
        };
        let amount = self.b32("and.b32", ops![amount, width - 1]);
        let rest = self.b32("sub.s32", ops![width - 1, amount]);
        // The word that moves by less than all its bits is shifted by one more in two steps, since a shift by all bits would not wrap.
        let shift = |this: &mut Self, opcode: &str, reg: Reg, by: &[Op]| {
            by.iter().fold(reg, |reg, by| this.one(format!("{opcode}{bits}"), class, ops![reg, by.clone()]))
        };
        let (once, twice) = (ops![amount], ops![1, rest]);
        let (by_left, by_right) = if is_left { (once, twice) } else { (twice, once) };
        let (left, right) = (shift(self, "shl.b", high, &by_left), shift(self, "shr.u", low, &by_right));
        Ok(self.made(format!("or.b{bits}"), class, ops![left, right]))
    }

    fn with_overflow(&mut self, first: &str, width: u32, a: &Part, b: &Part) -> Result<Vec<Part>> {
        let scalar = Scalar::Int(width);
        let (a, b) = (self.register(a, scalar)?, self.register(b, scalar)?);
        let one = |this: &mut Self, opcode: &str, args: Vec<Op>| this.one(format!("{opcode}{width}"), class(scalar), args);
        let name = if first.ends_with("mul") { "mul.lo" } else { &first[1..] };
        let result = one(self, &format!("{name}.s"), ops![a, b]);
        let (comparison, args) = match first {
            "uadd" => ("lt.u", ops![result, a]),
            "usub" => ("lt.u", ops![a, b]),
            "umul" => ("ne.s", ops![one(self, "mul.hi.u", ops![a, b]), 0]),
            "smul" => ("ne.s", ops![one(self, "mul.hi.s", ops![a, b]), one(self, "shr.s", ops![result, width - 1])]),
            _ => {
                // The sign of the result differs from that of both operands of a sum (of the first, and not of the second).
                let left = one(self, "xor.b", ops![a, result]);
                let right = one(self, "xor.b", ops![b, if first == "sadd" { result } else { a }]);
                ("lt.s", ops![one(self, "and.b", ops![left, right]), 0])
            }
        };
        let over = self.made(format!("setp.{comparison}{width}"), Class::Pred, args);
        Ok(vec![Part::reg(result), over])
    }

    /// Makes the code of `vector.reduce.add.v4i32` and its like, in order.
    fn reduce(&mut self, name: &str, args: &[Arg]) -> Result<Vec<Part>> {
        let Some(op) = name.strip_prefix("vector.reduce.").and_then(|rest| rest.split('.').next()) else {
            return self.unsupported(name);
        };
        let Some(vector) = args.last() else { return self.fail("a reduction of nothing") };
        let scalar = self.scalar(self.function.ty(&vector.value).scalar())?;
        let mut parts = self.data_parts(&vector.value)?;
        if let [start, _] = args {
            parts.insert(0, self.data_part(&start.value)?);
        }
        let binary = Binary::of(op);
        let mut parts = parts.into_iter();
        let Some(mut sum) = parts.next() else { return self.fail("a reduction of nothing") };
        for part in parts {
            sum = match (binary, scalar) {
                (Some(op), _) => self.binary_part(op, Flags::default(), scalar, &sum, &part)?,
                (None, Scalar::Int(_)) => self.integer_function(name, op, scalar, &[sum, part])?.pop().unwrap_or(Part::Undef),
                (None, _) if matches!(op, "fmin" | "fmax") => {
                    self.two(format!("{}.{}", &op[1..], suffix(scalar)), scalar, &sum, &part)?
                }
                _ => return self.unsupported(name),
            };
        }
        Ok(vec![sum])
    }
}
