//! Reads a tensor map from where a kernel says it is.

use super::footprint::UNIT;
use crate::exec::core::Core;
use crate::exec::machine::Stop;
use crate::exec::request::Request;
use crate::tensor_map::{BYTES, Interleave, TensorMap};
use alu::windows::WINDOW_OFFSET;
use ptx::finding::{BulkCopyMisuse, Space};

/// Tensor maps are at multiples of this.
const ALIGN: u64 = 64;

impl Core<'_> {
    /// Returns the map at the address of the request's only lane. The copy has `rank` coordinates.
    pub(super) fn tensor_map(&mut self, request: &Request<'_>, space: Option<Space>, rank: u32) -> Result<TensorMap, Stop> {
        let address = request.addresses[request.first_lane()];
        let refuse = |core: &Self, misuse| Err(core.refuse_bulk_copy(misuse, request));
        let mut bytes = [0; BYTES];
        match request.spaces(space)[0].0 {
            Space::Param => {
                let start = (address & WINDOW_OFFSET) as usize;
                let Some(there) = start.checked_add(BYTES).and_then(|end| self.machine.params.get(start..end)) else {
                    return Err(self.out_of_bounds(Space::Param, request));
                };
                bytes.copy_from_slice(there);
            }
            Space::Global | Space::Const => {
                let Some(region) = self.machine.region(&mut self.check_hint, address, BYTES as u64) else {
                    return Err(self.out_of_bounds(Space::Global, request));
                };
                region.buffer.read(address - region.base, &mut bytes);
            }
            Space::Shared | Space::Local => return refuse(self, BulkCopyMisuse::NotAMap { address }),
        }
        let Some(map) = TensorMap::decode(&bytes).filter(|_| address.is_multiple_of(ALIGN)) else {
            return refuse(self, BulkCopyMisuse::NotAMap { address });
        };
        if map.rank != rank {
            return refuse(self, BulkCopyMisuse::Rank { of_map: map.rank, given: rank });
        }
        if map.interleave != Interleave::None {
            return refuse(self, BulkCopyMisuse::Interleaved);
        }
        Ok(map)
    }
}

/// Returns why a box cannot begin here. Nothing documents these two rules; an H200 answers with an illegal instruction.
pub(super) fn misplaced(map: &TensorMap, origin: [i32; 5], is_store: bool) -> Option<BulkCopyMisuse> {
    let (at, width) = (origin[0], map.element.bytes());
    if (i64::from(at) * i64::from(width)).rem_euclid(UNIT.into()) != 0 {
        return Some(BulkCopyMisuse::Coordinate { at, width });
    }
    let mut before = (0..map.rank).zip(origin).filter(|(_, at)| is_store && *at < 0);
    before.next().map(|(dimension, at)| BulkCopyMisuse::BeforeTensor { dimension, at })
}
