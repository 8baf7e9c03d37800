//! Benchmarks, run by `cargo bench -p benches`: `stages` times the rows of every chapter, `simulator` how fast the simulator is.
