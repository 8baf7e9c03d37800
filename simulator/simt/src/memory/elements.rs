//! Elements of 1, 2, 4 or 8 bytes in words of 32 bits, at offsets that are multiples of their size.

/// Returns the element at an offset, extended with zeros. `word` returns the word with an index.
#[inline(always)]
pub fn element(mut word: impl FnMut(u64) -> u32, offset: u64, width: u32) -> u64 {
    let (index, shift) = (offset / 4, offset % 4 * 8);
    let low = u64::from(word(index));
    match width {
        4 => low,
        8 => low | u64::from(word(index + 1)) << 32,
        _ => low >> shift & ((1 << (8 * width)) - 1),
    }
}

/// Replaces the element at an offset. `set` gets the index of a word, the bits of it that change, and their new values.
#[inline(always)]
pub fn set_element(offset: u64, width: u32, value: u64, mut set: impl FnMut(u64, u32, u32)) {
    let (index, shift) = (offset / 4, offset % 4 * 8);
    match width {
        4 => set(index, u32::MAX, value as u32),
        8 => {
            set(index, u32::MAX, value as u32);
            set(index + 1, u32::MAX, (value >> 32) as u32);
        }
        _ => {
            let field = ((1_u32 << (8 * width)) - 1) << shift;
            set(index, field, (value as u32) << shift & field);
        }
    }
}
