//! The CUDA driver API over `simt`.
