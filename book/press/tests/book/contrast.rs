//! The colors of the book can be told apart in every theme: text by a contrast of 4.5 and shapes by 3, as WCAG 2.1 AA asks.

use std::collections::BTreeMap;
use std::fs;

use press::root;

/// Themes of mdBook.
const THEMES: [&str; 5] = ["light", "rust", "navy", "coal", "ayu"];

/// Text, and what is behind it.
const TEXT: [(&str, &str); 21] = [
    ("text", "page"),
    ("faint", "page"),
    ("accent", "page"),
    ("warn", "page"),
    ("text", "accent-soft"),
    ("accent", "accent-soft"),
    ("text", "warn-soft"),
    ("warn", "warn-soft"),
    ("text", "code"),
    ("ink", "panel"),
    ("faint-ink", "panel"),
    ("ink", "block"),
    ("ink", "moved"),
    ("ink", "other"),
    ("white", "wanted"),
    ("white", "clash"),
    // The names of series in charts.
    ("s0", "panel"),
    ("s1", "panel"),
    ("s2", "panel"),
    ("s3", "panel"),
    ("s5", "panel"),
];

/// Shapes that carry a meaning, and what is behind them.
const SHAPES: [(&str, &str); 8] = [
    ("wanted", "panel"),
    ("clash", "panel"),
    ("moved-frame", "panel"),
    ("limit", "panel"),
    ("line", "panel"),
    ("s4", "panel"),
    ("warp", "block"),
    ("thread", "warp"),
];

/// Returns the colors of a theme: those of rules for all themes, and then its own.
fn colors(css: &str, theme: &str) -> BTreeMap<String, String> {
    let mut colors = BTreeMap::from([("white".to_owned(), "#ffffff".to_owned())]);
    let mut rules: Vec<(&str, &str)> = css.split('}').filter_map(|rule| rule.split_once('{')).collect();
    let names_theme = |selector: &str| THEMES.iter().any(|theme| selector.contains(&format!(".{theme}")));
    rules.retain(|(selector, _)| !names_theme(selector) || selector.contains(&format!(".{theme}")) || selector.contains(":root"));
    // A later rule for the theme wins over an earlier one for all.
    for (_, declarations) in rules {
        let own = declarations.lines().filter_map(|line| line.trim().strip_prefix("--")?.strip_suffix(';')?.split_once(": "));
        colors.extend(own.filter(|(_, value)| value.starts_with('#')).map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    colors
}

/// Returns the relative luminance of `#rrggbb`, by the formula of WCAG.
fn luminance(color: &str) -> f64 {
    let part = |at: usize| {
        let part = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    (one / other).max(other / one)
}

#[test]
fn text_and_shapes_stand_out_in_every_theme() {
    let css = ["unrolled.css", "drawings.css"].map(|file| fs::read_to_string(root().join("book").join(file)).unwrap()).concat();
    let mut wrong = Vec::new();
    for theme in THEMES {
        let colors = colors(&css, theme);
        let of = |name: &str| colors.get(name).unwrap_or_else(|| panic!("{theme} has no color {name}"));
        for (pairs, least) in [(&TEXT[..], 4.5), (&SHAPES[..], 3.0)] {
            for (one, other) in pairs {
                let found = contrast(of(one), of(other));
                if found < least {
                    wrong.push(format!("{theme}: {one} on {other} is {found:.2}, not {least}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn contrast_is_that_of_wcag() {
    assert!((contrast("#ffffff", "#000000") - 21.0).abs() < 1e-9);
    assert!((contrast("#777777", "#ffffff") - 4.48).abs() < 0.01);
}
