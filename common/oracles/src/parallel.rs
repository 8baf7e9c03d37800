//! Work on all cores. The threads see one type of closure, so that their code is compiled once and not for each oracle.

use std::sync::OnceLock;

use rayon::prelude::*;

/// Returns `one(index)` for each index below `count`, in order.
pub fn map<T: Send + Sync>(count: usize, one: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let slots: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    each(count, &|index| {
        slots[index].get_or_init(|| one(index));
    });
    slots.into_iter().filter_map(OnceLock::into_inner).collect()
}

fn each(count: usize, one: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(one);
}
