// What the kernels of chapter 06 with asynchronous copies share.
#pragma once

// ANCHOR: copy
// Starts to copy BYTES bytes (4 or 16), or to write that many zeros if there is nothing to copy.
template <unsigned BYTES>
__device__ inline void start_copy(unsigned s_to, const float* from, bool is_there)
{
    if (BYTES == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     ::"r"(s_to), "l"(from), "r"(is_there ? 16 : 0) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                     ::"r"(s_to), "l"(from), "r"(is_there ? 4 : 0) : "memory");
    }
}

// Ends a group of copies. Every iteration makes one, even if it is empty, so that the groups can be counted.
__device__ inline void end_group()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits for this thread's copies, except for the latest LEFT groups.
template <unsigned LEFT>
__device__ inline void wait_for_groups()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}
// ANCHOR_END: copy
