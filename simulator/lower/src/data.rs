//! Variables of a module, with their initial values.

use crate::address::constant_address;
use crate::error::{Error, Result};
use crate::ir::{Const, Constant, Global, Type};
use crate::layout;
use crate::select::Names;
use crate::space::Space;

/// Most bytes of an initial value that is written out.
const MOST_BYTES: u64 = 1 << 24;

/// Returns the declaration of a variable.
pub fn declaration(names: &Names, global: &Global) -> Result<String> {
    let fail = |message: String| Error::at(global.line, message);
    let space = match Space::numbered(global.space) {
        Some(Space::Generic | Space::Global) => Space::Global,
        Some(space @ (Space::Shared | Space::Const)) => space,
        _ => return Err(fail(format!("@{} is in an address space that variables cannot have", global.name))),
    };
    let bytes = layout::size(&global.ty).map_err(|error| error.or_at(global.line))?;
    let align = global.align.unwrap_or_else(|| layout::align(&global.ty));
    let linkage = match (global.is_external, space) {
        (true, _) => ".extern ",
        // Shared memory has no name outside.
        (false, Space::Shared) => "",
        (false, _) if global.is_public => ".visible ",
        _ => "",
    };
    let name = names.of(&global.name);
    let start = format!("{linkage}{} .align {align}", space.suffix());
    if bytes == 0 && global.is_external {
        return Ok(format!("{start} .b8 {name}[];"));
    }
    let init = global.init.as_ref().filter(|_| space != Space::Shared);
    let Some(init) = init.filter(|init| !matches!(init.value, Const::Zero | Const::Undef)) else {
        return Ok(format!("{start} .b8 {name}[{}];", bytes.max(1)));
    };
    if bytes > MOST_BYTES {
        return Err(fail(format!("the initial value of @{} is too large", global.name)));
    }
    let mut image = Image { bytes: vec![0; bytes as usize], addresses: Vec::new() };
    image.write(names, 0, init).map_err(|error| error.or_at(global.line))?;
    if image.addresses.is_empty() {
        let last = image.bytes.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
        let list: Vec<String> = image.bytes.iter().take(last).map(u8::to_string).collect();
        return Ok(format!("{start} .b8 {name}[{}] = {{{}}};", bytes.max(1), list.join(", ")));
    }
    if bytes % 8 != 0 || image.addresses.iter().any(|(at, _)| at % 8 != 0) {
        return Err(fail(format!("the initial value of @{} has addresses that are not aligned", global.name)));
    }
    let words: Vec<String> = image
        .bytes
        .chunks_exact(8)
        .enumerate()
        .map(|(word, bytes)| {
            let address = image.addresses.iter().find(|(at, _)| *at == word * 8);
            address.map_or_else(|| u64::from_le_bytes(bytes.try_into().unwrap_or_default()).to_string(), |(_, text)| text.clone())
        })
        .collect();
    Ok(format!("{start} .u64 {name}[{}] = {{{}}};", words.len(), words.join(", ")))
}

struct Image {
    bytes: Vec<u8>,
    /// Addresses of other variables, by offset.
    addresses: Vec<(usize, String)>,
}

impl Image {
    fn write(&mut self, names: &Names, at: u64, constant: &Constant) -> Result<()> {
        let wrong = || Error::at(0, "an initial value of a wrong type");
        let unsupported = || Error::at(0, "an initial value that is not supported");
        let ty = &constant.ty;
        let mut put = |bits: u128| self.put(at, bits.to_le_bytes().get(..layout::size(ty)? as usize).ok_or_else(wrong)?);
        match (&constant.value, ty) {
            (Const::Zero | Const::Undef, _) => Ok(()),
            (Const::Bytes(bytes), _) => self.put(at, bytes),
            (Const::Int(bits), Type::Int(_)) => put(*bits),
            (Const::Float(bits), _) => put(u128::from(*bits)),
            (Const::Aggregate(elements), _) => (0..).zip(elements).try_for_each(|(index, element)| {
                let offset = match ty {
                    Type::Struct { .. } => layout::field(ty, index)?.0,
                    Type::Array(_, element) | Type::Vector(_, element) => index * layout::size(element)?,
                    _ => return Err(unsupported()),
                };
                self.write(names, at + offset, element)
            }),
            (Const::Splat(element), Type::Vector(count, of)) => {
                let step = layout::size(of)?;
                (0..u64::from(*count)).try_for_each(|index| self.write(names, at + index * step, element))
            }
            (_, Type::Ptr(space)) => {
                let (name, offset) = constant_address(constant).ok_or_else(unsupported)?;
                let name = names.of(name);
                let text = if *space == 0 { format!("generic({name})") } else { name.to_owned() };
                let sign = if offset < 0 { "-" } else { "+" };
                let text = if offset == 0 { text } else { format!("{text}{sign}{}", offset.unsigned_abs()) };
                self.addresses.push((usize::try_from(at).map_err(|_| wrong())?, text));
                Ok(())
            }
            _ => Err(unsupported()),
        }
    }

    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let start = usize::try_from(at).unwrap_or(usize::MAX);
        let place = start.checked_add(bytes.len()).and_then(|end| self.bytes.get_mut(start..end));
        place.ok_or_else(|| Error::at(0, "an initial value is longer than its variable"))?.copy_from_slice(bytes);
        Ok(())
    }
}
