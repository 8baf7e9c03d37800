//! The results that the driver's functions return.
//!
//! A CUDA function returns only a number. A [`Failure`] adds the reason, which [the client](crate::client) can read: when a module
//! does not load, the line and the instruction matter more than the number.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::LazyLock;

use simt::MemoryError;

/// A `CUresult`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CuResult(pub u32);

/// A result other than success, with a reason if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: CuResult,
    pub reason: Option<String>,
}

pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl CuResult {
    pub fn because(self, reason: impl Into<String>) -> Failure {
        Failure { code: self, reason: Some(reason.into()) }
    }

    pub fn err<T>(self) -> Result<T> {
        Err(self.into())
    }
}

impl From<CuResult> for Failure {
    fn from(code: CuResult) -> Self {
        Self { code, reason: None }
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        let code = match error {
            MemoryError::OutOfMemory { .. } => CuResult::OUT_OF_MEMORY,
            MemoryError::NotAnAllocation(_) | MemoryError::OutOfBounds { .. } => CuResult::INVALID_VALUE,
        };
        code.because(error.to_string())
    }
}

/// Refuses a call: returns the [`CuResult`] with this name, and a reason if one is given, if the condition holds or there is none.
macro_rules! refuse {
    ($code:ident $(if $condition:expr)?) => {
        $crate::result::when!($($condition)?, return $crate::result::CuResult::$code.err())
    };
    ($code:ident $(if $condition:expr)?, $($reason:tt)+) => {
        $crate::result::when!($($condition)?, return Err($crate::result::CuResult::$code.because(format!($($reason)+))))
    };
}

/// Does something if a condition holds or there is none.
macro_rules! when {
    (, $act:expr) => {
        $act
    };
    ($condition:expr, $act:expr) => {
        if $condition {
            $act;
        }
    };
}

pub(crate) use {refuse, when};

/// Every result with its name and description, line by line. Most can only happen on real hardware. The texts are word for word those of
/// NVIDIA's driver for CUDA 13.0 on an H100, because programs compare and print them.
const NVIDIA: &str = include_str!("nvidia_results.txt");

impl CuResult {
    /// Returns the enumerator's name and NVIDIA's description; `None` if no result has this number.
    pub fn texts(self) -> Option<&'static [CString; 2]> {
        static TEXTS: LazyLock<BTreeMap<u32, [CString; 2]>> = LazyLock::new(|| {
            let texts = |line: &str| {
                let (number, texts) = line.split_once('|')?;
                let (name, description) = texts.split_once('|')?;
                Some((number.parse().ok()?, [CString::new(name).ok()?, CString::new(description).ok()?]))
            };
            NVIDIA.lines().filter_map(texts).collect()
        });
        TEXTS.get(&self.0)
    }
}

/// Defines the results that this driver returns, and lists them.
macro_rules! results {
    ($($name:ident = $code:literal,)*) => {
        impl CuResult {
            pub const SUCCESS: Self = Self(0);
            $(pub const $name: Self = Self($code);)*
        }

        #[cfg(test)]
        const RESULTS: &[(u32, &str)] = &[$(($code, stringify!($name))),*];
    };
}

results! {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    DEINITIALIZED = 4,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    MAP_FAILED = 205,
    NO_BINARY_FOR_GPU = 209,
    UNSUPPORTED_LIMIT = 215,
    PEER_ACCESS_UNSUPPORTED = 217,
    INVALID_PTX = 218,
    UNSUPPORTED_EXEC_AFFINITY = 224,
    INVALID_SOURCE = 300,
    FILE_NOT_FOUND = 301,
    OPERATING_SYSTEM = 304,
    INVALID_HANDLE = 400,
    ILLEGAL_STATE = 401,
    NOT_FOUND = 500,
    NOT_READY = 600,
    LAUNCH_OUT_OF_RESOURCES = 701,
    LAUNCH_TIMEOUT = 702,
    PEER_ACCESS_NOT_ENABLED = 705,
    CONTEXT_IS_DESTROYED = 709,
    HOST_MEMORY_ALREADY_REGISTERED = 712,
    HOST_MEMORY_NOT_REGISTERED = 713,
    COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    NOT_PERMITTED = 800,
    NOT_SUPPORTED = 801,
    STREAM_CAPTURE_UNSUPPORTED = 900,
    STREAM_CAPTURE_INVALIDATED = 901,
    STREAM_CAPTURE_MERGE = 902,
    STREAM_CAPTURE_UNMATCHED = 903,
    STREAM_CAPTURE_UNJOINED = 904,
    STREAM_CAPTURE_ISOLATION = 905,
    STREAM_CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    STREAM_CAPTURE_WRONG_THREAD = 908,
    GRAPH_EXEC_UPDATE_FAILURE = 910,
    INVALID_CLUSTER_SIZE = 912,
    INVALID_RESOURCE_TYPE = 914,
    INVALID_RESOURCE_CONFIGURATION = 915,
    UNKNOWN = 999,
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt::{ClusterMisuse, FindingKind, LaunchError, LaunchMisuse};

    #[test]
    fn names_and_descriptions_are_those_of_nvidias_driver() {
        let text = |code, at: usize| CuResult(code).texts().map(|texts| texts[at].to_str().unwrap().to_owned());
        for (code, name) in RESULTS {
            assert_eq!(text(*code, 0), Some(format!("CUDA_ERROR_{name}")));
        }
        assert_eq!((0..1000).filter(|code| text(*code, 1).is_some()).count(), NVIDIA.lines().count());
        assert_eq!((text(0, 0).as_deref(), text(0, 1).as_deref()), (Some("CUDA_SUCCESS"), Some("no error")));
        assert_eq!(text(12345, 0), None);
    }

    #[test]
    fn the_simulator_describes_a_failed_launch_in_the_words_of_nvidias_driver() {
        let fault = |kind| {
            let finding = Box::new(simt::Finding { kind, ..crate::tests::finding(1) });
            LaunchError::Fault { finding, printed: String::new(), overwritten: 0 }
        };
        let kinds = [FindingKind::Trap, FindingKind::StackOverflow { limit: 1 }];
        let misuses = [
            LaunchMisuse::NoSuchKernel("k".to_owned()),
            LaunchMisuse::NoWorkspace,
            LaunchMisuse::Cluster(ClusterMisuse::Unsupported { profile: "t4" }),
        ];
        for error in kinds.map(fault).into_iter().chain(misuses.map(LaunchError::Misuse)) {
            let (code, text) = error.cuda_result();
            assert_eq!(CuResult(code).texts().map(|texts| texts[1].to_str().unwrap()), Some(text), "{error}");
        }
    }
}
