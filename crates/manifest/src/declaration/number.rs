//! Whether a number in what is published is written the same by every language, so that anyone computes the same digest.
//!
//! Looks at values alone; which of them are published is known elsewhere. Start at [`check`].

use serde_json::{Number, Value};

use crate::diagnostic::quoted;
use crate::findings::Findings;
use crate::mend;
use crate::rule;
use crate::yaml::{Data, Node};

/// Integers beyond this are rounded by languages that hold every number as a float.
const MOST_EXACT: u64 = (1 << 53) - 1;
/// What a float of 64 bits holds of any decimal.
const MOST_DIGITS: usize = 15;
/// Below this some languages write an exponent.
const LEAST: f64 = 0.0001;

/// Reports every number below a node that is not written the same everywhere.
pub(super) fn check(node: &Node<'_>, findings: &mut Findings<'_, '_>) {
    match &node.data {
        Data::Scalar { text, plain: true } => {
            if let Some(Value::Number(number)) = node.json()
                && let Some(fault) = fault(text, &number)
            {
                report(node, text, fault, findings);
            }
        }
        Data::Scalar { .. } | Data::Broken => {}
        Data::List(items) => items.iter().for_each(|item| check(item, findings)),
        Data::Mapping(pairs) => pairs.iter().for_each(|pair| check(&pair.value, findings)),
    }
}

/// What is wrong with a number, and how the same number is written right.
struct Fault {
    reason: &'static str,
    right: Option<String>,
}

fn fault(text: &str, number: &Number) -> Option<Fault> {
    let told = |reason, right| Some(Fault { reason, right });
    if let Some(magnitude) = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64()) {
        return match magnitude {
            0 if text.starts_with('-') => told("has a sign", Some("0".to_owned())),
            _ if magnitude > MOST_EXACT => told("is an integer that many languages round", None),
            _ => None,
        };
    }
    let float = number.as_f64()?;
    // The shortest decimal that stands for the same number, never with an exponent.
    let decimal = float.to_string();
    if float == 0.0 {
        told("is zero as a decimal", Some("0".to_owned()))
    } else if digits(&decimal) > MOST_DIGITS {
        told("has more than 15 digits", None)
    } else if float.abs() < LEAST {
        told("is so small that some languages write it with an exponent", None)
    } else if float.fract() == 0.0 {
        told("is an integer as a decimal", Some(decimal))
    } else if text.contains(['e', 'E']) {
        told("has an exponent", Some(decimal))
    } else {
        None
    }
}

/// How many digits of a plain decimal count: all but the zeros before the first other one.
fn digits(decimal: &str) -> usize {
    let digits: String = decimal.chars().filter(char::is_ascii_digit).collect();
    digits.trim_start_matches('0').len()
}

fn report(node: &Node<'_>, text: &str, fault: Fault, findings: &mut Findings<'_, '_>) {
    let Fault { reason, right } = fault;
    let fix = right.as_deref().and_then(|right| mend::retype(findings.text(), node, "", right));
    let message = || (format!("{} {reason}", quoted(text)), right.map(|right| format!("write `{right}`")));
    findings.add_with_fix(&rule::NUMBER_FORM, node.at, message, fix);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::yaml;

    /// The numbers of a list that are refused, each with what is written instead.
    fn refused(list: &str) -> Vec<(String, String)> {
        let source = Source::new("f", list);
        let mut findings = Findings::new(&source);
        let root = yaml::parse(list, 1, 0, &mut findings).unwrap();
        check(&root, &mut findings);
        let told = |finding: &crate::diagnostic::Diagnostic| {
            let number = finding.message.split('`').nth(1).unwrap_or_default().to_owned();
            (number, finding.fix.as_ref().map(|fix| fix.replacement.clone()).unwrap_or_default())
        };
        findings.finish().iter().map(told).collect()
    }

    #[test]
    fn integers_and_short_decimals_pass() {
        let passes =
            "[0, 1, -7, 9007199254740991, -9007199254740991, 0.5, -2.25, 0.0001, 123456789012.345, 0.10, '1e9', x]";
        assert_eq!(refused(passes), []);
    }

    #[test]
    fn what_languages_write_differently_is_refused_and_mended_where_the_number_stays_the_same() {
        let pair = |number: &str, right: &str| (number.to_owned(), right.to_owned());
        assert_eq!(
            refused("[-0, -0.0, 1.0, 1e3, 1.5e-3, 2.50E1]"),
            [
                pair("-0", "0"),
                pair("-0.0", "0"),
                pair("1.0", "1"),
                pair("1e3", "1000"),
                pair("1.5e-3", "0.0015"),
                pair("2.50E1", "25")
            ]
        );
        assert_eq!(
            refused("{a: [9007199254740992, -9007199254740992, 0.1234567890123456, 0.00001, 1e300]}"),
            [
                pair("9007199254740992", ""),
                pair("-9007199254740992", ""),
                pair("0.1234567890123456", ""),
                pair("0.00001", ""),
                pair("1e300", "")
            ]
        );
    }
}
