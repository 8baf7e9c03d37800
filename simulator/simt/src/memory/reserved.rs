//! Reserved ranges of addresses, in which the host program maps memory of its own and says who may access it.

use std::collections::BTreeMap;

use ptx::finding::Nearest;

/// A reserved range of addresses.
#[derive(Debug)]
pub struct Reservation {
    pub bytes: u64,
    /// The memory mapped into it, by first address.
    pub mapped: BTreeMap<u64, Mapped>,
}

/// Memory of the host program that is mapped into a reserved range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// The first address on the device.
    pub address: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// The first address on the host.
    pub host: u64,
    /// The rights of kernels to it.
    pub rights: Rights,
}

/// The rights of kernels to mapped memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Nothing.
    None,
    /// Read it.
    Read,
    /// Read and write it.
    ReadWrite,
}

/// Joins neighbors with the same rights.
pub fn merged(mapped: &[Mapped]) -> Vec<Mapped> {
    let mut pieces: Vec<Mapped> = Vec::new();
    for next in mapped {
        match pieces.last_mut() {
            Some(last)
                if (last.address + last.bytes, last.host + last.bytes, last.rights) == (next.address, next.host, next.rights) =>
            {
                last.bytes += next.bytes;
            }
            _ => pieces.push(*next),
        }
    }
    pieces
}

impl Reservation {
    /// Describes an address of the range where an access faults. `None` if every access is allowed there.
    pub fn nearest(&self, base: u64, address: u64) -> Option<Nearest> {
        let at = self.mapped.range(..=address).next_back().map(|(_, mapped)| mapped);
        let (what, first, bytes) = match at.filter(|mapped| address - mapped.address < mapped.bytes) {
            Some(Mapped { rights: Rights::ReadWrite, .. }) => return None,
            Some(mapped) => {
                let rights = if mapped.rights == Rights::Read { "for reading only" } else { "without access for the device" };
                let what = format!("{} bytes that are mapped {rights} into a reserved range of {} bytes", mapped.bytes, self.bytes);
                (what, mapped.address, mapped.bytes)
            }
            None => (format!("a reserved range of {} bytes, where nothing is mapped", self.bytes), base, self.bytes),
        };
        Some(Nearest { allocation: what, base: first, bytes, offset: (address - first) as i64, freed: false })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::memory::Memory;

    const UNIT: u64 = 1 << 12;

    fn pages(count: u64) -> (Vec<u32>, u64) {
        let mut words = vec![0; (count * UNIT / 4) as usize];
        let address = words.as_mut_ptr().expose_provenance() as u64;
        (words, address)
    }

    #[test]
    fn neighbors_are_one_piece_of_memory() {
        let memory = Memory::new(u64::MAX);
        let (own, host) = pages(2);
        let base = memory.reserve(4 * UNIT, UNIT);
        let page =
            |index: u64| Mapped { address: base + index * UNIT, bytes: UNIT, host: host + index * UNIT, rights: Rights::ReadWrite };
        // SAFETY: the vector outlives every use of the memory, and nothing else accesses it.
        let map = |mapped: &[Mapped]| unsafe { memory.map(base, mapped) }.wait();
        map(&[page(0), page(1)]);
        memory.write(base + UNIT - 2, &[1, 2, 3, 4]).unwrap();
        assert_eq!((own[UNIT as usize / 4 - 1], own[UNIT as usize / 4]), (0x0201_0000, 0x0403));
        map(&[page(0)]);
        assert!(memory.write(base + UNIT - 2, &[0; 4]).is_err());
        assert!(memory.write(base + UNIT - 2, &[0; 2]).is_ok());
        memory.forget_reserved(base).wait();
        assert!(memory.write(base, &[0]).is_err());
    }

    #[test]
    fn an_access_that_is_not_allowed_names_the_range() {
        let memory = Memory::new(u64::MAX);
        let (_own, host) = pages(2);
        let base = memory.reserve(4 * UNIT, UNIT);
        let page = |index: u64, rights| Mapped { address: base + index * UNIT, bytes: UNIT, host: host + index * UNIT, rights };
        // SAFETY: the vector outlives every use of the memory, and nothing else accesses it.
        unsafe { memory.map(base, &[page(0, Rights::Read), page(1, Rights::None)]) }.wait();
        let message = |address| memory.nearest(address).unwrap().to_string();
        assert_eq!(
            message(base + 4),
            "at offset 4 of 4096 bytes that are mapped for reading only into a reserved range of 16384 bytes"
        );
        assert_eq!(
            message(base + UNIT),
            "at offset 0 of 4096 bytes that are mapped without access for the device into a reserved range of 16384 bytes"
        );
        assert_eq!(message(base + 3 * UNIT), "at offset 12288 of a reserved range of 16384 bytes, where nothing is mapped");
        assert!(
            memory.read(base, &mut [0]).is_ok() && memory.write(base, &[0]).is_err() && memory.read(base + UNIT, &mut [0]).is_err()
        );
    }

    #[test]
    fn a_change_waits_for_launches_that_use_what_goes() {
        let memory = Memory::new(u64::MAX);
        let (_own, host) = pages(1);
        let base = memory.reserve(UNIT, UNIT);
        // SAFETY: the vector outlives every use of the memory, and nothing else accesses it.
        unsafe { memory.map(base, &[Mapped { address: base, bytes: UNIT, host, rights: Rights::ReadWrite }]) }.wait();
        let in_use = memory.snapshot();
        let replaced = memory.forget_reserved(base);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| replaced.wait());
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waits.is_finished());
            drop(in_use);
            waits.join().unwrap();
        });
    }
}
