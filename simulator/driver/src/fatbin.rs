//! Fat binaries: the container in which `nvcc` puts the same kernels for several GPUs, as machine code and as PTX.
//!
//! NVIDIA does not document the format. What is read here was compared with files that nvcc 13.0 wrote: a header, then entries, each with a
//! header of its own and one image, which may be compressed.

use std::borrow::Cow;
use std::fmt::Write;

use thiserror::Error;

/// The first bytes of a fat binary, and of its wrapper.
pub const MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
pub const WRAPPER_MAGIC: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();

/// The offsets in a wrapper: of its fat binary's address, and of a list. The list of fat binaries ends with null. The list is in a wrapper
/// of the second version only: its fat binaries are the parts of a program that `nvcc -rdc=true` linked.
pub const WRAPPED_AT: usize = 8;
pub const PARTS_AT: usize = 16;

/// Where a wrapper has its version.
const VERSION_AT: usize = 4;
const VERSION_WITH_PARTS: u32 = 2;

/// The bytes of a wrapper that say which version it is.
pub const WRAPPER_START_BYTES: usize = 8;

/// The bytes of a fat binary's header: enough to learn how long it is.
pub const HEADER_BYTES: usize = 16;

/// The smallest header of an entry. A longer one has more fields than are needed here.
const ENTRY_HEADER_BYTES: usize = 64;

/// The kinds of image that are told apart.
const PTX: u16 = 1;
const MACHINE_CODE: u16 = 2;

/// Flags of an entry: how its image is compressed.
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;

/// The longest image that is decompressed. A damaged header must not take all memory.
const LONGEST_IMAGE: u64 = 1 << 30;

type Capability = (u32, u32);

/// Why a fat binary has nothing to execute.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FatbinError {
    #[error("the fat binary is damaged: {0}")]
    Damaged(String),
    #[error("the fat binary is empty")]
    Empty,
    #[error(
        "the fat binary has no PTX, only machine code for {0}, but the simulator executes PTX; compile with \
         `-gencode arch=compute_80,code=compute_80`"
    )]
    OnlyMachineCode(String),
    #[error(
        "the fat binary has PTX for {found} only, which needs a newer GPU than this one of compute capability {}.{}; compile with \
         `-gencode arch=compute_{0}{1},code=compute_{0}{1}`", has.0, has.1
    )]
    TooNew { found: String, has: Capability },
}

struct Entry<'a> {
    kind: u16,
    capability: Capability,
    flags: u64,
    /// The bytes after decompression, as the header states them.
    decompressed_bytes: u64,
    stored: &'a [u8],
}

/// Returns how many bytes a fat binary has, from its header.
pub fn total_bytes(header: &[u8]) -> Result<usize, FatbinError> {
    let (header_bytes, image_bytes) = (u64::from(u16::from_le_bytes(array(header, 6)?)), u64::from_le_bytes(array(header, 8)?));
    let total = header_bytes.checked_add(image_bytes).and_then(|bytes| usize::try_from(bytes).ok());
    total
        .filter(|&bytes| header_bytes as usize >= HEADER_BYTES && bytes as u64 <= LONGEST_IMAGE)
        .ok_or_else(|| FatbinError::Damaged(format!("a header of {header_bytes} bytes and {image_bytes} bytes of images")))
}

/// Returns true if a wrapper's first bytes say that it has parts.
pub fn has_parts(wrapper: &[u8]) -> bool {
    array(wrapper, VERSION_AT).map(u32::from_le_bytes) == Ok(VERSION_WITH_PARTS)
}

/// Returns the PTX in a fat binary that suits a GPU best: that for the highest compute capability which the GPU has. A GPU that is older
/// than all of today's compilers (`any` is true) takes the PTX for the lowest.
pub fn best_ptx(bytes: &[u8], has: Capability, any: bool) -> Result<Vec<u8>, FatbinError> {
    let entries = entries(bytes)?;
    let texts = || entries.iter().filter(|entry| entry.kind == PTX);
    let best = texts().filter(|entry| entry.capability <= has).max_by_key(|entry| entry.capability);
    let lowest = || texts().min_by_key(|entry| entry.capability).filter(|_| any);
    if let Some(entry) = best.or_else(lowest) {
        return decompress(entry).map(Cow::into_owned);
    }
    let found = names(texts(), "compute");
    let machine_code = names(entries.iter().filter(|entry| entry.kind == MACHINE_CODE), "sm");
    Err(match (found.is_empty(), machine_code.is_empty()) {
        (false, _) => FatbinError::TooNew { found, has },
        (true, false) => FatbinError::OnlyMachineCode(machine_code),
        (true, true) => FatbinError::Empty,
    })
}

/// Lists architectures, as `nvcc` writes them.
fn names<'a>(entries: impl Iterator<Item = &'a Entry<'a>>, prefix: &str) -> String {
    let mut text = String::new();
    for Entry { capability: (major, minor), .. } in entries {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{prefix}_{major}{minor}");
    }
    text
}

fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, FatbinError> {
    let total = total_bytes(bytes)?;
    let mut rest = part(bytes, usize::from(u16::from_le_bytes(array(bytes, 6)?)), total)?;
    let mut entries = Vec::new();
    while rest.len() >= ENTRY_HEADER_BYTES {
        let header_bytes = u32::from_le_bytes(array(rest, 4)?) as usize;
        let padded = usize::try_from(u64::from_le_bytes(array(rest, 8)?)).unwrap_or(usize::MAX);
        let end = header_bytes.saturating_add(padded);
        if header_bytes < ENTRY_HEADER_BYTES {
            return Err(FatbinError::Damaged(format!("an entry with a header of {header_bytes} bytes")));
        }
        let image = part(rest, header_bytes, end)?;
        let (compressed_bytes, flags) = (u32::from_le_bytes(array(rest, 16)?) as usize, u64::from_le_bytes(array(rest, 40)?));
        // The stored image is padded; a decoder needs the end of what was compressed.
        let stored = if flags & (LZ4 | ZSTD) == 0 { image } else { part(image, 0, compressed_bytes)? };
        // sm_103 is 10.3.
        let architecture = u32::from_le_bytes(array(rest, 28)?);
        entries.push(Entry {
            kind: u16::from_le_bytes(array(rest, 0)?),
            capability: (architecture / 10, architecture % 10),
            flags,
            decompressed_bytes: u64::from_le_bytes(array(rest, 56)?),
            stored,
        });
        rest = part(rest, end, rest.len())?;
    }
    Ok(entries)
}

fn decompress<'a>(entry: &Entry<'a>) -> Result<Cow<'a, [u8]>, FatbinError> {
    let damaged = |error: &dyn std::fmt::Display| FatbinError::Damaged(format!("its PTX cannot be decompressed: {error}"));
    if entry.flags & (LZ4 | ZSTD) == 0 {
        return Ok(Cow::Borrowed(entry.stored));
    }
    if entry.decompressed_bytes > LONGEST_IMAGE {
        return Err(damaged(&format!("{} bytes", entry.decompressed_bytes)));
    }
    let bytes = entry.decompressed_bytes as usize;
    let image = if entry.flags & LZ4 != 0 {
        lz4_flex::block::decompress(entry.stored, bytes).map_err(|error| damaged(&error))?
    } else {
        let mut image = Vec::with_capacity(bytes);
        ruzstd::decoding::FrameDecoder::new().decode_all_to_vec(entry.stored, &mut image).map_err(|error| damaged(&error))?;
        image
    };
    if image.len() != bytes {
        return Err(damaged(&format!("{} bytes instead of {bytes}", image.len())));
    }
    Ok(Cow::Owned(image))
}

fn part(bytes: &[u8], start: usize, end: usize) -> Result<&[u8], FatbinError> {
    bytes.get(start..end).ok_or_else(|| FatbinError::Damaged(format!("bytes {start} to {end} of a part of {}", bytes.len())))
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], FatbinError> {
    Ok(part(bytes, at, at + N)?.try_into().expect("the part has N bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes an entry: kind, architecture, flags, the image as stored, and its bytes after decompression.
    fn entry(kind: u16, architecture: u32, flags: u64, stored: &[u8], decompressed: usize) -> Vec<u8> {
        let padded = stored.len().next_multiple_of(8);
        let mut bytes = Vec::new();
        bytes.extend(kind.to_le_bytes());
        bytes.extend(0x101_u16.to_le_bytes());
        bytes.extend((ENTRY_HEADER_BYTES as u32).to_le_bytes());
        bytes.extend((padded as u64).to_le_bytes());
        bytes.extend((if flags == 0 { 0 } else { stored.len() as u32 }).to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend(architecture.to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend(flags.to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend((decompressed as u64).to_le_bytes());
        bytes.extend(stored);
        bytes.resize(ENTRY_HEADER_BYTES + padded, 0);
        bytes
    }

    fn plain(kind: u16, architecture: u32, image: &str) -> Vec<u8> {
        entry(kind, architecture, 0, image.as_bytes(), 0)
    }

    fn fatbin(entries: &[Vec<u8>]) -> Vec<u8> {
        let entries = entries.concat();
        [&MAGIC[..], &[1, 0, HEADER_BYTES as u8, 0], &(entries.len() as u64).to_le_bytes(), &entries].concat()
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap().trim_end_matches('\0').to_owned()
    }

    #[test]
    fn the_ptx_for_the_highest_capability_that_the_gpu_has_is_taken() {
        let bytes = fatbin(&[
            plain(MACHINE_CODE, 90, "\x7fELF"),
            plain(PTX, 70, "seven"),
            plain(PTX, 80, "eight"),
            plain(PTX, 103, "ten point three"),
        ]);
        assert_eq!(total_bytes(&bytes), Ok(bytes.len()));
        for (has, expected) in [((7, 5), "seven"), ((8, 0), "eight"), ((9, 0), "eight"), ((12, 0), "ten point three")] {
            assert_eq!(best_ptx(&bytes, has, false).map(text), Ok(expected.to_owned()), "{has:?}");
        }
        assert_eq!(best_ptx(&bytes, (1, 1), true).map(text), Ok("seven".to_owned()), "a GPU that no compiler knows any more");
        let found = "compute_70, compute_80, compute_103".to_owned();
        assert_eq!(best_ptx(&bytes, (6, 1), false), Err(FatbinError::TooNew { found, has: (6, 1) }));
        assert_eq!(best_ptx(&fatbin(&[]), (9, 0), false), Err(FatbinError::Empty));
    }

    #[test]
    fn machine_code_alone_is_refused_with_its_architectures() {
        let bytes = fatbin(&[plain(MACHINE_CODE, 80, "\x7fELF"), plain(MACHINE_CODE, 90, "\x7fELF")]);
        let refused = best_ptx(&bytes, (9, 0), false).unwrap_err().to_string();
        assert!(refused.contains("only machine code for sm_80, sm_90, but") && refused.contains("code=compute_80"), "{refused}");
    }

    #[test]
    fn compressed_ptx_is_decompressed() {
        let ptx = ".version 8.0\n".repeat(100);
        let lz4 = lz4_flex::block::compress(ptx.as_bytes());
        let zstd = ruzstd::encoding::compress_to_vec(ptx.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
        for (flags, stored) in [(LZ4, lz4), (ZSTD, zstd)] {
            assert!(stored.len() < ptx.len());
            let bytes = fatbin(&[entry(PTX, 80, flags, &stored, ptx.len())]);
            assert_eq!(best_ptx(&bytes, (9, 0), false).map(text), Ok(ptx.clone()), "{flags:x}");
            let cut = fatbin(&[entry(PTX, 80, flags, &stored[..stored.len() / 2], ptx.len())]);
            assert!(matches!(best_ptx(&cut, (9, 0), false), Err(FatbinError::Damaged(_))), "{flags:x}");
        }
    }

    #[test]
    fn no_damaged_byte_makes_it_panic() {
        let bytes = fatbin(&[plain(PTX, 70, ".version 8.0"), plain(MACHINE_CODE, 90, "\x7fELF")]);
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                let _ = best_ptx(&damaged, (9, 0), false);
            }
            let _ = best_ptx(&bytes[..at], (9, 0), false);
        }
    }
}
