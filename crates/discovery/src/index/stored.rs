//! An index as bytes and back, so that the next start need not read every text again.
//!
//! Whether the bytes are whole and belong to the catalog at hand is for whoever keeps them to know. What does not add up
//! all the same is no index. Start at [`put`] and [`take`].

use std::sync::OnceLock;

use gatelatch_registry::catalog::Catalog;

use super::{Document, FIELD_COUNT, Index, Posting, mask, targets_of};

pub(super) fn put(index: &Index) -> Vec<u8> {
    let Index { documents, arena, term_ends, postings, posting_ends, .. } = index;
    let mut to = Vec::with_capacity(
        64 + documents.len() * 16 + arena.len() + 8 * term_ends.len() + postings.len() * (4 + FIELD_COUNT),
    );
    put_length(&mut to, documents.len());
    for length in documents.iter().flat_map(|document| document.lengths) {
        to.extend_from_slice(&length.to_le_bytes());
    }
    put_length(&mut to, arena.len());
    to.extend_from_slice(arena.as_bytes());
    for ends in [term_ends, posting_ends] {
        put_length(&mut to, ends.len());
        for end in ends {
            to.extend_from_slice(&end.to_le_bytes());
        }
    }
    put_length(&mut to, postings.len());
    for Posting { document, counts } in postings {
        to.extend_from_slice(&document.to_le_bytes());
        to.extend_from_slice(counts);
    }
    to
}

pub(super) fn take(bytes: &[u8], catalog: &Catalog) -> Option<Index> {
    let mut from = bytes;
    let lengths = take_items::<{ 2 * FIELD_COUNT }>(&mut from)?;
    let targets = targets_of(catalog);
    if lengths.len() != targets.len() {
        return None;
    }
    let documents = targets.into_iter().zip(lengths).map(|(target, bytes)| {
        let mut lengths = [0; FIELD_COUNT];
        for (length, pair) in lengths.iter_mut().zip(bytes.as_chunks::<2>().0) {
            *length = u16::from_le_bytes(*pair);
        }
        Document { target, lengths }
    });
    let documents: Vec<Document> = documents.collect();
    let arena = std::str::from_utf8(take_items::<1>(&mut from)?.as_flattened()).ok()?.to_owned();
    let (term_ends, posting_ends) = (take_ends(&mut from)?, take_ends(&mut from)?);
    let postings: Vec<Posting> = take_items::<{ 4 + FIELD_COUNT }>(&mut from)?
        .iter()
        .map(|bytes| {
            let mut posting = Posting { document: 0, counts: [0; FIELD_COUNT] };
            let (document, counts) = bytes.split_at(4);
            posting.document = document.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
            posting.counts.copy_from_slice(counts);
            posting
        })
        .collect();
    let adds_up = from.is_empty()
        && term_ends.len() == posting_ends.len()
        && is_ending_at(&term_ends, arena.len())
        && is_ending_at(&posting_ends, postings.len());
    if !adds_up {
        return None;
    }
    let mut index =
        Index { documents, arena, term_ends, masks: Vec::new(), postings, posting_ends, meanings: OnceLock::new() };
    index.masks = index.terms().map(|(_, term)| mask(term)).collect();
    // An end within a character would have cut the terms short.
    (index.masks.len() == index.term_ends.len()).then_some(index)
}

fn put_length(to: &mut Vec<u8>, length: usize) {
    to.extend_from_slice(&(length as u64).to_le_bytes());
}

fn take_items<'b, const N: usize>(from: &mut &'b [u8]) -> Option<&'b [[u8; N]]> {
    let (length, rest) = from.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (items, rest) = rest.split_at_checked(length.checked_mul(N)?)?;
    *from = rest;
    Some(items.as_chunks::<N>().0)
}

fn take_ends(from: &mut &[u8]) -> Option<Vec<u32>> {
    Some(take_items::<4>(from)?.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
}

/// Whether ends follow one another up to a length.
fn is_ending_at(ends: &[u32], length: usize) -> bool {
    ends.is_sorted() && ends.last().map_or(0, |end| *end as usize) == length
}
