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
                    Some(arg) if arg.ty == inst.ty => self.data_parts(&arg.value, &arg.ty),
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
        let mut operands = Vec::with_capacity(args.len());
        for arg in args {
            operands.push((self.data_parts(&arg.value, &arg.ty)?, arg.ty.scalar().clone()));
        }
        let Some((leading, ty)) = operands.first() else {
            return self.unsupported(name);
        };
        let (lanes, scalar) = (leading.len(), self.scalar(ty)?);
        if matches!(ty, Type::Int(65..)) {
            return self.fail(format!("the intrinsic llvm.{name} with an integer of more than 64 bits"));
        }
        let mut results: Vec<Vec<Part>> = Vec::with_capacity(lanes);
        for lane in 0..lanes {
            // A flag, such as that of `ctlz`, is the same for all elements.
            let parts: Vec<Part> = operands.iter().filter_map(|(parts, _)| parts.get(lane).or(parts.first()).cloned()).collect();
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
        match (first, parts) {
            ("fma" | "fmuladd", [a, b, c]) => self.fma(scalar, a, b, c),
            ("fabs", [a]) => self.unary(format!("abs.{ty}"), scalar, a),
            ("minnum", [a, b]) => self.two(format!("min.{ty}"), scalar, a, b),
            ("maxnum", [a, b]) => self.two(format!("max.{ty}"), scalar, a, b),
            ("minimum", [a, b]) if scalar != Scalar::Double => self.two(format!("min.NaN.{ty}"), scalar, a, b),
            ("maximum", [a, b]) if scalar != Scalar::Double => self.two(format!("max.NaN.{ty}"), scalar, a, b),
            _ if scalar == Scalar::BFloat => self.no_function(name),
            ("minimumnum", [a, b]) => self.two(format!("min.{ty}"), scalar, a, b),
            ("maximumnum", [a, b]) => self.two(format!("max.{ty}"), scalar, a, b),
            ("sqrt", [a]) if !is_half => self.unary(format!("sqrt.rn.{ty}"), scalar, a),
            // PTX takes the sign first.
            ("copysign", [a, b]) if !is_half => self.two(format!("copysign.{ty}"), scalar, b, a),
            ("floor", [a]) => self.unary(format!("cvt.rmi.{ty}.{ty}"), scalar, a),
            ("ceil", [a]) => self.unary(format!("cvt.rpi.{ty}.{ty}"), scalar, a),
            ("trunc", [a]) => self.unary(format!("cvt.rzi.{ty}.{ty}"), scalar, a),
            ("rint" | "nearbyint" | "roundeven", [a]) => self.unary(format!("cvt.rni.{ty}.{ty}"), scalar, a),
            ("round", [a]) if !is_half => self.round(scalar, a),
            ("exp2", [a]) if is_approximate => self.unary("ex2.approx.f32".to_owned(), scalar, a),
            ("log2", [a]) if is_approximate => self.unary("lg2.approx.f32".to_owned(), scalar, a),
            ("sin" | "cos", [a]) if is_approximate => self.unary(format!("{first}.approx.f32"), scalar, a),
            ("canonicalize", [a]) => Ok(a.clone()),
            ("fptosi" | "fptoui", [a]) => {
                // `cvt` saturates, and makes zero of a NaN.
                let Type::Int(width @ (32 | 64)) = result.scalar() else { return self.no_function(name) };
                let letter = if first == "fptosi" { 's' } else { 'u' };
                let a = self.in_register(a, scalar)?;
                Ok(self.made(format!("cvt.rzi.{letter}{width}.{ty}"), whole(*width).1, vec![a]))
            }
            _ => self.no_function(name),
        }
    }

    fn no_function<T>(&self, name: &str) -> Result<T> {
        self.fail(format!("the function llvm.{name} is not supported; it has no instruction of the same accuracy"))
    }

    fn unsupported<T>(&self, name: &str) -> Result<T> {
        self.fail(format!("the intrinsic llvm.{name} is not supported"))
    }

    pub fn unary(&mut self, opcode: String, scalar: Scalar, a: &Part) -> Result<Part> {
        let a = self.in_register(a, scalar)?;
        Ok(self.made(opcode, class(scalar), vec![a]))
    }

    pub fn two(&mut self, opcode: String, scalar: Scalar, a: &Part, b: &Part) -> Result<Part> {
        let a = self.in_register(a, scalar)?;
        let b = self.operand(b, scalar)?;
        Ok(self.made(opcode, class(scalar), vec![a, b]))
    }

    /// Rounds to the nearest whole number, halves away from zero, as LLVM's back end expands it.
    fn round(&mut self, scalar: Scalar, a: &Part) -> Result<Part> {
        let (ty, reg_class) = (suffix(scalar), class(scalar));
        let a = self.in_register(a, scalar)?;
        let magnitude = self.value(format!("abs.{ty}"), reg_class, vec![a.clone()]);
        let half = self.float_literal(scalar, 0.5);
        let below = self.value(format!("setp.lt.{ty}"), Class::Pred, vec![magnitude.clone(), half.clone()]);
        let whole = self.one(format!("cvt.rzi.{ty}.{ty}"), reg_class, vec![a.clone()]);
        let large = self.float_literal(scalar, if scalar == Scalar::Double { 4_503_599_627_370_496.0 } else { 8_388_608.0 });
        let above = self.value(format!("setp.gt.{ty}"), Class::Pred, vec![magnitude.clone(), large]);
        let away = if scalar == Scalar::Double {
            let sum = self.one("add.rn.f64", reg_class, vec![magnitude, half]);
            let sum = self.one("cvt.rzi.f64.f64", reg_class, vec![Op::Reg(sum)]);
            self.one("copysign.f64", reg_class, vec![a.clone(), Op::Reg(sum)])
        } else {
            let half = self.moved(half, reg_class);
            let half = self.one("copysign.f32", reg_class, vec![a.clone(), Op::Reg(half)]);
            let sum = self.one("add.rn.f32", reg_class, vec![a.clone(), Op::Reg(half)]);
            self.one("cvt.rzi.f32.f32", reg_class, vec![Op::Reg(sum)])
        };
        let rounded = self.one(format!("selp.{ty}"), reg_class, vec![a, Op::Reg(away), above]);
        Ok(self.made(format!("selp.{ty}"), reg_class, vec![Op::Reg(whole), Op::Reg(rounded), below]))
    }

    fn integer_function(&mut self, name: &str, first: &str, scalar: Scalar, parts: &[Part]) -> Result<Vec<Part>> {
        let Scalar::Int(width @ 2..) = scalar else {
            return self.truth_function(name, first, parts);
        };
        let (bits, reg_class) = whole(width);
        let is_exact = width == bits;
        let (ext, letter) = if first.starts_with('s') { (Ext::Sign, 's') } else { (Ext::Zero, 'u') };
        let unsigned = |this: &mut Self, part: &Part| this.extended_in_register(part, width, Ext::Zero);
        let plain = |this: &mut Self, opcode: String, args: Vec<Op>, ext: Ext| Part::Reg(this.one(opcode, reg_class, args), ext);
        Ok(vec![match (first, parts) {
            ("smax" | "smin" | "umax" | "umin", [a, b]) => {
                let (a, b) = (self.extended_in_register(a, width, ext)?, self.extended(b, width, ext)?);
                plain(self, format!("{}.{letter}{bits}", &first[1..]), vec![a, b], ext)
            }
            ("abs", [a, ..]) => {
                let a = self.extended_in_register(a, width, Ext::Sign)?;
                plain(self, format!("abs.s{bits}"), vec![a], Ext::Any)
            }
            ("ctpop", [a]) => {
                let a = unsigned(self, a)?;
                self.counted(format!("popc.b{bits}"), a, width)
            }
            ("ctlz", [a, ..]) => {
                let a = unsigned(self, a)?;
                match self.counted(format!("clz.b{bits}"), a, width) {
                    Part::Reg(count, _) if !is_exact => {
                        plain(self, format!("sub.s{bits}"), vec![Op::Reg(count), int(i64::from(bits - width))], Ext::Zero)
                    }
                    count => count,
                }
            }
            ("cttz", [a, ..]) => {
                let mut a = unsigned(self, a)?;
                if !is_exact {
                    // A bit above stops the count.
                    a = self.value(format!("or.b{bits}"), reg_class, vec![a, int(1 << width)]);
                }
                let reversed = self.value(format!("brev.b{bits}"), reg_class, vec![a]);
                self.counted(format!("clz.b{bits}"), reversed, width)
            }
            ("bitreverse", [a]) => {
                let a = unsigned(self, a)?;
                let reversed = self.one(format!("brev.b{bits}"), reg_class, vec![a]);
                if is_exact {
                    Part::reg(reversed)
                } else {
                    plain(self, format!("shr.u{bits}"), vec![Op::Reg(reversed), int(i64::from(bits - width))], Ext::Zero)
                }
            }
            ("bswap", [a]) => self.byte_swap(a, width)?,
            ("fshl" | "fshr", [a, b, c]) => self.funnel(first == "fshl", width, a, b, c)?,
            ("sadd" | "ssub", [a, b]) if name.contains(".sat") && width == 32 => {
                let (a, b) = (self.extended_in_register(a, width, ext)?, self.extended(b, width, ext)?);
                plain(self, format!("{}.sat.s32", &first[1..]), vec![a, b], Ext::Any)
            }
            ("usub", [a, b]) if name.contains(".sat") => {
                let (a, b) = (unsigned(self, a)?, unsigned(self, b)?);
                let larger = self.one(format!("max.u{bits}"), reg_class, vec![a, b.clone()]);
                plain(self, format!("sub.s{bits}"), vec![Op::Reg(larger), b], Ext::Zero)
            }
            ("uadd", [a, b]) if name.contains(".sat") && is_exact => {
                let (a, b) = (unsigned(self, a)?, unsigned(self, b)?);
                let room = self.one(format!("not.b{bits}"), reg_class, vec![b.clone()]);
                let least = self.one(format!("min.u{bits}"), reg_class, vec![a, Op::Reg(room)]);
                plain(self, format!("add.s{bits}"), vec![Op::Reg(least), b], Ext::Any)
            }
            ("uadd" | "usub" | "umul" | "sadd" | "ssub" | "smul", [a, b]) if name.contains(".with.overflow") && is_exact => {
                return self.with_overflow(first, width, a, b);
            }
            ("scmp" | "ucmp", [a, b]) => {
                let (a, b) = (self.extended_reg(a, width, ext)?, self.extended(b, width, ext)?);
                let more = self.one(format!("setp.gt.{letter}{bits}"), Class::Pred, vec![Op::Reg(a), b.clone()]);
                let less = self.one(format!("setp.lt.{letter}{bits}"), Class::Pred, vec![Op::Reg(a), b]);
                let positive = self.one("selp.b32", Class::B32, vec![int(1), int(0), Op::Reg(more)]);
                Part::Reg(self.one("selp.b32", Class::B32, vec![int(-1), Op::Reg(positive), Op::Reg(less)]), Ext::Sign)
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
    fn counted(&mut self, opcode: String, a: Op, width: u32) -> Part {
        let count = self.one(opcode, Class::B32, vec![a]);
        let is_wide = width > 32;
        Part::Reg(if is_wide { self.one("cvt.u64.u32", Class::B64, vec![Op::Reg(count)]) } else { count }, Ext::Zero)
    }

    fn byte_swap(&mut self, a: &Part, width: u32) -> Result<Part> {
        let prmt = |this: &mut Self, reg: Op, selector: &'static str| {
            this.one("prmt.b32", Class::B32, vec![reg, int(0), Op::Text(selector.into())])
        };
        let reg = self.in_register(a, Scalar::Int(width))?;
        match width {
            16 => Ok(Part::Reg(prmt(self, reg, "0x4401"), Ext::Zero)),
            32 => Ok(Part::reg(prmt(self, reg, "0x0123"))),
            64 => {
                let (low, high) = (self.new_reg(Class::B32), self.new_reg(Class::B32));
                self.push("mov.b64", vec![Op::List(vec![Op::Reg(low), Op::Reg(high)])], vec![reg], false);
                let (low, high) = (prmt(self, Op::Reg(low), "0x0123"), prmt(self, Op::Reg(high), "0x0123"));
                Ok(self.made("mov.b64", Class::B64, vec![Op::List(vec![Op::Reg(high), Op::Reg(low)])]))
            }
            _ => self.fail(format!("a swap of the bytes of an integer of {width} bits")),
        }
    }

    /// Makes the code of `fshl` and `fshr`: a shift of two words.
    fn funnel(&mut self, is_left: bool, width: u32, a: &Part, b: &Part, c: &Part) -> Result<Part> {
        if width == 32 {
            let opcode = if is_left { "shf.l.wrap.b32" } else { "shf.r.wrap.b32" };
            let (high, low) = (self.register(a, Scalar::Int(32))?, self.register(b, Scalar::Int(32))?);
            let amount = self.operand(c, Scalar::Int(32))?;
            return Ok(self.made(opcode, Class::B32, vec![Op::Reg(low), Op::Reg(high), amount]));
        }
        if !matches!(width, 8 | 16 | 64) {
            return self.fail(format!("a funnel shift of integers of {width} bits"));
        }
        let (bits, reg_class) = if width == 64 { (64, Class::B64) } else { (32, Class::B32) };
        let (high, low) = (self.extended_reg(a, width, Ext::Zero)?, self.extended_reg(b, width, Ext::Zero)?);
        let amount = match self.extended(c, width, Ext::Zero)? {
            Op::Reg(reg) if width == 64 => self.value("cvt.u32.u64", Class::B32, vec![Op::Reg(reg)]),
            Op::Reg(reg) => Op::Reg(reg),
            literal => Op::Reg(self.moved(literal, Class::B32)),
        };
        let amount = self.value("and.b32", Class::B32, vec![amount, int(i64::from(width - 1))]);
        let rest = self.value("sub.s32", Class::B32, vec![int(i64::from(width - 1)), amount.clone()]);
        // The word that moves by less than all its bits is shifted by one more in two steps, since a shift by all bits would not wrap.
        let (left, right) = if is_left {
            let left = self.one(format!("shl.b{bits}"), reg_class, vec![Op::Reg(high), amount]);
            let one = self.one(format!("shr.u{bits}"), reg_class, vec![Op::Reg(low), int(1)]);
            (left, self.one(format!("shr.u{bits}"), reg_class, vec![Op::Reg(one), rest]))
        } else {
            let one = self.one(format!("shl.b{bits}"), reg_class, vec![Op::Reg(high), int(1)]);
            let left = self.one(format!("shl.b{bits}"), reg_class, vec![Op::Reg(one), rest]);
            (left, self.one(format!("shr.u{bits}"), reg_class, vec![Op::Reg(low), amount]))
        };
        Ok(self.made(format!("or.b{bits}"), reg_class, vec![Op::Reg(left), Op::Reg(right)]))
    }

    fn with_overflow(&mut self, first: &str, width: u32, a: &Part, b: &Part) -> Result<Vec<Part>> {
        let scalar = Scalar::Int(width);
        let reg_class = class(scalar);
        let (a, b) = (self.in_register(a, scalar)?, self.in_register(b, scalar)?);
        let one = |this: &mut Self, opcode: String, args: Vec<Op>| this.value(opcode, reg_class, args);
        let name = if first.ends_with("mul") { "mul.lo" } else { &first[1..] };
        let result = one(self, format!("{name}.s{width}"), vec![a.clone(), b.clone()]);
        let over = match first {
            "uadd" => self.one(format!("setp.lt.u{width}"), Class::Pred, vec![result.clone(), a]),
            "usub" => self.one(format!("setp.lt.u{width}"), Class::Pred, vec![a, b]),
            "umul" => {
                let high = one(self, format!("mul.hi.u{width}"), vec![a, b]);
                self.one(format!("setp.ne.s{width}"), Class::Pred, vec![high, int(0)])
            }
            "smul" => {
                let high = one(self, format!("mul.hi.s{width}"), vec![a, b]);
                let sign = one(self, format!("shr.s{width}"), vec![result.clone(), int(i64::from(width - 1))]);
                self.one(format!("setp.ne.s{width}"), Class::Pred, vec![high, sign])
            }
            _ => {
                // The sign of the result differs from that of both operands of a sum (of the first, and not of the second).
                let left = one(self, format!("xor.b{width}"), vec![a.clone(), result.clone()]);
                let other = if first == "sadd" { result.clone() } else { a };
                let right = one(self, format!("xor.b{width}"), vec![b, other]);
                let both = one(self, format!("and.b{width}"), vec![left, right]);
                self.one(format!("setp.lt.s{width}"), Class::Pred, vec![both, int(0)])
            }
        };
        let Op::Reg(result) = result else { return self.fail("an overflow of a constant") };
        Ok(vec![Part::reg(result), Part::reg(over)])
    }

    /// Makes the code of `vector.reduce.add.v4i32` and its like, in order.
    fn reduce(&mut self, name: &str, args: &[Arg]) -> Result<Vec<Part>> {
        let Some(op) = name.strip_prefix("vector.reduce.").and_then(|rest| rest.split('.').next()) else {
            return self.unsupported(name);
        };
        let Some(vector) = args.last() else {
            return self.fail("a reduction of nothing");
        };
        let scalar = self.scalar(vector.ty.scalar())?;
        let mut parts = self.data_parts(&vector.value, &vector.ty)?;
        if let [start, _] = args {
            parts.insert(0, self.data_part(&start.value, &start.ty)?);
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
