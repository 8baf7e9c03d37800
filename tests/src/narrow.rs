//! The table of every chapter in a terminal that is too narrow for it.

use std::collections::HashSet;
use std::fs;

use common::lesson::measures;
use common::measure::Measure;
use common::record::Record;
use common::table::{Drawing, Fitted, draw, fit};
use workshop::root;

const WIDTHS: [usize; 4] = [60, 80, 100, 200];

/// The saved records of every chapter's run of its own size, each with what the chapter's lesson compares.
fn records() -> Vec<(String, Record, Vec<Measure>)> {
    let lessons = [
        ("01-conv-naive", measures(conv_naive::CHAPTER.lesson)),
        ("02-conv-shared", measures(conv_shared::CHAPTER.lesson)),
        ("03-unroll", measures(unroll::CHAPTER.lesson)),
        ("04-correlation-sm-aware", measures(correlation_sm_aware::CHAPTER.lesson)),
        ("05-window-sums", measures(window_sums::CHAPTER.lesson)),
        ("06-matmul-tiled", measures(matmul_tiled::CHAPTER.lesson)),
    ];
    let mut records = Vec::new();
    for (chapter, lesson) in lessons {
        for device in ["sim-h200", "nvidia-h200"] {
            let name = format!("{device}/{chapter}");
            let text = fs::read_to_string(root().join("book/results").join(format!("{name}.json"))).unwrap();
            records.push((name, Record::parse(&text).unwrap(), lesson.clone()));
        }
    }
    records
}

fn width_of(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap()
}

/// The cells of a table, by row and column; the lines of a cell are joined by spaces.
fn cells(table: &str) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in table.lines().filter(|line| line.starts_with('│')) {
        let cells: Vec<String> = line.trim_matches('│').split('│').map(|cell| cell.trim().to_owned()).collect();
        // A row goes on where it has no name; so does the row of the titles.
        match rows.last_mut() {
            Some(row) if cells[0].is_empty() => {
                let parts = row.iter_mut().zip(cells).filter(|(_, part)| !part.is_empty());
                parts.for_each(|(cell, part)| *cell = format!("{cell} {part}").trim().to_owned());
            }
            _ => rows.push(cells),
        }
    }
    rows
}

/// A column with its title, by that title.
fn column(rows: &[Vec<String>], title: &str) -> Vec<String> {
    let at = rows[0].iter().position(|cell| cell == title).unwrap_or_else(|| panic!("there is no column {title}: {:?}", rows[0]));
    rows.iter().map(|row| row[at].clone()).collect()
}

#[test]
fn no_line_is_longer_than_the_terminal_and_names_and_verdicts_are_always_there() {
    for (name, record, lesson) in records() {
        let full = cells(&draw(&record, Drawing::Lines));
        for width in WIDTHS {
            let Fitted { text, hidden, full_width } = fit(&record, &lesson, width);
            assert!(width_of(&text) <= width, "{name} at {width}:\n{text}");
            let fitted = cells(&text);
            for always in ["stage", "verified"] {
                assert_eq!(column(&fitted, always), column(&full, always), "{name} at {width}:\n{text}");
            }
            // The other columns are whole or named as hidden, in their order.
            let kept: Vec<&String> = full[0].iter().filter(|title| !hidden.contains(title)).collect();
            assert_eq!(fitted[0].iter().collect::<Vec<_>>(), kept, "{name} at {width}");
            kept.iter().for_each(|title| assert_eq!(column(&fitted, title), column(&full, title), "{name} at {width}"));
            assert_eq!(full_width, width_of(&draw(&record, Drawing::Lines)));
        }
    }
}

#[test]
fn no_number_is_split() {
    let numbers = |text: &str| -> HashSet<String> {
        let words = text.split(|c: char| c.is_whitespace() || c == '│').filter(|word| word.contains(|c: char| c.is_ascii_digit()));
        words.map(str::to_owned).collect()
    };
    for (name, record, lesson) in records() {
        let full = numbers(&draw(&record, Drawing::Lines));
        for width in WIDTHS {
            let fitted = numbers(&fit(&record, &lesson, width).text);
            assert!(fitted.is_subset(&full), "{name} at {width}: {:?}", fitted.difference(&full));
        }
    }
}

#[test]
fn what_matters_most_stays_and_a_wide_terminal_shows_everything() {
    for (name, record, lesson) in records() {
        let titles = |width| cells(&fit(&record, &lesson, width).text).remove(0);
        let most_important: &[&str] = match name.as_str() {
            "sim-h200/01-conv-naive" => &["load sectors per request (at best)", "bound by"],
            "sim-h200/02-conv-shared" => &["bytes moved per multiply-add", "bound by"],
            "sim-h200/04-correlation-sm-aware" => &["bank conflicts", "bound by"],
            "sim-h200/05-window-sums" => &["PTX instructions per pixel", "bound by"],
            sim if sim.starts_with("sim") => &["PTX instructions per multiply-add", "bound by"],
            _ => &["time", "of ceiling"],
        };
        // The verdict of a skipped stage takes space, too.
        for (width, most_important) in [(60, &most_important[..1]), (80, most_important)] {
            let titles = titles(width);
            assert!(most_important.iter().all(|title| titles.iter().any(|shown| shown == title)), "{name} at {width}: {titles:?}");
        }
        let full = draw(&record, Drawing::Lines);
        let wide = fit(&record, &lesson, width_of(&full));
        assert_eq!((wide.text, wide.hidden), (full, Vec::new()), "{name}");
    }
}
