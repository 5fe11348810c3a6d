//! Instants as text: ISO 8601 as Python's `datetime.fromisoformat` reads it, in microseconds since the Unix epoch.

use jiff::civil::{Date, ISOWeekDate, Weekday, date};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instant {
    /// Microseconds since the Unix epoch; a time without an offset is taken as UTC.
    pub clock_us: i64,
    /// Whether the text has an offset from UTC. `clock_us` has it subtracted already.
    pub has_offset: bool,
}

impl Instant {
    /// Microseconds since the Unix epoch; `None` if the offset is neither written nor known.
    pub fn epoch_us(self, local_offset_s: Option<i32>) -> Option<i64> {
        if self.has_offset {
            return Some(self.clock_us);
        }
        local_offset_s.map(|seconds| self.clock_us - i64::from(seconds) * 1_000_000)
    }
}

/// Reads `2026-05-14`, `2026-05-14T12:00`, `2026-05-14 12:00:00.25Z`, `20260514T120000+02:00`, `2026-W20-4`.
pub fn parse(text: &str) -> Option<Instant> {
    let at = end_of_date(text);
    let date = text.get(..at)?;
    let clock = match text.get(at..)?.chars().next() {
        None => None,
        Some(separator) => Some(text.get(at + separator.len_utf8()..)?),
    };
    if !date.is_ascii() || clock.is_some_and(|clock| !clock.is_ascii()) {
        return None;
    }
    let days = days_of(date)?;
    let (clock_us, offset_us) = match clock {
        None => (0, None),
        Some(clock) => clock_and_offset(clock)?,
    };
    let clock_us = days * 86_400_000_000 + clock_us - offset_us.unwrap_or(0);
    Some(Instant { clock_us, has_offset: offset_us.is_some() })
}

fn end_of_date(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    match (bytes.get(4), bytes.get(5)) {
        // With a digit after the day of the week, that day is the beginning of a time.
        (Some(b'-'), Some(b'W')) if bytes.get(8) == Some(&b'-') && !is_digit(10) => 10,
        (Some(b'-'), Some(b'W')) => 8,
        (Some(b'-'), _) => 10,
        (Some(b'W'), _) => match (7..).find(|at| !is_digit(*at)).unwrap_or(7) {
            end @ 7..9 => end,
            // Pairs of digits are a time.
            end if end % 2 == 0 => 7,
            _ => 8,
        },
        _ => 8,
    }
}

fn number(text: &str) -> Option<i64> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

fn days_of(date: &str) -> Option<i64> {
    if date.contains('W') {
        return days_of_week(date);
    }
    let bare: String = match date.len() {
        10 if date.as_bytes()[4] == b'-' && date.as_bytes()[7] == b'-' => date.replace('-', ""),
        8 => date.to_owned(),
        _ => return None,
    };
    if bare.len() != 8 || !bare.is_ascii() {
        return None;
    }
    days_since_1970(date_of(number(&bare[..4])?, number(&bare[4..6])?, number(&bare[6..])?)?)
}

/// Returns the days since 1970 of `2026-W20-4`, `2026W204`, or, without the day of the week, of the Monday.
fn days_of_week(date: &str) -> Option<i64> {
    let (year, rest) = date.split_at_checked(4)?;
    let (is_dashed, rest) = rest.strip_prefix('-').map_or((false, rest), |rest| (true, rest));
    let (week, day) = rest.strip_prefix('W')?.split_at_checked(2)?;
    let day = match (day, is_dashed) {
        ("", _) => 1,
        (day, true) => number(day.strip_prefix('-')?)?,
        (day, false) => number(day)?,
    };
    let weekday = Weekday::from_monday_one_offset(i8::try_from(day).ok()?).ok()?;
    let (year, week) = (i16::try_from(number(year)?).ok()?, i8::try_from(number(week)?).ok()?);
    days_since_1970(ISOWeekDate::new(year, week, weekday).ok()?.date())
}

/// Returns a day of the Gregorian calendar; `None` if there is no such day.
pub fn date_of(year: i64, month: i64, day: i64) -> Option<Date> {
    Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()
}

/// Returns the days since 1970; `None` before the year 1.
fn days_since_1970(day: Date) -> Option<i64> {
    (day.year() > 0).then(|| day.duration_since(date(1970, 1, 1)).as_hours() / 24)
}

/// Reads a time and its offset from UTC, with the liberties that Python takes: an offset may follow a blank, or any
/// other character.
fn clock_and_offset(text: &str) -> Option<(i64, Option<i64>)> {
    let zone = text.find(['+', '-', 'Z']).unwrap_or(text.len());
    let clock = Clock::of(text, zone)?;
    if clock.hours > 23 || clock.minutes > 59 || clock.seconds > 59 {
        return None;
    }
    let offset_us = match text.as_bytes().get(zone) {
        None if clock.is_followed => return None,
        None => None,
        Some(b'Z') if zone + 1 == text.len() => Some(0),
        Some(b'Z') => return None,
        Some(sign) => {
            let offset = &text[zone + 1..];
            let offset = Clock::of(offset, offset.len()).filter(|offset| !offset.is_followed)?.micros();
            // Less than a second is UTC.
            let offset = if offset < 1_000_000 { 0 } else { offset };
            let is_less_than_a_day = offset < 24 * 3_600_000_000;
            Some(if *sign == b'-' { -offset } else { offset }).filter(|_| is_less_than_a_day).map(Some)?
        }
    };
    Some((clock.micros(), offset_us))
}

struct Clock {
    hours: i64,
    minutes: i64,
    seconds: i64,
    micros: i64,
    is_followed: bool,
}

impl Clock {
    /// Reads the text up to `end`, with or without colons. A single character before `end` is ignored.
    fn of(text: &str, end: usize) -> Option<Clock> {
        let bytes = text.as_bytes();
        let mut parts = [0; 3];
        let mut has_colons = true;
        let mut at = 0;
        for (index, part) in parts.iter_mut().enumerate() {
            *part = number(text.get(at..at + 2)?)?;
            let next = bytes.get(at + 2).copied();
            at += 3;
            if index == 0 {
                has_colons = next == Some(b':');
            }
            match next {
                _ if at >= end => {
                    let [hours, minutes, seconds] = parts;
                    return Some(Clock { hours, minutes, seconds, micros: 0, is_followed: next.is_some() });
                }
                Some(b':') if has_colons => {}
                Some(b'.' | b',') => break,
                _ if has_colons => return None,
                _ => at -= 1,
            }
        }
        let written = end.checked_sub(at)?.min(6);
        let fraction = number(text.get(at..at + written)?)?;
        let micros = fraction * 10_i64.pow(u32::try_from(6 - written).ok()?);
        // Further digits have no effect.
        let is_followed = bytes[at + written..].iter().any(|byte| !byte.is_ascii_digit());
        let [hours, minutes, seconds] = parts;
        Some(Clock { hours, minutes, seconds, micros, is_followed })
    }

    fn micros(&self) -> i64 {
        ((self.hours * 60 + self.minutes) * 60 + self.seconds) * 1_000_000 + self.micros
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn instants_are_read_as_python_reads_them() {
        let us = |text: &str| parse(text).map(|instant| (instant.clock_us, instant.has_offset));
        assert_eq!(us("1970-01-01"), Some((0, false)));
        assert_eq!(us("1970-01-01T00:00:01Z"), Some((1_000_000, true)));
        assert_eq!(us("2026-05-14T12:00:00Z"), Some((1_778_760_000_000_000, true)));
        assert_eq!(us("2026-05-14 14:00:00+02:00"), us("2026-05-14T12:00:00Z"));
        assert_eq!(us("2026-05-14T14:00:00 +02:00"), us("2026-05-14T12:00:00Z"));
        assert_eq!(us("20260514T120000Z"), us("2026-05-14T12:00:00Z"));
        assert_eq!(us("2026-05-14T12:00:00.25"), Some((1_778_760_000_250_000, false)));
        for (text, same) in [
            ("2026-05-14T12:00:00 Z", "2026-05-14T12:00:00Z"),
            ("2026-05-14T12 Z", "2026-05-14T12:00:00Z"),
            ("2026-05-14T12:00:00 -05", "2026-05-14T17:00:00Z"),
            ("2026-05-14T22.5", "2026-05-14T22:00:00.5"),
            ("2026-05-14T22,25", "2026-05-14T22:00:00.25"),
            ("2026-05-14T1230.5", "2026-05-14T12:30:00.5"),
            ("2026-05-14T12.5+02:00", "2026-05-14T10:00:00.5Z"),
            ("2026-05-14T12:00:00+01.5", "2026-05-14T10:59:59.5Z"),
            ("2026-05-14T12:00:00.123456789Z", "2026-05-14T12:00:00.123456Z"),
            ("2026-05-14T12:00:00.123456 Z", "2026-05-14T12:00:00.123456Z"),
        ] {
            assert!(us(text).is_some() && us(text) == us(same), "{text}");
        }
        assert_eq!(us("2024-02-29").map(|it| it.0), Some(19_782 * 86_400_000_000));
        // Week dates.
        for (text, day) in [
            ("2026-W20-4", "2026-05-14"),
            ("2026W204", "2026-05-14"),
            ("2026-W20", "2026-05-11"),
            ("2026W20", "2026-05-11"),
            ("2026-W20-4T12:00", "2026-05-14T12:00"),
            ("2026W204T12", "2026-05-14T12:00"),
            ("2026-W20T12:00", "2026-05-11T12:00"),
            ("2026W20T1200", "2026-05-11T12:00"),
            ("2026W20412", "2026-05-11T12:00"),
            ("2026W204+02:00", "2026-05-14T02:00"),
            ("2026-W53-7", "2027-01-03"),
            ("2020-W53-7", "2021-01-03"),
            ("2021-W01-1", "2021-01-04"),
            ("2026-W01-1", "2025-12-29"),
            ("0001-W01-1", "0001-01-01"),
        ] {
            assert!(us(text).is_some() && us(text) == us(day), "{text}");
        }
        for text in [
            "2025-W53-1", "2026-W00-1", "2026-W20-0", "2026-W20-8", "2026W2047", "2026-W204", "2026W20-4",
            "2026-w20-4", "2026-W20-4 ", "2026-W2", "2026-W20-412:00", "9999-W52-7", "2026-05-14T", "", "soon",
            "2026-13-01", "2026-02-29", "2026-05-14T25:00", "2026-05-14T12:00:00  Z", "2026-05-14T12:00:00.5 Z",
            "2026-05-14T12:00:00 ", "2026-05-14T12.", "2026-05-14T1200:00", "2026-05-14T12:0000",
            "2026-05-14T12:00+24:00", "2026-05-14T12:00+01-02", "2026-05-14T12:60", "2026-05-14T12:00Zx", "2026-5-1",
            "2026−05−14", "２０２６-05-14", "2026-05-14T1２:00", "2026-05-14T12:00:00z",
        ] {
            assert_eq!(us(text), None, "{text}");
        }
    }

    #[test]
    fn without_an_offset_local_time_decides() {
        let local = parse("2026-05-14T12:00:00").unwrap();
        assert_eq!(local.epoch_us(None), None);
        assert_eq!(local.epoch_us(Some(7200)), Some(1_778_760_000_000_000 - 7_200_000_000));
    }
}
