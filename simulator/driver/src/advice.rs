//! Advice of a program about managed memory, page by page. Nothing here depends on it, because there is one copy of the bytes; but a program
//! can ask for it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// A device by its number, or the host.
pub const HOST: i32 = -1;

/// No location.
pub const NOWHERE: i32 = -2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    pub read_mostly: bool,
    pub preferred: i32,
    pub accessed_by: BTreeSet<i32>,
    pub prefetched: i32,
}

impl Default for Advice {
    fn default() -> Self {
        Self { read_mostly: false, preferred: NOWHERE, accessed_by: BTreeSet::new(), prefetched: NOWHERE }
    }
}

/// The pages about which something was said.
#[derive(Debug, Default)]
pub struct Pages(BTreeMap<u64, Advice>);

fn pages(address: u64, bytes: u64) -> Range<u64> {
    address / PAGE..(address + bytes).div_ceil(PAGE)
}

impl Pages {
    /// Forgets what was said about memory that has become something else.
    pub fn forget(&mut self, address: u64, bytes: u64) {
        let range = pages(address, bytes);
        self.0.retain(|page, _| !range.contains(page));
    }

    pub fn change(&mut self, address: u64, bytes: u64, change: impl Fn(&mut Advice)) {
        pages(address, bytes).for_each(|page| change(self.0.entry(page).or_default()));
    }

    /// Returns the advice that holds for a whole range: where its pages differ, none does.
    pub fn of(&self, address: u64, bytes: u64) -> Advice {
        let of_page = |page| self.0.get(&page).cloned().unwrap_or_default();
        let range = pages(address, bytes);
        let first = of_page(range.start);
        range.skip(1).map(of_page).fold(first, |all, page| Advice {
            read_mostly: all.read_mostly && page.read_mostly,
            preferred: if all.preferred == page.preferred { all.preferred } else { NOWHERE },
            accessed_by: &all.accessed_by & &page.accessed_by,
            prefetched: if all.prefetched == page.prefetched { all.prefetched } else { NOWHERE },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_for_a_range_holds_for_all_its_pages() {
        let said = parking_lot::Mutex::new(Pages::default());
        said.lock().change(0x10_0000, 3 * PAGE, |advice| advice.read_mostly = true);
        said.lock().change(0x10_0000, PAGE, |advice| advice.preferred = HOST);
        said.lock().change(0x10_0000, PAGE + 1, |advice| {
            advice.accessed_by.insert(0);
        });
        let of = |first: u64, count: u64| said.lock().of(0x10_0000 + first * PAGE, count * PAGE);
        assert_eq!(of(0, 1), Advice { read_mostly: true, preferred: HOST, accessed_by: [0].into(), prefetched: NOWHERE });
        assert_eq!(of(0, 2), Advice { read_mostly: true, preferred: NOWHERE, accessed_by: [0].into(), prefetched: NOWHERE });
        assert_eq!(of(0, 3).accessed_by, [].into());
        assert_eq!(of(2, 2), Advice::default());
        said.lock().forget(0x10_0000, 3 * PAGE);
        assert_eq!(of(0, 1), Advice::default());
    }
}
