//! One warp's access to memory, in the form that the bounds, the cost, the checks and the access itself all use.

use alu::registers::{FULL, Kind, LANES, Registers, spread};
use alu::windows::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_OFFSET};
use ptx::finding::{Access, AccessOp, Space};
use ptx::program::Address;

/// One load, store or atomic operation of a warp.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub op: AccessOp,
    /// Index of the load or store in the program, or of the atomic operation.
    pub index: u32,
    /// The instruction.
    pub pc: u32,
    /// Bytes of each lane.
    pub bytes: u32,
    /// Active lanes, at least one.
    pub mask: u32,
    /// Those of inactive lanes are undefined.
    pub addresses: &'a [u64; LANES],
}

/// A look for a change that others make: a volatile, relaxed, or acquiring load, or an atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polled {
    /// That of the first lane.
    pub access: Access,
    pub pc: u32,
    pub warp: u32,
    /// The warp looked at nothing else in this turn.
    pub is_only: bool,
}

/// The form of a warp's addresses.
#[derive(Clone, Copy, Debug)]
pub enum Pattern {
    /// All active lanes at one address.
    Same(u64),
    /// All lanes active, and each address right after the one before.
    Run(u64),
    Other,
}

impl Request<'_> {
    /// Returns the same request for fewer lanes.
    #[inline(always)]
    pub fn of(self, mask: u32) -> Self {
        Self { mask, ..self }
    }

    /// Returns the lowest active lane.
    #[inline(always)]
    pub fn first_lane(&self) -> usize {
        self.mask.trailing_zeros() as usize
    }

    /// Returns a lane's offset in a memory of the block or thread. It is the address without its window.
    #[inline(always)]
    pub fn offset(&self, lane: usize) -> u32 {
        (self.addresses[lane] & WINDOW_OFFSET) as u32
    }

    /// Returns the lanes whose address is no multiple of `bytes`.
    pub fn misaligned(&self) -> u32 {
        lanes_where(self.mask, |lane| !self.addresses[lane].is_multiple_of(self.bytes.into()))
    }

    /// Returns a lane's access to shared memory.
    #[inline(always)]
    pub fn in_shared(&self, lane: usize) -> Access {
        self.access(Space::Shared, self.offset(lane).into())
    }

    /// Returns the access of a lane with this address.
    #[inline(always)]
    pub fn access(&self, space: Space, address: u64) -> Access {
        Access { space, op: self.op, address, bytes: self.bytes }
    }

    #[inline(always)]
    pub fn pattern(&self) -> Pattern {
        let addresses = self.addresses;
        let first = addresses[self.first_lane()];
        let mut same = 0;
        let mut run = 0;
        if self.mask == FULL {
            for (lane, address) in addresses.iter().enumerate() {
                let distance = address.wrapping_sub(first);
                same |= distance;
                run |= distance ^ (lane as u64 * u64::from(self.bytes));
            }
        } else {
            run = 1;
            let keep = spread(self.mask);
            for lane in 0..LANES {
                same |= (addresses[lane] ^ first) & wide(keep[lane]);
            }
        }
        if same == 0 {
            Pattern::Same(first)
        } else if run == 0 {
            Pattern::Run(first)
        } else {
            Pattern::Other
        }
    }

    /// Returns the spaces of the active addresses, with each one's lanes.
    pub fn spaces(&self, space: Option<Space>) -> Vec<(Space, u32)> {
        if let Some(space) = space {
            return vec![(space, self.mask)];
        }
        let spaces = [Space::Global, Space::Shared, Space::Local, Space::Param];
        let lanes_of = spaces.map(|space| (space, lanes_where(self.mask, |lane| self.space_of(lane) == space)));
        lanes_of.into_iter().filter(|(_, lanes)| *lanes != 0).collect()
    }

    /// Returns the space that a lane's generic address is in.
    #[inline]
    pub fn space_of(&self, lane: usize) -> Space {
        match self.addresses[lane] & !WINDOW_OFFSET {
            SHARED_WINDOW => Space::Shared,
            LOCAL_WINDOW => Space::Local,
            PARAM_WINDOW => Space::Param,
            _ => Space::Global,
        }
    }
}

/// Returns the addresses of all lanes; those of inactive lanes are undefined. The sum is as wide as the register: a base of 32 bits
/// below an array and an offset back into it wrap.
#[inline(always)]
pub fn lane_addresses(registers: &Registers, address: &Address) -> [u64; LANES] {
    let offset = address.offset as u64;
    let mut addresses = [0; LANES];
    match address.kind {
        Kind::Double => {
            for (address, base) in addresses.iter_mut().zip(registers.doubles(address.base)) {
                *address = base.wrapping_add(offset);
            }
        }
        _ => {
            for (address, base) in addresses.iter_mut().zip(registers.words(address.base)) {
                *address = u64::from(base.wrapping_add(offset as u32));
            }
        }
    }
    addresses
}

/// Returns the set lanes of a mask, lowest first.
#[inline(always)]
pub fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// Returns the lanes of a mask that meet a condition.
pub fn lanes_where(mask: u32, mut condition: impl FnMut(usize) -> bool) -> u32 {
    lanes_of(mask).filter(|lane| condition(*lane)).fold(0, |lanes, lane| lanes | 1 << lane)
}

/// Returns each distinct mask, with the active lanes that name it.
pub fn groups(masks: &[u32; LANES], active: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut open = active;
    std::iter::from_fn(move || {
        let mask = *masks.get(open.trailing_zeros() as usize)?;
        let named = lanes_where(open, |lane| masks[lane] == mask);
        open &= !named;
        Some((mask, named))
    })
}

/// Widens a lane's mask from 32 to 64 bits.
#[inline(always)]
pub fn wide(keep: u32) -> u64 {
    keep as i32 as i64 as u64
}
