//! Reads JSON of any size into a value of bounded size, and counts the rest.
//!
//! Parsing is serde_json's: what it takes for JSON is JSON here, too. What is held so far is a tree that is still open.
//! Whenever it has grown well beyond what an answer can show, it is made smaller by the rule by which an answer is cut,
//! as if nothing more came: what more comes leaves only less for each place, so that whatever goes would have gone from
//! the whole as well. Start at `read`.

use std::fmt;

use gatelatch_secrets::secret::Loan;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use crate::json::{MaskedNumbers, MaskedReader};
use crate::text;
use crate::tree::{Guard, Node, Scale, Shortened, number_bytes};

/// What a value takes in memory beside its JSON, roughly; so that many small values weigh what they cost.
const HELD: Scale = Scale(48);
/// A value of one digit and its comma take two bytes of JSON: nothing weighs more for what it shows.
const HEAVIEST: usize = (HELD.0 + 2) / 2;

/// What was read: as much as `keep` bytes of JSON can show of the whole, masked.
pub(crate) struct Bounded {
    root: Node,
    /// The size of the whole as compact JSON.
    bytes: u64,
}

impl Bounded {
    /// A value, and what is missing from it.
    pub(crate) fn into_value(self) -> (Value, Option<Shortened>) {
        let Bounded { root, bytes } = self;
        let places = root.places();
        (root.into_value(), (!places.is_empty()).then_some(Shortened { bytes, places }))
    }
}

/// `None` when the bytes are no JSON.
pub(crate) fn read(json: &[u8], loan: &Loan, keep: usize) -> Option<Bounded> {
    let numbers = if loan.is_empty() { None } else { MaskedNumbers::of(json, loan) };
    match numbers {
        None => parse(&mut serde_json::Deserializer::from_slice(json), loan, keep),
        Some(numbers) => {
            // Masking makes no JSON of what is none.
            parse(&mut serde_json::Deserializer::from_slice(json), loan, 0)?;
            parse(&mut serde_json::Deserializer::from_reader(MaskedReader::new(numbers)), loan, keep)
        }
    }
}

fn parse<'de, R: serde_json::de::Read<'de>>(
    json: &mut serde_json::Deserializer<R>,
    loan: &Loan,
    keep: usize,
) -> Option<Bounded> {
    let mut reader = Reader { loan, keep, stack: Vec::new(), root: None, held: 0 };
    let bytes = Spot { reader: &mut reader, depth: 0, slot: Slot::Next }.deserialize(&mut *json).ok()?;
    json.end().ok()?;
    let mut root = reader.root?;
    root.shrink(keep.saturating_mul(HEAVIEST), &Guard::default(), HELD);
    Some(Bounded { root, bytes })
}

/// What is held so far.
struct Reader<'l> {
    loan: &'l Loan,
    keep: usize,
    /// The arrays and objects that are open, the root first, each within the one before it. One that is not kept is not
    /// here, and neither is anything within it.
    stack: Vec<Open>,
    root: Option<Node>,
    /// The size of all of it.
    held: usize,
}

struct Open {
    node: Node,
    /// Where it hangs once it is closed.
    slot: Slot,
    /// Whether nothing more is taken in: something went from its end.
    is_full: bool,
}

/// Where a value hangs in what is around it.
#[derive(Clone, Copy)]
enum Slot {
    /// It is the root, or the next item of an array.
    Next,
    /// An object's member of that number.
    Member(usize),
    /// Nowhere: it is only counted.
    Nowhere,
}

impl Reader<'_> {
    /// Where a value at that depth is kept, now that it comes.
    fn arrives(&mut self, depth: usize, slot: Slot) -> Slot {
        match slot {
            Slot::Next if depth == 0 => Slot::Next,
            Slot::Next if self.stack.len() == depth => match self.stack.last_mut() {
                Some(open) => {
                    open.node.count();
                    if open.is_full { Slot::Nowhere } else { Slot::Next }
                }
                None => Slot::Nowhere,
            },
            Slot::Next | Slot::Nowhere => Slot::Nowhere,
            Slot::Member(index) => Slot::Member(index),
        }
    }

    /// Where a member is kept of which the name has come, and the size of the name.
    fn name(&mut self, depth: usize, name: &str) -> (Slot, u64) {
        let is_kept = self.stack.len() == depth;
        let Some(open) = self.stack.last_mut().filter(|_| is_kept) else {
            return (Slot::Nowhere, text::within(name, self.loan, 0).bytes);
        };
        let name = text::within(name, self.loan, self.keep);
        if open.node.holds(&name.kept) && is_all(&name) {
            // The last of several members of one name counts.
            let index = open.node.name(name.kept, HELD).map(|(index, _)| index);
            return (index.map_or(Slot::Nowhere, Slot::Member), name.bytes);
        }
        open.node.count();
        // A name cannot be cut.
        open.is_full |= !is_all(&name);
        if open.is_full {
            return (Slot::Nowhere, name.bytes);
        }
        let before = open.node.size;
        let index = open.node.name(name.kept, HELD).map(|(index, _)| index);
        self.held += open.node.size - before;
        (index.map_or(Slot::Nowhere, Slot::Member), name.bytes)
    }

    /// Hangs a value that is complete.
    fn hang(&mut self, node: Node, slot: Slot) {
        match (slot, self.stack.last_mut()) {
            (Slot::Nowhere, _) => {}
            (_, None) => self.root = Some(node),
            (Slot::Next, Some(open)) => open.node.push(node),
            (Slot::Member(index), Some(open)) => open.node.fill(index, node),
        }
    }

    fn leaf(&mut self, depth: usize, slot: Slot, node: impl FnOnce(&Self, bool) -> (Node, u64)) -> u64 {
        let slot = self.arrives(depth, slot);
        let is_kept = !matches!(slot, Slot::Nowhere);
        let (node, bytes) = node(self, is_kept);
        if is_kept {
            self.held += node.size + 1;
            self.hang(node, slot);
            self.bound();
        }
        bytes
    }

    fn open(&mut self, depth: usize, slot: Slot, node: Node) {
        let slot = self.arrives(depth, slot);
        if !matches!(slot, Slot::Nowhere) {
            self.held += node.size + 1;
            self.stack.push(Open { node, slot, is_full: false });
            self.bound();
        }
    }

    /// Closes what was opened at that depth, if it is still there.
    fn close(&mut self, depth: usize) {
        if self.stack.len() > depth
            && let Some(Open { mut node, slot, .. }) = self.stack.pop()
        {
            node.close();
            self.hang(node, slot);
        }
    }

    /// Makes all that is held smaller when it has become too large.
    fn bound(&mut self) {
        let target = self.keep.saturating_mul(HEAVIEST);
        if self.held > target.saturating_add(target / 2) {
            self.shrink(target);
        }
    }

    fn shrink(&mut self, target: usize) {
        // Everything that is open is hung where it belongs, from the innermost outwards …
        let mut path = Vec::new();
        let mut inner: Option<(Node, Slot)> = None;
        while let Some(Open { mut node, slot, is_full }) = self.stack.pop() {
            let name = inner.and_then(|(inner, slot)| match slot {
                Slot::Member(index) => {
                    node.fill(index, inner);
                    node.name_at(index).map(str::to_owned)
                }
                Slot::Next | Slot::Nowhere => {
                    node.push(inner);
                    None
                }
            });
            path.push((is_full, name));
            inner = Some((node, slot));
        }
        let Some((mut node, mut slot)) = inner else { return };
        node.shrink(target, &Guard::default(), HELD);
        self.held = node.size;
        // … and taken out again as far as it is still there.
        let depth = path.len();
        for (number, (was_full, name)) in path.into_iter().rev().enumerate() {
            let is_full = was_full || node.lost() > 0;
            let is_innermost = number + 1 == depth;
            let inner = match name {
                _ if is_innermost => None,
                Some(name) => node.take(&name).map(|(index, inner)| (inner, Slot::Member(index))),
                None => node.pop().map(|inner| (inner, Slot::Next)),
            };
            self.stack.push(Open { node, slot, is_full });
            match inner {
                Some(inner) => (node, slot) = inner,
                None => return,
            }
        }
    }
}

fn is_all(text: &text::Text) -> bool {
    text.kept.chars().count() as u64 == text.characters
}

/// A place where a value is to come. What it gives is the value's size as compact JSON.
struct Spot<'r, 'l> {
    reader: &'r mut Reader<'l>,
    depth: usize,
    slot: Slot,
}

impl Spot<'_, '_> {
    fn number(self, number: Number) -> u64 {
        let Spot { reader, depth, slot } = self;
        reader.leaf(depth, slot, |reader, is_kept| {
            if !reader.loan.is_empty() {
                let text = number.to_string();
                let masked = reader.loan.mask(&text);
                if masked != text {
                    return as_text(text::within(&text, reader.loan, if is_kept { usize::MAX } else { 0 }));
                }
            }
            let bytes = number_bytes(&number) as u64;
            (Node::number(number, HELD), bytes)
        })
    }
}

fn as_text(text: text::Text) -> (Node, u64) {
    (Node::text(text.kept, text.characters, HELD), text.bytes)
}

impl<'de> DeserializeSeed<'de> for Spot<'_, '_> {
    type Value = u64;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Spot<'_, '_> {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<u64, E> {
        Ok(self.reader.leaf(self.depth, self.slot, |_, _| (Node::null(HELD), 4)))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<u64, E> {
        let bytes = if value { 4 } else { 5 };
        Ok(self.reader.leaf(self.depth, self.slot, |_, _| (Node::bool(value, HELD), bytes)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        Ok(self.number(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<u64, E> {
        Ok(self.number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<u64, E> {
        match Number::from_f64(value) {
            Some(number) => Ok(self.number(number)),
            None => self.visit_unit(),
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<u64, E> {
        let Spot { reader, depth, slot } = self;
        Ok(reader.leaf(depth, slot, |reader, is_kept| {
            as_text(text::within(value, reader.loan, if is_kept { reader.keep } else { 0 }))
        }))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<u64, A::Error> {
        let Spot { reader, depth, slot } = self;
        reader.open(depth, slot, Node::array(HELD));
        let mut bytes = 2;
        let mut comma = 0;
        while let Some(item) = items.next_element_seed(Spot { reader, depth: depth + 1, slot: Slot::Next })? {
            bytes += item + comma;
            comma = 1;
        }
        reader.close(depth);
        Ok(bytes)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<u64, A::Error> {
        let Spot { reader, depth, slot } = self;
        reader.open(depth, slot, Node::object(HELD));
        let mut bytes = 2;
        let mut comma = 0;
        while let Some((slot, name)) = members.next_key_seed(Name { reader, depth: depth + 1 })? {
            bytes += name + 1 + comma;
            comma = 1;
            bytes += members.next_value_seed(Spot { reader, depth: depth + 1, slot })?;
        }
        reader.close(depth);
        Ok(bytes)
    }
}

/// A place where a member's name is to come.
struct Name<'r, 'l> {
    reader: &'r mut Reader<'l>,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Name<'_, '_> {
    type Value = (Slot, u64);

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(Slot, u64), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name<'_, '_> {
    type Value = (Slot, u64);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(Slot, u64), E> {
        Ok(self.reader.name(self.depth, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Place, Unit, json_bytes};
    use proptest::prelude::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn bounded(whole: &Value, keep: usize) -> (Value, Option<Shortened>) {
        read(whole.to_string().as_bytes(), &Loan::default(), keep).unwrap().into_value()
    }

    fn place(at: &str, kept: u64, of: u64, unit: Unit) -> Place {
        Place { at: at.to_owned(), kept, of, unit }
    }

    /// Everything in `held` is in `whole`, and what is missing is told where it is missing.
    fn check(held: &Value, whole: &Value, shortened: Option<&Shortened>) {
        let mut missing = Vec::new();
        compare(held, whole, &mut String::new(), &mut missing);
        match shortened {
            None => assert_eq!(missing, []),
            Some(shortened) => {
                assert_eq!(shortened.bytes, whole.to_string().len() as u64);
                assert_eq!(shortened.places, missing);
            }
        }
    }

    fn compare(held: &Value, whole: &Value, at: &mut String, missing: &mut Vec<Place>) {
        let mut note = |at: &str, kept: usize, of: usize, unit| {
            if kept < of {
                missing.push(place(at, kept as u64, of as u64, unit));
            }
        };
        let length = at.len();
        match (held, whole) {
            (Value::String(held), Value::String(whole)) => {
                assert!(whole.starts_with(held));
                note(at, held.chars().count(), whole.chars().count(), Unit::Characters);
            }
            (Value::Array(held), Value::Array(whole)) => {
                note(at, held.len(), whole.len(), Unit::Items);
                for (index, (held, whole)) in held.iter().zip(whole).enumerate() {
                    at.push_str(&format!("/{index}"));
                    compare(held, whole, at, missing);
                    at.truncate(length);
                }
            }
            (Value::Object(held), Value::Object(whole)) => {
                note(at, held.len(), whole.len(), Unit::Members);
                let order: Vec<&String> = whole.keys().filter(|name| held.contains_key(*name)).collect();
                assert_eq!(held.keys().collect::<Vec<_>>(), order);
                for (name, held) in held {
                    at.push('/');
                    at.push_str(&name.replace('~', "~0").replace('/', "~1"));
                    compare(held, &whole[name], at, missing);
                    at.truncate(length);
                }
            }
            (held, whole) => assert_eq!(held, whole),
        }
    }

    /// What it weighs on the reader's scale.
    fn weight(value: &Value) -> usize {
        let mut values = 1;
        let mut left = vec![value];
        while let Some(value) = left.pop() {
            match value {
                Value::Array(items) => (values, left) = (values + items.len(), [left, items.iter().collect()].concat()),
                Value::Object(members) => {
                    values += 2 * members.len();
                    left.extend(members.values());
                }
                _ => {}
            }
        }
        json_bytes(value) + HELD.0 * values
    }

    #[test]
    fn what_fits_is_read_as_it_is() {
        for text in [
            r#"{"a": [1, -2, 2.5e3, 1e400], "b": null}"#,
            r#"{"a": [1, -2, 2.5e3, 18446744073709551616], "b": null, "a": {"c": true}, "\u0061": "\ud83d\ude00"}"#,
            "[1] 2",
            "[1",
            r#""\ud83d""#,
            "\"\u{1}\"",
            "",
            "\"text\"",
            "-0",
            &"[".repeat(200),
            &("[".repeat(127) + &"]".repeat(127)),
        ] {
            let value = serde_json::from_str::<Value>(text).ok();
            let held = read(text.as_bytes(), &Loan::default(), 1000).map(Bounded::into_value);
            assert_eq!(held, value.map(|value| (value, None)), "{text}");
        }
    }

    #[test]
    fn a_long_array_loses_items_at_its_end() {
        let whole = Value::from((0..100_000).map(|n| n % 10).collect::<Vec<_>>());
        let (held, shortened) = bounded(&whole, 1000);
        check(&held, &whole, shortened.as_ref());
        assert!(held.as_array().unwrap().len() >= 499, "it can show what 1000 bytes can show");
        assert!(weight(&held) <= 1000 * HEAVIEST);
        assert_eq!(shortened.unwrap().bytes, 200_001);
    }

    #[test]
    fn a_long_text_is_kept_to_the_bytes_that_are_shown() {
        let whole = json!({ "text": "é".repeat(100_000), "n": 1 });
        let (held, shortened) = bounded(&whole, 1000);
        check(&held, &whole, shortened.as_ref());
        assert_eq!(shortened.unwrap().places, [place("/text", 499, 100_000, Unit::Characters)]);
    }

    #[test]
    fn small_members_behind_a_large_one_are_held() {
        let rows: Vec<Value> = (0..50_000).map(|n| json!([n, "row"])).collect();
        let whole = json!({"sheet": "S", "rows": rows, "total": 50_000, "more": {"truncated": false}});
        let (held, shortened) = bounded(&whole, 1000);
        check(&held, &whole, shortened.as_ref());
        assert_eq!((&held["total"], &held["more"]), (&json!(50_000), &json!({"truncated": false})));
        assert_eq!(shortened.unwrap().places.len(), 1);
    }

    #[test]
    fn an_object_of_very_many_members_loses_those_at_its_end() {
        let members = (0..100_000).map(|n| (format!("name{n}"), json!({"n": n, "text": "some text"})));
        let whole = json!({ "values": members.collect::<serde_json::Map<_, _>>(), "ok": true });
        let (held, shortened) = bounded(&whole, 1000);
        check(&held, &whole, shortened.as_ref());
        assert!(weight(&held) <= 1000 * HEAVIEST);
        assert!(held["values"].as_object().unwrap().len() > 20, "{held}");
        assert_eq!(held["ok"], true);
    }

    #[test]
    fn deep_nests_with_much_on_every_level_are_bounded() {
        let mut whole = json!([1]);
        for level in 0..100 {
            let much = vec![level; 5000];
            whole = match level % 3 {
                0 => json!({ "much": much, "inner": whole }),
                1 => json!({ "inner": whole, "text": "x".repeat(10_000) }),
                _ => json!([whole, much]),
            };
        }
        let (held, shortened) = bounded(&whole, 1000);
        check(&held, &whole, shortened.as_ref());
        assert!(weight(&held) <= 1000 * HEAVIEST);
    }

    #[test]
    fn the_last_of_several_members_of_one_name_counts() {
        let long = "x".repeat(5000);
        let text = format!(r#"{{"a": "{long}", "b": [1], "a": {{"c": 1}}, "b": [2], "long": "{long}", "b": [3]}}"#);
        let (held, shortened) = read(text.as_bytes(), &Loan::default(), 1000).unwrap().into_value();
        assert_eq!((&held["a"], &held["b"]), (&json!({"c": 1}), &json!([3])));
        assert_eq!(shortened.unwrap().places, [place("/long", 998, 5000, Unit::Characters)]);
    }

    #[test]
    fn a_name_that_is_too_long_to_show_goes_with_its_member() {
        let whole = json!({ "a": 1, "x".repeat(5000): 2, "b": 3 });
        let (held, shortened) = bounded(&whole, 1000);
        assert_eq!(held, json!({"a": 1}));
        assert_eq!(shortened.unwrap().places, [place("", 1, 3, Unit::Members)]);
    }

    #[test]
    fn secrets_are_masked_in_what_is_held_and_in_what_is_counted() {
        let environment = BTreeMap::from([("KEY".to_owned(), "12345678".to_owned())]);
        let loan = Loan::borrow(&environment, [("KEY", true)]).unwrap();
        let row = r#"{"12345678": 12345678, "t": "\u00312345678", "f": 1.2345678e7, "long": 123456781234567812345678}"#;
        let text = format!("[{}]", vec![row; 2000].join(","));
        let (held, shortened) = read(text.as_bytes(), &loan, 1000).unwrap().into_value();
        let masked = json!({"***KEY***": "***KEY***", "t": "***KEY***", "f": "***KEY***.0", "long": "***KEY******KEY******KEY***"});
        check(&held, &Value::from(vec![masked; 2000]), shortened.as_ref());
        assert!(!held.as_array().unwrap().is_empty());
        // A number beside which there is no JSON is none: it stays text, as it does without a secret.
        assert!(read(format!("{text}12345678.").as_bytes(), &loan, 1000).is_none());
        assert!(read(b"12345678.", &loan, 4).is_none());
    }

    #[test]
    fn no_part_of_a_secret_is_left_where_a_text_is_shortened() {
        let environment = BTreeMap::from([("KEY".to_owned(), "hunter2!".to_owned())]);
        let loan = Loan::borrow(&environment, [("KEY", true)]).unwrap();
        for before in 985..1005 {
            let whole = json!(["-".repeat(before) + "hunter2!" + &"-".repeat(5000)]);
            let (held, shortened) = read(whole.to_string().as_bytes(), &loan, 1000).unwrap().into_value();
            let masked = json!(["-".repeat(before) + "***KEY***" + &"-".repeat(5000)]);
            check(&held, &masked, shortened.as_ref());
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-z\"\\\\\n\u{1}é😀]{0,8}".prop_map(Value::from),
            (0_usize..400).prop_map(|length| Value::from("é".repeat(length))),
            (0_usize..200).prop_map(|length| Value::from(vec![7; length])),
            (0_usize..400).prop_map(|length| {
                Value::Object((0..length).map(|number| (format!("{number}/~"), json!([number]))).collect())
            }),
        ];
        leaf.prop_recursive(5, 60, 8, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                proptest::collection::vec(("[a-z/~\"]{0,3}", inner), 0..8)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_held_is_bounded_and_what_is_missing_is_told(whole in value(), keep in 0_usize..300) {
            let (held, shortened) = bounded(&whole, keep);
            check(&held, &whole, shortened.as_ref());
            // A root that is a number or the like is always held.
            prop_assert!(weight(&held) <= (keep * HEAVIEST).max(100), "{}", weight(&held));
        }
    }
}
