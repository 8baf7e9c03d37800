//! The registers that an instruction names, and what it does with each. Every analysis of a program asks here.

use super::code::{Action, Exchange, Inst, Program, Question, VoteMode};
use super::operations::{BulkCopy, FragmentAccess, Matrices, MbarrierOp, MultiplyAdd, TensorOp, TextureOp};
use super::wgmma::{FactorA, WgmmaStep};
use alu::registers::{Kind, Reg};

/// The use of a register by an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The instruction computes from it, stores it, or decides by it.
    Read,
    /// It holds the address of an access that may be to global memory.
    Address,
    /// The instruction may write to it.
    Written,
}

/// Calls `each` with the registers of an instruction, except its guard.
///
/// Every register that is written is among them. Those that are read are left out for operations that [`reads_are_known`] excludes.
pub fn registers(program: &Program, inst: &Inst, each: &mut dyn FnMut(Role, Reg, Kind)) {
    let of_width = |width| if width == 8 { Kind::Double } else { Kind::Word };
    match inst.action {
        Action::Alu { alu, destination, sources } => {
            let row = alu.row();
            row.sources.iter().zip(sources).for_each(|(kind, source)| each(Role::Read, source, *kind));
            each(Role::Written, destination, row.destination);
        }
        Action::Load(index) | Action::Store(index) => {
            let access = &program.accesses[index as usize];
            let role = if matches!(inst.action, Action::Load(_)) { Role::Written } else { Role::Read };
            access.registers.iter().take(access.count as usize).for_each(|register| each(role, *register, access.kind));
            each(Role::Address, access.address.base, access.address.kind);
        }
        Action::Atomic(index) => {
            let atomic = &program.atomics[index as usize];
            let kind = of_width(atomic.width);
            atomic.operands.iter().for_each(|register| each(Role::Read, *register, kind));
            atomic.destinations.iter().take(atomic.count as usize).for_each(|register| each(Role::Written, *register, kind));
            each(Role::Address, atomic.address.base, atomic.address.kind);
        }
        Action::Copy(index) => global_address(program, program.copies[index as usize].source, each),
        Action::BulkCopy(index) => {
            let BulkCopy { access, .. } = program.bulk_copies[index as usize];
            global_address(program, access, each);
        }
        Action::Barrier { barrier, threads, poll, .. } => {
            [Some(barrier), threads].into_iter().flatten().for_each(|register| each(Role::Read, register, Kind::Word));
            if let Some(poll) = poll {
                each(Role::Read, poll.source, Kind::Predicate);
                each(Role::Written, poll.destination, if poll.question == Question::Count { Kind::Word } else { Kind::Predicate });
            }
        }
        Action::WarpSync { members } => each(Role::Read, members, Kind::Word),
        Action::Exchange(exchange) => match exchange {
            Exchange::Match { destination: value, agrees: predicate, .. }
            | Exchange::Shuffle { destination: value, in_range: predicate, .. }
            | Exchange::Elect { leader: value, elected: predicate, .. } => {
                each(Role::Written, value, Kind::Word);
                each(Role::Written, predicate, Kind::Predicate);
            }
            Exchange::Vote { mode, destination, .. } => {
                each(Role::Written, destination, if mode == VoteMode::Ballot { Kind::Word } else { Kind::Predicate });
            }
            Exchange::Reduce { destination, .. } | Exchange::ActiveMask { destination } => {
                each(Role::Written, destination, Kind::Word);
            }
        },
        Action::Mbarrier(index) => match program.mbarriers[index as usize].op {
            MbarrierOp::Arrive { state, .. } => each(Role::Written, state, Kind::Double),
            MbarrierOp::Test { done, .. } => each(Role::Written, done, Kind::Predicate),
            MbarrierOp::Init { .. } | MbarrierOp::Invalidate | MbarrierOp::Expect { .. } | MbarrierOp::AfterCopies { .. } => {}
        },
        Action::Clock { destination, kind } => each(Role::Written, destination, kind),
        Action::Tensor(index) => match &program.tensor_ops[index as usize] {
            TensorOp::MultiplyAdd(MultiplyAdd { d, a, b, c, sparse, .. }) => {
                sparse.iter().for_each(|(metadata, _)| each(Role::Read, *metadata, Kind::Word));
                for (role, fragment) in [(Role::Read, a), (Role::Read, b), (Role::Read, c), (Role::Written, d)] {
                    fragment.named().iter().for_each(|register| each(role, *register, fragment.number.kind()));
                }
            }
            TensorOp::LoadFragment(FragmentAccess { fragment, access, .. }) => {
                fragment.named().iter().for_each(|register| each(Role::Written, *register, fragment.number.kind()));
                global_address(program, *access, each);
            }
            TensorOp::StoreFragment(FragmentAccess { access, .. }) => global_address(program, *access, each),
            TensorOp::LoadMatrices(Matrices { access, .. }) => {
                let registers = program.accesses[*access as usize].registers;
                registers.iter().for_each(|register| each(Role::Written, *register, Kind::Word));
            }
            TensorOp::Transpose { destination, .. } => each(Role::Written, *destination, Kind::Word),
            TensorOp::StoreMatrices(_) => {}
        },
        Action::Wgmma(WgmmaStep::Start(index)) => {
            let wgmma = &program.wgmmas[index as usize];
            match &wgmma.a {
                FactorA::Registers(registers) => registers.iter().for_each(|register| each(Role::Read, *register, Kind::Word)),
                FactorA::Shared(descriptor) => each(Role::Read, *descriptor, Kind::Double),
            }
            each(Role::Read, wgmma.b, Kind::Double);
            each(Role::Read, wgmma.adds, Kind::Predicate);
            for role in [Role::Read, Role::Written] {
                wgmma.d.iter().for_each(|register| each(role, *register, Kind::Word));
            }
        }
        Action::Texture(index) => match program.textures[index as usize] {
            TextureOp::Fetch { results, .. } => results.iter().for_each(|register| each(Role::Written, *register, Kind::Word)),
            TextureOp::Query { result, .. } => each(Role::Written, result, Kind::Word),
            TextureOp::Surface { loads: true, width, registers, .. } => {
                registers.iter().for_each(|register| each(Role::Written, *register, of_width(width)));
            }
            TextureOp::Surface { loads: false, .. } => {}
        },
        // Their operands are in memory, or they have none. What is taken back after a call was written before.
        Action::ClusterCopy(_)
        | Action::NoTarget { .. }
        | Action::Wgmma(WgmmaStep::Fence | WgmmaStep::Commit | WgmmaStep::Wait { .. })
        | Action::CommitCopies
        | Action::CommitBulk
        | Action::WaitForBulk { .. }
        | Action::ProxyFence
        | Action::InitFence
        | Action::WaitForCopies { .. }
        | Action::Branch { .. }
        | Action::Call { .. }
        | Action::Return
        | Action::Exit
        | Action::Trap
        | Action::Print { .. }
        | Action::AssertFail { .. }
        | Action::Allocate { .. }
        | Action::Free { .. }
        | Action::ClusterArrive { .. }
        | Action::ClusterWait { .. }
        | Action::SetRegisters { .. }
        | Action::Fence { .. }
        | Action::CopyLocal { .. }
        | Action::CopyFrame { .. }
        | Action::Save { .. }
        | Action::Restore { .. }
        | Action::Nothing => {}
    }
}

fn global_address(program: &Program, access: u32, each: &mut dyn FnMut(Role, Reg, Kind)) {
    let address = program.accesses[access as usize].address;
    each(Role::Address, address.base, address.kind);
}

/// Returns true if [`registers`] lists all registers that an instruction reads. The others are rare.
pub fn reads_are_known(program: &Program, inst: &Inst) -> bool {
    match inst.action {
        Action::Tensor(index) => matches!(program.tensor_ops[index as usize], TensorOp::MultiplyAdd(_)),
        Action::Copy(_)
        | Action::Mbarrier(_)
        | Action::BulkCopy(_)
        | Action::ClusterCopy(_)
        | Action::Texture(_)
        | Action::NoTarget { .. }
        | Action::Exchange(_) => false,
        _ => true,
    }
}

/// Calls `each` with every register that an instruction may write to.
pub fn written(program: &Program, inst: &Inst, each: &mut dyn FnMut(Reg, Kind)) {
    // Most instructions, so this saves time.
    if let Action::Alu { alu, destination, .. } = inst.action {
        return each(destination, alu.row().destination);
    }
    registers(program, inst, &mut |role, register, kind| {
        if role == Role::Written {
            each(register, kind);
        }
    });
}
