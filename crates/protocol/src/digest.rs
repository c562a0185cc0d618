//! The digest of a tool list: sha256 over the canonical JSON (RFC 8785) of the `tools` array as sent.
//!
//! Refuses to know which server sends the list. Start at [`tools_digest`].

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::adapter::list;
use crate::surface::PublishedTool;

/// The digest of what `tools/list` sends for these tools: 64 lower-case hex digits.
pub fn tools_digest(tools: &[PublishedTool]) -> String {
    digest_of(&tools_json(tools))
}

/// The `tools` array as `tools/list` sends it, the same in both eras.
pub fn tools_json(tools: &[PublishedTool]) -> Value {
    // The wire's own conversion, so that the two cannot drift apart. It has no failing case: all keys are strings.
    serde_json::to_value(list::wire_tools(tools)).unwrap_or_default()
}

/// The digest of a `tools` array, wherever it came from.
pub fn digest_of(tools: &Value) -> String {
    let canonical = serde_json_canonicalizer::to_vec(tools).unwrap_or_default();
    hex(&Sha256::digest(&canonical))
}

/// The canonical text (RFC 8785) of a value: what the digest is taken over.
pub fn canonical_text(value: &Value) -> String {
    serde_json_canonicalizer::to_string(value).unwrap_or_default()
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|half| char::from(DIGITS[usize::from(half)])).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::surface::Annotations;

    fn tool(input_schema: Value) -> PublishedTool {
        let Value::Object(input_schema) = input_schema else { panic!("a schema is an object") };
        PublishedTool {
            name: "xlsx_read_sheet".to_owned(),
            title: "Read a sheet".to_owned(),
            description: "Rows of one sheet.".to_owned(),
            input_schema,
            output_schema: None,
            annotations: Annotations { read_only: true, destructive: false, idempotent: true, open_world: false },
        }
    }

    #[test]
    fn an_empty_list_has_the_digest_of_two_brackets() {
        // printf '[]' | sha256sum
        assert_eq!(tools_digest(&[]), "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945");
    }

    #[test]
    fn a_tool_is_sent_with_title_on_top_and_four_explicit_annotations() {
        let sent = tools_json(&[tool(json!({"type": "object", "additionalProperties": false}))]);
        assert_eq!(
            sent,
            json!([{
                "name": "xlsx_read_sheet",
                "title": "Read a sheet",
                "description": "Rows of one sheet.",
                "inputSchema": {"type": "object", "additionalProperties": false},
                "annotations": {
                    "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false
                },
            }])
        );
    }

    #[test]
    fn the_order_of_keys_plays_no_part_and_the_order_of_tools_does() {
        let one = tool(json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}));
        let other = tool(json!({"properties": {"b": {"type": "integer"}, "a": {"type": "string"}}, "type": "object"}));
        assert_eq!(tools_digest(std::slice::from_ref(&one)), tools_digest(&[other]));
        let mut second = tool(Value::Object(Map::new()));
        second.name = "second".to_owned();
        assert_ne!(tools_digest(&[one.clone(), second.clone()]), tools_digest(&[second, one]));
    }

    #[test]
    fn the_canonical_form_is_the_one_of_rfc_8785() {
        // printf '%s' '{"1":1,"\r":2,"a":[1e+21,0.002,1e-7,"é\n"]}' with the keys in UTF-16 order, by another implementation.
        let canonical = serde_json_canonicalizer::to_string(&json!({
            "a": [1e21, 2.0e-3, 1e-7, "\u{e9}\n", 4.50], "1": 1, "\r": 2, "\u{1F600}": 3, "\u{fb33}": 4
        }))
        .unwrap();
        assert_eq!(
            canonical,
            "{\"\\r\":2,\"1\":1,\"a\":[1e+21,0.002,1e-7,\"\u{e9}\\n\",4.5],\"\u{1F600}\":3,\"\u{fb33}\":4}"
        );
    }
}
