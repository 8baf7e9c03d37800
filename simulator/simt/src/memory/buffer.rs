//! The bytes of one allocation, as words that many threads may access at the same time.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use super::elements::{element, set_element};
use super::words::Words;

/// A contiguous piece of device memory.
///
/// The unit is a 32-bit word, and every access is a relaxed atomic access to whole words: what would be a data race between
/// simulated threads stays defined here. Offsets are in bytes from the start. Callers check bounds; an offset out of bounds panics.
#[derive(Debug)]
pub struct Buffer {
    words: Words,
    /// Index of the first word; the words before it are padding for alignment.
    start: usize,
    bytes: u64,
    /// Every byte counts as written.
    all_written: AtomicBool,
    /// Until then, one bit per byte: whether it was written.
    written: Box<[AtomicU32]>,
}

/// Alignment of the first byte on the host. Memory that the host and the device share has one address for both, and the cost of an
/// access depends on the address.
const ALIGNMENT: usize = 512;

impl Buffer {
    /// Makes a zeroed buffer, or `None` if the host has no memory. The pages are the operating system's zero pages until they are
    /// written, so a large allocation costs only what is used of it. `all_written` says that the zeros count as written.
    pub fn zeroed(bytes: u64, all_written: bool) -> Option<Self> {
        let count = usize::try_from(bytes.div_ceil(4)).ok()?.checked_add(ALIGNMENT / 4)?;
        let words: Box<[AtomicU32]> = bytemuck::allocation::try_zeroed_slice_box(count).ok()?;
        let address = words.as_ptr().addr();
        let start = (address.next_multiple_of(ALIGNMENT) - address) / 4;
        let flags = if all_written { 0 } else { usize::try_from(bytes.div_ceil(32)).ok()? };
        let written = bytemuck::allocation::try_zeroed_slice_box(flags).ok()?;
        Some(Self { words: words.into(), start, bytes, all_written: all_written.into(), written })
    }

    /// Makes a buffer over memory that the host program owns. It is unknown what the program wrote there, so all bytes count as written.
    ///
    /// # Safety
    ///
    /// `address` is a multiple of 4, and the words that hold the bytes can be read and written while the buffer exists.
    pub unsafe fn lent(address: u64, bytes: u64) -> Self {
        // SAFETY: the caller promises that `address` is a multiple of 4, and that these words can be read and written while the
        // buffer exists.
        let words = unsafe { Words::lent(address, bytes.div_ceil(4) as usize) };
        Self { words, start: 0, bytes, all_written: true.into(), written: Box::default() }
    }

    /// Returns true if the host program owns the bytes.
    pub fn is_lent(&self) -> bool {
        self.words.are_lent()
    }

    /// Makes a buffer without bytes that only keeps its length. It must not be accessed.
    pub fn tombstone(bytes: u64) -> Self {
        Self { words: Words::from(Box::default()), start: 0, bytes, all_written: true.into(), written: Box::default() }
    }

    /// Returns the length in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Marks bytes as written.
    #[inline(always)]
    pub fn note_written(&self, offset: u64, bytes: u64) {
        if !self.all_written.load(Relaxed) {
            self.note_some_written(offset, bytes);
        }
    }

    #[inline(never)]
    fn note_some_written(&self, offset: u64, bytes: u64) {
        if bytes == self.bytes {
            self.all_written.store(true, Relaxed);
            return;
        }
        for (word, flags) in flags_of(offset, bytes) {
            let word = &self.written[word];
            if word.load(Relaxed) & flags != flags {
                word.fetch_or(flags, Relaxed);
            }
        }
    }

    /// Marks bytes as not written.
    pub fn forget_written(&self, offset: u64, bytes: u64) {
        for (word, flags) in flags_of(offset, bytes) {
            self.written[word].fetch_and(!flags, Relaxed);
        }
    }

    /// Adds the written marks of a range of another buffer.
    pub fn note_copied(&self, offset: u64, from: &Buffer, from_offset: u64, bytes: u64) {
        let mut at = 0;
        while at < bytes {
            // Runs of written and unwritten bytes alternate.
            let hole = from.first_unwritten(from_offset + at, bytes - at).map_or(bytes, |hole| hole - from_offset);
            if hole > at {
                self.note_written(offset + at, hole - at);
            }
            at = (hole..bytes).find(|at| from.first_unwritten(from_offset + at, 1).is_none()).unwrap_or(bytes);
        }
    }

    /// Returns the first byte of a range that was never written.
    #[inline(always)]
    pub fn first_unwritten(&self, offset: u64, bytes: u64) -> Option<u64> {
        if self.all_written.load(Relaxed) {
            return None;
        }
        let mut missing = flags_of(offset, bytes).map(|(word, flags)| (word, flags & !self.written[word].load(Relaxed)));
        let (word, flags) = missing.find(|(_, flags)| *flags != 0)?;
        Some(word as u64 * 32 + u64::from(flags.trailing_zeros()))
    }

    /// Returns the address of the first byte on the host.
    pub fn host_address(&self) -> u64 {
        self.words[self.start..].as_ptr().expose_provenance() as u64
    }

    /// Returns the word at an offset that is a multiple of 4.
    #[inline(always)]
    pub fn word(&self, offset: u64) -> u32 {
        self.words[self.start + (offset / 4) as usize].load(Relaxed)
    }

    /// Replaces the word at an offset that is a multiple of 4.
    #[inline(always)]
    pub fn set_word(&self, offset: u64, value: u32) {
        self.words[self.start + (offset / 4) as usize].store(value, Relaxed);
    }

    /// Returns the words from a word-aligned offset on.
    #[inline(always)]
    pub fn words(&self, offset: u64, count: usize) -> &[AtomicU32] {
        &self.words[self.start + (offset / 4) as usize..][..count]
    }

    /// Atomically changes a word, and returns the old value. `offset` is a multiple of 4.
    pub fn update_word(&self, offset: u64, mut change: impl FnMut(u32) -> u32) -> u32 {
        let word = &self.words[self.start + (offset / 4) as usize];
        word.fetch_update(Relaxed, Relaxed, |old| Some(change(old))).unwrap_or_else(|old| old)
    }

    /// Returns the element at an offset. It has 1, 2, 4 or 8 bytes.
    #[inline(always)]
    pub fn element(&self, offset: u64, width: u32) -> u64 {
        element(|index| self.word(4 * index), offset, width)
    }

    /// Replaces an element. The other bytes of its word keep their values, even if other threads write them at the same time.
    #[inline(always)]
    pub fn set_element(&self, offset: u64, width: u32, value: u64) {
        set_element(offset, width, value, |index, field, bits| match field {
            u32::MAX => self.set_word(4 * index, bits),
            _ => _ = self.update_word(4 * index, |word| word & !field | bits),
        });
    }

    /// Returns the byte at an offset.
    pub fn byte(&self, offset: u64) -> u8 {
        self.element(offset, 1) as u8
    }

    /// Copies bytes out.
    pub fn read(&self, offset: u64, target: &mut [u8]) {
        let (head, middle) = head_and_middle(offset, target.len());
        let (first, rest) = target.split_at_mut(head);
        let (words, last) = rest.split_at_mut(middle);
        for (at, byte) in (offset..).zip(first) {
            *byte = self.byte(at);
        }
        let at = offset + head as u64;
        for (bytes, word) in words.chunks_exact_mut(4).zip(self.words(at, middle / 4)) {
            bytes.copy_from_slice(&word.load(Relaxed).to_le_bytes());
        }
        for (at, byte) in (at + middle as u64..).zip(last) {
            *byte = self.byte(at);
        }
    }

    /// Copies bytes from a range of another buffer, or of this one. If the ranges overlap and the target is `after` the source, the last
    /// bytes are copied first, so that none is overwritten before it is read.
    pub fn copy(&self, offset: u64, from: &Buffer, from_offset: u64, bytes: u64, after: bool) {
        let bytes = bytes as usize;
        let mut piece = vec![0; PIECE.min(bytes)];
        let count = bytes.div_ceil(PIECE);
        for number in 0..count {
            let start = if after { count - 1 - number } else { number } * PIECE;
            let piece = &mut piece[..PIECE.min(bytes - start)];
            from.read(from_offset + start as u64, piece);
            self.write(offset + start as u64, piece);
        }
    }

    /// Copies bytes in.
    pub fn write(&self, offset: u64, source: &[u8]) {
        let (head, middle) = head_and_middle(offset, source.len());
        let (first, rest) = source.split_at(head);
        let (words, last) = rest.split_at(middle);
        for (at, byte) in (offset..).zip(first) {
            self.set_element(at, 1, (*byte).into());
        }
        let at = offset + head as u64;
        for (bytes, word) in words.chunks_exact(4).zip(self.words(at, middle / 4)) {
            word.store(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]), Relaxed);
        }
        for (at, byte) in (at + middle as u64..).zip(last) {
            self.set_element(at, 1, (*byte).into());
        }
    }
}

/// Bytes that are copied at once.
const PIECE: usize = 1 << 16;

/// Splits a range of bytes at its whole words. Returns the bytes before the first whole word, and those of whole words.
fn head_and_middle(offset: u64, bytes: usize) -> (usize, usize) {
    let head = (offset.next_multiple_of(4) - offset) as usize;
    let head = head.min(bytes);
    (head, (bytes - head) / 4 * 4)
}

/// Returns the flags of a range of bytes: word by word, the bits.
fn flags_of(offset: u64, bytes: u64) -> impl Iterator<Item = (usize, u32)> {
    let end = offset + bytes;
    (offset / 32..end.div_ceil(32)).map(move |word| {
        let (first, past) = (offset.saturating_sub(word * 32), (end - word * 32).min(32));
        (word as usize, (u32::MAX >> (32 - past)) & (u32::MAX << first))
    })
}
