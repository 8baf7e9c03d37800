//! Damage to a text, as an editor or a broken pipe might do it.

use proptest::prelude::*;

/// One damage to a text.
#[derive(Clone, Debug)]
pub enum Damage {
    /// Replaces a character.
    Character(usize, char),
    /// Flips a bit of a byte.
    Bit(usize, u8),
    Delete(usize),
    Duplicate(usize),
    Swap(usize, usize),
    Truncate(usize),
    /// Replaces the number next to a place.
    Number(usize, &'static str),
    /// Copies a word of the text to another place.
    Word(usize, usize),
}

const HUGE: &[&str] = &[
    "0",
    "1",
    "-1",
    "31",
    "32",
    "65",
    "255",
    "1024",
    "65535",
    "1048576",
    "2147483647",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "0x",
    "0xffffffffffffffff",
    "0f3F80",
    "0d",
    "1.5e",
];

/// Generates any damage.
pub fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<prop::sample::Index>().prop_map(|index| index.index(1 << 20));
    let place = || place.clone();
    prop_oneof![
        (
            place(),
            prop::sample::select(vec![
                '{', '}', '[', ']', '(', ')', '<', '>', ';', ',', '@', '!', '%', '"', '/', '\n', '-', 'é', '\0'
            ])
        )
            .prop_map(|(at, character)| Damage::Character(at, character)),
        (place(), 0_u8..7).prop_map(|(at, bit)| Damage::Bit(at, bit)),
        place().prop_map(Damage::Delete),
        place().prop_map(Damage::Duplicate),
        (place(), place()).prop_map(|(a, b)| Damage::Swap(a, b)),
        place().prop_map(Damage::Truncate),
        (place(), prop::sample::select(HUGE.to_vec())).prop_map(|(at, number)| Damage::Number(at, number)),
        (place(), place()).prop_map(|(from, to)| Damage::Word(from, to)),
    ]
}

/// Does the damage.
pub fn apply(text: &mut String, damage: &Damage) {
    if text.is_empty() {
        return;
    }
    let boundary = |text: &str, at: usize| (0..=at % text.len()).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    match *damage {
        Damage::Character(at, character) => {
            let at = boundary(text, at);
            let old = text[at..].chars().next().map_or(0, char::len_utf8);
            text.replace_range(at..at + old, character.encode_utf8(&mut [0; 4]));
        }
        Damage::Bit(at, bit) => {
            let mut bytes = std::mem::take(text).into_bytes();
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            *text = String::from_utf8_lossy(&bytes).into_owned();
        }
        Damage::Delete(at) => {
            let mut lines = lines(text);
            let at = at % lines.len();
            lines.remove(at);
            *text = lines.join("\n");
        }
        Damage::Duplicate(at) => {
            let mut lines = lines(text);
            let at = at % lines.len();
            lines.insert(at, lines[at].clone());
            *text = lines.join("\n");
        }
        Damage::Swap(a, b) => {
            let mut lines = lines(text);
            let count = lines.len();
            lines.swap(a % count, b % count);
            *text = lines.join("\n");
        }
        Damage::Truncate(at) => text.truncate(boundary(text, at)),
        Damage::Number(at, number) => {
            let at = boundary(text, at);
            let Some(start) = text[at..].find(|c: char| c.is_ascii_digit()).map(|start| at + start) else { return };
            let end = text[start..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(text.len(), |end| start + end);
            text.replace_range(start..end, number);
        }
        Damage::Word(from, to) => {
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            if words.is_empty() {
                return;
            }
            let word = words[from % words.len()].to_owned();
            let to = boundary(text, to);
            text.insert_str(to, &word);
        }
    }
}
