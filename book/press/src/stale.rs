//! Which rows of a record still hold: those whose kernels have not changed since.
//!
//! A record names the kernels of each row with the digests that their PTX had ([`toolkit::digest`]). A row is *stale* when one of these
//! digests differs from that of the PTX that is stored now, or when the kernel is gone. A stale row is still shown, with a label; nothing
//! but `cargo book check --fresh` fails on it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use anyhow::Result;
use common::record::{KernelDigests, Record};
use toolkit::digest;

/// Whether a kernel of a stage has changed since the record was made. A stage that the record does not have is not stale.
pub fn is_stale(record: &Record, stage: &str) -> bool {
    Kernels::stored().is_stale(record, stage)
}

/// The digests of kernels, by the stem of the source and the kernel's name: `03-unroll/shared`.
#[derive(Clone, Debug)]
pub struct Kernels(BTreeMap<String, String>);

impl Kernels {
    /// The kernels whose PTX is stored now.
    pub fn stored() -> &'static Self {
        static STORED: LazyLock<Kernels> = LazyLock::new(|| {
            let of_source = |source: &&'static kernels::Source| {
                let kernels = digest::of_source(source).into_iter();
                kernels.map(|(kernel, digest)| (format!("{}/{kernel}", source.stem), digest)).collect::<Vec<_>>()
            };
            Kernels(kernels::sources().iter().flat_map(of_source).collect())
        });
        &STORED
    }

    /// The same with other PTX for one source.
    ///
    /// # Errors
    ///
    /// When the text is not PTX.
    pub fn with(&self, stem: &str, ptx: &str) -> Result<Self> {
        let folder = format!("{stem}/");
        let others = self.0.iter().filter(|(name, _)| !name.starts_with(&folder));
        let mut kernels: BTreeMap<String, String> = others.map(|(name, digest)| (name.clone(), digest.clone())).collect();
        kernels.extend(digest::of_text(ptx)?.into_iter().map(|(kernel, digest)| (format!("{folder}{kernel}"), digest)));
        Ok(Self(kernels))
    }

    /// The digest of a kernel.
    pub fn digest(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Those of a record's kernels that have changed since, or are gone.
    pub fn changed<'a>(&self, then: &'a KernelDigests) -> Vec<&'a str> {
        let has_changed =
            |(name, digest): &(&'a String, &Option<String>)| digest.is_none() || self.digest(name) != digest.as_deref();
        then.iter().filter(has_changed).map(|(name, _)| name.as_str()).collect()
    }

    /// Whether a kernel of a stage has changed since the record was made.
    pub fn is_stale(&self, record: &Record, stage: &str) -> bool {
        record.stages.iter().any(|row| row.name == stage && !self.changed(&row.kernels).is_empty())
    }

    /// What of a record no longer holds, each part with the kernels that have changed: stages by their names, and `ceilings`.
    pub fn stale_parts<'a>(&self, record: &'a Record) -> Vec<(&'a str, Vec<&'a str>)> {
        let stages = record.stages.iter().map(|row| (row.name.as_str(), &row.kernels));
        let parts = stages.chain([("ceilings", &record.ceiling_kernels)]).map(|(part, then)| (part, self.changed(then)));
        parts.filter(|(_, changed)| !changed.is_empty()).collect()
    }
}
