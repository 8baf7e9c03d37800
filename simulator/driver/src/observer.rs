//! Following launches. Whatever wants to know about launches (the report, the coverage, the debugger, …) is an [`Observer`], and a launch
//! knows nothing else of them.

use simt::{Dim3, Image, LaunchConfig, LaunchOptions, Memory, Profile};

use crate::records::LaunchRecord;

/// A follower of launches.
pub trait Observer {
    /// Looks at a launch that begins, and asks for recordings of it.
    fn begin(&self, _launch: &Begun<'_>, _options: &mut LaunchOptions) {}

    /// Looks at a launch that has ended. A launch that was refused does not end.
    fn end(&self, _launch: &Begun<'_>, _options: &LaunchOptions, _ended: &Ended) {}
}

impl<T: Observer> Observer for Option<T> {
    fn begin(&self, launch: &Begun<'_>, options: &mut LaunchOptions) {
        self.iter().for_each(|observer| observer.begin(launch, options));
    }

    fn end(&self, launch: &Begun<'_>, options: &LaunchOptions, ended: &Ended) {
        self.iter().for_each(|observer| observer.end(launch, options, ended));
    }
}

pub struct Begun<'l> {
    /// Its number in the process, from 1.
    pub number: u64,
    pub image: &'l Image,
    pub kernel: &'l str,
    pub config: LaunchConfig,
    /// The parameters, laid out as the kernel expects them.
    pub parameters: &'l [u8],
    pub memory: &'l Memory,
    pub profile: &'l Profile,
}

pub struct Ended {
    pub record: LaunchRecord,
    /// Bytes of the kernel's output that later output has overwritten.
    pub overwritten: u64,
    /// The block that ran out of fuel, and its warp.
    pub out_of_fuel: Option<(Dim3, u32)>,
}
