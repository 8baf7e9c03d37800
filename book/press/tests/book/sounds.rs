//! The sounds of the first chapter: the wet one is the convolution of the other two.

use std::fs;

use press::root;

/// Returns the samples of a sound, from -1 to 1.
fn samples(name: &str) -> Vec<f64> {
    let path = root().join(format!("book/src/01-conv-naive/sounds/{name}.wav"));
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(
        (&bytes[..4], &bytes[20..24], &bytes[34..36], &bytes[36..40]),
        (&b"RIFF"[..], &[1, 0, 1, 0][..], &[16, 0][..], &b"data"[..])
    );
    bytes[44..].chunks_exact(2).map(|word| f64::from(i16::from_le_bytes([word[0], word[1]])) / 32768.0).collect()
}

#[test]
fn the_wet_sound_is_the_dry_one_in_the_room() {
    let [dry, room, wet] = ["dry", "room", "wet"].map(samples);
    assert!(wet.len() > dry.len() && wet.iter().any(|sample| sample.abs() > 0.5));
    // A hundred outputs are enough to see that no file is from another run.
    for at in (0..wet.len()).step_by(wet.len() / 100) {
        let terms = room.iter().enumerate().filter_map(|(echo, gain)| Some(gain * dry.get(at.checked_sub(echo)?)?));
        let expected: f64 = terms.sum();
        assert!((wet[at] - expected).abs() < 1e-4, "sample {at}: {} instead of {expected}", wet[at]);
    }
}
