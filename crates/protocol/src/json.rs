//! JSON read strictly in one pass: the value, and what is wrong with it beyond syntax. Knows no JSON-RPC.
//!
//! serde_json keeps the last of two equal keys and says nothing; here the first repeated key is named. The id of the
//! outermost object is noted on the way, so that a message that is refused halfway can still be answered.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// How deep values may nest; serde_json itself gives up at 128, without telling that from a syntax error.
const MAX_DEPTH: usize = 120;

/// Why there is no value. Tells no more of the text than a key.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// No JSON: what is wrong, and the line and column.
    #[error("{0}")]
    Syntax(String),
    /// A key that one object has twice.
    #[error("an object has the key `{0}` twice")]
    RepeatedKey(String),
    /// Nested too deep.
    #[error("values are nested deeper than 120")]
    TooDeep,
}

/// Reads one value from a text that somebody wrote by hand or had written: two equal keys are refused, since a reader
/// who trusts the first would be shown another call than the one that runs.
pub fn parse(text: &str) -> Result<Value, JsonError> {
    read(text).0
}

/// Reads one value. The second part is the `id` of the outermost object, as far as it was seen and seen once.
pub(crate) fn read(text: &str) -> (Result<Value, JsonError>, Option<Value>) {
    let mut notes = Notes::default();
    let mut input = serde_json::Deserializer::from_str(text);
    let read =
        Strict { notes: &mut notes, depth: 0 }.deserialize(&mut input).and_then(|value| input.end().map(|()| value));
    let result = match (read, notes.repeated_key) {
        _ if notes.too_deep => Err(JsonError::TooDeep),
        (Err(error), _) => Err(JsonError::Syntax(error.to_string())),
        (Ok(_), Some(key)) => Err(JsonError::RepeatedKey(key)),
        (Ok(value), None) => Ok(value),
    };
    (result, notes.id.filter(|_| !notes.id_repeated))
}

/// The `id` in the beginning of a message whose end is missing.
pub(crate) fn id_in_beginning(beginning: &[u8]) -> Option<Value> {
    let valid = match std::str::from_utf8(beginning) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(beginning.get(..error.valid_up_to())?).ok()?,
    };
    let mut id = None;
    // It ends in an error at the cut, after what matters.
    let _ = serde_json::Deserializer::from_str(valid).deserialize_map(IdOnly { id: &mut id });
    id
}

#[derive(Default)]
struct Notes {
    id: Option<Value>,
    id_repeated: bool,
    repeated_key: Option<String>,
    too_deep: bool,
}

/// A value at some depth.
struct Strict<'a> {
    notes: &'a mut Notes,
    depth: usize,
}

impl Strict<'_> {
    fn inner(&mut self) -> Strict<'_> {
        Strict { notes: self.notes, depth: self.depth + 1 }
    }

    fn check_depth<E: Error>(&mut self) -> Result<(), E> {
        if self.depth < MAX_DEPTH {
            return Ok(());
        }
        self.notes.too_deep = true;
        Err(E::custom("nested too deep"))
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut input: A) -> Result<Value, A::Error> {
        self.check_depth()?;
        let mut items = Vec::new();
        while let Some(item) = input.next_element_seed(self.inner())? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut input: A) -> Result<Value, A::Error> {
        self.check_depth()?;
        let mut object = Map::new();
        while let Some(key) = input.next_key::<String>()? {
            let value = input.next_value_seed(self.inner())?;
            let is_id = self.depth == 0 && key == "id";
            if is_id {
                self.notes.id = Some(value.clone());
            }
            if object.contains_key(&key) {
                self.notes.id_repeated |= is_id;
                self.notes.repeated_key.get_or_insert(key);
            } else {
                object.insert(key, value);
            }
        }
        Ok(Value::Object(object))
    }
}

/// An object of which only the `id` matters.
struct IdOnly<'a> {
    id: &'a mut Option<Value>,
}

impl<'de> Visitor<'de> for IdOnly<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut input: A) -> Result<(), A::Error> {
        let mut seen = None;
        while let Some(key) = input.next_key::<String>()? {
            // Only what is followed by something is whole: `12` may have been `123` before the cut.
            *self.id = seen.clone();
            if key == "id" {
                seen = Some(input.next_value()?);
            } else {
                input.next_value::<IgnoredAny>()?;
            }
        }
        *self.id = seen;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_repeated_key_is_named_wherever_it_stands() {
        for (text, key) in [
            (r#"{"a":1,"a":1}"#, "a"),
            (r#"{"id":1,"params":{"x":{"deep":[{"b":1,"c":2,"b":3}]}}}"#, "b"),
            (r#"[{"d":1},{"d":1,"\u0064":2}]"#, "d"),
        ] {
            assert_eq!(read(text).0, Err(JsonError::RepeatedKey(key.to_owned())), "{text}");
        }
        assert_eq!(read(r#"[{"a":1},{"a":2}]"#).0, Ok(json!([{"a": 1}, {"a": 2}])));
    }

    #[test]
    fn the_id_is_known_even_when_it_follows_what_is_wrong() {
        assert_eq!(read(r#"{"a":1,"a":1,"id":7}"#).1, Some(json!(7)));
        assert_eq!(read(r#"{"params":{"id":8}}"#).1, None);
        assert_eq!(read(r#"{"id":1,"id":2}"#).1, None);
    }

    #[test]
    fn nesting_is_bounded_and_told_from_a_syntax_error() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(MAX_DEPTH)).0.is_ok());
        assert_eq!(read(&nested(MAX_DEPTH + 1)).0, Err(JsonError::TooDeep));
        assert_eq!(read(&nested(1_000_000)).0, Err(JsonError::TooDeep));
        assert!(matches!(read("[[").0, Err(JsonError::Syntax(_))));
    }

    #[test]
    fn the_id_of_a_message_that_was_cut_is_found_when_it_comes_before_the_cut() {
        assert_eq!(id_in_beginning(br#"{"jsonrpc":"2.0","id":"a","params":{"text":"xx"#), Some(json!("a")));
        assert_eq!(id_in_beginning(b"{\"id\":5,\"params\":{\"text\":\"\xc3"), Some(json!(5)));
        for none in [&br#"{"params":{"id":1,"text":"xx"#[..], b"[1,2", b"xx", b"", br#"{"id":1"#, br#"{"id":1,"#] {
            assert_eq!(id_in_beginning(none), None, "{}", String::from_utf8_lossy(none));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn a_text_without_repeated_keys_reads_as_serde_json_reads_it(text in any_json()) {
            let expected: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read(&text).0, Ok(expected));
        }

        #[test]
        fn whatever_the_text_it_is_refused_exactly_when_serde_json_refuses_it(text in "[\\[\\]{}\",:0-9a-e.\\\\ -]{0,24}") {
            let expected = serde_json::from_str::<Value>(&text);
            let found = read(&text).0;
            prop_assert_eq!(matches!(found, Err(JsonError::Syntax(_))), expected.is_err());
        }
    }

    fn any_json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
        .prop_map(|value| value.to_string())
    }
}
