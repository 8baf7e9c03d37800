//! The table of every chapter in a terminal that is too narrow for it.

use std::collections::HashSet;
use std::fs;

use run::lesson::measures;
use run::measure::Measure;
use run::record::Record;
use run::table::{Fitted, Wish, check, fit};
use workshop::root;

const WIDTHS: [usize; 5] = [50, 60, 80, 100, 200];

/// Returns the most important columns that fit.
fn fit_to(record: &Record, lesson: &[Measure], width: usize) -> Fitted {
    fit(record, Wish { lesson, columns: &[], width })
}

/// Returns every column.
fn wide(record: &Record, lesson: &[Measure]) -> Fitted {
    fit_to(record, lesson, usize::MAX)
}

/// Returns the saved records of every chapter's run of its own size. Each comes with what the chapter's lesson compares.
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

/// Returns the cells of a table, by row and column; the lines of a cell are joined by spaces.
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

/// Returns a column with its title, by that title.
fn column(rows: &[Vec<String>], title: &str) -> Vec<String> {
    let at = rows[0].iter().position(|cell| cell == title).unwrap_or_else(|| panic!("there is no column {title}: {:?}", rows[0]));
    rows.iter().map(|row| row[at].clone()).collect()
}

#[test]
fn no_line_is_longer_than_the_terminal_and_names_and_verdicts_are_always_there() {
    for (name, record, lesson) in records() {
        let full = wide(&record, &lesson);
        assert!(full.hidden.is_empty(), "{name}: {:?}", full.hidden);
        let full_width = width_of(&full.text);
        let full = cells(&full.text);
        for width in WIDTHS {
            let fitted = fit_to(&record, &lesson, width);
            assert!(width_of(&fitted.text) <= width, "{name} at {width}:\n{}", fitted.text);
            let shown = cells(&fitted.text);
            for always in ["stage", "verified"] {
                assert_eq!(column(&shown, always), column(&full, always), "{name} at {width}:\n{}", fitted.text);
            }
            // The other columns are whole or hidden, in their order.
            let kept: Vec<&String> = full[0].iter().filter(|title| shown[0].contains(title)).collect();
            assert_eq!(shown[0].iter().collect::<Vec<_>>(), kept, "{name} at {width}");
            assert_eq!(full[0].len() - kept.len(), fitted.hidden.len(), "{name} at {width}: {:?}", fitted.hidden);
            kept.iter().for_each(|title| assert_eq!(column(&shown, title), column(&full, title), "{name} at {width}"));
            assert_eq!(fitted.full_width, full_width);
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
        let full = numbers(&wide(&record, &lesson).text);
        for width in WIDTHS {
            let fitted = numbers(&fit_to(&record, &lesson, width).text);
            assert!(fitted.is_subset(&full), "{name} at {width}: {:?}", fitted.difference(&full));
        }
    }
}

#[test]
fn eighty_columns_show_what_a_row_takes_the_factor_and_what_the_lesson_compares() {
    for (name, record, lesson) in records() {
        let expected: &[&str] = match name.as_str() {
            "sim-h200/01-conv-naive" => &["clocks at least", "factor", "load sectors per request (at best)"],
            "sim-h200/02-conv-shared" => {
                &["clocks at least", "factor", "sectors loaded from global memory", "wavefronts in L1 and shared memory"]
            }
            "sim-h200/03-unroll" | "sim-h200/04-correlation-sm-aware" => {
                &["clocks at least", "factor", "PTX instructions per multiply-add"]
            }
            "sim-h200/05-window-sums" => &["clocks at least", "factor", "requests to global memory", "PTX instructions per pixel"],
            "sim-h200/06-matmul-tiled" => &["clocks at least", "factor", "requests to shared memory"],
            _ => &["time", "speed-up"],
        };
        let Fitted { text, notes, .. } = fit_to(&record, &lesson, 80);
        let titles = cells(&text).remove(0);
        assert!(expected.iter().all(|title| titles.iter().any(|shown| shown == title)), "{name}: {titles:?}");
        // Clocks are no measurement, and the table says so.
        assert_eq!(notes.iter().any(|note| note.contains("not a measured time")), name.starts_with("sim"), "{name}: {notes:?}");
    }
}

#[test]
fn columns_that_are_named_are_shown_and_no_others() {
    for (name, record, lesson) in records() {
        let columns = ["error".to_owned(), "bound".to_owned(), "rate".to_owned()];
        let Fitted { text, hidden, .. } = fit(&record, Wish { lesson: &lesson, columns: &columns, width: 80 });
        let titles = cells(&text).remove(0).join(", ");
        let expected = if name.starts_with("sim") {
            "stage, bound by, error / tolerance, verified"
        } else {
            "stage, rate, error / tolerance, verified"
        };
        assert_eq!(titles, expected, "{name}");
        assert!(hidden.is_empty(), "{name}: {hidden:?}");
        let Fitted { text, hidden, .. } = fit(&record, Wish { lesson: &lesson, columns: &columns, width: 50 });
        assert!(width_of(&text) <= 50 && (hidden.len() == 1 || name.starts_with("nvidia")), "{name}: {hidden:?}\n{text}");
    }
    let message = check(&["clocks".to_owned(), "colour".to_owned()], &[Measure::SectorsLoaded]).unwrap_err().to_string();
    for word in ["colour", "sectors-loaded", "clocks"] {
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn why_a_stage_was_skipped_is_under_the_table_once() {
    let (_, record, lesson) = records().into_iter().find(|(name, ..)| name == "sim-h200/06-matmul-tiled").unwrap();
    let Fitted { text, notes, .. } = fit_to(&record, &lesson, 80);
    assert!(text.contains("skipped") && !text.contains("cuBLAS"), "{text}");
    let skipped: Vec<&String> = notes.iter().filter(|note| note.contains("cuBLAS")).collect();
    assert!(matches!(skipped[..], [note] if note.starts_with("Skipped: cublas, cublas-tf32 (cuBLAS ")), "{notes:?}");
}
