//! Intrinsic functions of NVPTX: special registers, barriers, exchanges between lanes, and instructions of PTX by name.

use super::context::Selector;
use super::memory::scope;
use super::operands::int;
use super::part::{Ext, Part, class};
use crate::error::Result;
use crate::ir::{Access, Arg, Flags, Inst, Ordering, Type};
use crate::layout::Scalar;
use crate::mir::{Class, Op};

impl Selector<'_> {
    /// `llvm.nvvm.name`; the name comes without its first two words.
    pub fn nvvm(&mut self, inst: &Inst, name: &str, args: &[Arg], _flags: Flags) -> Result<Vec<Part>> {
        if let Some(register) = name.strip_prefix("read.ptx.sreg.") {
            return self.special_register(register, &inst.ty);
        }
        let words: Vec<&str> = name.split('.').collect();
        match words.as_slice() {
            ["barrier0"] => self.barrier("bar.sync", &[int(0)], args),
            ["barrier", "n"] | ["barrier", "cta", "sync", "aligned", "all" | "count"] => self.barrier("bar.sync", &[], args),
            ["barrier", "sync"] | ["barrier", "sync", "cnt"] | ["barrier", "cta", "sync", "all" | "count"] => {
                self.barrier("barrier.sync", &[], args)
            }
            ["barrier", "cta", "arrive", "aligned", "count"] => self.barrier("bar.arrive", &[], args),
            ["barrier", "cta", "arrive", "count"] => self.barrier("barrier.arrive", &[], args),
            ["barrier", "cta", "red", op, "aligned", ..] => self.barrier_reduction("bar.red", op, args),
            ["barrier", "cta", "red", op, "all" | "count"] => self.barrier_reduction("barrier.red", op, args),
            ["bar", "warp", "sync"] => self.barrier("bar.warp.sync", &[], args),
            ["membar", level @ ("cta" | "gl" | "sys")] => self.plain_effect(format!("membar.{level}")),
            ["exit"] => self.plain_effect("exit".to_owned()),
            ["nanosleep"] => self.barrier("nanosleep.u32", &[], args),
            ["shfl", "sync", mode, kind] => self.shuffle_lanes(mode, kind, &inst.ty, args),
            ["vote", kind, "sync"] => self.vote(kind, args),
            ["activemask"] => {
                let reg = self.new_reg(Class::B32);
                self.push("activemask.b32", vec![Op::Reg(reg)], Vec::new(), true);
                Ok(vec![Part::reg(reg)])
            }
            ["match", "any", "sync", kind] | ["match", "all", "sync", kind] => self.match_lanes(words[1], kind, args),
            ["redux", "sync", op] => self.reduction(op, args),
            ["isspacep", space @ ("shared" | "global" | "local" | "const")] => {
                let pointer = self.data_args(args)?;
                Ok(vec![Part::reg(self.one(format!("isspacep.{space}"), Class::Pred, pointer))])
            }
            ["prmt"] => self.by_name("prmt.b32", inst, args),
            ["brev32"] => self.by_name("brev.b32", inst, args),
            ["brev64"] => self.by_name("brev.b64", inst, args),
            ["sad", ty] => self.by_name(&format!("sad.{}", integer(ty).unwrap_or("s32")), inst, args),
            ["mul24", ty] => self.by_name(&format!("mul24.lo.{}", integer(ty).unwrap_or("s32")), inst, args),
            ["mulhi", ty] => self.by_name(&format!("mul.hi.{}", integer(ty).unwrap_or("s32")), inst, args),
            ["idp4a", a, b] => self.by_name(&format!("dp4a.{a}32.{b}32"), inst, args),
            ["idp2a", a, b] => self.dot_of_two(a, b, inst, args),
            ["atomic", op, "gen", _, within @ ("cta" | "sys"), ..] => self.scoped_atomic(op, within, inst, args),
            ["ldg" | "ldu", "global", ..] => self.cached_load(inst, args),
            ["cp", "async", rest @ ..] => self.async_copy(rest, args),
            ["reflect"] => Ok(vec![Part::Bits(0)]),
            ["saturate", ty] => {
                let ty = float(ty).unwrap_or("f32");
                self.by_name(&format!("cvt.sat.{ty}.{ty}"), inst, args)
            }
            ["fabs", ty] | ["fabs", "ftz", ty] => self.by_name(&format!("abs.{}", float(ty).unwrap_or("f32")), inst, args),
            [op @ ("fmin" | "fmax"), rest @ ..] => match rest.last().and_then(|ty| float(ty)) {
                Some(ty) if rest.len() == 1 => self.by_name(&format!("{}.{ty}", &op[1..]), inst, args),
                _ => self.unknown(name),
            },
            [op @ ("floor" | "ceil" | "round" | "trunc"), ty] => {
                let mode = match *op {
                    "floor" => "rmi",
                    "ceil" => "rpi",
                    "round" => "rni",
                    _ => "rzi",
                };
                let ty = float(ty).unwrap_or("f32");
                self.by_name(&format!("cvt.{mode}.{ty}.{ty}"), inst, args)
            }
            ["sqrt", ty @ ("f" | "d")] => self.by_name(&format!("sqrt.rn.{}", float(ty).unwrap_or("f32")), inst, args),
            [
                op @ ("fma" | "add" | "mul" | "div" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh"),
                mode,
                rest @ ..,
            ] => {
                let (ftz, ty) = match rest {
                    ["ftz", ty] => (".ftz", *ty),
                    [ty] => ("", *ty),
                    [] => ("", "f"),
                    _ => return self.unknown(name),
                };
                match float(ty) {
                    Some(ty) => self.by_name(&format!("{op}.{mode}{ftz}.{ty}"), inst, args),
                    None => self.unknown(name),
                }
            }
            [conversion, mode, rest @ ..] if conversion.contains('2') && rest.len() <= 1 => {
                self.conversion(name, conversion, mode, rest.first() == Some(&"ftz"), inst, args)
            }
            _ => self.unknown(name),
        }
    }

    fn unknown<T>(&self, name: &str) -> Result<T> {
        self.fail(format!("the intrinsic llvm.nvvm.{name} is not supported"))
    }

    fn data_args(&mut self, args: &[Arg]) -> Result<Vec<Op>> {
        args.iter().map(|arg| self.data(&arg.value, &arg.ty)).collect()
    }

    /// An instruction of this name with these arguments.
    fn by_name(&mut self, opcode: &str, inst: &Inst, args: &[Arg]) -> Result<Vec<Part>> {
        let scalar = self.scalar(&inst.ty)?;
        let mut ops = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            ops.push(if at == 0 { Op::Reg(self.data_reg(&arg.value, &arg.ty)?) } else { self.data(&arg.value, &arg.ty)? });
        }
        Ok(vec![Part::reg(self.one(opcode.to_owned(), class(scalar), ops))])
    }

    fn special_register(&mut self, name: &str, ty: &Type) -> Result<Vec<Part>> {
        const KNOWN: [&str; 24] = [
            "tid",
            "ntid",
            "ctaid",
            "nctaid",
            "laneid",
            "warpid",
            "nwarpid",
            "smid",
            "nsmid",
            "gridid",
            "clock",
            "clock64",
            "clock_hi",
            "globaltimer",
            "globaltimer_lo",
            "globaltimer_hi",
            "dynamic_smem_size",
            "total_smem_size",
            "lanemask_eq",
            "lanemask_le",
            "lanemask_lt",
            "lanemask_ge",
            "lanemask_gt",
            "warpsize",
        ];
        let name = name.replace("lanemask.", "lanemask_").replace("clock.hi", "clock_hi");
        let first = name.split('.').next().unwrap_or("");
        let has_axes = matches!(first, "tid" | "ntid" | "ctaid" | "nctaid");
        let axis = &name[first.len()..];
        if !KNOWN.contains(&first) || has_axes != matches!(axis, ".x" | ".y" | ".z") || !has_axes && !axis.is_empty() {
            return self.fail(format!("the special register {name} is not supported"));
        }
        if first == "warpsize" {
            return Ok(vec![Part::reg(self.one("mov.u32", Class::B32, vec![Op::Text("WARP_SZ".into())]))]);
        }
        let scalar = self.scalar(ty)?;
        let opcode = if scalar == Scalar::Int(64) { "mov.u64" } else { "mov.u32" };
        let reg = self.new_reg(class(scalar));
        // A clock is read where the program reads it.
        let changes = first.contains("clock") || first.contains("timer");
        self.push(opcode, vec![Op::Reg(reg)], vec![Op::Text(format!("%{name}").into())], changes);
        Ok(vec![Part::reg(reg)])
    }

    pub fn clock(&mut self) -> Result<Vec<Part>> {
        self.special_register("clock64", &Type::Int(64))
    }

    fn plain_effect(&mut self, opcode: String) -> Result<Vec<Part>> {
        self.effect(opcode, Vec::new());
        Ok(Vec::new())
    }

    fn barrier(&mut self, opcode: &'static str, leading: &[Op], args: &[Arg]) -> Result<Vec<Part>> {
        let mut ops = leading.to_vec();
        ops.extend(self.data_args(args)?);
        self.effect(opcode, ops);
        Ok(Vec::new())
    }

    fn barrier_reduction(&mut self, opcode: &str, op: &str, args: &[Arg]) -> Result<Vec<Part>> {
        let ops = self.data_args(args)?;
        let (ty, class) = match op {
            "popc" => ("u32", Class::B32),
            "and" | "or" => ("pred", Class::Pred),
            _ => return self.unknown(op),
        };
        let reg = self.new_reg(class);
        self.push(format!("{opcode}.{op}.{ty}"), vec![Op::Reg(reg)], ops, true);
        Ok(vec![Part::reg(reg)])
    }

    /// `shfl.sync.down.i32(mask, value, lane, clamp)`
    fn shuffle_lanes(&mut self, mode: &str, kind: &str, ty: &Type, args: &[Arg]) -> Result<Vec<Part>> {
        let [mask, value, lane, clamp] = args else {
            return self.unknown("shfl.sync");
        };
        if !matches!(mode, "up" | "down" | "bfly" | "idx") {
            return self.unknown(mode);
        }
        let scalar = self.scalar(&value.ty)?;
        let mut ops = vec![Op::Reg(self.data_reg(&value.value, &value.ty)?)];
        for arg in [lane, clamp, mask] {
            ops.push(self.data(&arg.value, &arg.ty)?);
        }
        let reg = self.new_reg(class(scalar));
        let opcode = format!("shfl.sync.{mode}.b32");
        if !kind.ends_with('p') {
            self.push(opcode, vec![Op::Reg(reg)], ops, true);
            return Ok(vec![Part::reg(reg)]);
        }
        let _ = ty;
        let pred = self.new_reg(Class::Pred);
        self.push(opcode, vec![Op::Both(reg, pred)], ops, true);
        Ok(vec![Part::reg(reg), Part::reg(pred)])
    }

    fn vote(&mut self, kind: &str, args: &[Arg]) -> Result<Vec<Part>> {
        let [mask, truth] = args else {
            return self.unknown("vote");
        };
        let ops = vec![Op::Reg(self.data_reg(&truth.value, &truth.ty)?), self.data(&mask.value, &mask.ty)?];
        let (opcode, class) = match kind {
            "all" | "any" | "uni" => (format!("vote.sync.{kind}.pred"), Class::Pred),
            "ballot" => ("vote.sync.ballot.b32".to_owned(), Class::B32),
            _ => return self.unknown(kind),
        };
        let reg = self.new_reg(class);
        self.push(opcode, vec![Op::Reg(reg)], ops, true);
        Ok(vec![Part::reg(reg)])
    }

    fn match_lanes(&mut self, mode: &str, kind: &str, args: &[Arg]) -> Result<Vec<Part>> {
        let [mask, value] = args else {
            return self.unknown("match");
        };
        let bits = if kind.starts_with("i64") { 64 } else { 32 };
        let ops = vec![Op::Reg(self.data_reg(&value.value, &value.ty)?), self.data(&mask.value, &mask.ty)?];
        let reg = self.new_reg(Class::B32);
        let opcode = format!("match.{mode}.sync.b{bits}");
        if mode == "any" {
            self.push(opcode, vec![Op::Reg(reg)], ops, true);
            return Ok(vec![Part::reg(reg)]);
        }
        let pred = self.new_reg(Class::Pred);
        self.push(opcode, vec![Op::Both(reg, pred)], ops, true);
        Ok(vec![Part::reg(reg), Part::reg(pred)])
    }

    fn reduction(&mut self, op: &str, args: &[Arg]) -> Result<Vec<Part>> {
        let opcode = match op {
            "add" => "redux.sync.add.s32",
            "min" => "redux.sync.min.s32",
            "max" => "redux.sync.max.s32",
            "umin" => "redux.sync.min.u32",
            "umax" => "redux.sync.max.u32",
            "and" => "redux.sync.and.b32",
            "or" => "redux.sync.or.b32",
            "xor" => "redux.sync.xor.b32",
            _ => return self.unknown(op),
        };
        let [value, mask] = args else {
            return self.unknown("redux");
        };
        let ops = vec![Op::Reg(self.data_reg(&value.value, &value.ty)?), self.data(&mask.value, &mask.ty)?];
        let reg = self.new_reg(Class::B32);
        self.push(opcode, vec![Op::Reg(reg)], ops, true);
        Ok(vec![Part::reg(reg)])
    }

    fn dot_of_two(&mut self, a: &str, b: &str, inst: &Inst, args: &[Arg]) -> Result<Vec<Part>> {
        let [x, y, half, sum] = args else {
            return self.unknown("idp2a");
        };
        let Some(half) = self.known(&half.value, &Type::Int(1)) else {
            return self.fail("dp2a with a half that is not constant");
        };
        let half = if half == 0 { "lo" } else { "hi" };
        self.by_name(&format!("dp2a.{half}.{a}32.{b}32"), inst, &[x.clone(), y.clone(), sum.clone()])
    }

    /// `atomic.add.gen.i.cta.i32.p0(pointer, value)`
    fn scoped_atomic(&mut self, op: &str, within: &str, inst: &Inst, args: &[Arg]) -> Result<Vec<Part>> {
        let Some((pointer, values)) = args.split_first() else {
            return self.unknown("atomic");
        };
        let scalar = self.scalar(&inst.ty)?;
        let bits = scalar.bits();
        let ty = match (op, scalar) {
            ("add", Scalar::Float | Scalar::Double) => format!("f{bits}"),
            ("add", Scalar::Int(64)) | ("inc" | "dec", _) => format!("u{bits}"),
            ("add" | "max" | "min", Scalar::Int(_)) => format!("s{bits}"),
            ("exch" | "cas" | "and" | "or" | "xor", _) => format!("b{bits}"),
            _ => return self.unknown(op),
        };
        let (base, offset, space) = self.memory_operand(&pointer.value, &pointer.ty)?;
        let mut ops = vec![Op::Mem(base, offset)];
        ops.extend(self.data_args(values)?);
        let reg = self.new_reg(class(scalar));
        let level = if within == "cta" { scope("block") } else { ".sys" };
        self.push(format!("atom{level}{}.{op}.{ty}", space.suffix()), vec![Op::Reg(reg)], ops, true);
        Ok(vec![Part::reg(reg)])
    }

    /// `ldg.global.f.f32.p1(pointer, alignment)`
    fn cached_load(&mut self, inst: &Inst, args: &[Arg]) -> Result<Vec<Part>> {
        let [pointer, align] = args else {
            return self.unknown("ldg");
        };
        let align = self.known(&align.value, &align.ty).unwrap_or(1);
        let access = Access {
            align: align.max(1),
            volatile: false,
            ordering: Ordering::NotAtomic,
            scope: String::new(),
            invariant: true,
            alias_scope: None,
            no_alias: None,
        };
        self.load(inst, &pointer.value, &pointer.ty, &access)
    }

    fn async_copy(&mut self, words: &[&str], args: &[Arg]) -> Result<Vec<Part>> {
        match words {
            ["commit", "group"] => self.plain_effect("cp.async.commit_group".to_owned()),
            ["wait", "all"] => self.plain_effect("cp.async.wait_all".to_owned()),
            ["wait", "group"] => self.barrier("cp.async.wait_group", &[], args),
            [cache @ ("ca" | "cg"), "shared", "global", bytes @ ("4" | "8" | "16"), ..] => {
                let [to, from, rest @ ..] = args else {
                    return self.unknown("cp.async");
                };
                let (target, target_start, _) = self.memory_operand(&to.value, &to.ty)?;
                let (source, source_start, _) = self.memory_operand(&from.value, &from.ty)?;
                let mut ops =
                    vec![Op::Mem(target, target_start), Op::Mem(source, source_start), Op::Text((*bytes).to_owned().into())];
                ops.extend(self.data_args(rest)?);
                self.effect(format!("cp.async.{cache}.shared.global"), ops);
                Ok(Vec::new())
            }
            _ => self.unknown("cp.async"),
        }
    }

    /// `f2i.rn`, `ull2d.rz`, and their like.
    fn conversion(&mut self, name: &str, pair: &str, mode: &str, ftz: bool, inst: &Inst, args: &[Arg]) -> Result<Vec<Part>> {
        let Some((from, to)) = pair.split_once('2') else {
            return self.unknown(name);
        };
        if name == "lohi.i2d" {
            let ops = self.data_args(args)?;
            return Ok(vec![Part::reg(self.one("mov.b64", Class::F64, vec![Op::List(ops)]))]);
        }
        if from == "d" && to == "i" && matches!(mode, "lo" | "hi") {
            let ops = self.data_args(args)?;
            let (low, high) = (self.new_reg(Class::B32), self.new_reg(Class::B32));
            self.push("mov.b64", vec![Op::List(vec![Op::Reg(low), Op::Reg(high)])], ops, false);
            return Ok(vec![Part::reg(if mode == "lo" { low } else { high })]);
        }
        let (Some(source), [arg]) = (number(from), args) else {
            return self.unknown(name);
        };
        if !matches!(mode, "rn" | "rz" | "rm" | "rp") {
            return self.unknown(name);
        }
        let ftz = if ftz { ".ftz" } else { "" };
        let value = Op::Reg(self.data_reg(&arg.value, &arg.ty)?);
        if to == "h" {
            let half = self.one(format!("cvt.{mode}{ftz}.f16.{source}"), Class::B16, vec![value]);
            let bits = self.one("cvt.u32.u16", Class::B32, vec![Op::Reg(half)]);
            return Ok(vec![Part::Reg(bits, Ext::Zero)]);
        }
        let Some(target) = number(to) else {
            return self.unknown(name);
        };
        let whole = if target.starts_with('f') { "" } else { "i" };
        // A conversion that is exact takes no rounding.
        let is_exact = source == "f32" && target == "f64";
        let opcode = if is_exact { "cvt.f64.f32".to_owned() } else { format!("cvt.{mode}{whole}{ftz}.{target}.{source}") };
        let scalar = self.scalar(&inst.ty)?;
        Ok(vec![Part::reg(self.one(opcode, class(scalar), vec![value]))])
    }
}

fn float(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "f" | "f32" => "f32",
        "d" | "f64" => "f64",
        "f16" => "f16",
        "f16x2" | "bf16" | "bf16x2" => return None,
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
    integer(ty).or(match ty {
        "f" => Some("f32"),
        "d" => Some("f64"),
        _ => None,
    })
}
