//! Who knows of what, in small sequences of events.

use super::super::mark::Strength;
use super::*;

const RELAXED: Semantics = Semantics {
    strong: true,
    acquires: false,
    releases: false,
    volatile: false,
    seeds_swap: false,
    guards: false,
    in_block: false,
};
const ACQUIRE: Semantics = Semantics { acquires: true, ..RELAXED };
const RELEASE: Semantics = Semantics { releases: true, ..RELAXED };

fn order(warps: usize) -> Order {
    let mut order = Order::default();
    order.start(warps, 1);
    order
}

fn mark(order: &Order, warp: u32, lane: u32) -> Mark {
    Mark::new(0, warp, lane, order.now(warp), Strength::Plain)
}

#[test]
fn a_barrier_puts_what_was_before_it_behind_all_who_waited() {
    let mut order = order(2);
    let before = mark(&order, 0, 5);
    assert!(!order.is_behind(before, 1, 5));
    order.arrive(0, (0, 0));
    order.arrive(1, (0, 0));
    let unordered = mark(&order, 0, 5);
    order.open((0, 0), 0..2, false);
    assert!(order.is_behind(before, 1, 5) && order.is_behind(before, 0, 6));
    assert!(!order.is_behind(unordered, 1, 5));
}

#[test]
fn who_only_arrives_tells_and_learns_nothing() {
    let mut order = order(2);
    let of_producer = mark(&order, 0, 0);
    let of_consumer = mark(&order, 1, 0);
    order.arrive(0, (1, 0));
    order.arrive(1, (1, 0));
    order.open((1, 0), 1..2, true);
    assert!(order.is_behind(of_producer, 1, 0));
    assert!(!order.is_behind(of_consumer, 0, 0));
}

#[test]
fn lanes_are_ordered_by_synchronizations_that_both_took_part_in() {
    let mut order = order(1);
    let first = mark(&order, 0, 3);
    assert!(order.is_behind(first, 0, 3) && !order.is_behind(first, 0, 4));
    order.synchronize_lanes(0, 0b11000, u32::MAX);
    assert!(order.is_behind(first, 0, 4) && !order.is_behind(first, 0, 5));
    order.synchronize_lanes(0, u32::MAX, u32::MAX);
    assert!(order.is_behind(first, 0, 5));
    assert!(!order.is_behind(mark(&order, 0, 3), 0, 5));
}

#[test]
fn a_flag_orders_only_between_fences() {
    let mut order = order(3);
    let data = mark(&order, 0, 0);
    order.fence(0, false);
    let after = mark(&order, 0, 0);
    order.write((0, 0), (0x40, 4), RELAXED, None);
    // Warp 1 looks at the flag and fences; warp 2 only looks.
    order.read(1, (0x40, 4), RELAXED, None);
    assert!(!order.is_behind(data, 1, 0));
    order.fence(1, false);
    order.read(2, (0x40, 4), RELAXED, None);
    assert!(order.is_behind(data, 1, 0) && !order.is_behind(after, 1, 0));
    assert!(!order.is_behind(data, 2, 0));
}

#[test]
fn release_and_acquire_order_without_a_fence() {
    let mut order = order(2);
    let data = mark(&order, 0, 0);
    order.write((0, 0), (8, 4), RELEASE, None);
    order.read(1, (8, 4), ACQUIRE, None);
    assert!(order.is_behind(data, 1, 31));
    assert!(!order.is_behind(mark(&order, 0, 0), 1, 31));
}

#[test]
fn who_has_ended_counts_as_arrived() {
    let mut order = order(2);
    let last = mark(&order, 0, 0);
    order.end(0, 0);
    order.arrive(1, (0, 0));
    order.open((0, 0), 1..2, false);
    assert!(order.is_behind(last, 1, 0));
}

#[test]
fn the_barrier_of_a_cluster_orders_what_was_released() {
    for releases in [true, false] {
        let mut order = Order::default();
        order.start(2, 2);
        let before = mark(&order, 0, 5);
        order.arrive_at_cluster(0, releases);
        let between = mark(&order, 0, 5);
        order.arrive_at_cluster(1, releases);
        order.complete_cluster_barrier();
        order.leave_cluster_barrier(1, true);
        assert_eq!(order.is_behind(before, 1, 5), releases);
        assert!(!order.is_behind(between, 1, 5) || !releases);
    }
}

#[test]
fn a_block_may_only_end_after_the_accesses_of_others_to_its_memory() {
    for waits in [true, false] {
        let mut order = Order::default();
        order.start(2, 2);
        let access = mark(&order, 1, 0);
        order.arrive_at_cluster(1, true);
        order.arrive_at_cluster(0, true);
        order.complete_cluster_barrier();
        if waits {
            order.leave_cluster_barrier(0, true);
        }
        order.end(0, 0);
        assert_eq!(order.is_before_end(access, 0), waits);
    }
}
