//! What a warp's access costs: sectors and wavefronts.
