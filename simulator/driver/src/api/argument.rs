//! Explains the fault of a kernel by the argument that its address was made from.
//!
//! A wrong argument shows only when a thread uses it: an optional pointer may be null, and a pointer to the end of a buffer is right for a
//! kernel with nothing to do. So a launch is not refused for its values. If the kernel then fails, the message also says which argument the
//! address came from, and what that argument is.

use ptx::finding::{Access, Nearest};
use simt::{Finding, FindingKind, Kernel, Space};

use super::prelude::*;
use crate::host_memory;

/// The greatest distance of an address from the argument it came from.
const FARTHEST: u64 = 1 << 36;

/// Says which argument the address of a fault came from, if known. The line follows the message. `None` if that is not known.
pub fn explain(driver: &Driver, kernel: &Kernel, parameters: &[u8], finding: &Finding) -> Option<String> {
    let (FindingKind::OutOfBounds { access, .. } | FindingKind::Misaligned { access } | FindingKind::Null { access }) =
        finding.kind
    else {
        return None;
    };
    let Access { space: Space::Global, address, .. } = access else { return None };
    let candidates = kernel.pointers_behind(finding.location.ptx_line).into_iter().filter_map(|(index, offset)| {
        let bytes = parameters.get(kernel.params()[index].offset + offset..)?.first_chunk()?;
        let value = u64::from_le_bytes(*bytes);
        (value.abs_diff(address) <= FARTHEST).then_some((index, offset, value))
    });
    let mut candidates: Vec<_> = candidates.collect();
    if candidates.len() > 1 {
        // An offset is far from every address but those of a null pointer.
        candidates.retain(|&(.., value)| value == 0);
    }
    let &[(index, offset, value)] = candidates.as_slice() else { return None };
    let part = if offset > 0 { format!(", at byte {offset}") } else { String::new() };
    let count = kernel.params().len();
    Some(format!("\n  the address comes from argument {} of {count}{part}, which {}", index + 1, described(driver, value)))
}

fn described(driver: &Driver, value: u64) -> String {
    if value == 0 {
        return "is null".to_owned();
    }
    let holds = |nearest: &Nearest| u64::try_from(nearest.offset).is_ok_and(|offset| offset <= nearest.bytes);
    if let Some(Nearest { allocation, bytes, offset, freed, .. }) = driver.memory.nearest(value).filter(holds) {
        let place = match offset.unsigned_abs() {
            0 => String::new(),
            end if end == bytes => "the end of ".to_owned(),
            offset => format!("byte {offset} of "),
        };
        return format!("points to {place}{allocation}{}", if freed { ", which was freed before the launch" } else { "" });
    }
    if host_memory::is_readable(value, 1) == Some(true) {
        return format!(
            "is {value:#x}, an address of the program's own memory: copy the data to the device, or allocate it with cuMemAllocManaged or \
             cuMemHostAlloc"
        );
    }
    format!("is {value:#x} and points nowhere{}", guess(value))
}

/// Guesses what a value is that is no address.
fn guess(value: u64) -> String {
    let is_usual = |number: f64| number.is_normal() && (1e-6..1e9).contains(&number.abs());
    let (narrow, wide) = (u32::try_from(value).ok(), f64::from_bits(value));
    match narrow.map(f32::from_bits).filter(|&number| is_usual(number.into())) {
        Some(number) => format!(": it has the bits of the float {number}"),
        None if is_usual(wide) => format!(": it has the bits of the double {wide}"),
        None => narrow.map_or_else(String::new, |number| format!(": is it the number {number}?")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_no_address_is_shown_as_the_number_that_it_may_be() {
        assert_eq!(guess(u64::from(1.5f32.to_bits())), ": it has the bits of the float 1.5");
        assert_eq!(guess((-2.25f64).to_bits()), ": it has the bits of the double -2.25");
        assert_eq!(guess(1000), ": is it the number 1000?");
        assert_eq!(guess(0x7ffd_1234_5678_9abc), "");
    }
}
