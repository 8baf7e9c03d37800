//! Classes of floating-point numbers: `llvm.is.fpclass`.

use super::prelude::*;

impl Selector<'_> {
    /// Tests the bits of a number for membership in a mask's classes.
    pub fn float_class(&mut self, args: &[Arg]) -> Result<Vec<Part>> {
        let [value, mask] = args else { return self.fail("llvm.is.fpclass takes two arguments") };
        let (scalar, mask) = (self.scalar(self.function.ty(&value.value))?, self.known(&mask.value));
        let (Scalar::Float | Scalar::Double, Some(mask)) = (scalar, mask) else {
            return self.fail("llvm.is.fpclass of this type is not supported");
        };
        let (width, infinity, least) = match scalar {
            Scalar::Float => (32, 0x7f80_0000_i64, 0x0080_0000_i64),
            _ => (64, 0x7ff0_0000_0000_0000, 0x0010_0000_0000_0000),
        };
        let class = whole(width).1;
        // The highest bit of the fraction tells quiet from signaling.
        let quiet = infinity | least >> 1;
        let number = self.data_reg(&value.value)?;
        let bits = self.one(format!("mov.b{width}"), class, ops![number]);
        let without_sign = if width == 32 { i64::from(i32::MAX) } else { i64::MAX };
        let magnitude = self.one(format!("and.b{width}"), class, ops![bits, without_sign]);
        let test = |this: &mut Self, comparison: &str, a: Reg, b: i64| {
            this.made(format!("setp.{comparison}{width}"), Class::Pred, ops![a, b])
        };
        // Whether the magnitude is at least `from` and below `to`.
        let within = |this: &mut Self, from: i64, to: i64| {
            let shifted = this.one(format!("sub.s{width}"), class, ops![magnitude, from]);
            test(this, "lt.u", shifted, to - from)
        };
        let mut found = match mask & 3 {
            0 => Part::Bits(0),
            3 => test(self, "gt.u", magnitude, infinity),
            1 => within(self, infinity + 1, quiet),
            _ => test(self, "ge.u", magnitude, quiet),
        };
        for (negative, positive, from, to) in
            [(0x4, 0x200, infinity, infinity + 1), (0x8, 0x100, least, infinity), (0x10, 0x80, 1, least), (0x20, 0x40, 0, 1)]
        {
            let wanted = (mask & negative != 0, mask & positive != 0);
            if wanted == (false, false) {
                continue;
            }
            let mut is_it = within(self, from, to);
            if wanted != (true, true) {
                let sign = test(self, if wanted.0 { "lt.s" } else { "ge.s" }, bits, 0);
                is_it = self.logic(Binary::And, &is_it, &sign)?;
            }
            found = self.logic(Binary::Or, &found, &is_it)?;
        }
        Ok(vec![found])
    }
}
