//! Whether an access may happen: inside an allocation, aligned, not through a null pointer.

use super::Stop;
use super::access::{lanes_where, wide};
use super::block::Core;
use super::registers::{LANES, spread};
use crate::finding::{Access, AccessOp, FindingKind, Nearest, Space};
use crate::program::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_OFFSET};

/// Addresses below this one are called null: a null pointer with an index or a field's offset.
const NULL_BYTES: u64 = 1 << 16;

impl Core<'_> {
    /// That every active lane's address is aligned and inside one allocation.
    #[inline(always)]
    pub fn check_global(&mut self, op: AccessOp, bytes: u32, addresses: &[u64; LANES], mask: u32, pc: u32) -> Result<(), Stop> {
        let span = Span::of(addresses, mask);
        let length = (span.highest - span.lowest).saturating_add(u64::from(bytes));
        let aligned = span.low_bits & u64::from(bytes - 1) == 0;
        if aligned && self.machine.region(&mut self.check_hint, span.lowest, length).is_some() {
            return Ok(());
        }
        self.check_global_lanes(op, bytes, addresses, mask, pc)
    }

    /// As [`check_global`](Self::check_global), lane by lane: the lanes may be in different allocations.
    #[cold]
    fn check_global_lanes(&mut self, op: AccessOp, bytes: u32, addresses: &[u64; LANES], mask: u32, pc: u32) -> Result<(), Stop> {
        let width = u64::from(bytes);
        let misaligned = lanes_where(mask, |lane| !addresses[lane].is_multiple_of(width));
        let outside = lanes_where(mask, |lane| self.machine.region(&mut self.check_hint, addresses[lane], width).is_none());
        let at = |lanes: u32| addresses[lanes.trailing_zeros() as usize];
        let access = |lanes: u32| Access { space: Space::Global, op, address: at(lanes), bytes };
        if misaligned != 0 {
            return Err(self.fault(FindingKind::Misaligned { access: access(misaligned) }, misaligned, pc));
        }
        if outside != 0 {
            let access = access(outside);
            let kind = if access.address < NULL_BYTES {
                FindingKind::Null { access }
            } else {
                FindingKind::OutOfBounds { access, nearest: self.machine.nearest(access.address) }
            };
            return Err(self.fault(kind, outside, pc));
        }
        Ok(())
    }

    /// That every active lane's address is aligned and inside the block's shared memory.
    #[inline(always)]
    pub fn check_shared(&mut self, op: AccessOp, bytes: u32, addresses: &[u64; LANES], mask: u32, pc: u32) -> Result<(), Stop> {
        let span = Span::of(addresses, mask);
        let highest = span.highest & WINDOW_OFFSET;
        let in_window = span.highest >> 56 <= 1 && span.lowest >> 56 == span.highest >> 56;
        let aligned = span.low_bits & u64::from(bytes - 1) == 0;
        if aligned && in_window && highest + u64::from(bytes) <= u64::from(self.machine.shared_bytes) {
            return Ok(());
        }
        let there = self.machine.shared_bytes as usize;
        self.check_private(Space::Shared, op, bytes, there, addresses, mask, pc)
    }

    /// That every active lane's address is aligned and below the size of a memory that starts at 0.
    #[cold]
    #[expect(clippy::too_many_arguments, reason = "what a finding has to tell")]
    pub fn check_private(
        &mut self,
        space: Space,
        op: AccessOp,
        bytes: u32,
        bytes_there: usize,
        addresses: &[u64; LANES],
        mask: u32,
        pc: u32,
    ) -> Result<(), Stop> {
        let width = u64::from(bytes);
        let misaligned = lanes_where(mask, |lane| !addresses[lane].is_multiple_of(width));
        let offset = |lane: usize| in_space(addresses[lane]);
        let outside = lanes_where(mask, |lane| offset(lane).saturating_add(width) > bytes_there as u64);
        if misaligned != 0 {
            let address = offset(misaligned.trailing_zeros() as usize);
            let access = Access { space, op, address, bytes };
            return Err(self.fault(FindingKind::Misaligned { access }, misaligned, pc));
        }
        if outside != 0 {
            return Err(self.out_of_bounds(space, op, bytes, addresses, outside, pc));
        }
        Ok(())
    }

    /// An access outside a memory of the block or the thread, or of a kind that this memory does not know.
    pub fn out_of_bounds(&self, space: Space, op: AccessOp, bytes: u32, addresses: &[u64; LANES], lanes: u32, pc: u32) -> Stop {
        let address = in_space(addresses[lanes.trailing_zeros() as usize]);
        let (owner, there) = match space {
            Space::Shared => ("the block's shared memory", u64::from(self.machine.shared_bytes)),
            Space::Local => ("the thread's local memory", u64::from(self.machine.program.local_bytes)),
            _ => ("the kernel's parameters", self.machine.params.len() as u64),
        };
        let nearest =
            Nearest { allocation: format!("{owner} ({there} bytes)"), base: 0, bytes: there, offset: address as i64, freed: false };
        let access = Access { space, op, address, bytes };
        self.fault(FindingKind::OutOfBounds { access, nearest: Some(nearest) }, lanes, pc)
    }

    fn fault(&self, kind: FindingKind, lanes: u32, pc: u32) -> Stop {
        Stop::Fault { kind: Box::new(kind), pc, warp: self.warp, lane: lanes.trailing_zeros(), lanes: lanes.count_ones() }
    }
}

/// The lowest and highest address of the active lanes, and the bits that are set in any of them.
struct Span {
    lowest: u64,
    highest: u64,
    low_bits: u64,
}

impl Span {
    #[inline(always)]
    fn of(addresses: &[u64; LANES], mask: u32) -> Self {
        let first = addresses[mask.trailing_zeros() as usize];
        let mut span = Span { lowest: first, highest: first, low_bits: 0 };
        let keep = spread(mask);
        for lane in 0..LANES {
            // An inactive lane stands in for the first active one.
            let address = (addresses[lane] & wide(keep[lane])) | (first & !wide(keep[lane]));
            span.lowest = span.lowest.min(address);
            span.highest = span.highest.max(address);
            span.low_bits |= address;
        }
        span
    }
}

/// An address without its window; one that has no window stays what it is, however large.
fn in_space(address: u64) -> u64 {
    if [SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW].contains(&(address & !WINDOW_OFFSET)) {
        address & WINDOW_OFFSET
    } else {
        address
    }
}
