//! Lessons and names without a run: every comparison is between stages of its chapter and has a sentence, and every stage that an exercise
//! names is one of its chapter.

use run::Chapter;
use run::lesson::{Comparison, Quantity, sentences};
use run::record::{Record, StageRecord};
use run::report::Place;
use run::workload::Workload;
use serde_json::json;
use simt::Counters;
use workshop::{Exercise, root};

/// A chapter, whatever its workload.
trait Checks {
    fn names_are_unique(&self);
    fn lesson_is_about_its_stages(&self);
    fn lesson_has_a_sentence_for_each_comparison(&self);
    fn exercises_name_its_stages(&self);
}

/// Returns all chapters, in order.
fn chapters() -> [&'static dyn Checks; 7] {
    [
        &conv_naive::CHAPTER,
        &conv_shared::CHAPTER,
        &unroll::CHAPTER,
        &correlation_sm_aware::CHAPTER,
        &window_sums::CHAPTER,
        &histogram::CHAPTER,
        &matmul_tiled::CHAPTER,
    ]
}

/// Makes a record in which every count of every stage differs. Each stage is faster than the one before, or slower.
fn record<W: Workload>(chapter: &Chapter<W>, faster: bool) -> Record {
    let stage = |(at, name): (usize, &str)| -> StageRecord {
        let at = at as u64 + 1;
        let counters = serde_json::to_value(Counters::default()).unwrap();
        let names = counters.as_object().unwrap().keys();
        // More wavefronts than the ideal number, so that there are bank conflicts.
        let counters: serde_json::Map<_, _> =
            names.map(|name| (name.clone(), json!(if name.ends_with("_ideal") { at } else { 1000 + 10 * at }))).collect();
        let ms = if faster { 1.0 / at as f64 } else { at as f64 };
        let record = json!({
            "name": name, "place": "device", "verified": true, "skipped": null, "failure": null, "kernels": {}, "median_ms": ms, "p10_ms": ms,
            "p90_ms": ms, "max_error": 0.0, "tolerance": 0.0, "counters": counters, "findings": [],
        });
        serde_json::from_value(record).unwrap()
    };
    let text = json!({
        "chapter": chapter.name, "commit": "", "date": "", "ceilings": null, "ceiling_kernels": {}, "stages": [],
        "device": {"kind": "sim", "name": "", "compute_capability": "9.0", "profile": null, "driver": "", "compiler": ""},
        "workload": {"multiply_adds": 7},
    });
    let mut record = Record::parse(&text.to_string()).unwrap();
    record.stages = chapter.stages.iter().map(|stage| stage.name).enumerate().map(stage).collect();
    record
}

impl<W: Workload> Checks for Chapter<W> {
    fn names_are_unique(&self) {
        let mut names: Vec<&str> = self.all_stages().map(|stage| stage.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{}: {names:?}", self.name);
        for stage in self.all_stages() {
            assert!(self.stage(stage.name).unwrap() == stage);
        }
        let unknown = self.stage("unroll-5").err().expect("no chapter has a stage of that name").to_string();
        assert!(names.iter().all(|name| unknown.contains(name)) && unknown.contains("unroll-5"), "{unknown}");
    }

    fn lesson_is_about_its_stages(&self) {
        assert!(!self.lesson.is_empty(), "{} has no lesson", self.name);
        for Comparison { from, to, quantity, why, otherwise } in self.lesson {
            let pair = format!("{}: {} and {}", self.name, from.name, to.name);
            assert!(from != to && [from, to].iter().all(|stage| self.stages.contains(stage)), "{pair}");
            let counted = matches!(quantity, Quantity::Count(_));
            assert!(!counted || [from, to].iter().all(|stage| stage.place() == Place::Device), "{pair}: only kernels are counted");
            assert!(!counted || otherwise.is_none(), "{pair}: counts have one reason");
            for why in [Some(*why), *otherwise].into_iter().flatten() {
                let starts_as_a_sentence = why.starts_with(|first: char| first.is_ascii_uppercase() || first == '`');
                assert!(starts_as_a_sentence && why.ends_with('.') && !why.contains(". "), "{pair}: one sentence, not {why}");
            }
        }
    }

    fn lesson_has_a_sentence_for_each_comparison(&self) {
        for faster in [true, false] {
            let record = record(self, faster);
            let sentences = sentences(self.lesson, &record);
            assert_eq!(sentences.len(), self.lesson.len(), "{}: {sentences:#?}", self.name);
            for (comparison, sentence) in self.lesson.iter().zip(sentences) {
                let Comparison { from, to, why, otherwise, .. } = comparison;
                assert!(sentence.starts_with(to.name) && sentence.contains(from.name), "{sentence}");
                let time = |stage| record.stage(stage).unwrap().median_ms;
                let expected = match comparison.quantity {
                    Quantity::Time if time(to) >= time(from) => *otherwise,
                    _ => Some(*why),
                };
                assert!(expected.map_or(!sentence.contains(why), |why| sentence.ends_with(why)), "{sentence}");
            }
        }
    }

    fn exercises_name_its_stages(&self) {
        for exercise in Exercise::all(&root(), self.name).unwrap() {
            let manifest = &exercise.manifest;
            let asked = manifest.predict.iter().flat_map(|predict| &predict.questions).map(|question| &question.stage);
            let names: Vec<&String> = asked.chain(manifest.cases.iter().map(|cases| &cases.baseline)).collect();
            assert!(!names.is_empty(), "{}, exercise {}, names no stage", self.name, exercise.stem());
            for name in names {
                if let Err(unknown) = self.stage(name) {
                    panic!("exercise {}: {unknown}", exercise.stem());
                }
            }
        }
    }
}

#[test]
fn names_of_stages_are_unique_and_found() {
    chapters().iter().for_each(|chapter| chapter.names_are_unique());
}

#[test]
fn lessons_compare_stages_of_their_chapter_and_say_why() {
    chapters().iter().for_each(|chapter| chapter.lesson_is_about_its_stages());
}

#[test]
fn every_comparison_becomes_a_sentence_with_the_reason_that_fits() {
    chapters().iter().for_each(|chapter| chapter.lesson_has_a_sentence_for_each_comparison());
}

#[test]
fn exercises_name_stages_of_their_chapter() {
    chapters().iter().for_each(|chapter| chapter.exercises_name_its_stages());
}
