//! The knowledge of a warp about other blocks, and the flags with which blocks tell each other.
//!
//! A warp *publishes* when it writes a flag after a fence, or with a release, of a scope that includes other blocks. Its releases are numbered, and
//! each includes the earlier ones. So what a warp knows of other blocks is, for each publisher, the last release that it knows of. Most warps know
//! of none. In a chain of blocks each knows nearly the same as the one before, so the clocks share what is equal.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::clock::VClock;

/// A warp of the grid: its block, and its number there.
pub type FarWarp = (u32, u32);

/// A release of a publisher, with the clock of its block.
#[derive(Clone, Debug)]
struct Release {
    publisher: FarWarp,
    number: u32,
    block: Arc<VClock>,
}

/// The releases by some neighboring blocks, sorted by publisher.
type Chunk = Option<Arc<[Release]>>;

/// Blocks of a chunk.
const BLOCKS: u32 = 64;

/// The releases of other blocks that a warp knows of: chunk by chunk.
#[derive(Clone, Debug, Default)]
pub struct Far(Option<Arc<Vec<Chunk>>>);

impl Far {
    fn chunks(&self) -> &[Chunk] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Learns what the other one knows.
    #[inline]
    pub fn join(&mut self, other: &Self) {
        match (&self.0, &other.0) {
            (_, None) => {}
            (None, Some(_)) => *self = other.clone(),
            (Some(own), Some(others)) if Arc::ptr_eq(own, others) => {}
            (Some(_), Some(others)) => self.join_chunks(others),
        }
    }

    fn join_chunks(&mut self, others: &[Chunk]) {
        for (index, other) in others.iter().enumerate() {
            let Some(other) = other else { continue };
            let joined = match self.chunks().get(index) {
                None | Some(None) => other.clone(),
                Some(Some(own)) if Arc::ptr_eq(own, other) || includes(own, other) => continue,
                Some(Some(own)) if includes(other, own) => other.clone(),
                Some(Some(own)) => merged(own, other),
            };
            let chunks = Arc::make_mut(self.0.get_or_insert_default());
            if index >= chunks.len() {
                chunks.resize(index + 1, None);
            }
            chunks[index] = Some(joined);
        }
    }

    /// Returns true if it knows that a block's warp reached this time.
    pub fn knows(&self, (block, warp): FarWarp, time: u32) -> bool {
        let Some(Some(chunk)) = self.chunks().get((block / BLOCKS) as usize) else { return false };
        let first = chunk.partition_point(|release| release.publisher.0 < block);
        let mut of_block = chunk[first..].iter().take_while(|release| release.publisher.0 == block);
        of_block.any(|release| time <= release.block.at(warp))
    }
}

/// Returns true if the first list includes the second. Both are sorted.
fn includes(more: &[Release], less: &[Release]) -> bool {
    let mut more = more.iter();
    less.iter().all(|wanted| {
        let found = more.find(|release| release.publisher >= wanted.publisher);
        found.is_some_and(|release| release.publisher == wanted.publisher && release.number >= wanted.number)
    })
}

fn merged(one: &[Release], other: &[Release]) -> Arc<[Release]> {
    let mut all: Vec<_> = one.iter().chain(other).collect();
    // The last release of each publisher comes first.
    all.sort_by_key(|release| (release.publisher, std::cmp::Reverse(release.number)));
    all.dedup_by_key(|release| release.publisher);
    all.into_iter().cloned().collect()
}

/// The last release of a warp.
#[derive(Clone, Debug, Default)]
pub struct LastRelease(Option<(u32, Arc<VClock>)>);

impl LastRelease {
    /// Publishes what the warp tells of its block. Returns it for the clocks of other blocks, and by itself.
    fn publish(&mut self, publisher: FarWarp, told: &VClock) -> (Far, Arc<VClock>) {
        let (number, block) = match self.0.take() {
            Some((number, block)) if block.includes(told) => (number, block),
            last => {
                let (number, mut block) = last.map_or((0, VClock::default()), |(number, block)| (number, VClock::clone(&block)));
                block.join(told);
                (number + 1, Arc::new(block))
            }
        };
        self.0 = Some((number, block.clone()));
        let mut chunks = vec![None; (publisher.0 / BLOCKS) as usize];
        chunks.push(Some(Arc::from([Release { publisher, number, block: block.clone() }])));
        (Far(Some(Arc::new(chunks))), block)
    }
}

/// The most chunks that writes and reads of flags may visit. After that, a launch is too large to follow. They are at most 64 MB of
/// pointers, and bound the time, too.
const MOST_CHUNKS: usize = 1 << 23;

/// The flags of a launch: what was released at each word of global memory. All workers share them.
#[derive(Debug, Default)]
pub struct Flags {
    words: Mutex<HashMap<u64, Far>>,
    /// The knowledge of blocks at their last barrier, at the words that they stored without a release.
    heard: Mutex<HashMap<u64, Far>>,
    /// The last clock that each warp published.
    published: Mutex<HashMap<FarWarp, Arc<VClock>>>,
    /// Chunks that writes and reads have looked at.
    chunks: AtomicUsize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the address of a shared-memory offset, for the clocks of flags. It is distinct from every global address.
#[inline(always)]
pub fn shared_address(offset: u32) -> u64 {
    alu::windows::SHARED_WINDOW | u64::from(offset)
}

/// Returns the words that some bytes are in. Two accesses to one flag may have different widths.
pub fn words((address, bytes): (u64, u64)) -> std::ops::Range<u64> {
    address / 4..(address + bytes).div_ceil(4)
}

impl Flags {
    /// Publishes what a warp tells of its block and of others. Call it before the write to these bytes, so that whoever sees the write learns it.
    pub fn write(&self, bytes: (u64, u64), (publisher, last): (FarWarp, &mut LastRelease), (told, far): (&VClock, &Far)) {
        if self.gave_up() {
            return;
        }
        let (mut released, block) = last.publish(publisher, told);
        released.join(far);
        lock(&self.published).insert(publisher, block);
        self.note(&self.words, bytes, &released);
    }

    /// Notes what a warp knows at a store that releases nothing. Call it before the store, too.
    pub fn write_relaxed(&self, bytes: (u64, u64), (publisher, last): (FarWarp, &mut LastRelease), (told, far): (&VClock, &Far)) {
        if !self.gave_up() {
            let (mut heard, _) = last.publish(publisher, told);
            heard.join(far);
            self.note(&self.heard, bytes, &heard);
        }
    }

    /// Adds knowledge to some words.
    fn note(&self, flags: &Mutex<HashMap<u64, Far>>, bytes: (u64, u64), told: &Far) {
        let mut flags = lock(flags);
        for word in words(bytes) {
            // Several writers of one word, such as a counter of arrivals, add up.
            let flag = flags.entry(word).or_default();
            flag.join(told);
            self.chunks.fetch_add(told.chunks().len() + flag.chunks().len(), Relaxed);
        }
    }

    /// Returns the knowledge released at these bytes. Call it after the read.
    pub fn read(&self, bytes: (u64, u64)) -> Far {
        self.of(&self.words, bytes)
    }

    /// Returns what was told at these bytes without a release. Call it after the read, too.
    pub fn read_relaxed(&self, bytes: (u64, u64)) -> Far {
        self.of(&self.heard, bytes)
    }

    fn of(&self, flags: &Mutex<HashMap<u64, Far>>, bytes: (u64, u64)) -> Far {
        let mut far = Far::default();
        if self.gave_up() {
            return far;
        }
        let flags = lock(flags);
        words(bytes).filter_map(|word| flags.get(&word)).for_each(|flag| far.join(flag));
        self.chunks.fetch_add(far.chunks().len(), Relaxed);
        far
    }

    /// Returns true if a block published that its warp reached this time.
    pub fn has_published(&self, (block, warp): FarWarp, time: u32) -> bool {
        lock(&self.published).iter().any(|(publisher, told)| publisher.0 == block && time <= told.at(warp))
    }

    /// Returns true if there was too much to follow.
    pub fn gave_up(&self) -> bool {
        self.chunks.load(Relaxed) > MOST_CHUNKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(times: &[(u32, u32)]) -> VClock {
        let mut clock = VClock::default();
        times.iter().for_each(|(warp, time)| clock.advance(*warp, *time));
        clock
    }

    #[test]
    fn who_reads_a_flag_learns_what_was_published_there_and_what_the_publisher_had_learned() {
        let flags = Flags::default();
        let [mut first, mut second, mut third] = [(); 3].map(|()| LastRelease::default());
        flags.write((0x100, 4), ((0, 1), &mut first), (&told(&[(0, 3), (1, 5)]), &Far::default()));
        let learned = flags.read((0x100, 4));
        assert!(learned.knows((0, 0), 3) && learned.knows((0, 1), 5));
        assert!(!learned.knows((0, 0), 4) && !learned.knows((0, 2), 1) && !learned.knows((1, 0), 1));
        // Far away, so in another chunk, and at one half of a wider flag.
        flags.write((0x200, 8), ((1000, 0), &mut second), (&told(&[(0, 2)]), &learned));
        let learned = flags.read((0x204, 4));
        assert!(learned.knows((1000, 0), 2) && learned.knows((0, 0), 3));
        // The counter of several blocks.
        flags.write((0x100, 4), ((1, 0), &mut third), (&told(&[(0, 9)]), &Far::default()));
        let learned = flags.read((0x100, 4));
        assert!(learned.knows((1, 0), 9) && learned.knows((0, 1), 5) && !learned.knows((1000, 0), 1));
        assert!(flags.has_published((0, 0), 3) && !flags.has_published((0, 0), 4));
        assert!(!flags.read((0x104, 4)).knows((0, 0), 1));
    }

    #[test]
    fn a_later_release_of_a_warp_takes_the_place_of_an_earlier_one() {
        let flags = Flags::default();
        let mut last = LastRelease::default();
        flags.write((0, 4), ((7, 0), &mut last), (&told(&[(0, 1)]), &Far::default()));
        let mut known = flags.read((0, 4));
        flags.write((0, 4), ((7, 0), &mut last), (&told(&[(0, 4)]), &Far::default()));
        assert!(!known.knows((7, 0), 4));
        known.join(&flags.read((0, 4)));
        assert!(known.knows((7, 0), 4));
        assert_eq!(known.chunks()[0].as_ref().map(|chunk| chunk.len()), Some(1));
        // What is published again tells no less.
        flags.write((4, 4), ((7, 0), &mut last), (&told(&[(0, 2)]), &Far::default()));
        assert!(flags.read((4, 4)).knows((7, 0), 4));
    }
}
