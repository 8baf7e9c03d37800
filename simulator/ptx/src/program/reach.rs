//! Which instructions reach the shared memory of other blocks.

/// Returns true if an instruction may access the shared memory of other blocks of the cluster: through `.shared::cluster`, or through a
/// generic address. The barriers that a block initializes, ends and waits for are its own (PTX ISA, `mbarrier.init`, `.inval`,
/// `.test_wait`).
pub fn reaches_cluster(opcode: &str) -> bool {
    let of_own = ["mbarrier.init", "mbarrier.inval", "mbarrier.test_wait", "mbarrier.try_wait"];
    !of_own.iter().any(|own| opcode.starts_with(own)) && (opcode.contains(".shared::cluster") || !opcode.contains(".shared"))
}
