//! Decodes recursive functions: what a function keeps while it calls itself.
//!
//! A function that is not recursive is active at most once, so its registers and its local memory have fixed places. A recursive one has
//! its local memory in a frame on the thread's stack, and saves its registers there before each call. Parameters and results still cross
//! through fixed places, which are in use only from the copy before the call to the first instruction of the function, and from the return
//! to the copy after the call.

use super::code::{Action, ConstantValue, FrameLayout, Stack};
use super::decode::{Decoder, MOST_LOCAL_BYTES};
use super::frame::{Place, Recursive};
use super::scope::{Local, Symbol};
use crate::error::{LoadError, syntax};
use crate::syntax::ast;
use alu::Alu;
use alu::registers::{Kind, Reg};

impl<'t> Decoder<'_, 't> {
    /// Starts a recursive function: takes its parameters into its own frame and registers.
    pub(super) fn begin_recursive(&mut self, number: usize, function: &ast::Function<'t>) -> Result<(), LoadError> {
        self.recursive = Some(Recursive { number: number as u32, bytes: 0, registers: Vec::new(), results: Vec::new() });
        self.frame_register();
        let frame = self.functions[number].frame.clone();
        for (variables, places, is_param) in [(&function.params, &frame.params, true), (&function.returns, &frame.returns, false)] {
            for (variable, place) in variables.iter().zip(places) {
                let own = match *place {
                    Place::Local(local) => self.take_place(variable.align, local.bytes.into(), variable.line)?,
                    Place::Register(_, kind) => Symbol::Register(self.take_written(kind, 1), kind),
                };
                self.scopes.declare(variable.name, own);
                if is_param {
                    self.cross(own, *place, true);
                } else if let Some(recursive) = &mut self.recursive {
                    recursive.results.push((own, *place));
                }
            }
        }
        Ok(())
    }

    /// Ends the function, if it is recursive.
    pub(super) fn end_recursive(&mut self, number: usize) {
        let Some(Recursive { bytes, registers, .. }) = self.recursive.take() else { return };
        let of_kind = |kind| registers.iter().filter(move |(_, other)| *other == kind).map(|(register, _)| *register).collect();
        let (words, doubles, predicates) = (of_kind(Kind::Word), of_kind(Kind::Double), of_kind(Kind::Predicate));
        let frames = &mut self.program.stack.as_mut().expect("made with the first recursive function").frames;
        frames.resize(frames.len().max(number + 1), FrameLayout::default());
        // A frame has room for the return address at least, so that no recursion is endless.
        frames[number] = FrameLayout { bytes: bytes.next_multiple_of(16).max(16) as u32, words, doubles, predicates };
    }

    /// Returns from the current function.
    pub(super) fn return_from_function(&mut self) {
        let results = self.recursive.as_ref().map_or(Vec::new(), |recursive| recursive.results.clone());
        for (own, place) in results {
            self.cross(own, place, false);
        }
        self.emit(Action::Return);
    }

    /// Copies a parameter or result between the function's place and the call's.
    fn cross(&mut self, own: Symbol, place: Place, into_function: bool) {
        match (own, place) {
            (Symbol::Local(own), Place::Local(fixed)) => self.copy_local(own, fixed.at, own.bytes, into_function),
            (Symbol::Register(own, _), Place::Register(place, kind)) => {
                let (to, from) = if into_function { (own, place) } else { (place, own) };
                self.copy_register(to, from, kind);
            }
            _ => unreachable!("a place in a frame is passed through local memory, and a register through a register"),
        }
    }

    /// Takes local memory for a variable of the current function.
    pub(super) fn take_place(&mut self, align: u64, bytes: u64, line: u32) -> Result<Symbol, LoadError> {
        let Some(recursive) = &mut self.recursive else {
            let at = self.take_local(align, bytes, line)?;
            return Ok(Symbol::Local(Local { at, bytes: bytes as u32, in_frame: false }));
        };
        // Frames are aligned to 16 bytes, as a compiler aligns them.
        let offset = recursive.bytes.next_multiple_of(align.clamp(4, 16));
        recursive.bytes = offset.saturating_add(bytes);
        if recursive.bytes > MOST_LOCAL_BYTES {
            return Err(syntax(line, format!("more than {MOST_LOCAL_BYTES} bytes of local memory per thread")));
        }
        Ok(Symbol::Local(Local { at: offset as u32, bytes: bytes as u32, in_frame: true }))
    }

    /// Returns the register that says where the frame starts.
    pub(super) fn frame_register(&mut self) -> Reg {
        if self.program.stack.is_none() {
            let (frame, saved) = (self.take_rows(Kind::Double), self.take_rows(Kind::Word));
            self.program.stack = Some(Stack { frame, saved, frames: Vec::new() });
        }
        self.program.stack.as_ref().map_or(0, |stack| stack.frame)
    }

    /// Returns a register with the address of something in the frame. It is for the instruction that is being decoded.
    pub(super) fn address_in_frame(&mut self, offset: i64, kind: Kind) -> Reg {
        let frame = self.frame_register();
        let offset = self.constant(ConstantValue::Bits(offset as u64), Kind::Double);
        let address = self.take_rows(Kind::Double);
        self.alu(Alu::Add64, address, &[frame, offset]);
        if kind == Kind::Double {
            return address;
        }
        let low = self.take_rows(Kind::Word);
        self.alu(Alu::CvtB32FromU64, low, &[address]);
        low
    }
}
