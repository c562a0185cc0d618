//! Number formats: whether a format shows its numbers as dates, times or durations.

use std::collections::HashMap;

use crate::error::Fault;
use crate::serial::Clock;

/// How many styles are remembered; spreadsheet programs stop at 65 490.
const MAX_STYLES: usize = 1 << 20;

/// The styles of a workbook's cells, as far as they make dates of numbers.
#[derive(Default)]
pub(crate) struct Styles {
    /// The formats that the workbook defines itself.
    codes: HashMap<u32, Option<Clock>>,
    clocks: Vec<Option<Clock>>,
}

impl Styles {
    /// Learns a format that the workbook defines.
    pub(crate) fn define(&mut self, id: u32, code: &str) {
        if self.codes.len() < MAX_STYLES {
            self.codes.insert(id, of_code(code));
        }
    }

    /// Adds the next style, which has this format: one of the workbook's own, else one of the built-in ones.
    pub(crate) fn add(&mut self, format: u32) -> Result<(), Fault> {
        if self.clocks.len() >= MAX_STYLES {
            return Err(Fault::too_large(format!("it lists more than {MAX_STYLES} styles")));
        }
        self.clocks.push(self.codes.get(&format).copied().unwrap_or_else(|| built_in(format)));
        Ok(())
    }

    /// What cells of this style show, `None` for plain numbers.
    pub(crate) fn clock(&self, style: usize) -> Option<Clock> {
        self.clocks.get(style).copied().flatten()
    }
}

/// What a format of the built-in numbers shows; `None` for plain numbers and for numbers that a workbook defines itself.
fn built_in(id: u32) -> Option<Clock> {
    match id {
        14..=17 | 27..=31 | 36 | 50..=54 | 57 | 58 => Some(Clock::Date),
        18..=21 | 32..=35 | 45 | 47 | 55 | 56 => Some(Clock::Time),
        22 => Some(Clock::DateTime),
        46 => Some(Clock::Duration),
        _ => None,
    }
}

/// What a format code shows, by its first section; `None` for plain numbers and text.
fn of_code(code: &str) -> Option<Clock> {
    if code.eq_ignore_ascii_case("general") || code.eq_ignore_ascii_case("standard") {
        return None;
    }
    let letters = letters(code);
    if letters.contains(&Letter::Elapsed) {
        return Some(Clock::Duration);
    }
    let mut date = false;
    let mut time = false;
    for (at, letter) in letters.iter().enumerate() {
        match letter {
            Letter::Day => date = true,
            Letter::Time | Letter::Half => time = true,
            // An `m` is minutes between hours and seconds, and months anywhere else.
            Letter::MonthOrMinute => {
                let after_hour = at > 0 && letters[at - 1] == Letter::Time;
                let before_second = letters.get(at + 1) == Some(&Letter::Time);
                if after_hour || before_second {
                    time = true;
                } else {
                    date = true;
                }
            }
            Letter::Elapsed => {}
        }
    }
    match (date, time) {
        (true, true) => Some(Clock::DateTime),
        (true, false) => Some(Clock::Date),
        (false, true) => Some(Clock::Time),
        (false, false) => None,
    }
}

/// A run of one letter that means something.
#[derive(Clone, Copy, PartialEq)]
enum Letter {
    /// Years and days.
    Day,
    /// One or two `m`.
    MonthOrMinute,
    /// Hours and seconds.
    Time,
    /// `AM/PM`, `A/P`.
    Half,
    /// `[h]`, `[mm]`, `[s]`.
    Elapsed,
}

fn letters(code: &str) -> Vec<Letter> {
    let mut found = Vec::new();
    let mut rest = code.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter.to_ascii_lowercase() {
            ';' => break,
            '"' => {
                rest.by_ref().find(|&inner| inner == '"');
            }
            // The next character stands for itself, for its width, or fills.
            '\\' | '_' | '*' => {
                rest.next();
            }
            '[' => {
                let inner: String = rest.by_ref().take_while(|&inner| inner != ']').collect();
                let inner = inner.to_ascii_lowercase();
                if matches!(inner.as_str(), "h" | "hh" | "m" | "mm" | "s" | "ss") {
                    found.push(Letter::Elapsed);
                }
            }
            letter @ ('y' | 'd' | 'm' | 'h' | 's') => {
                let mut count = 1;
                while rest.next_if(|next| next.to_ascii_lowercase() == letter).is_some() {
                    count += 1;
                }
                found.push(match letter {
                    'y' | 'd' => Letter::Day,
                    'm' if count > 2 => Letter::Day,
                    'm' => Letter::MonthOrMinute,
                    _ => Letter::Time,
                });
            }
            // `AM/PM` holds an `m` that is neither.
            'a' if rest.peek().is_some_and(|next| matches!(next, 'm' | 'M' | '/')) => {
                let mut is_half = false;
                while let Some(next) = rest.next_if(|next| matches!(next, 'm' | 'M' | '/' | 'p' | 'P')) {
                    is_half |= next == '/';
                }
                if is_half {
                    found.push(Letter::Half);
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_shows_what_its_first_section_says() {
        for (code, clock) in [
            ("yyyy-mm-dd", Some(Clock::Date)),
            ("DD/MM/YY", Some(Clock::Date)),
            ("mmm-yy", Some(Clock::Date)),
            ("m\"M\"d\"D\";@", Some(Clock::Date)),
            ("[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", Some(Clock::Date)),
            ("[$-409]h:mm:ss AM/PM", Some(Clock::Time)),
            ("H:MM:SS;@", Some(Clock::Time)),
            ("AM/PM", Some(Clock::Time)),
            ("A/P", Some(Clock::Time)),
            ("yyyy mm A/P", Some(Clock::DateTime)),
            ("Am", None),
            ("mm:ss.0", Some(Clock::Time)),
            ("yyyy-mm-dd\\Thh:mm:ss.000", Some(Clock::DateTime)),
            ("m/d/yy h:mm", Some(Clock::DateTime)),
            ("[h]:mm:ss", Some(Clock::Duration)),
            ("[mm]:ss", Some(Clock::Duration)),
            ("General", None),
            ("@", None),
            ("0.00E+00", None),
            ("#,##0\\ [$\\u20bd-46D]", None),
            ("\"Y: \"0.00\"m\";\"Y: \"-0.00\"m\"", None),
            ("[Red]#,##0;[Magenta](#,##0)", None),
            ("#,##0_);[Red](#,##0_d)", None),
            ("0;yyyy", None),
            ("_-* #,##0.00\\ _d_-", None),
        ] {
            assert_eq!(of_code(code), clock, "{code}");
        }
    }
}
