//! Checks that an access may happen: inside an allocation, aligned, not through a null pointer.

use super::core::Core;
use super::machine::Stop;
use super::request::{Request, lanes_where, wide};
use super::watch::found::Defect;
use alu::registers::{LANES, spread};
use alu::windows::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_OFFSET};
use ptx::finding::{AccessOp, BulkCopyMisuse, FindingKind, Nearest, Space};
use ptx::program;

/// Addresses below this one count as null: a null pointer plus an index or a field's offset.
const NULL_BYTES: u64 = 1 << 16;

impl Core<'_> {
    /// Checks that every active lane's address is aligned and inside one allocation.
    #[inline(always)]
    pub fn check_global(&mut self, request: &Request<'_>) -> Result<(), Stop> {
        let bytes = u64::from(request.bytes);
        let span = Span::of(request);
        let length = (span.highest - span.lowest).saturating_add(bytes);
        let aligned = span.low_bits & (bytes - 1) == 0;
        let writes = request.op != AccessOp::Load;
        let region = self.machine.region(&mut self.check_hint, span.lowest, length);
        if aligned && region.is_some_and(|region| !(writes && (region.read_only | region.is_constant))) {
            return Ok(());
        }
        self.check_global_lanes(request)
    }

    /// Does the same for a load. Its last elements may be past the end if nothing depends on them. Returns true if none are.
    #[inline(always)]
    pub fn check_global_load(&mut self, request: &Request<'_>, access: &program::Access) -> Result<bool, Stop> {
        match self.check_global(request) {
            Ok(()) => Ok(true),
            Err(stop) => self.check_global_elements(request, access, stop),
        }
    }

    /// Checks each element of a load. `stop` is why the whole load is refused.
    #[cold]
    fn check_global_elements(&mut self, request: &Request<'_>, access: &program::Access, stop: Stop) -> Result<bool, Stop> {
        let Request { bytes, mask, addresses, .. } = *request;
        let used = self.fates.used_bytes(self.machine.program, request.pc);
        let outside = lanes_where(mask, |lane| {
            let address = addresses[lane];
            let Some(region) = self.machine.region(&mut self.check_hint, address, access.width.into()) else { return true };
            let inside = (region.end() - address).min(31) as u32;
            !address.is_multiple_of(bytes.into()) || (used & (u32::MAX >> (32 - bytes))) >> inside != 0
        });
        match (outside, stop) {
            (0, _) => Ok(false),
            (_, Stop::Fault { kind, .. }) if matches!(*kind, FindingKind::OutOfBounds { .. }) => {
                let request = request.of(outside);
                let access = request.access(Space::Global, addresses[request.first_lane()]);
                Err(self.fault(FindingKind::OutOfBounds { access, nearest: self.machine.nearest(access.address) }, request))
            }
            (_, stop) => Err(stop),
        }
    }

    /// Does [`check_global`](Self::check_global) lane by lane, for lanes in different allocations.
    #[cold]
    fn check_global_lanes(&mut self, request: &Request<'_>) -> Result<(), Stop> {
        let Request { op, bytes, mask, addresses, .. } = *request;
        let width = u64::from(bytes);
        let misaligned = request.misaligned();
        let outside = lanes_where(mask, |lane| {
            let region = self.machine.region(&mut self.check_hint, addresses[lane], width);
            region.is_none_or(|region| region.read_only && op != AccessOp::Load)
        });
        let access = |request: &Request<'_>| request.access(Space::Global, request.addresses[request.first_lane()]);
        self.refuse(request, misaligned, |request| FindingKind::Misaligned { access: access(request) })?;
        self.refuse(request, outside, |request| {
            let access = access(request);
            match access.address {
                ..NULL_BYTES => FindingKind::Null { access },
                address => FindingKind::OutOfBounds { access, nearest: self.machine.nearest(address) },
            }
        })?;
        self.note_constant_writes(request);
        Ok(())
    }

    /// Notes that lanes write constant memory, through generic addresses.
    ///
    /// Only a kernel that reads such memory is judged. PTX ISA 9.0, "Constant State Space": "The constant (.const) state space is a read-only
    /// memory initialized by the host." A GPU's hardware writes all the same, and a later launch reads what was written. The kernel itself may
    /// read old values from its cache.
    fn note_constant_writes(&mut self, request: &Request<'_>) {
        let machine = self.machine;
        if machine.program.accesses.iter().all(|access| access.space != Some(Space::Const)) {
            return;
        }
        let constant = lanes_where(request.mask, |lane| {
            let region = machine.region(&mut self.check_hint, request.addresses[lane], 1);
            request.op != AccessOp::Load && region.is_some_and(|region| region.is_constant)
        });
        if constant != 0 {
            let (lane, pc) = (constant.trailing_zeros() as usize, request.pc);
            let access = request.access(Space::Const, request.addresses[lane]);
            self.check(|watch, warp| watch.report(Defect::WritesConstant { access }, pc, warp, lane));
        }
    }

    /// Fails with a fault of these lanes, if there are any.
    fn refuse(&self, request: &Request<'_>, lanes: u32, kind: impl FnOnce(&Request<'_>) -> FindingKind) -> Result<(), Stop> {
        if lanes == 0 {
            return Ok(());
        }
        let request = request.of(lanes);
        Err(self.fault(kind(&request), request))
    }

    /// Checks the active lanes' addresses. Each must be aligned and inside the block's shared memory.
    #[inline(always)]
    pub fn check_shared(&mut self, request: &Request<'_>) -> Result<(), Stop> {
        let bytes = u64::from(request.bytes);
        let span = Span::of(request);
        let (base, lowest, highest) = (self.shared_base.into(), span.lowest & WINDOW_OFFSET, span.highest & WINDOW_OFFSET);
        let in_window = span.highest >> 56 <= 1 && span.lowest >> 56 == span.highest >> 56;
        let aligned = span.low_bits & (bytes - 1) == 0;
        let inside = lowest >= base && highest - base + bytes <= u64::from(self.machine.shared_bytes);
        if !(aligned && in_window && inside) {
            self.check_cluster_shared(request)?;
        }
        self.watch_unfinished(request);
        Ok(())
    }

    /// Does the same where some addresses are outside the block's shared memory.
    #[cold]
    fn check_cluster_shared(&mut self, request: &Request<'_>) -> Result<(), Stop> {
        let clusters = self.machine.clusters;
        if clusters.blocks == 1 {
            return self.check_private(Space::Shared, request, self.machine.shared_bytes as usize);
        }
        let Request { bytes, mask, addresses, pc, .. } = *request;
        let offset = |lane: usize| in_space(addresses[lane]);
        let access = |request: &Request<'_>| request.access(Space::Shared, clusters.in_block(offset(request.first_lane())));
        self.refuse(request, request.misaligned(), |request| FindingKind::Misaligned { access: access(request) })?;
        let nobodys = lanes_where(mask, |lane| clusters.rank_at(offset(lane)) >= u64::from(clusters.blocks));
        self.refuse(request, nobodys, |request| {
            let rank = clusters.rank_at(offset(request.first_lane()));
            FindingKind::NoSuchBlock { access: access(request), rank, blocks: clusters.blocks }
        })?;
        let outside =
            lanes_where(mask, |lane| clusters.in_block(offset(lane)) + u64::from(bytes) > u64::from(self.machine.shared_bytes));
        if outside != 0 {
            return Err(self.out_of_bounds(Space::Shared, &request.of(outside)));
        }
        if self.machine.program.reaches_cluster.get(pc as usize) == Some(&true) { Ok(()) } else { self.check_own_shared(request) }
    }

    /// Checks that no active lane accesses another block's shared memory.
    pub fn check_own_shared(&self, request: &Request<'_>) -> Result<(), Stop> {
        let clusters = self.machine.clusters;
        self.refuse(request, self.lanes_at_others(request), |request| {
            let offset = request.offset(request.first_lane()).into();
            let access = request.access(Space::Shared, clusters.in_block(offset));
            FindingKind::OtherBlocksMemory { access, rank: clusters.rank_at(offset) }
        })
    }

    /// Returns the active lanes that address another block's shared memory.
    pub fn lanes_at_others(&self, request: &Request<'_>) -> u32 {
        let clusters = &self.machine.clusters;
        let own = clusters.rank_at(self.shared_base.into());
        lanes_where(request.mask, |lane| clusters.rank_at(request.offset(lane).into()) != own)
    }

    /// Checks the active lanes' addresses in a memory that starts at 0. Each must be aligned and below the memory's size.
    #[cold]
    pub fn check_private(&mut self, space: Space, request: &Request<'_>, bytes_there: usize) -> Result<(), Stop> {
        let offset = |lane: usize| in_space(request.addresses[lane]);
        self.refuse(request, request.misaligned(), |request| FindingKind::Misaligned {
            access: request.access(space, offset(request.first_lane())),
        })?;
        let outside = lanes_where(request.mask, |lane| offset(lane).saturating_add(request.bytes.into()) > bytes_there as u64);
        if outside != 0 { Err(self.out_of_bounds(space, &request.of(outside))) } else { Ok(()) }
    }

    /// Returns the fault of a request outside the block's or thread's memory. Operations that the memory does not have get it.
    pub fn out_of_bounds(&self, space: Space, request: &Request<'_>) -> Stop {
        let mut address = in_space(request.addresses[request.first_lane()]);
        if space == Space::Shared && self.machine.clusters.blocks > 1 {
            address = self.machine.clusters.in_block(address);
        }
        let (owner, there) = match space {
            Space::Shared => ("the block's shared memory", u64::from(self.machine.shared_bytes)),
            Space::Local => ("the thread's local memory", u64::from(self.machine.program.local_bytes)),
            _ => ("the kernel's parameters", self.machine.params.len() as u64),
        };
        let nearest =
            Nearest { allocation: format!("{owner} ({there} bytes)"), base: 0, bytes: there, offset: address as i64, freed: false };
        self.fault(FindingKind::OutOfBounds { access: request.access(space, address), nearest: Some(nearest) }, *request)
    }

    pub fn refuse_bulk_copy(&self, misuse: BulkCopyMisuse, request: &Request<'_>) -> Stop {
        self.fault(FindingKind::InvalidBulkCopy { misuse }, *request)
    }

    pub fn fault(&self, kind: FindingKind, Request { mask, pc, .. }: Request<'_>) -> Stop {
        self.stop(kind, mask, pc)
    }

    /// Returns the stop for a defect of the kernel. The lanes in `lanes` caused it at an instruction.
    #[cold]
    pub fn stop(&self, kind: FindingKind, lanes: u32, pc: u32) -> Stop {
        Stop::Fault { kind: Box::new(kind), pc, warp: self.warp, lane: lanes.trailing_zeros(), lanes: lanes.count_ones() }
    }
}

/// The lowest and highest address of the active lanes. `low_bits` has the bits that are set in any of them.
struct Span {
    lowest: u64,
    highest: u64,
    low_bits: u64,
}

impl Span {
    #[inline(always)]
    fn of(request: &Request<'_>) -> Self {
        let Request { mask, addresses, .. } = *request;
        let first = addresses[mask.trailing_zeros() as usize];
        let mut span = Span { lowest: first, highest: first, low_bits: 0 };
        let keep = spread(mask);
        for lane in 0..LANES {
            // An inactive lane takes the address of the first active lane.
            let address = (addresses[lane] & wide(keep[lane])) | (first & !wide(keep[lane]));
            span.lowest = span.lowest.min(address);
            span.highest = span.highest.max(address);
            span.low_bits |= address;
        }
        span
    }
}

/// Returns an address without its window. An address in no window stays as it is.
fn in_space(address: u64) -> u64 {
    if [SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW].contains(&(address & !WINDOW_OFFSET)) {
        address & WINDOW_OFFSET
    } else {
        address
    }
}
