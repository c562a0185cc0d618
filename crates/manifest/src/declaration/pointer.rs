//! Whether a text is a JSON Pointer (RFC 6901) as declarations use them, and which one was meant by one that is not.
//!
//! Stricter than the RFC in one thing: no step is empty, since no result has a member without a name and whoever writes
//! `/` means the whole. Knows no result. Start at [`fault`].

/// What is wrong with a pointer, to be read after it.
pub(super) fn fault(text: &str) -> Option<&'static str> {
    let Some(steps) = text.strip_prefix('/') else { return Some("does not begin with `/`") };
    let escaped = |step: &str| step.split('~').skip(1).all(|after| after.starts_with(['0', '1']));
    if steps.split('/').any(str::is_empty) {
        Some("has an empty step")
    } else if !steps.split('/').all(escaped) {
        Some("has a `~` that is neither `~0` nor `~1`")
    } else {
        None
    }
}

/// The pointer that a text of another notation means: `#/a`, `a.b[0]`, `$.a`. `None` where it names nothing.
pub(super) fn meant(text: &str) -> Option<String> {
    let path = text.trim_start_matches(['#', '$']);
    let steps: Vec<String> = if path.contains('/') {
        path.split('/').map(str::to_owned).collect()
    } else {
        path.split(['.', '[', ']']).map(|step| step.trim_matches(['\'', '"']).to_owned()).collect()
    };
    let pointer: String =
        steps.iter().filter(|step| !step.is_empty()).map(|step| format!("/{}", escaped(step))).collect();
    (!pointer.is_empty()).then_some(pointer)
}

/// A step with every `~` that escapes nothing escaped itself.
fn escaped(step: &str) -> String {
    let mut parts = step.split('~');
    let mut escaped = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        escaped.push_str(if part.starts_with(['0', '1']) { "~" } else { "~0" });
        escaped.push_str(part);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_of_the_rfc_pass_unless_a_step_is_empty() {
        for text in ["/a", "/sheets/0/title", "/~1a~0b", "/a b", "/-", "/ä"] {
            assert_eq!(fault(text), None, "{text}");
        }
        for text in ["", "a", "#/a", "$.a", "/", "/a/", "//a", "/~", "/~2", "/a~/b"] {
            assert!(fault(text).is_some(), "{text}");
        }
    }

    #[test]
    fn other_notations_are_understood() {
        for text in ["#/a/b/0", "a/b/0", "a.b.0", "$.a.b[0]", "a['b'][0]", "/a/b/0/", "//a/b/0"] {
            assert_eq!(meant(text).as_deref(), Some("/a/b/0"), "{text}");
        }
        assert_eq!(meant("/a~b/~1").as_deref(), Some("/a~0b/~1"));
        assert_eq!(meant("/"), None);
        assert_eq!(meant("$"), None);
    }
}
