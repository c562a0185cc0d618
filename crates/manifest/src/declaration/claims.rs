//! Holds what a declaration claims of its tools against itself: the version, what a call changes, and whether it may be
//! repeated. Whether the claims are true is asked of the catalog elsewhere. Start at [`check`].

use crate::diagnostic::quoted;
use crate::document::ArgumentType;
use crate::findings::Findings;
use crate::keys::Keys;
use crate::rule;
use crate::surface::SurfaceArgumentManifest;

/// Reports a version of the contract that is not three numbers.
pub(super) fn check_version(keys: Keys<'_>, findings: &mut Findings<'_, '_>) {
    let Some((text, at)) = keys.text_at("surface_version") else { return };
    // A number beyond nine digits leaves none that would follow it.
    let plain = |version: semver::Version| {
        let numbers = [version.major, version.minor, version.patch];
        version.pre.is_empty() && version.build.is_empty() && numbers.into_iter().all(|number| number <= 999_999_999)
    };
    if !semver::Version::parse(text).is_ok_and(plain) {
        findings.add(&rule::SURFACE_VERSION_FORM, at, || format!("{} is not three numbers", quoted(text)));
    }
}

/// Reports claims about a tool's calls that cannot stand together or cannot be published.
pub(super) fn check(keys: Keys<'_>, args: &[SurfaceArgumentManifest], findings: &mut Findings<'_, '_>) {
    check_effect(keys, findings);
    check_repetition(keys, findings);
    check_argument(keys, args, findings);
}

fn check_effect(keys: Keys<'_>, findings: &mut Findings<'_, '_>) {
    let Some(pair) = keys.pair("reversible").filter(|pair| pair.value.flag() == Some(false)) else { return };
    if keys.flag("read_only") == Some(true) {
        findings.add(&rule::READ_ONLY_NOT_REVERSIBLE, pair.value.at, || {
            "what changes nothing has nothing to undo, and `reversible` is false".to_owned()
        });
    } else {
        findings.add(&rule::IRREVERSIBLE_DECLARED, pair.value.at, || {
            "what cannot be undone cannot be published here".to_owned()
        });
    }
}

fn check_repetition(keys: Keys<'_>, findings: &mut Findings<'_, '_>) {
    let says_no = |key: &str| keys.pair(key).filter(|pair| pair.value.flag() == Some(false));
    if let (Some(_), Some(pair), None) =
        (says_no("read_only"), says_no("idempotent"), keys.pair("idempotency_argument"))
    {
        findings.add(&rule::WRITE_NOT_REPEATABLE, pair.value.at, || {
            "a client that repeats the call after a lost answer would write twice".to_owned()
        });
    }
}

fn check_argument(keys: Keys<'_>, args: &[SurfaceArgumentManifest], findings: &mut Findings<'_, '_>) {
    let Some((name, at)) = keys.text_at("idempotency_argument") else { return };
    let Some(argument) = args.iter().find(|argument| argument.name == name) else {
        let near = findings.did_you_mean(name, args.iter().map(|argument| argument.name.as_str()));
        findings.add_with_help(&rule::IDEMPOTENCY_ARGUMENT, at, || {
            (format!("`idempotency_argument` names {}, which is no published argument", quoted(name)), near)
        });
        return;
    };
    let tells_apart = match argument.kind {
        ArgumentType::String | ArgumentType::Integer => true,
        ArgumentType::Number
        | ArgumentType::Boolean
        | ArgumentType::Array
        | ArgumentType::Object
        | ArgumentType::Path => false,
    };
    if !tells_apart {
        findings.add(&rule::IDEMPOTENCY_ARGUMENT, at, || {
            format!("{} is of type `{}`, which does not tell calls apart", quoted(name), argument.kind.as_str())
        });
    } else if !argument.required {
        findings.add(&rule::IDEMPOTENCY_ARGUMENT, at, || {
            format!("{} may be left out, and such a call is not safe to repeat", quoted(name))
        });
    }
}
