//! A kernel decoded: a dense list of instructions with registers numbered, targets resolved and reconvergence points known.

mod arrays;
mod async_ops;
mod call_graph;
mod calls;
mod carry;
mod cluster_ops;
mod code;
mod compare;
mod copy_ops;
mod decode;
mod fate;
mod fixed;
mod flow;
pub mod fragment;
mod frame;
mod known;
mod memory_ops;
mod mentions;
mod merging;
mod moves;
mod named;
mod operands;
mod operations;
mod origin;
mod pointers;
mod registers;
mod scope;
mod settle;
mod stack;
mod tensor_ops;
mod texture_ops;
mod video_ops;
mod warp_ops;
mod wgmma;
mod wgmma_ops;

pub use call_graph::{CallGraph, address_of_function};
pub use code::{
    Action, Axis, Constant, ConstantValue, Exchange, FrameLayout, Inst, Param, Poll, Program, Question, ShuffleMode, Special,
    VoteMode,
};
pub use copy_ops::typed_reduction;
pub use decode::{decode_kernel, globals};
pub use fate::{is_stored, used_elements};
pub use fixed::{NOWHERE, SINK, TRUE};
pub use operations::{
    Access, Address, Atomic, AtomicOp, BulkDirection, BulkExtent, ClusterSource, FragmentAccess, MOST_ELEMENTS, MachineRequest,
    Matrices, MbarrierOp, MultiplyAdd, OutsideSurface, Phase, Reduction, Semantics, TensorOp, TextureHandle, TextureLevel,
    TextureOp, TexturePlace, TextureQuery,
};
pub use origin::{Origin, SourceMap};
pub use pointers::parameters_of_addresses;
pub use warp_ops::is_barrier;
pub use wgmma::{FactorA, Mentions, ROWS_OF_WARP, Wgmma, WgmmaStep};
