//! Makes a result that is too large smaller and still valid: whole items at the end of its arrays go first, then the
//! ends of its texts. What went is told in totals, with the arguments that would have made it smaller.

use serde_json::{Map, Value, json};

/// The key under which a cut result says what went.
pub const CUT_KEY: &str = "_cut";

/// The size of a value as compact JSON, in bytes.
pub fn json_bytes(value: &Value) -> usize {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Counting cannot fail, and a `Value` always serializes.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// A value of at most `max_bytes` as compact JSON, and whether something went.
///
/// A value that fits comes back unchanged. One that does not becomes an object (a root that is none is put under
/// `result`) with [`CUT_KEY`]: `{bytes, kept_bytes, parts: [{at, kept, of, unit}], hint}`.
pub fn cut(value: Value, max_bytes: usize, narrow_with: &[String]) -> (Value, bool) {
    let bytes = json_bytes(&value);
    if bytes <= max_bytes {
        return (value, false);
    }
    let root = match value {
        Value::Object(map) => map,
        other => Map::from_iter([("result".to_owned(), other)]),
    };
    let hint = hint(narrow_with);
    // Half of the bytes always suffice for the content: the totals are bounded by `MAX_PARTS`.
    let mut budget = max_bytes.saturating_sub(600 + hint.len());
    loop {
        let mut parts = Vec::new();
        let kept = shrink(&Value::Object(root.clone()), budget, &mut String::new(), &mut parts);
        parts.truncate(MAX_PARTS);
        let kept_bytes = json_bytes(&kept);
        let mut map = match kept {
            Value::Object(map) => map,
            other => Map::from_iter([("result".to_owned(), other)]),
        };
        map.insert(
            CUT_KEY.to_owned(),
            json!({ "bytes": bytes, "kept_bytes": kept_bytes, "parts": parts, "hint": hint }),
        );
        let answer = Value::Object(map);
        if json_bytes(&answer) <= max_bytes || budget == 0 {
            return (answer, true);
        }
        budget = budget.saturating_sub(budget / 4 + 1);
    }
}

/// How many cut places are told.
const MAX_PARTS: usize = 8;

fn hint(narrow_with: &[String]) -> String {
    if narrow_with.is_empty() {
        return "the result was larger than an answer may be; ask for less".to_owned();
    }
    let names: Vec<String> = narrow_with.iter().map(|name| format!("`{name}`")).collect();
    format!("the result was larger than an answer may be; narrow it with {}", names.join(", "))
}

/// A copy of `value` within `budget` bytes where that is possible; what cannot shrink (numbers, keys) stays.
fn shrink(value: &Value, budget: usize, at: &mut String, parts: &mut Vec<Value>) -> Value {
    if json_bytes(value) <= budget {
        return value.clone();
    }
    match value {
        Value::Object(map) => shrink_object(map, budget, at, parts),
        Value::Array(items) => shrink_array(items, budget, at, parts),
        Value::String(text) => shrink_text(text, budget, at, parts),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Small members stay whole; the large ones share what is left in equal parts.
fn shrink_object(map: &Map<String, Value>, budget: usize, at: &mut String, parts: &mut Vec<Value>) -> Value {
    let keys: usize = map.keys().map(|key| json_bytes(&Value::from(key.as_str())) + 2).sum::<usize>() + 2;
    let mut sizes: Vec<(usize, &String)> = map.iter().map(|(key, value)| (json_bytes(value), key)).collect();
    sizes.sort();
    let mut left = budget.saturating_sub(keys);
    let mut shares = Map::new();
    for (done, (size, key)) in sizes.iter().enumerate() {
        let share = (left / (sizes.len() - done)).min(*size);
        left -= share;
        shares.insert((*key).clone(), share.into());
    }
    let mut kept = Map::new();
    for (key, value) in map {
        let share = shares.get(key).and_then(Value::as_u64).unwrap_or(0) as usize;
        let length = at.len();
        at.push('/');
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        kept.insert(key.clone(), shrink(value, share, at, parts));
        at.truncate(length);
    }
    Value::Object(kept)
}

fn shrink_array(items: &[Value], budget: usize, at: &mut String, parts: &mut Vec<Value>) -> Value {
    let mut used = 2;
    let mut kept = Vec::new();
    for item in items {
        let size = json_bytes(item) + 1;
        if used + size > budget {
            break;
        }
        used += size;
        kept.push(item.clone());
    }
    // A first item that alone is too large is worth more cut than gone.
    if kept.is_empty()
        && let Some(first) = items.first()
        && budget > 64
    {
        at.push_str("/0");
        kept.push(shrink(first, budget - 2, at, parts));
        at.truncate(at.len() - 2);
    }
    if kept.len() < items.len() {
        parts.push(json!({ "at": at.as_str(), "kept": kept.len(), "of": items.len(), "unit": "items" }));
    }
    Value::Array(kept)
}

fn shrink_text(text: &str, budget: usize, at: &str, parts: &mut Vec<Value>) -> Value {
    let mut used = 2;
    let mut kept = String::new();
    for character in text.chars() {
        let size = match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            c if u32::from(c) < 0x20 => 6,
            c => c.len_utf8(),
        };
        if used + size > budget {
            break;
        }
        used += size;
        kept.push(character);
    }
    parts.push(json!({ "at": at, "kept": kept.chars().count(), "of": text.chars().count(), "unit": "characters" }));
    Value::String(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_fits_is_unchanged() {
        let value = json!({"rows": [[1, 2]]});
        assert_eq!(cut(value.clone(), 1000, &[]), (value, false));
    }

    #[test]
    fn a_long_array_loses_whole_items_at_its_end_and_says_how_many() {
        let rows: Vec<Value> = (0..10_000).map(|n| json!([n, "row"])).collect();
        let (answer, was_cut) =
            cut(json!({"sheet": "S", "rows": rows, "truncated": false}), 4096, &["max-results".to_owned()]);
        assert!(was_cut);
        assert!(json_bytes(&answer) <= 4096);
        assert_eq!(answer["sheet"], "S");
        let kept = answer["rows"].as_array().unwrap().len();
        assert!(kept > 100, "{kept}");
        assert_eq!(answer[CUT_KEY]["parts"][0], json!({"at": "/rows", "kept": kept, "of": 10_000, "unit": "items"}));
        assert!(answer[CUT_KEY]["hint"].as_str().unwrap().contains("`max-results`"));
    }

    #[test]
    fn a_long_text_is_cut_between_characters_whatever_they_cost() {
        for text in ["é".repeat(50_000), "\u{1}".repeat(50_000), "\"".repeat(50_000), "🦀".repeat(20_000)] {
            let (answer, was_cut) = cut(json!({ "text": text }), 2048, &[]);
            assert!(was_cut);
            assert!(json_bytes(&answer) <= 2048);
            assert!(answer["text"].as_str().unwrap().chars().count() > 100);
        }
    }

    #[test]
    fn a_root_that_is_no_object_is_put_under_result() {
        let (answer, was_cut) = cut(Value::from("x".repeat(9000)), 1024, &[]);
        assert!(was_cut);
        assert!(answer["result"].is_string());
        assert!(json_bytes(&answer) <= 1024);
    }

    #[test]
    fn deep_and_wide_results_still_end_within_the_limit() {
        let wide: Map<String, Value> = (0..100).map(|n| (format!("key{n}"), Value::from("y".repeat(500)))).collect();
        let (answer, _) = cut(json!({"a": {"b": [wide]}}), 8192, &[]);
        assert!(json_bytes(&answer) <= 8192, "{}", json_bytes(&answer));
        assert_eq!(answer["a"]["b"][0].as_object().unwrap().len(), 100);
    }
}
