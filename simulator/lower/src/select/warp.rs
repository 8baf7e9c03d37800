//! Intrinsic functions of NVPTX: special registers, barriers, exchanges between lanes, and instructions of PTX by name.

use std::borrow::Cow;

use super::memory::scope;
use super::prelude::*;
use crate::ir::Access;

impl Selector<'_> {
    /// Makes the code of `llvm.nvvm.name`; the name comes without its first two words.
    pub fn nvvm(&mut self, inst: &Inst, name: &str, args: &[Arg]) -> Result<Vec<Part>> {
        if let Some(register) = name.strip_prefix("read.ptx.sreg.") {
            return self.special_register(register, &inst.ty);
        }
        let words: Vec<&str> = name.split('.').collect();
        match (words.as_slice(), args) {
            (["barrier0"], _) => {
                self.effect("bar.sync", ops![0]);
                Ok(Vec::new())
            }
            (["barrier", "n"] | ["barrier", "cta", "sync", "aligned", "all" | "count"], _) => self.effects("bar.sync", args),
            (["barrier", "sync"] | ["barrier", "sync", "cnt"] | ["barrier", "cta", "sync", "all" | "count"], _) => {
                self.effects("barrier.sync", args)
            }
            (["barrier", "cta", "arrive", "aligned", "count"], _) => self.effects("bar.arrive", args),
            (["barrier", "cta", "arrive", "count"], _) => self.effects("barrier.arrive", args),
            (["barrier", "cta", "red", op, "aligned", ..], _) => self.barrier_reduction("bar.red", op, args),
            (["barrier", "cta", "red", op, "all" | "count"], _) => self.barrier_reduction("barrier.red", op, args),
            (["bar", "warp", "sync"] | ["membar", "cta" | "gl" | "sys"] | ["exit"], _) => self.effects(name.to_owned(), args),
            (["nanosleep"], _) => self.effects("nanosleep.u32", args),
            (["cp", "async", "commit", "group"], _) => self.effects("cp.async.commit_group", args),
            (["cp", "async", "wait", which @ ("all" | "group")], _) => self.effects(format!("cp.async.wait_{which}"), args),
            (["cp", "async", rest @ ..], _) => self.async_copy(rest, args),
            (["shfl", "sync", mode @ ("up" | "down" | "bfly" | "idx"), kind], [mask, value, lane, clamp]) => {
                let class = class(self.scalar(self.function.ty(&value.value))?);
                self.across(format!("shfl.sync.{mode}.b32"), class, &[value, lane, clamp, mask], kind.ends_with('p'))
            }
            (["vote", kind @ ("all" | "any" | "uni"), "sync"], [mask, truth]) => {
                self.across(format!("vote.sync.{kind}.pred"), Class::Pred, &[truth, mask], false)
            }
            (["vote", "ballot", "sync"], [mask, truth]) => self.across("vote.sync.ballot.b32", Class::B32, &[truth, mask], false),
            (["activemask"], _) => self.across("activemask.b32", Class::B32, &[], false),
            (["match", mode @ ("any" | "all"), "sync", kind], [mask, value]) => {
                let bits = if kind.starts_with("i64") { 64 } else { 32 };
                self.across(format!("match.{mode}.sync.b{bits}"), Class::B32, &[value, mask], *mode == "all")
            }
            (["redux", "sync", op], [value, mask]) => {
                let opcode = match *op {
                    "add" | "min" | "max" => format!("redux.sync.{op}.s32"),
                    "umin" | "umax" => format!("redux.sync.{}.u32", &op[1..]),
                    "and" | "or" | "xor" => format!("redux.sync.{op}.b32"),
                    _ => return self.unknown(op),
                };
                self.across(opcode, Class::B32, &[value, mask], false)
            }
            (["isspacep", "shared" | "global" | "local" | "const"], _) => {
                let pointer = self.data_args(args)?;
                Ok(vec![self.made(name.to_owned(), Class::Pred, pointer)])
            }
            (["idp2a", a, b], [x, y, half, sum]) => {
                let Some(half) = self.known(&half.value) else {
                    return self.fail("dp2a with a half that is not constant");
                };
                let half = if half == 0 { "lo" } else { "hi" };
                self.by_name(format!("dp2a.{half}.{a}32.{b}32"), inst, &[x, y, sum])
            }
            (["atomic", op, "gen", _, within @ ("cta" | "sys"), ..], [pointer, values @ ..]) => {
                self.scoped_atomic(op, within, inst, pointer, values)
            }
            // `ldg.global.f.f32.p1(pointer, alignment)`
            (["ldg" | "ldu", "global", ..], [pointer, align]) => {
                let align = self.known(&align.value).unwrap_or(1).max(1);
                let access = Access { align, invariant: true, ..Access::default() };
                self.load(inst, &pointer.value, &access)
            }
            (["reflect"], _) => Ok(vec![Part::Bits(0)]),
            (words, _) => match (plain_opcode(words), words) {
                (Some(opcode), _) => self.by_name(opcode, inst, &args.iter().collect::<Vec<_>>()),
                (None, [pair, mode, rest @ ..]) if rest.len() <= 1 => {
                    self.conversion(name, pair, mode, rest.first() == Some(&"ftz"), inst, args)
                }
                _ => self.unknown(name),
            },
        }
    }

    fn unknown<T>(&self, name: &str) -> Result<T> {
        self.fail(format!("the intrinsic llvm.nvvm.{name} is not supported"))
    }

    fn data_args(&mut self, args: &[Arg]) -> Result<Vec<Op>> {
        args.iter().map(|arg| self.data(&arg.value)).collect()
    }

    /// Returns arguments as operands; the first must be in a register.
    fn operands(&mut self, args: &[&Arg]) -> Result<Vec<Op>> {
        let Some((first, rest)) = args.split_first() else { return Ok(Vec::new()) };
        let mut ops = ops![self.data_reg(&first.value)?];
        for arg in rest {
            ops.push(self.data(&arg.value)?);
        }
        Ok(ops)
    }

    /// Makes an instruction of this name with these arguments.
    fn by_name(&mut self, opcode: String, inst: &Inst, args: &[&Arg]) -> Result<Vec<Part>> {
        let scalar = self.scalar(&inst.ty)?;
        let ops = self.operands(args)?;
        Ok(vec![self.made(opcode, class(scalar), ops)])
    }

    fn special_register(&mut self, name: &str, ty: &Type) -> Result<Vec<Part>> {
        let name = name.replace("lanemask.", "lanemask_").replace("clock.hi", "clock_hi");
        let first = name.split('.').next().unwrap_or("");
        let is_known = match (first, &name[first.len()..]) {
            ("tid" | "ntid" | "ctaid" | "nctaid", axis) => matches!(axis, ".x" | ".y" | ".z"),
            ("laneid" | "warpid" | "nwarpid" | "smid" | "nsmid" | "gridid" | "warpsize", "") => true,
            ("clock" | "clock64" | "clock_hi" | "globaltimer" | "globaltimer_lo" | "globaltimer_hi", "") => true,
            ("dynamic_smem_size" | "total_smem_size", "") => true,
            ("lanemask_eq" | "lanemask_le" | "lanemask_lt" | "lanemask_ge" | "lanemask_gt", "") => true,
            _ => false,
        };
        if !is_known {
            return self.fail(format!("the special register {name} is not supported"));
        }
        if first == "warpsize" {
            return Ok(vec![self.made("mov.u32", Class::B32, ops!["WARP_SZ"])]);
        }
        let scalar = self.scalar(ty)?;
        let opcode = if scalar == Scalar::Int(64) { "mov.u64" } else { "mov.u32" };
        let reg = self.new_reg(class(scalar));
        // A clock is read where the program reads it.
        let changes = first.contains("clock") || first.contains("timer");
        self.push(opcode, ops![reg], vec![Op::Text(format!("%{name}").into())], changes);
        Ok(vec![Part::reg(reg)])
    }

    pub fn clock(&mut self) -> Result<Vec<Part>> {
        self.special_register("clock64", &Type::Int(64))
    }

    /// Makes an instruction without a result.
    fn effects(&mut self, opcode: impl Into<Cow<'static, str>>, args: &[Arg]) -> Result<Vec<Part>> {
        let ops = self.data_args(args)?;
        self.effect(opcode, ops);
        Ok(Vec::new())
    }

    /// Makes an instruction of several lanes together. Its second result may be a truth value.
    fn across(&mut self, opcode: impl Into<Cow<'static, str>>, class: Class, args: &[&Arg], has_truth: bool) -> Result<Vec<Part>> {
        let ops = self.operands(args)?;
        if !has_truth {
            return Ok(vec![Part::reg(self.kept(opcode, class, ops))]);
        }
        let (reg, truth) = (self.new_reg(class), self.new_reg(Class::Pred));
        self.push(opcode, vec![Op::Both(reg, truth)], ops, true);
        Ok(vec![Part::reg(reg), Part::reg(truth)])
    }

    fn barrier_reduction(&mut self, opcode: &str, op: &str, args: &[Arg]) -> Result<Vec<Part>> {
        let ops = self.data_args(args)?;
        let (ty, class) = match op {
            "popc" => ("u32", Class::B32),
            "and" | "or" => ("pred", Class::Pred),
            _ => return self.unknown(op),
        };
        Ok(vec![Part::reg(self.kept(format!("{opcode}.{op}.{ty}"), class, ops))])
    }

    /// Makes the code of `atomic.add.gen.i.cta.i32.p0(pointer, value)`.
    fn scoped_atomic(&mut self, op: &str, within: &str, inst: &Inst, pointer: &Arg, values: &[Arg]) -> Result<Vec<Part>> {
        let scalar = self.scalar(&inst.ty)?;
        let bits = scalar.bits();
        let letter = match (op, scalar) {
            ("add", Scalar::Float | Scalar::Double) => 'f',
            ("add", Scalar::Int(64)) | ("inc" | "dec", _) => 'u',
            ("add" | "max" | "min", Scalar::Int(_)) => 's',
            ("exch" | "cas" | "and" | "or" | "xor", _) => 'b',
            _ => return self.unknown(op),
        };
        let memory = self.memory_operand(&pointer.value)?;
        let mut ops = vec![memory.at(0)];
        ops.extend(self.data_args(values)?);
        let level = if within == "cta" { scope("block") } else { ".sys" };
        let opcode = format!("atom{level}{}.{op}.{letter}{bits}", memory.space.suffix());
        Ok(vec![Part::reg(self.kept(opcode, class(scalar), ops))])
    }

    fn async_copy(&mut self, words: &[&str], args: &[Arg]) -> Result<Vec<Part>> {
        let ([cache @ ("ca" | "cg"), "shared", "global", bytes @ ("4" | "8" | "16"), ..], [to, from, rest @ ..]) = (words, args)
        else {
            return self.unknown("cp.async");
        };
        let target = self.memory_operand(&to.value)?;
        let source = self.memory_operand(&from.value)?;
        let mut ops = vec![target.at(0), source.at(0), Op::Text((*bytes).to_owned().into())];
        ops.extend(self.data_args(rest)?);
        self.effect(format!("cp.async.{cache}.shared.global"), ops);
        Ok(Vec::new())
    }

    /// Makes the code of `f2i.rn`, `ull2d.rz`, and their like.
    fn conversion(&mut self, name: &str, pair: &str, mode: &str, ftz: bool, inst: &Inst, args: &[Arg]) -> Result<Vec<Part>> {
        let Some((from, to)) = pair.split_once('2') else { return self.unknown(name) };
        if name == "lohi.i2d" {
            let ops = self.data_args(args)?;
            return Ok(vec![self.made("mov.b64", Class::F64, vec![Op::List(ops)])]);
        }
        if from == "d" && to == "i" && matches!(mode, "lo" | "hi") {
            let [arg] = args else { return self.unknown(name) };
            let whole = self.data(&arg.value)?;
            let [low, high] = self.halves(whole);
            return Ok(vec![Part::reg(if mode == "lo" { low } else { high })]);
        }
        let (Some(source), [arg]) = (number(from), args) else { return self.unknown(name) };
        if !matches!(mode, "rn" | "rz" | "rm" | "rp") {
            return self.unknown(name);
        }
        let ftz = if ftz { ".ftz" } else { "" };
        let value = self.data_reg(&arg.value)?;
        if to == "h" {
            let half = self.one(format!("cvt.{mode}{ftz}.f16.{source}"), Class::B16, ops![value]);
            let bits = self.b32("cvt.u32.u16", ops![half]);
            return Ok(vec![Part::Reg(bits, Ext::Zero)]);
        }
        let Some(target) = number(to) else { return self.unknown(name) };
        let whole = if target.starts_with('f') { "" } else { "i" };
        // A conversion that is exact takes no rounding.
        let is_exact = source == "f32" && target == "f64";
        let opcode = if is_exact { "cvt.f64.f32".to_owned() } else { format!("cvt.{mode}{whole}{ftz}.{target}.{source}") };
        let scalar = self.scalar(&inst.ty)?;
        Ok(vec![self.made(opcode, class(scalar), ops![value])])
    }
}

/// Returns the instruction that takes an intrinsic's operands as they are.
fn plain_opcode(words: &[&str]) -> Option<String> {
    // Types that are not known are those of most intrinsics.
    let (int, or_f32) = (|ty| integer(ty).unwrap_or("s32"), |ty| float(ty).unwrap_or("f32"));
    let rounded = |mode: &str, ty: &str| format!("cvt.{mode}.{0}.{0}", float(ty).unwrap_or("f32"));
    Some(match *words {
        ["prmt"] => "prmt.b32".to_owned(),
        ["brev32"] => "brev.b32".to_owned(),
        ["brev64"] => "brev.b64".to_owned(),
        ["sad", ty] => format!("sad.{}", int(ty)),
        ["mul24", ty] => format!("mul24.lo.{}", int(ty)),
        ["mulhi", ty] => format!("mul.hi.{}", int(ty)),
        ["idp4a", a, b] => format!("dp4a.{a}32.{b}32"),
        ["fabs", ty] | ["fabs", "ftz", ty] => format!("abs.{}", or_f32(ty)),
        ["fmin", ty] => format!("min.{}", float(ty)?),
        ["fmax", ty] => format!("max.{}", float(ty)?),
        ["saturate", ty] => rounded("sat", ty),
        ["floor", ty] => rounded("rmi", ty),
        ["ceil", ty] => rounded("rpi", ty),
        ["round", ty] => rounded("rni", ty),
        ["trunc", ty] => rounded("rzi", ty),
        ["sqrt", ty @ ("f" | "d")] => format!("sqrt.rn.{}", float(ty)?),
        [
            op @ ("fma" | "add" | "mul" | "div" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh"),
            mode,
            ref rest @ ..,
        ] => match *rest {
            ["ftz", ty] => format!("{op}.{mode}.ftz.{}", float(ty)?),
            [ty] => format!("{op}.{mode}.{}", float(ty)?),
            [] => format!("{op}.{mode}.f32"),
            _ => return None,
        },
        _ => return None,
    })
}

fn float(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "f" | "f32" => "f32",
        "d" | "f64" => "f64",
        "f16" => "f16",
        _ => return None,
    })
}

fn integer(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "i" => "s32",
        "ui" => "u32",
        "ll" => "s64",
        "ull" => "u64",
        _ => return None,
    })
}

fn number(ty: &str) -> Option<&'static str> {
    integer(ty).or_else(|| float(ty))
}
