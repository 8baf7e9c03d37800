//! Copies from global to shared memory that bypass the registers: `cp.async`.
//!
//! Measured with Nsight Compute 2025.3 on an H200, one pattern at a time (`tests/memory_rules.rs` holds all of them): the sectors are
//! `l1tex__t_sectors`, the wavefronts `memory_l1_wavefronts_shared`. The rules are the simplest that give
//! all measured numbers.
//!
//! - **Through the L1** (`.ca`), a wavefront moves words between banks: from the bank where a line of the L1 has a word to the bank of
//!   shared memory where it goes. Lanes of 16 bytes take turns in groups of 8, and lanes of 8 bytes in groups of 16. A group takes as many
//!   wavefronts as lanes that meet in a bank of the source, and one more for each further lane that meets others in a bank of the target.
//!   There are no broadcasts.
//! - **Past the L1** (`.cg`), the unit is a piece: what one sector of global memory gives to one sector of shared memory, each half at most
//!   once. A wavefront moves up to four pieces from one line to one line of 128 bytes, if all fill the same halves of their
//!   sectors, and all move by an even, or all by an odd number of sectors. A sector of the target counts as a sector for each line
//!   that it gets bytes from. Of lanes with the same target, one counts.

use super::cost::{LANES, SECTOR_BYTES, active_lanes, distinct};

/// Bytes of a wavefront, and of a line.
const LINE_BYTES: u64 = 128;

/// Sectors of a line.
const SECTORS: u64 = LINE_BYTES / SECTOR_BYTES;

/// Bytes of each lane of a copy past the L1: half a sector.
const HALF_BYTES: u64 = SECTOR_BYTES / 2;

/// Cost of one `cp.async` of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyCost {
    /// Sectors that the L1 asks for.
    pub sectors: u32,
    /// Wavefronts that write shared memory.
    pub wavefronts: u32,
    /// Wavefronts if the bytes filled all banks.
    pub ideal: u32,
}

/// Returns a copy's wavefronts through the L1, and their ideal number. `bytes` is 4, 8 or 16 per lane. The sectors are those of a load. `mask` has a
/// bit for each active lane; `sources` are addresses, `targets` are in bytes from the start of the block's shared memory.
pub fn copied_through_l1(mask: u32, bytes: u32, sources: &[u64; LANES], targets: &[u32; LANES]) -> (u32, u32) {
    let units = LINE_BYTES as usize / bytes as usize;
    let mut wavefronts = 0;
    for first in (0..LANES).step_by(units) {
        let (mut from, mut to) = ([0_u32; LANES], [0_u32; LANES]);
        for lane in active_lanes(mask).filter(|lane| (first..first + units).contains(lane)) {
            from[(sources[lane] / u64::from(bytes)) as usize % units] += 1;
            to[(targets[lane] / bytes) as usize % units] += 1;
        }
        let most = |banks: [u32; LANES]| banks.into_iter().max().unwrap_or(0);
        wavefronts += (most(from) + most(to)).saturating_sub(1);
    }
    (wavefronts, (mask.count_ones() * bytes).div_ceil(LINE_BYTES as u32))
}

/// The bytes that one global sector gives to one shared-memory sector.
#[derive(Clone, Copy)]
struct Piece {
    source: u64,
    target: u64,
    /// A bit for each way from a half of the source to a half of the target.
    halves: u8,
}

/// Pieces that move in one wavefront.
struct Wavefront {
    first: Piece,
    /// A bit for each sector of the source's line, and of the target's.
    sources: u8,
    targets: u8,
}

/// Cost of a copy of 16 bytes per lane past the L1. `mask` has a bit for each active lane; `sources` are addresses, `targets` are in bytes
/// from the start of the block's shared memory.
pub fn copied_past_l1(mask: u32, sources: &[u64; LANES], targets: &[u32; LANES]) -> CopyCost {
    let mut pieces: Vec<Piece> = Vec::with_capacity(LANES);
    let mut lanes = 0;
    for lane in active_lanes(mask) {
        if active_lanes(mask).any(|later| later > lane && targets[later] == targets[lane]) {
            continue;
        }
        lanes += 1;
        let (from, to) = (sources[lane], u64::from(targets[lane]));
        let (source, target) = (from / SECTOR_BYTES, to / SECTOR_BYTES);
        let from_half = 2 * (from / HALF_BYTES % 2);
        let way = 1 << (from_half + to / HALF_BYTES % 2);
        let gives_once = |piece: &&mut Piece| piece.halves >> from_half & 3 == 0;
        match pieces.iter_mut().filter(gives_once).find(|piece| (piece.source, piece.target) == (source, target)) {
            Some(piece) => piece.halves |= way,
            None => pieces.push(Piece { source, target, halves: way }),
        }
    }
    let mut wavefronts: Vec<Wavefront> = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        let (source, target) = (1 << (piece.source % SECTORS), 1 << (piece.target % SECTORS));
        let joins = |Wavefront { first, sources, targets }: &&mut Wavefront| {
            let moves_alike = (first.source ^ first.target ^ piece.source ^ piece.target) % 2 == 0;
            let lines = |piece: &Piece| (piece.source / SECTORS, piece.target / SECTORS, piece.halves);
            lines(first) == lines(piece) && moves_alike && (*sources & source, *targets & target) == (0, 0)
        };
        match wavefronts.iter_mut().find(joins) {
            Some(wavefront) => {
                wavefront.sources |= source;
                wavefront.targets |= target;
            }
            None => wavefronts.push(Wavefront { first: *piece, sources: source, targets: target }),
        }
    }
    let sectors = distinct(pieces.iter().map(|piece| (piece.target, piece.source / SECTORS)));
    let ideal = (lanes * HALF_BYTES as u32).div_ceil(LINE_BYTES as u32);
    CopyCost { sectors: sectors.len() as u32, wavefronts: wavefronts.len() as u32, ideal }
}
