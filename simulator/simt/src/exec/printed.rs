//! The output of a launch: its newest bytes.
//!
//! A GPU keeps the output of `printf` in a ring that the program reads after the launch. What does not fit overwrites the oldest
//! output. An H200 does so: of 300 000 lines, the last ones arrive.

use std::collections::VecDeque;

/// The newest output of a block, or of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    bytes: Vec<u8>,
    overwritten: u64,
}

impl Printed {
    /// Adds output, and forgets the oldest beyond `most` bytes.
    pub fn push(&mut self, text: &[u8], most: usize) {
        self.bytes.extend_from_slice(text);
        // Not at each call, which would move all bytes each time.
        if self.bytes.len() > most.saturating_mul(2) {
            self.shorten(most);
        }
    }

    fn shorten(&mut self, most: usize) {
        let excess = self.bytes.len().saturating_sub(most);
        self.bytes.drain(..excess);
        self.overwritten += excess as u64;
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the text and the number of overwritten bytes before it. After those, it starts with the second line, because the
    /// first one may be a part.
    pub fn finish(mut self, most: usize) -> (String, u64) {
        self.shorten(most);
        if self.overwritten > 0
            && let Some(end) = self.bytes.iter().position(|&byte| byte == b'\n')
            && end + 1 < self.bytes.len()
        {
            self.shorten(self.bytes.len() - end - 1);
        }
        (String::from_utf8_lossy(&self.bytes).into_owned(), self.overwritten)
    }
}

/// The output of several blocks, by block number.
#[derive(Clone, Debug, Default)]
pub struct OfBlocks {
    blocks: VecDeque<(u64, Printed)>,
    bytes: usize,
    /// Bytes of blocks that are forgotten altogether.
    overwritten: u64,
}

impl OfBlocks {
    /// Adds the output of a block. Its number is higher than those before it. Forgets the first blocks if `most` bytes come after them.
    pub fn push(&mut self, block: u64, printed: Printed, most: usize) {
        self.bytes += printed.bytes.len();
        self.blocks.push_back((block, printed));
        while let Some((_, first)) = self.blocks.front()
            && self.bytes - first.bytes.len() >= most
        {
            self.bytes -= first.bytes.len();
            self.overwritten += first.overwritten + first.bytes.len() as u64;
            self.blocks.pop_front();
        }
    }

    /// Adds what another worker has, in any order.
    pub fn append(&mut self, other: &Self) {
        self.blocks.extend(other.blocks.iter().cloned());
        self.bytes += other.bytes;
        self.overwritten += other.overwritten;
    }

    /// Forgets the output of the blocks after this one.
    pub fn keep_until(&mut self, block: u64) {
        self.blocks.retain(|(number, _)| *number <= block);
    }

    /// Returns the output of the blocks in order. Also returns the number of bytes before it that were overwritten.
    pub fn finish(&mut self, most: usize) -> (String, u64) {
        self.blocks.make_contiguous().sort_by_key(|(block, _)| *block);
        let mut all = Printed { bytes: Vec::new(), overwritten: self.overwritten };
        for (_, printed) in std::mem::take(&mut self.blocks) {
            // What this block has overwritten itself comes after all blocks before it.
            if printed.overwritten > 0 {
                all.shorten(0);
            }
            all.overwritten += printed.overwritten;
            all.push(&printed.bytes, most);
        }
        all.finish(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str, most: usize) -> Printed {
        let mut printed = Printed::default();
        text.as_bytes().chunks(3).for_each(|part| printed.push(part, most));
        printed
    }

    #[test]
    fn the_newest_output_is_kept_and_the_rest_is_counted() {
        assert_eq!(printed("one\ntwo\n", 8).finish(8), ("one\ntwo\n".to_owned(), 0));
        assert_eq!(printed("one\ntwo\nthree\n", 11).finish(11), ("two\nthree\n".to_owned(), 4));
        assert_eq!(printed("one\ntwo\nthree\n", 9).finish(9), ("three\n".to_owned(), 8));
        assert_eq!(printed("without a line's end", 5).finish(5), ("s end".to_owned(), 15));
        assert_eq!(printed("four\n", 0).finish(0), (String::new(), 5));
        let long = "line\n".repeat(1000);
        assert_eq!(printed(&long, 12).finish(12), ("line\nline\n".to_owned(), 4990));
    }

    #[test]
    fn the_workers_in_any_order_print_what_one_worker_prints() {
        for most in [0, 1, 5, 14, 15, 30, 100] {
            let blocks: Vec<String> = (0..20).map(|block| format!("block {block}\n").repeat(block % 4)).collect();
            let collected = |workers: usize, reverse: bool| {
                let mut parts = vec![OfBlocks::default(); workers];
                for (number, text) in blocks.iter().enumerate() {
                    parts[number * 7 % workers].push(number as u64, printed(text, most), most);
                }
                if reverse {
                    parts.reverse();
                }
                let mut all = OfBlocks::default();
                parts.iter().for_each(|part| all.append(part));
                all.finish(most)
            };
            let expected = printed(&blocks.concat(), most).finish(most);
            for workers in [1, 2, 3] {
                assert_eq!(collected(workers, false), expected, "{workers} workers, {most} bytes");
                assert_eq!(collected(workers, true), expected, "{workers} workers, {most} bytes");
            }
        }
    }
}
