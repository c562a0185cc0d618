//! Serial dates: a workbook's numbers of days to ISO 8601 text, in the 1900 and the 1904 system.
//!
//! Owns the calendar and the leap day of 1900 that never was. Knows nothing of number formats beyond [`Clock`].

/// From which day a workbook counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Epoch {
    #[default]
    /// Day 1 is 1900-01-01, and day 60 is a 29 February that no calendar has.
    From1900,
    /// Day 0 is 1904-01-01.
    From1904,
}

/// What a number format shows of a serial number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// A day: `yyyy-mm-dd`.
    Date,
    /// A time of day: `hh:mm`.
    Time,
    /// Both.
    DateTime,
    /// An amount of time: `[h]:mm`.
    Duration,
}

/// What a serial number turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Date,
    Time,
    DateTime,
    Duration,
}

/// Appends the moment that `serial` is as ISO 8601 text. `None`, and nothing appended, where no calendar has it: before
/// the epoch or after the year 9999.
pub(crate) fn push_moment(out: &mut String, serial: f64, clock: Clock, epoch: Epoch) -> Option<Moment> {
    if clock == Clock::Duration {
        return push_duration(out, serial);
    }
    if !(0.0..2_958_466.0).contains(&serial) {
        return None;
    }
    // Spreadsheet programs keep and show milliseconds at most; what lies beyond is the noise of a binary fraction.
    let mut day = serial.floor() as i64;
    let mut millis = ((serial - serial.floor()) * 86_400_000.0).round() as u32;
    if millis == 86_400_000 {
        day += 1;
        millis = 0;
    }
    let is_time = match (epoch, clock) {
        (Epoch::From1900, _) => day == 0,
        (Epoch::From1904, Clock::Date | Clock::DateTime) => false,
        (Epoch::From1904, _) => day == 0,
    };
    if is_time {
        push_time(out, u64::from(millis) * 1000);
        return Some(Moment::Time);
    }
    let (year, month, day) = match epoch {
        // Days since 1970-01-01 of 1904-01-01 and of 1899-12-30; below 60 the count is one day late.
        Epoch::From1904 => civil(day - 24_107),
        Epoch::From1900 if day < 60 => civil(day - 25_568),
        Epoch::From1900 => civil(day - 25_569),
    };
    if year > 9999 {
        return None;
    }
    push_digits(out, year, 4);
    out.push('-');
    push_digits(out, month, 2);
    out.push('-');
    push_digits(out, day, 2);
    // A day without a time is a date when the format shows none.
    if clock == Clock::Date && millis == 0 {
        return Some(Moment::Date);
    }
    out.push('T');
    push_time(out, u64::from(millis) * 1000);
    Some(Moment::DateTime)
}

/// Appends `P10DT15H10M10S`: days, hours, minutes, seconds, without those that are zero.
fn push_duration(out: &mut String, serial: f64) -> Option<Moment> {
    let millis = (serial * 86_400_000.0).round();
    if !millis.is_finite() || millis.abs() > 9e15 {
        return None;
    }
    if millis < 0.0 {
        out.push('-');
    }
    let millis = millis.abs() as u64;
    let (days, rest) = (millis / 86_400_000, millis % 86_400_000);
    let (hours, minutes) = (rest / 3_600_000, rest / 60_000 % 60);
    let (seconds, fraction) = (rest / 1000 % 60, rest % 1000);
    out.push('P');
    if days > 0 {
        out.push_str(&format!("{days}D"));
    }
    if rest > 0 || days == 0 {
        out.push('T');
    }
    if hours > 0 {
        out.push_str(&format!("{hours}H"));
    }
    if minutes > 0 {
        out.push_str(&format!("{minutes}M"));
    }
    if seconds > 0 || fraction > 0 || millis == 0 {
        out.push_str(&seconds.to_string());
        if fraction > 0 {
            out.push('.');
            out.push_str(format!("{fraction:03}").trim_end_matches('0'));
        }
        out.push('S');
    }
    Some(Moment::Duration)
}

/// Appends a time that stands in the file as an ISO 8601 duration. Below a day it is a time of day: such files do not
/// tell the two apart but by a format. `None`, and nothing appended, when it is no such duration.
pub(crate) fn push_clock(out: &mut String, text: &str) -> Option<Moment> {
    let days = read_duration(text)?;
    let micros = (days * 86_400e6).round();
    if (0.0..86_400e6).contains(&micros) {
        push_time(out, micros as u64);
        return Some(Moment::Time);
    }
    push_duration(out, days)
}

/// Appends an ISO 8601 text, a time with its seconds, a fraction of a second with six digits or, when it is nothing,
/// without it.
pub(crate) fn push_iso(out: &mut String, text: &str) {
    if text.contains('P') {
        return out.push_str(text);
    }
    let clock = text.find('T').map_or(0, |at| at + 1);
    // `08:30`, and nothing but a zone behind it.
    let end = clock + text[clock..].bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b':').count();
    let is_short = end - clock == 5 && text.as_bytes()[clock + 2] == b':';
    let Some((whole, rest)) = text.split_once(['.', ',']).filter(|_| !is_short) else {
        out.push_str(&text[..end]);
        if is_short {
            out.push_str(":00");
        }
        return out.push_str(&text[end..]);
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let fraction = format!("{:0<6}", &rest[..digits.min(6)]);
    out.push_str(whole);
    if fraction.bytes().any(|digit| digit != b'0') {
        out.push('.');
        out.push_str(&fraction);
    }
    out.push_str(&rest[digits..]);
}

/// `PT15H10M10.5S` in days; `None` for anything that is no such duration. Years and months have no fixed length.
fn read_duration(text: &str) -> Option<f64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    let (days, time) = rest.strip_prefix('P')?.split_once('T').unwrap_or((rest.strip_prefix('P')?, ""));
    let mut seconds = 0.0;
    if !days.is_empty() {
        seconds += days.strip_suffix('D')?.parse::<f64>().ok()? * 86_400.0;
    }
    let mut rest = time;
    for (unit, length) in [('H', 3600.0), ('M', 60.0), ('S', 1.0)] {
        if let Some((number, after)) = rest.split_once(unit) {
            seconds += number.replace(',', ".").parse::<f64>().ok()? * length;
            rest = after;
        }
    }
    (rest.is_empty() && seconds.is_finite()).then_some(sign * seconds / 86_400.0)
}

/// Appends `15:10:10`, with six digits of a second where there is a fraction, as most programs write and read it.
fn push_time(out: &mut String, micros: u64) {
    let seconds = (micros / 1_000_000) as u32;
    push_digits(out, seconds / 3600, 2);
    out.push(':');
    push_digits(out, seconds / 60 % 60, 2);
    out.push(':');
    push_digits(out, seconds % 60, 2);
    if !micros.is_multiple_of(1_000_000) {
        out.push('.');
        push_digits(out, (micros % 1_000_000) as u32, 6);
    }
}

fn push_digits(out: &mut String, number: u32, width: u32) {
    for place in (0..width).rev() {
        out.push(char::from(b'0' + (number / 10u32.pow(place) % 10) as u8));
    }
}

/// Year, month and day of a number of days since 1970-01-01, by the proleptic Gregorian calendar.
fn civil(days: i64) -> (u32, u32, u32) {
    // Years are counted from March, so that the leap day is the last of its year; 719 468 days lie between then and 1970.
    let days = days + 719_468;
    let (cycle, of_cycle) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_cycle = (of_cycle - of_cycle / 1460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = cycle * 400 + year_of_cycle + i64::from(month <= 2);
    (year as u32, month as u32, day as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(serial: f64, clock: Clock, epoch: Epoch) -> Option<String> {
        let mut out = String::new();
        push_moment(&mut out, serial, clock, epoch).map(|_| out)
    }

    #[test]
    fn days_count_from_1900_with_the_leap_day_that_never_was() {
        for (serial, day) in [
            (1.0, "1900-01-01"),
            (59.0, "1900-02-28"),
            (60.0, "1900-02-28"),
            (61.0, "1900-03-01"),
            (44_197.0, "2021-01-01"),
            (45_351.0, "2024-02-29"),
            (2_958_465.0, "9999-12-31"),
        ] {
            assert_eq!(shown(serial, Clock::Date, Epoch::From1900).as_deref(), Some(day), "{serial}");
        }
        assert_eq!(shown(2_958_466.0, Clock::Date, Epoch::From1900), None);
        assert_eq!(shown(-1.0, Clock::Date, Epoch::From1900), None);
        assert_eq!(shown(f64::NAN, Clock::Date, Epoch::From1900), None);
    }

    #[test]
    fn days_count_from_1904_where_the_workbook_says_so() {
        assert_eq!(shown(0.0, Clock::Date, Epoch::From1904).as_deref(), Some("1904-01-01"));
        assert_eq!(shown(42_735.0, Clock::Date, Epoch::From1904).as_deref(), Some("2021-01-01"));
        assert_eq!(shown(2_957_004.0, Clock::Date, Epoch::From1904), None);
    }

    #[test]
    fn a_time_stays_with_its_date_and_keeps_its_fraction() {
        for (serial, clock, text) in [
            (44_197.5, Clock::Date, "2021-01-01T12:00:00"),
            (44_197.0, Clock::DateTime, "2021-01-01T00:00:00"),
            (0.25, Clock::Time, "06:00:00"),
            (0.5 + 0.123 / 86_400.0, Clock::Time, "12:00:00.123000"),
            (1.5, Clock::Time, "1900-01-01T12:00:00"),
            (44_197.999_999_999_9, Clock::DateTime, "2021-01-02T00:00:00"),
        ] {
            assert_eq!(shown(serial, clock, Epoch::From1900).as_deref(), Some(text), "{serial}");
        }
    }

    #[test]
    fn iso_texts_keep_their_meaning_and_get_one_form() {
        for (stored, text) in [
            ("2021-01-01", "2021-01-01"),
            ("2021-01-01T10:10:10.000000000", "2021-01-01T10:10:10"),
            ("2021-01-01T10:10:10.5Z", "2021-01-01T10:10:10.500000Z"),
            ("10:10:10,25", "10:10:10.250000"),
            ("08:30", "08:30:00"),
            ("2021-01-01T08:30", "2021-01-01T08:30:00"),
            ("2021-01-01T08:30+02:00", "2021-01-01T08:30:00+02:00"),
            ("2021-01-01T08:30:15+02:00", "2021-01-01T08:30:15+02:00"),
            ("PT0.5S", "PT0.5S"),
        ] {
            let mut out = String::new();
            push_iso(&mut out, stored);
            assert_eq!(out, text);
        }
        for (text, hours) in [("PT10H10M0S", 10.0 + 10.0 / 60.0), ("P1DT2H", 26.0), ("-PT30M", -0.5), ("P2D", 48.0)] {
            assert!((read_duration(text).unwrap() * 24.0 - hours).abs() < 1e-9, "{text}");
        }
        for text in ["", "P", "10:10", "P1Y", "PT1X", "PT"] {
            assert_eq!(read_duration(text).filter(|days| *days != 0.0), None, "{text}");
        }
    }

    #[test]
    fn durations_are_amounts_of_time() {
        for (serial, text) in [
            (10.632_060_185_185_186, "P10DT15H10M10S"),
            (1.0, "P1D"),
            (0.0, "PT0S"),
            (0.5, "PT12H"),
            (25.0 / 24.0, "P1DT1H"),
            (-1.5, "-P1DT12H"),
            (0.5 / 86_400.0, "PT0.5S"),
        ] {
            assert_eq!(shown(serial, Clock::Duration, Epoch::From1900).as_deref(), Some(text), "{serial}");
        }
    }
}
