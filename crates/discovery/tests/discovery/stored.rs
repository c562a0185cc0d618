//! An index that comes from bytes answers as the one that they were made from.

use gatelatch_discovery::index::Index;
use gatelatch_registry::catalog::Catalog;
use proptest::prelude::*;
use serde_json::json;

use crate::build::{House, ask, office};

#[test]
fn an_index_from_bytes_answers_every_search_alike() {
    let built = office();
    let index = Index::from_bytes(&built.index.to_bytes(), &built.catalog).expect("the bytes are an index");
    let stored = House { catalog: office().catalog, index };
    for words in ["send mail", "wrokbook rows", "meeting", "excel", "sheet", "qqqqq", "größe", "the", "addresses"] {
        for request in [json!({"search": words}), json!({"search": words, "name": "outbox"})] {
            assert_eq!(ask(&stored, request.clone()).to_string(), ask(&built, request).to_string(), "{words}");
        }
    }
}

#[test]
fn the_index_of_another_catalog_is_none() {
    let office = office();
    assert!(Index::from_bytes(&office.index.to_bytes(), &Catalog::default()).is_none());
    assert!(Index::from_bytes(&Index::build(&Catalog::default()).to_bytes(), &office.catalog).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn changed_bytes_are_no_index_or_one_that_can_be_asked(
        cut in proptest::option::of(0.0..1.0f64),
        flips in proptest::collection::vec((0.0..1.0f64, 1..=255u8), 0..6),
    ) {
        let office = office();
        let mut bytes = office.index.to_bytes();
        let at = |share: f64, length: usize| (share * length as f64) as usize;
        if let Some(cut) = cut {
            bytes.truncate(at(cut, bytes.len()));
        }
        let length = bytes.len();
        for (share, flip) in flips.into_iter().filter(|_| length > 0) {
            bytes[at(share, length)] ^= flip;
        }
        if let Some(index) = Index::from_bytes(&bytes, &office.catalog) {
            let changed = House { catalog: office.catalog, index };
            ask(&changed, json!({"search": "send a mesage about the workbook"}));
        }
    }
}
