//! Integer functions of one lane that need more than an operator.

/// `bfe`: the field of `length` bits from bit `start` on.
pub fn extract(value: u64, start: u32, length: u32) -> u64 {
    value.checked_shr(start & 0xff).unwrap_or(0) & ones(length & 0xff)
}

/// `bfe` with the sign of the field's top bit; a field beyond the register of `width` bits repeats the register's sign.
pub fn extract_signed(value: i64, start: u32, length: u32, width: u32) -> i64 {
    let (start, length) = (start & 0xff, length & 0xff);
    if length == 0 {
        return 0;
    }
    let bit = |at: u32| value >> at.min(width - 1) & 1;
    let field = if start >= width { -bit(width - 1) } else { value >> start };
    let kept = ones(length.min(width.saturating_sub(start))) as i64;
    (field & kept) | if bit(start + length - 1) != 0 { !kept } else { 0 }
}

/// `bfi`: `field`'s low `length` bits placed in `into` from bit `start` on.
pub fn insert(field: u64, into: u64, start: u32, length: u32) -> u64 {
    let moved = |bits: u64| bits.checked_shl(start & 0xff).unwrap_or(0);
    let mask = moved(ones(length & 0xff));
    (into & !mask) | (moved(field) & mask)
}

/// Returns this many ones, at most 64.
fn ones(count: u32) -> u64 {
    1_u64.checked_shl(count).map_or(u64::MAX, |above| above - 1)
}

/// `bfind`: the position of the highest set bit, all ones when there is none.
pub fn highest_bit(value: u64) -> u32 {
    value.checked_ilog2().unwrap_or(u32::MAX)
}

/// `bfind.shiftamt`: how far to shift left to bring the highest set bit to the top of `width` bits.
pub fn shift_to_top(value: u64, width: u32) -> u32 {
    value.checked_ilog2().map_or(u32::MAX, |bit| width - 1 - bit)
}

/// Returns the bits that tell a signed value from its sign: those `bfind` looks at.
pub fn magnitude_bits(value: i64) -> u64 {
    (if value < 0 { !value } else { value }) as u64
}

/// `prmt.b32`: picks each result byte out of the eight bytes of `low` and `high`; bit 3 of a selector repeats the byte's sign.
pub fn permute(low: u32, high: u32, selectors: u32) -> u32 {
    let bytes = u64::from(low) | u64::from(high) << 32;
    (0..4).fold(0, |result, position| {
        let selector = selectors >> (4 * position) & 0xf;
        let byte = (bytes >> (8 * (selector & 7))) as u8;
        let byte = if selector & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
        result | u32::from(byte) << (8 * position)
    })
}

/// Returns the byte at a position.
fn byte(value: u32, position: u32) -> u32 {
    value >> (8 * position) & 0xff
}

/// Returns the byte at a position, with its sign.
fn signed_byte(value: u32, position: u32) -> i32 {
    i32::from(byte(value, position) as i8)
}

/// `dp4a.u32.u32`: four products of bytes, summed onto `sum`, modulo 2^32.
pub fn dot_uu(a: u32, b: u32, sum: u32) -> u32 {
    (0..4).fold(sum, |sum, i| sum.wrapping_add(byte(a, i) * byte(b, i)))
}

/// `dp4a.s32.s32`
pub fn dot_ss(a: u32, b: u32, sum: i32) -> i32 {
    (0..4).fold(sum, |sum, i| sum.wrapping_add(signed_byte(a, i) * signed_byte(b, i)))
}

/// `dp4a.u32.s32`
pub fn dot_us(a: u32, b: u32, sum: i32) -> i32 {
    (0..4).fold(sum, |sum, i| sum.wrapping_add(byte(a, i) as i32 * signed_byte(b, i)))
}

/// `vabsdiff4.u32.u32.u32`: differences of bytes without sign, four at once, plus `add` modulo 2^32 when it sums them.
pub fn absolute_differences(a: u32, b: u32) -> u32 {
    (0..4).fold(0, |result, i| result | byte(a, i).abs_diff(byte(b, i)) << (8 * i))
}

/// `lop3.b32`: any function of three bits, given as a table of eight.
pub fn lookup3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    (0..8).filter(|row| table >> row & 1 != 0).fold(0, |result, row| {
        let pick = |value: u32, bit: u32| if row >> bit & 1 != 0 { value } else { !value };
        result | (pick(a, 2) & pick(b, 1) & pick(c, 0))
    })
}

/// `mul24`: the low 24 bits of a value, with sign.
pub fn low24_signed(value: i32) -> i64 {
    i64::from(value << 8 >> 8)
}

/// `mul24`: the low 24 bits of a value.
pub fn low24(value: u32) -> u64 {
    u64::from(value & 0xff_ffff)
}

/// `mul24.hi`: bits 16 to 47 of the product of two numbers of 24 bits.
pub fn mul24_high_signed(a: i32, b: i32) -> i32 {
    ((low24_signed(a) * low24_signed(b)) >> 16) as i32
}

/// `mul24.hi`, as [`mul24_high_signed`].
pub fn mul24_high(a: u32, b: u32) -> u32 {
    ((low24(a) * low24(b)) >> 16) as u32
}

/// Returns half of a word by its position, without or with sign.
fn half(value: u32, position: u32, signed: bool) -> i32 {
    let half = (value >> (16 * position)) as u16;
    if signed { i32::from(half as i16) } else { i32::from(half) }
}

/// `dp2a`: two products of the halves of `a` and two bytes of `b`, from byte `first` on, summed onto `sum`, modulo 2^32.
pub fn dot2(a: u32, b: u32, sum: u32, first: u32, signed: (bool, bool)) -> u32 {
    (0..2).fold(sum, |sum, i| {
        let factor = if signed.1 { signed_byte(b, first + i) } else { byte(b, first + i) as i32 };
        sum.wrapping_add(half(a, i, signed.0).wrapping_mul(factor) as u32)
    })
}

/// `bmsk`: `width` ones from bit `start` on. With `clamp`, positions and widths beyond the word are beyond the word; else only
/// their low five bits count.
pub fn bit_mask(start: u32, width: u32, clamp: bool) -> u32 {
    let (start, width) = if clamp { (start, width) } else { (start & 31, width & 31) };
    let ones = if width >= 32 { u32::MAX } else { (1 << width) - 1 };
    ones.checked_shl(start).unwrap_or(0)
}

/// `szext.u32`: the low `width` bits; see [`bit_mask`].
pub fn zero_extend(value: u32, width: u32, clamp: bool) -> u32 {
    value & bit_mask(0, width, clamp)
}

/// `szext.s32`: the low `width` bits as a number with sign.
pub fn sign_extend(value: i32, width: u32, clamp: bool) -> i32 {
    let width = if clamp { width } else { width & 31 };
    match width {
        0 => 0,
        1..32 => value << (32 - width) >> (32 - width),
        _ => value,
    }
}

/// `fns`: the position of the `offset`th set bit from bit `base` on, upwards or, with a negative offset, downwards; all ones if
/// there is none. Offset 0 asks for bit `base` itself.
pub fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let is_set = |bit: &u32| mask >> bit & 1 != 0;
    let nth = offset.unsigned_abs().saturating_sub(1) as usize;
    let found = match offset {
        0 => Some(base).filter(|bit| *bit < 32 && is_set(bit)),
        1.. => (base..32).filter(is_set).nth(nth),
        _ if base < 32 => (0..=base).rev().filter(is_set).nth(nth),
        _ => None,
    };
    found.unwrap_or(u32::MAX)
}

/// `vabsdiff4` with `.add`: the sum of the differences of bytes.
pub fn sum_of_absolute_differences(a: u32, b: u32, sum: u32) -> u32 {
    (0..4).fold(sum, |sum, i| sum.wrapping_add(byte(a, i).abs_diff(byte(b, i))))
}

/// Returns true if `a + b` (plus one if `carry`) carries out of `width` bits.
#[inline(always)]
pub fn carry(a: u128, b: u128, carry: bool, width: u32) -> bool {
    (a + b + u128::from(carry)) >> width != 0
}

/// `cvt.pack`: two numbers clamped to `bits` bits, `b` in the lowest bits and `a` above it, and the bits of `c` above both.
pub fn pack(a: i32, b: i32, c: u32, bits: u32, signed: bool) -> u32 {
    let (least, most) = if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let field = |value: i32| value.clamp(least, most) as u32 & ((1 << bits) - 1);
    c.checked_shl(2 * bits).unwrap_or(0) | field(a) << bits | field(b)
}

/// Executes a mode of `prmt`. The low two bits of `count` choose one of its selectors.
pub fn permute_by_mode(low: u32, high: u32, count: u32, selectors: [u32; 4]) -> u32 {
    permute(low, high, selectors[(count & 3) as usize])
}
