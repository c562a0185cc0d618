//! Mutated workbooks are read or refused, quickly and without a panic. A longer run of the same is an example of this
//! crate, `fuzz`.

use std::time::{Duration, Instant};

use crate::mutation::{Random, mutated};
use crate::{run, sample};

#[test]
fn a_mutated_workbook_is_read_or_refused_in_time() {
    let place = tempfile::tempdir().unwrap();
    let samples = sample::all();
    let (mut read, mut refused) = (0, 0);
    for case in 0..400 {
        let mut random = Random::new(case);
        let (name, workbook) = &samples[random.below(samples.len())];
        std::fs::write(place.path().join(name), mutated(&mut random, workbook)).unwrap();
        for (action, more) in [
            ("list-sheets", &[][..]),
            ("read-sheet", &["--header"]),
            ("read-sheet", &["--keep-empty", "--range", "A2:D9"]),
            ("describe", &[]),
            ("dump", &[]),
            ("search", &["--text", "a"]),
        ] {
            let start = Instant::now();
            match run(place.path(), action, &[&["--path", name], more].concat()) {
                Ok(_) => read += 1,
                Err(error) => {
                    refused += 1;
                    assert_ne!(error["error"], "bad_arguments", "case {case}: {error}");
                }
            }
            // Two seconds are the promise of a release build.
            let granted = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 2 });
            assert!(start.elapsed() <= granted, "case {case}, {action} of {name}: {:?}", start.elapsed());
        }
    }
    assert!(read > 200 && refused > 200, "{read} read, {refused} refused: the mutations no longer try anything");
}

#[test]
fn every_sample_is_right_before_it_is_mutated() {
    let place = tempfile::tempdir().unwrap();
    for (name, workbook) in sample::all() {
        std::fs::write(place.path().join(name), workbook).unwrap();
        let read = run(place.path(), "read-sheet", &["--path", name]).unwrap();
        assert!(read["rows"].as_array().unwrap().len() >= 2, "{name}: {read}");
    }
}
