//! The digests of kernels: what a record names of its kernels, compared with the PTX that is stored now.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use anyhow::Result;
use compilers::digest;
use run::record::{KernelDigests, Record};

/// The name of a run's ceilings among its stages. They were measured with kernels, too.
pub const CEILING: &str = "ceiling";

/// The digests of kernels by source stem and kernel name: `03-unroll/shared`.
#[derive(Clone, Debug)]
pub struct Kernels(BTreeMap<String, String>);

impl Kernels {
    /// Returns the kernels whose PTX is stored now.
    pub fn stored() -> &'static Self {
        static STORED: LazyLock<Kernels> = LazyLock::new(|| {
            let of_source = |source: &&'static kernels::Source| {
                let kernels = digest::of_source(source).into_iter();
                kernels.map(|(kernel, digest)| (format!("{}/{kernel}", digest::stem(source)), digest)).collect::<Vec<_>>()
            };
            Kernels(kernels::sources().iter().flat_map(of_source).collect())
        });
        &STORED
    }

    /// Returns these kernels with other PTX for one source.
    pub fn with(&self, stem: &str, ptx: &str) -> Result<Self> {
        let folder = format!("{stem}/");
        let others = self.0.iter().filter(|(name, _)| !name.starts_with(&folder));
        let mut kernels: BTreeMap<String, String> = others.map(|(name, digest)| (name.clone(), digest.clone())).collect();
        kernels.extend(digest::of_text(ptx)?.into_iter().map(|(kernel, digest)| (format!("{folder}{kernel}"), digest)));
        Ok(Self(kernels))
    }

    /// Returns the digest of a kernel.
    pub fn digest(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns a record's kernels that have since changed or are gone.
    pub fn changed<'a>(&self, then: &'a KernelDigests) -> Vec<&'a str> {
        let has_changed =
            |(name, digest): &(&'a String, &Option<String>)| digest.is_none() || self.digest(name) != digest.as_deref();
        then.iter().filter(has_changed).map(|(name, _)| name.as_str()).collect()
    }

    /// Returns true if a recorded stage, or [`CEILING`], has a changed kernel.
    pub fn is_stale(&self, record: &Record, stage: &str) -> bool {
        self.stale_parts(record).iter().any(|(part, _)| *part == stage)
    }

    /// Returns the stages that no longer hold, with their changed kernels. [`CEILING`] may be among them.
    pub fn stale_parts<'a>(&self, record: &'a Record) -> Vec<(&'a str, Vec<&'a str>)> {
        let stages = record.stages.iter().map(|row| (row.name.as_str(), &row.kernels));
        let parts = stages.chain([(CEILING, &record.ceiling_kernels)]).map(|(part, then)| (part, self.changed(then)));
        parts.filter(|(_, changed)| !changed.is_empty()).collect()
    }
}
