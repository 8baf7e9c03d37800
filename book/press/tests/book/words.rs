//! No words of a drawing cover others or leave the picture.

use press::width_of;

use crate::rendered;

/// A part of a picture: its left, top, right and bottom edges.
type Area = [f64; 4];

/// Returns the words of a drawing, each with its area.
fn words(svg: &str) -> Vec<(Area, &str)> {
    svg.split("<text").skip(1).filter_map(|element| word(element.split('<').next()?)).collect()
}

fn word(element: &str) -> Option<(Area, &str)> {
    let attribute = |name: &str| element.split(&format!(" {name}=\"")).nth(1)?.split('"').next();
    let number = |name: &str| attribute(name)?.parse::<f64>().ok();
    let (class, x, y) = (attribute("class")?, number("x")?, number("y")?);
    let text = element.split_once('>')?.1;
    // The letters of titles and of the names of bars are larger than small print.
    let width = width_of(text) * if class.starts_with("small") { 1.0 } else { 1.2 };
    let left = match class {
        class if class.contains("right") => x - width,
        class if class.contains("middle") => x - width / 2.0,
        _ => x,
    };
    Some(([left, y - 9.0, left + width, y + 1.0], text))
}

/// Lists what is wrong with the words of a drawing.
fn wrong(svg: &str) -> Option<String> {
    let width: f64 = svg.split("width=\"").nth(1)?.split('"').next()?.parse().ok()?;
    let words = words(svg);
    words.iter().enumerate().find_map(|(index, (area, text))| {
        let [left, top, right, bottom] = *area;
        if left < 0.0 || right > width {
            return Some(format!("{text} takes {area:?}"));
        }
        let (_, other) =
            words[..index].iter().find(|(other, _)| left < other[2] && other[0] < right && top < other[3] && other[1] < bottom)?;
        Some(format!("{text} covers {other}"))
    })
}

#[test]
fn no_words_of_a_chart_or_a_footprint_cover_others_or_leave_the_picture() {
    let mut drawings = 0;
    for page in rendered() {
        // The numbers of lanes are in the cells of a grid.
        for svg in page.text.split("<svg ").skip(1).filter(|svg| !svg.contains("class=\"lane\"")) {
            let svg = svg.split("</svg>").next().unwrap_or_default();
            assert_eq!(wrong(svg), None, "{}: {svg}", page.path);
            drawings += 1;
        }
    }
    assert!(drawings > 30, "{drawings} drawings");
}

#[test]
fn every_picture_has_a_caption_and_words_that_do_not_cover_each_other() {
    for (name, figure) in press::pictures().unwrap() {
        let svg = figure.split("<svg ").nth(1).and_then(|svg| svg.split("</svg>").next()).unwrap();
        assert_eq!(wrong(svg), None, "{name}: {svg}");
        assert!(svg.contains("role=\"img\" aria-label=\"words\""), "{name}");
        let caption = figure.split("<figcaption>").nth(1).and_then(|rest| rest.split("</figcaption>").next()).unwrap();
        // One sentence.
        assert!(caption.ends_with('.') && !caption.contains(". "), "{name}: {caption}");
        // A blank line would end the HTML in Markdown.
        assert!(!figure.contains("\n\n"), "{name}");
    }
}

#[test]
fn words_that_cover_others_are_found() {
    let svg = |x: u32| {
        format!(
            "width=\"100\"><text class=\"small\" x=\"10\" y=\"20\">one</text><text class=\"small\" x=\"{x}\" y=\"22\">two</text>"
        )
    };
    assert_eq!(wrong(&svg(40)), None);
    assert_eq!(wrong(&svg(20)).as_deref(), Some("two covers one"));
    assert!(wrong(&svg(95)).is_some_and(|found| found.starts_with("two takes")));
}
