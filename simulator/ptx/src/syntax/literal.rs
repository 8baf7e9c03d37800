//! Numbers and types as PTX writes them.

use super::ast::{Opaque, Operand, Type};

/// Reads a number as PTX writes it: decimal, hexadecimal, octal or binary integers with an optional `U`, the bits of a float
/// after `0f` or `0d`, and decimal floats.
pub fn literal<'t>(number: &str) -> Option<Operand<'t>> {
    let radix = |digits: &str, radix| {
        let digits = digits.strip_suffix(['U', 'u']).unwrap_or(digits);
        u64::from_str_radix(digits, radix).ok().map(Operand::Integer)
    };
    match number.as_bytes() {
        [b'0', b'f' | b'F', ..] if number.len() == 10 => u32::from_str_radix(&number[2..], 16).ok().map(Operand::F32),
        [b'0', b'd' | b'D', ..] if number.len() == 18 => u64::from_str_radix(&number[2..], 16).ok().map(Operand::F64),
        [b'0', b'x' | b'X', ..] => radix(&number[2..], 16),
        [b'0', b'b' | b'B', ..] => radix(&number[2..], 2),
        [b'0', _, ..] if !number.contains('.') => radix(number, 8),
        _ if number.contains('.') => number.parse::<f64>().ok().map(|value| Operand::F64(value.to_bits())),
        _ => radix(number, 10),
    }
}

/// Returns the width of `.b32`, `.f64` and the like.
pub fn scalar_type(word: &str) -> Option<Type> {
    Some(match word {
        ".pred" => Type::Pred,
        ".b8" | ".u8" | ".s8" => Type::Bytes(1),
        ".b16" | ".u16" | ".s16" | ".f16" | ".bf16" => Type::Bytes(2),
        ".b32" | ".u32" | ".s32" | ".f32" | ".f16x2" | ".bf16x2" => Type::Bytes(4),
        ".b64" | ".u64" | ".s64" | ".f64" => Type::Bytes(8),
        ".b128" => Type::Bytes(16),
        // The handle of a texture, a sampler, or a surface.
        ".texref" | ".samplerref" | ".surfref" => Type::Bytes(8),
        _ => return None,
    })
}

/// Returns the kind of object that an opaque type stands for.
pub fn opaque_type(word: &str) -> Option<Opaque> {
    match word {
        ".texref" => Some(Opaque::Texture),
        ".samplerref" => Some(Opaque::Sampler),
        ".surfref" => Some(Opaque::Surface),
        _ => None,
    }
}
