//! The options of a launch.

use std::sync::Arc;

use crate::coverage::CoverageCounts;
use crate::memory::Heap;
use crate::steps::StepRecord;
use crate::texture::Bindings;
use crate::warp_order::WarpOrder;
use ptx::geometry::Dim3;

/// Options of a launch.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// Warp instructions that one block may execute before the launch is stopped.
    pub fuel: u64,
    /// Threads of the host to run blocks on; `None` takes one per core.
    pub workers: Option<usize>,
    /// Count neighboring loads and stores as the wider requests that the machine code makes of them. Otherwise each load and store
    /// of PTX is a request of its own; so it always is for profiles before compute capability 5.0, whose compilers were not
    /// examined.
    pub merge_requests: bool,
    /// Run the code that needs no vector instructions, as on a processor without them. It is slower and gives the same bits.
    pub portable: bool,
    /// Look for data races and reads of uninitialized memory. Defects that end a kernel on a GPU are always found.
    pub checks: bool,
    /// Stop when the checks have found a defect. The blocks end where they are.
    pub until_defect: bool,
    /// All blocks are there at once and take turns, so that they can wait for one another at a barrier of the grid.
    pub cooperative: bool,
    /// Run only these blocks, by their numbers in the grid, in ascending order; [`landmarks`](crate::landmarks) chooses some of a
    /// huge grid. `None` runs all. In a grid of clusters they are numbers of clusters. A cooperative launch runs all of its
    /// blocks. Where only some run, races in global memory are not looked for.
    pub blocks: Option<Arc<[u64]>>,
    /// The clusters that the launch asks for. Without them, those that the kernel requires; without these, every block is alone.
    pub cluster: Option<Dim3>,
    /// Clusters may have more than 8 blocks, which not every GPU with clusters can run.
    pub large_clusters: bool,
    /// Registers of each thread, if they are known: what `setmaxnreg` redistributes.
    pub registers_per_thread: Option<u32>,
    /// Bytes that the stack of recursive functions may have in each thread.
    pub stack_bytes: u32,
    /// Bytes of `printf` output that a launch keeps, as many as a GPU keeps by CUDA's documentation. The newest output overwrites the
    /// oldest.
    pub printed_bytes: usize,
    /// The memory that kernels allocate. Blocks that are not freed stay for the next launch with the same heap.
    pub heap: Arc<Heap>,
    /// The order in which the warps of a block take turns.
    pub warp_order: WarpOrder,
    /// The word that registers and local memory hold until a thread writes them. A GPU has anything there. If it is not 0, the checks also give
    /// it to a lane that reads the register of an absent lane.
    pub garbage: u32,
    /// The textures and surfaces that the program has made.
    pub textures: Arc<Bindings>,
    /// The block whose accesses [`LaunchReport::touched`](crate::LaunchReport::touched) lists, if the grid has it. The checks collect them, so the list is empty
    /// without [`checks`](Self::checks).
    pub trace: Option<Dim3>,
    /// List in [`LaunchReport::footprint`](crate::LaunchReport::footprint) which bytes are accessed. The checks see them, so the list is empty without
    /// [`checks`](Self::checks).
    pub footprint: bool,
    /// Where the instructions of one warp are recorded, step by step.
    pub steps: Option<Arc<StepRecord>>,
    /// Where the launch adds which instructions it executed.
    pub coverage: Option<Arc<CoverageCounts>>,
}

impl Default for LaunchOptions {
    fn default() -> Self {
        Self {
            fuel: 1 << 29,
            printed_bytes: 1 << 20,
            workers: None,
            merge_requests: true,
            portable: false,
            checks: true,
            until_defect: false,
            cooperative: false,
            blocks: None,
            cluster: None,
            large_clusters: false,
            registers_per_thread: None,
            // As CUDA.
            stack_bytes: 1024,
            heap: Arc::default(),
            warp_order: WarpOrder::default(),
            garbage: 0,
            textures: Arc::default(),
            trace: None,
            footprint: false,
            steps: None,
            coverage: None,
        }
    }
}
