//! cuBLAS, as far as it goes without a GPU.

use std::ptr;

use compilers::cublas::CudaBlas;
use compilers::{Error, libraries};

#[test]
fn a_file_that_is_no_library_is_refused_by_name() {
    let error = libraries::CUBLAS.open("/nonexistent/libcublas.so.12".as_ref()).unwrap_err().to_string();
    assert!(error.starts_with("/nonexistent/libcublas.so.12 does not load: "), "{error}");
}

#[test]
fn a_handle_is_made_or_refused_in_the_words_of_cublas() {
    if let Err(error) = CudaBlas::find() {
        eprintln!("skipped: {error}");
        return;
    }
    // SAFETY: null is the default stream, which always exists.
    match unsafe { CudaBlas::new(ptr::null_mut()) } {
        Ok(_) => {}
        // There is no GPU.
        Err(Error::Call { library: "cuBLAS", action, reason }) => {
            assert_eq!(action, "make a handle");
            assert!(reason.starts_with("CUBLAS_STATUS_") || reason.contains("(error "), "{reason}");
            println!("cuBLAS cannot {action}: {reason}");
        }
        Err(error) => panic!("{error}"),
    }
}
