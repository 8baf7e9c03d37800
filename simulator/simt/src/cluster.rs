//! The clusters of a launch: which ones a kernel and a GPU allow.
//!
//! The rules were tried on an H200: every refusal is `CUDA_ERROR_INVALID_CLUSTER_SIZE`.

use thiserror::Error;

use crate::profile::Profile;
use ptx::geometry::{ClusterBounds, Dim3};

/// The compute capability from which on blocks form clusters.
pub const FIRST_CAPABILITY: (u32, u32) = (9, 0);
/// The most blocks of a cluster on every GPU with clusters (CUDA C++ Programming Guide, "Thread Block Clusters").
pub const PORTABLE_BLOCKS: u32 = 8;
/// The most blocks of a cluster on an H200. The program must accept that other GPUs may have fewer.
pub const MOST_BLOCKS: u32 = 16;

/// Clusters that a launch cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ClusterMisuse {
    /// The device has no clusters.
    #[error("{profile} has no clusters of blocks: they need compute capability 9.0")]
    Unsupported {
        /// Name of the profile.
        profile: &'static str,
    },
    /// An extent is 0.
    #[error("clusters of {asked} blocks: every extent must be at least 1")]
    Empty {
        /// The extents asked for.
        asked: Dim3,
    },
    /// The grid is no multiple of the cluster.
    #[error("a grid of {grid} blocks does not divide into clusters of {cluster}: each extent must be a multiple")]
    GridNotMultiple {
        /// The grid.
        grid: Dim3,
        /// The cluster.
        cluster: Dim3,
    },
    /// More blocks than a cluster may have.
    #[error("clusters of {blocks} blocks, where {limit} are allowed{}", if *limit == PORTABLE_BLOCKS && *blocks <= MOST_BLOCKS.into() {
        "; CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED allows 16 on this GPU"
    } else {
        ""
    })]
    TooLarge {
        /// Blocks of the cluster.
        blocks: u64,
        /// The limit of the device, or of the kernel's `.maxclusterrank`.
        limit: u32,
    },
    /// The launch asks for other clusters than the kernel was compiled for.
    #[error("clusters of {asked} blocks, but the kernel requires {required}")]
    NotAsRequired {
        /// The extents asked for.
        asked: Dim3,
        /// Those of the kernel.
        required: Dim3,
    },
    /// The kernel must be launched in clusters.
    #[error("the kernel must be launched with the extents of its clusters")]
    Missing,
}

/// Returns a launch's clusters, if it has any. `asked` is what the launch asks for; `large` allows more than 8 blocks per cluster.
///
/// # Errors
///
/// See [`ClusterMisuse`].
pub fn check(
    bounds: ClusterBounds,
    grid: Dim3,
    (asked, large): (Option<Dim3>, bool),
    profile: &Profile,
) -> Result<Option<Dim3>, ClusterMisuse> {
    let cluster = match (asked, bounds.required) {
        (None, None) if bounds.explicit => return Err(ClusterMisuse::Missing),
        (None, None) => return Ok(None),
        (Some(asked), Some(required)) if asked != required => return Err(ClusterMisuse::NotAsRequired { asked, required }),
        (Some(cluster), _) | (None, Some(cluster)) => cluster,
    };
    if profile.compute_capability < FIRST_CAPABILITY {
        return Err(ClusterMisuse::Unsupported { profile: profile.name });
    }
    let blocks = cluster.volume();
    if blocks == 0 {
        return Err(ClusterMisuse::Empty { asked: cluster });
    }
    let limit = if large { MOST_BLOCKS } else { PORTABLE_BLOCKS }.min(bounds.most.unwrap_or(u32::MAX));
    if blocks > limit.into() {
        return Err(ClusterMisuse::TooLarge { blocks, limit });
    }
    if !(grid.x.is_multiple_of(cluster.x) && grid.y.is_multiple_of(cluster.y) && grid.z.is_multiple_of(cluster.z)) {
        return Err(ClusterMisuse::GridNotMultiple { grid, cluster });
    }
    Ok(Some(cluster))
}
