//! The text of a finding: the sentence about the defect, and where it is.

use std::fmt;

use super::*;

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Const => "constant",
            Space::Local => "local",
            Space::Param => "parameter",
        })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(source) = &self.source {
            write!(f, "{source}, ")?;
        }
        if let Some(caller) = &self.inlined_at {
            write!(f, "inlined at {caller}, ")?;
        }
        write!(f, "PTX line {}: {}", self.ptx_line, self.instruction)
    }
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl fmt::Display for AccessOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessOp::Load => "load",
            AccessOp::Store => "store",
            AccessOp::Atomic => "atomic operation",
        })
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { space, op, address, bytes } = self;
        let plural = if *bytes == 1 { "byte" } else { "bytes" };
        write!(f, "{op} of {bytes} {plural} at {address:#x} in {space} memory")
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allocation, bytes, offset, freed, .. } = self;
        let freed = if *freed { ", which was freed before" } else { "" };
        if *offset < 0 {
            write!(f, "{} bytes before {allocation}{freed}", offset.unsigned_abs())
        } else if *offset as u64 >= *bytes {
            write!(f, "{} bytes past the end of {allocation}{freed}", *offset as u64 - bytes)
        } else {
            write!(f, "at offset {offset} of {allocation}{freed}")
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FindingKind::OutOfBounds { access, nearest } => {
                write!(f, "out of bounds: {access}")?;
                match nearest {
                    Some(nearest) => write!(f, ", {nearest}"),
                    None => write!(f, ", which belongs to no allocation"),
                }
            }
            FindingKind::Misaligned { access } => {
                write!(f, "misaligned: {access}, which is no multiple of {}", access.bytes)
            }
            FindingKind::Null { access } => write!(f, "null pointer: {access}"),
            FindingKind::DivergentBarrier { barrier } => {
                write!(f, "barrier {barrier} reached by only part of a warp: every thread of the block must reach the same barrier")
            }
            FindingKind::Deadlock { barrier } => {
                write!(f, "deadlock: threads wait at barrier {barrier} for threads that will never arrive")
            }
            FindingKind::MbarrierDeadlock { address, arrivals, bytes, phase, .. } => {
                let (arrival, byte) =
                    (if *arrivals == 1 { "arrival" } else { "arrivals" }, if *bytes == 1 { "byte" } else { "bytes" });
                write!(f, "deadlock: threads wait for the mbarrier at {address:#x} in shared memory, ")?;
                write!(f, "whose phase lacks {arrivals} {arrival} and {bytes} {byte} that will never come")?;
                phase.as_ref().map_or(Ok(()), |phase| phase.describe(*arrivals, f))
            }
            FindingKind::GridDeadlock { ended, blocks } => {
                write!(f, "deadlock: the blocks wait for one another, and {ended} of the {blocks} have ended")
            }
            FindingKind::ClusterDeadlock { waiting, ended } => {
                write!(f, "deadlock: the blocks of a cluster wait for one another")?;
                if *ended > 0 {
                    write!(f, ", and {ended} of them ended before")?;
                }
                waiting.iter().try_for_each(|ClusterWait { block, location }| write!(f, "\n  block {block} waits at {location}"))
            }
            FindingKind::InvalidClusterBarrier { misuse } => write!(f, "barrier of the cluster, {misuse}"),
            FindingKind::NoSuchBlock { access, rank, blocks } => {
                write!(f, "no such block: {access} of the block with rank {rank}, in a cluster of {blocks}")
            }
            FindingKind::OtherBlocksMemory { access, rank } => {
                write!(f, "another block's memory: {access} of the block with rank {rank}, which this instruction cannot reach")
            }
            FindingKind::EndedBlock { access, owner } => {
                write!(f, "memory of a block that may have ended: {access} of block {owner}, which does not wait for it")
            }
            FindingKind::InvalidRegisterCount { held, count, grows } => {
                let (less, instruction) = if *grows { ("less", "setmaxnreg.inc") } else { ("more", "setmaxnreg.dec") };
                write!(f, "{instruction} to {count} registers, which is {less} than the {held} that each thread has")
            }
            FindingKind::RegisterDeadlock { count, free } => {
                write!(f, "deadlock: a warpgroup waits for {count} registers per thread, ")?;
                write!(f, "but no warp gives any back, and the block has {free} left")
            }
            FindingKind::PartialWarpgroup => {
                write!(f, "executed by only part of a warpgroup: all four warps must execute the same instruction")
            }
            FindingKind::InvalidTexture { handle } => {
                write!(f, "{handle:#x} is not the handle of a texture or surface that this instruction can use")
            }
            FindingKind::OutsideSurface { at: [x, y, z], extent: [width, height, depth] } => {
                write!(f, "texel ({x},{y},{z}) is outside a surface of {width} x {height} x {depth}")
            }
            FindingKind::InvalidMbarrier { address, misuse } => {
                write!(f, "mbarrier at {address:#x} in shared memory, {misuse}")
            }
            FindingKind::InvalidBulkCopy { misuse } => write!(f, "bulk copy {misuse}"),
            FindingKind::MissingProxyFence { access, place, late, .. } => {
                write!(
                    f,
                    "no proxy fence: the async proxy reads {} bytes at {:#x} in shared memory",
                    access.bytes, access.address
                )?;
                if let Some(place) = place {
                    write!(f, ", {place}")?;
                }
                write!(f, ", which a thread wrote before, ")?;
                f.write_str(if *late {
                    "and only a thread that waited for it executed fence.proxy.async, not the one that wrote"
                } else {
                    "and nothing makes that write visible to the async proxy"
                })
            }
            FindingKind::OverwritesStore { access, place, store } => {
                write!(f, "overwritten too early: {access}")?;
                if let Some(place) = place {
                    write!(f, ", {place}")?;
                }
                write!(f, ", which is still to be read by the copy begun at {store}")
            }
            FindingKind::UnwaitedStore { committed } => {
                write!(
                    f,
                    "bulk copy to global memory that nothing waits for: the block ends, and with it the shared memory that it reads"
                )?;
                if *committed { Ok(()) } else { write!(f, "; it is in no group, because no commit follows it") }
            }
            FindingKind::StaleWait { access, barrier, parity, wait, other } => {
                write!(f, "stale wait: {access}, which races with {other}; ")?;
                write!(
                    f,
                    "the wait at {wait} for parity {parity} of the mbarrier at {barrier:#x} returned at once, because this thread had "
                )?;
                write!(f, "already seen that phase end")
            }
            FindingKind::PartialWarp => {
                write!(f, "reached by only part of a warp: all 32 threads must execute this instruction together")
            }
            FindingKind::UnfinishedCopy { access, copy } => {
                write!(f, "unfinished asynchronous copy: {access}, which is still to be written by the copy begun at {copy}")
            }
            FindingKind::InvalidBarrier { barrier, threads } => match threads {
                Some(threads) if *barrier < 16 => {
                    write!(f, "barrier {barrier} for {threads} threads: the number must be a multiple of 32 and not 0")
                }
                _ => write!(f, "barrier {barrier} does not exist: a block has barriers 0 to 15"),
            },
            FindingKind::NoTarget { value } => {
                write!(f, "a call or a jump to {value:#x}, which is none of the functions or places it can lead to")
            }
            FindingKind::InvalidFree { address, nearest } => {
                write!(f, "free({address:#x}): ")?;
                match nearest {
                    Some(nearest) if nearest.freed => write!(f, "freed before; it was {}", nearest.allocation),
                    Some(nearest) => write!(f, "malloc did not return this address, which is {nearest}"),
                    None => write!(f, "malloc did not return this address"),
                }
            }
            FindingKind::StackOverflow { limit } => {
                write!(f, "stack overflow: functions call each other deeper than {limit} bytes of stack per thread allow; ")?;
                write!(f, "`cudaDeviceSetLimit(cudaLimitStackSize, …)` changes that")
            }
            FindingKind::Assert { condition, file, line, function } => {
                write!(f, "assertion `{condition}` failed in {function} ({file}:{line})")
            }
            FindingKind::Trap => write!(f, "the kernel executed a trap"),
            FindingKind::Race { access, place, other, volatile, missing, .. } => {
                let space = access.space;
                write!(f, "data race on {space} memory: {access}")?;
                if let Some(place) = place {
                    write!(f, ", {place}")?;
                }
                write!(f, ", and {} of the same bytes by another thread, with nothing between that orders them", other.op)?;
                match missing {
                    Some(missing) => write!(f, ": {}", missing.reason()),
                    None if *volatile => write!(f, " (volatile orders nothing)"),
                    None => Ok(()),
                }
            }
            FindingKind::OutsideArray { access, array, array_offset, array_bytes, place } => {
                let end = i64::from(*array_bytes);
                let (distance, side) = if *array_offset < 0 {
                    (-array_offset, "before the start")
                } else {
                    ((array_offset - end).max(0), "past the end")
                };
                write!(f, "outside its array: {access}, {distance} bytes {side} of {array} ({array_bytes} bytes)")?;
                match place {
                    Some(place) => write!(f, ", {place}"),
                    None => Ok(()),
                }
            }
            FindingKind::Uninitialized { access, place } => {
                write!(f, "uninitialized: {access}")?;
                if let Some(place) = place {
                    write!(f, ", {place}")?;
                }
                write!(f, ", where nothing was written before")
            }
            FindingKind::CopySize { asked, bytes } => {
                write!(f, "asynchronous copy of {bytes} bytes that is to read {asked} of them, which has no defined result")
            }
            FindingKind::AbsentLane { source } => {
                write!(
                    f,
                    "undefined value: lane {source} of the warp has ended or takes no part in the exchange, and its value is stored"
                )
            }
            FindingKind::EndedBeforeBarrier { barrier, ended } => {
                let threads = if *ended == 1 { "1 thread has" } else { &format!("{ended} threads have") };
                write!(f, "barrier {barrier} reached by part of the block: {threads} ended before")
            }
            FindingKind::Wgmma(misuse) => write!(f, "{misuse}"),
            FindingKind::DifferentBarriers { barrier, other } => {
                write!(f, "barrier {barrier} reached at different instructions: other warps wait at {other}")
            }
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, kernel, block, thread, lanes, times, location } = self;
        let severity = if kind.severity() == Severity::Warning { "warning: " } else { "" };
        write!(f, "{severity}{kind}\n  in kernel {kernel}, block {block}, thread {thread}")?;
        if *lanes > 1 {
            write!(f, " and {} more of its warp", lanes - 1)?;
        }
        write!(f, "\n  at {location}")?;
        if let FindingKind::MbarrierDeadlock { others, stale, .. } = kind {
            others.iter().try_for_each(|waiter| write!(f, "\n  {waiter}"))?;
            if let Some(wait) = stale {
                write!(
                    f,
                    "\n  before that, a wait returned at once, because its thread had already seen that phase end, at {wait}"
                )?;
            }
        }
        let other = match kind {
            FindingKind::Race { other, .. } => Some(&**other),
            FindingKind::MissingProxyFence { writer, .. } => Some(&**writer),
            FindingKind::Wgmma(misuse) => misuse.other(),
            _ => None,
        };
        if let Some(OtherAccess { op, block: other_block, thread, location }) = other {
            let of_block = if other_block == block { String::new() } else { format!("block {other_block}, ") };
            write!(f, "\n  and {op} by {of_block}thread {thread}\n  at {location}")?;
        }
        if *times > 1 {
            write!(f, "\n  ({times} times in this launch)")?;
        }
        if let Some(help) = kind.help() {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}
