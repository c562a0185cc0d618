//! Progress that a child tells on standard error, one JSON object a line:
//! `{"progress": 3, "total": 10, "message": "reading"}`.

use gatelatch_secrets::secret::Loan;
use serde_json::Value;

use crate::json;
use crate::runner::Step;

/// The step that a line tells, masked; `None` for any other line, and for one whose numbers hold a secret.
pub(crate) fn step(line: &[u8], loan: &Loan) -> Option<Step> {
    // Cheap first: most lines are none.
    if !line.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let Some(Value::Object(mut fields)) = json::whole(line, loan) else { return None };
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

    fn step(line: &[u8]) -> Option<Step> {
        super::step(line, &Loan::default())
    }

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

    #[test]
    fn a_secret_in_a_step_is_masked_however_it_is_escaped() {
        let environment = [("KEY".to_owned(), "12345678".to_owned())].into();
        let loan = Loan::borrow(&environment, [("KEY", true)]).unwrap();
        for message in
            ["12345678", r"\u00312345678", r"\u0031\u0032\u0033\u0034\u0035\u0036\u0037\u0038", "MTIzNDU2Nzg="]
        {
            let line = format!(r#"{{"progress": 1, "message": "<{message}"}}"#);
            let told = super::step(line.as_bytes(), &loan).unwrap().message.unwrap();
            assert_eq!(told.trim_end_matches('='), "<***KEY***", "{line}");
        }
        assert_eq!(super::step(br#"{"progress": 12345678}"#, &loan), None);
        assert_eq!(super::step(br#"{"progress": 1, "total": 12345678}"#, &loan).unwrap().total, None);
    }
}
