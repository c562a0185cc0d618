//! Progress that a child tells on standard error, one JSON object a line:
//! `{"progress": 3, "total": 10, "message": "reading"}`.

use serde_json::Value;

use crate::runner::Step;

/// The step that a line tells; `None` for any other line.
pub(crate) fn step(line: &[u8]) -> Option<Step> {
    // Cheap first: most lines are none.
    if !line.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(line) else { return None };
    let message = match fields.remove("message") {
        Some(Value::String(message)) => Some(message),
        _ => None,
    };
    Some(Step {
        progress: fields.get("progress")?.as_f64()?,
        total: fields.get("total").and_then(Value::as_f64),
        message,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_object_with_a_number_is_a_step() {
        let full = Step { progress: 3.0, total: Some(10.5), message: Some("reading".to_owned()) };
        assert_eq!(step(br#"{"progress": 3, "total": 10.5, "message": "reading"}"#), Some(full));
        let bare = Step { progress: 0.5, total: None, message: None };
        assert_eq!(step(br#" {"progress": 0.5, "total": null, "message": 7}"#), Some(bare));
        for other in
            ["", "progress", "{", "3", "[1]", r#"{"progress": "3"}"#, r#"{"total": 3}"#, r#"{"progress": 3} x"#]
        {
            assert_eq!(step(other.as_bytes()), None, "{other}");
        }
    }
}
