//! The video instructions: arithmetic on bytes and halves that selectors pick, one value at a time or two or four at once (PTX ISA,
//! "Video Instructions").
//!
//! They have far too many spellings for a row each. The decoder turns a spelling into a [`Scalar`] or a [`Vector`], and passes it to
//! the executor as a number in a register.

/// An enum, and all of its values by their numbers.
macro_rules! numbered {
    ($(#[$doc:meta])* pub enum $name:ident = $all:ident { $($(#[$of_value:meta])* $value:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$of_value])* $value,)*
        }

        const $all: &[$name] = &[$($name::$value),*];
    };
}

numbered! {
    /// The operation of a video instruction on two values.
    pub enum Operation = OPERATIONS {
        Add,
        Subtract,
        AbsoluteDifference,
        Minimum,
        Maximum,
        ShiftLeft,
        ShiftRight,
        /// `vmad`
        MultiplyAdd,
        Average,
        Equal,
        NotEqual,
        Less,
        LessOrEqual,
        Greater,
        GreaterOrEqual,
    }
}

impl Operation {
    /// Executes it on two values that 33 bits hold with a sign.
    fn of(self, a: i64, b: i64) -> i64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::AbsoluteDifference => (a - b).abs(),
            Self::Minimum => a.min(b),
            Self::Maximum => a.max(b),
            Self::ShiftLeft => a << b,
            Self::ShiftRight => a >> b,
            Self::MultiplyAdd => a * b,
            Self::Average => (a + b + i64::from(a + b >= 0)) >> 1,
            Self::Equal => i64::from(a == b),
            Self::NotEqual => i64::from(a != b),
            Self::Less => i64::from(a < b),
            Self::LessOrEqual => i64::from(a <= b),
            Self::Greater => i64::from(a > b),
            Self::GreaterOrEqual => i64::from(a >= b),
        }
    }
}

/// A part of a word, whose top bit may be a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its lowest bit.
    pub start: u32,
    /// 8, 16 or 32.
    pub bits: u32,
    pub signed: bool,
}

impl Part {
    pub const fn word(signed: bool) -> Self {
        Self { start: 0, bits: 32, signed }
    }

    fn of(self, word: u32) -> i64 {
        extended(word >> self.start, self.bits, self.signed)
    }

    /// Returns the nearest number that it holds.
    fn clamp(self, value: i64) -> i64 {
        let (least, most) = range(self.bits, self.signed);
        value.clamp(least, most)
    }
}

numbered! {
    /// The second operation, on the result and `c`.
    pub enum After = AFTER {
        Nothing,
        Add,
        Minimum,
        Maximum,
        /// The result replaces a part of `c`.
        Merge,
    }
}

/// An instruction on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    pub operation: Operation,
    pub a: Part,
    pub b: Part,
    /// The part that the result replaces, or the type of the result.
    pub result: Part,
    pub saturates: bool,
    pub after: After,
    /// Shifts count modulo 32, and otherwise up to 32.
    pub wraps: bool,
    /// `vmad`: the product, and `c`, are negated, or one is added; the sum is shifted right.
    pub negated: bool,
    pub c_negated: bool,
    pub plus_one: bool,
    pub shift: u32,
}

/// An instruction on two halves or four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    pub operation: Operation,
    /// 2 or 4.
    pub lanes: u32,
    pub a_signed: bool,
    pub b_signed: bool,
    pub signed: bool,
    pub saturates: bool,
    /// The results are summed onto `c`. Otherwise they replace parts of it.
    pub adds: bool,
    /// The parts that there are, by bits.
    pub mask: u32,
    /// Four bits for each part: which of those of `a`, and then of `b`, it is.
    pub a_parts: u32,
    pub b_parts: u32,
}

/// Fields of a number, the lowest first.
struct Fields(u64, u32);

impl Fields {
    fn put(&mut self, value: u32, bits: u32) {
        self.0 |= u64::from(value) << self.1;
        self.1 += bits;
    }

    fn take(&mut self, bits: u32) -> u32 {
        let value = self.0 >> self.1 & ((1 << bits) - 1);
        self.1 += bits;
        value as u32
    }

    fn flag(&mut self) -> bool {
        self.take(1) != 0
    }

    fn put_part(&mut self, part: Part) {
        self.put(part.start, 5);
        self.put(part.bits, 6);
        self.put(part.signed.into(), 1);
    }

    fn part(&mut self) -> Part {
        Part { start: self.take(5), bits: self.take(6), signed: self.flag() }
    }

    fn operation(&mut self) -> Operation {
        OPERATIONS[self.take(4) as usize]
    }
}

impl Scalar {
    /// Returns it as a number that a register holds.
    pub fn control(self) -> u64 {
        let mut fields = Fields(0, 0);
        fields.put(self.operation as u32, 4);
        [self.a, self.b, self.result].into_iter().for_each(|part| fields.put_part(part));
        fields.put(self.after as u32, 3);
        for flag in [self.saturates, self.wraps, self.negated, self.c_negated, self.plus_one] {
            fields.put(flag.into(), 1);
        }
        fields.put(self.shift, 4);
        fields.0
    }

    fn of(control: u64) -> Self {
        let mut fields = Fields(control, 0);
        Self {
            operation: fields.operation(),
            a: fields.part(),
            b: fields.part(),
            result: fields.part(),
            after: AFTER[fields.take(3) as usize],
            saturates: fields.flag(),
            wraps: fields.flag(),
            negated: fields.flag(),
            c_negated: fields.flag(),
            plus_one: fields.flag(),
            shift: fields.take(4),
        }
    }

    fn multiply_add(self, a: i64, b: i64, c: u32) -> u32 {
        let signed = self.a.signed || self.b.signed || self.negated || self.c_negated;
        let c = if self.c_negated { !c } else { c };
        let c = i128::from(extended(c, 32, signed));
        let product = i128::from(a) * i128::from(b);
        let (product, one) = match (self.plus_one, self.negated) {
            (true, _) => (product, 1),
            (false, true) => (!product, 1),
            (false, false) => (product, i128::from(self.c_negated)),
        };
        let sum = (product + c + one) >> self.shift;
        let (least, most) = range(32, signed);
        (if self.saturates { sum.clamp(least.into(), most.into()) } else { sum }) as u32
    }
}

impl Vector {
    /// Returns it as a number that a register holds.
    pub fn control(self) -> u64 {
        let mut fields = Fields(0, 0);
        fields.put(self.operation as u32, 4);
        fields.put(self.lanes, 3);
        for flag in [self.a_signed, self.b_signed, self.signed, self.saturates, self.adds] {
            fields.put(flag.into(), 1);
        }
        fields.put(self.mask, 4);
        fields.put(self.a_parts, 16);
        fields.put(self.b_parts, 16);
        fields.0
    }

    fn of(control: u64) -> Self {
        let mut fields = Fields(control, 0);
        Self {
            operation: fields.operation(),
            lanes: fields.take(3),
            a_signed: fields.flag(),
            b_signed: fields.flag(),
            signed: fields.flag(),
            saturates: fields.flag(),
            adds: fields.flag(),
            mask: fields.take(4),
            a_parts: fields.take(16),
            b_parts: fields.take(16),
        }
    }
}

/// Returns the low bits of a word as a number.
fn extended(word: u32, bits: u32, signed: bool) -> i64 {
    let high = i64::from(word) << (64 - bits);
    if signed { high >> (64 - bits) } else { (high as u64 >> (64 - bits)) as i64 }
}

/// Returns the range of numbers that this many bits hold.
fn range(bits: u32, signed: bool) -> (i64, i64) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// Executes an instruction on one value, whose [`Scalar`] is `control`.
pub fn scalar(a: u32, b: u32, c: u32, control: u64) -> u32 {
    let form = Scalar::of(control);
    let (a, b) = (form.a.of(a), form.b.of(b));
    let b = match form.operation {
        Operation::MultiplyAdd => return form.multiply_add(a, b, c),
        Operation::ShiftLeft | Operation::ShiftRight if form.wraps => b & 31,
        Operation::ShiftLeft | Operation::ShiftRight => b.min(32),
        _ => b,
    };
    let value = form.operation.of(a, b);
    let value = if form.saturates { form.result.clamp(value) } else { value } as u32;
    let number = |word: u32| extended(word, 32, form.result.signed);
    match form.after {
        After::Nothing => value,
        After::Add => value.wrapping_add(c),
        After::Minimum => number(value).min(number(c)) as u32,
        After::Maximum => number(value).max(number(c)) as u32,
        After::Merge => {
            let ones = ((1_u64 << form.result.bits) - 1) as u32;
            c & !(ones << form.result.start) | (value & ones) << form.result.start
        }
    }
}

/// Executes an instruction on several values, whose [`Vector`] is `control`.
pub fn vector(a: u32, b: u32, c: u32, control: u64) -> u32 {
    let form = Vector::of(control);
    let bits = 32 / form.lanes;
    let ones = (1 << bits) - 1;
    let both = u64::from(b) << 32 | u64::from(a);
    let mut result = c;
    for lane in (0..form.lanes).filter(|lane| form.mask >> lane & 1 != 0) {
        let part = |parts: u32, signed| extended((both >> (bits * (parts >> (4 * lane) & 7))) as u32, bits, signed);
        let value = form.operation.of(part(form.a_parts, form.a_signed), part(form.b_parts, form.b_signed));
        let (least, most) = range(bits, form.signed);
        let value = if form.saturates { value.clamp(least, most) } else { value };
        result = if form.adds {
            result.wrapping_add(value as u32)
        } else {
            result & !(ones << (bits * lane)) | (value as u32 & ones) << (bits * lane)
        };
    }
    result
}
