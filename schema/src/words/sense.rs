//! The sense of names. `minTokens` differs from `maxTokens` in two letters, and so does `unexpected` from `expected`:
//! similarity must never invert an assertion. A slip changes letters inside a word; where whole words or the start of a
//! word differ, another name may be meant.

/// Words that negate or forbid.
const NEGATIONS: &[&str] = &[
    "not", "no", "non", "never", "without", "none", "cannot", "cant", "dont", "doesnt", "didnt", "isnt", "arent",
    "mustnt", "shouldnt", "wont", "lacks", "missing", "absent", "excludes", "exclude", "excluded", "forbidden",
    "forbid", "forbids", "anti", "deny", "denied", "disallow", "disallowed", "block", "blocked", "reject", "rejected",
    "refuse", "refused", "prohibit", "prohibited", "avoid", "ban", "banned",
];

/// Negations that are prefixes of a word: `in` and `de` begin too many words without a negation.
const PREFIXES: &[&str] = &["un", "non", "dis"];

/// Auxiliary verbs that do not change the sense of a name.
const AUXILIARIES: &[&str] = &["was", "is", "be", "been", "are", "were", "does", "did", "has", "have", "should"];

/// Length from which a word is rarely mistaken for another one.
const LONG: usize = 4;

const BOUNDS: [(&str, &str); 6] = [
    ("min", "max"),
    ("max", "min"),
    ("minimum", "maximum"),
    ("maximum", "minimum"),
    ("least", "most"),
    ("most", "least"),
];

/// Words for units, which a name may have or omit.
const UNITS: &[&str] = &["ms", "millis", "milliseconds", "s", "sec", "secs", "seconds", "usd", "cents", "percent"];

/// What a name says, apart from whether it denies it.
struct Sense {
    is_negative: bool,
    statement: String,
}

impl Sense {
    fn of(name: &str) -> Sense {
        let mut is_negative = false;
        let mut statement = String::new();
        for word in words(name) {
            let rest = without_prefix(&word);
            if NEGATIONS.contains(&word.as_str()) {
                is_negative = !is_negative;
            } else if !AUXILIARIES.contains(&word.as_str()) {
                is_negative ^= rest.is_some();
                statement.push_str(rest.unwrap_or(&word));
            }
        }
        Sense { is_negative, statement }
    }

    /// Whether both are about the same, possibly with a slip.
    fn is_about(&self, other: &Sense) -> bool {
        is_slip(&self.statement, &other.statement)
    }
}

/// Returns a word without a prefix that negates it.
fn without_prefix(word: &str) -> Option<&str> {
    PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix)).filter(|rest| rest.len() > 1)
}

/// Returns the name whose opposite a text is: `expected` for `unexpected`, `maxTokens` for `minTokens`. `None` if another
/// name says the same.
pub(super) fn opposite_of<'c>(written: &str, names: &[&'c str]) -> Option<&'c str> {
    let sense = Sense::of(written);
    let swapped: Vec<Sense> = with_other_bound(written).map(|name| Sense::of(&name)).collect();
    if same_negation(written, names).is_some() || names.iter().any(|name| differ_by_slips(written, name, false)) {
        return None;
    }
    let is_swapped = |it: &Sense, other: &Sense| {
        it.is_negative == other.is_negative && strsim::osa_distance(&it.statement, &other.statement) <= 1
    };
    let is_opposite = |other: &Sense| {
        other.is_negative != sense.is_negative && other.is_about(&sense)
            || swapped.iter().any(|it| is_swapped(it, other))
    };
    names.iter().find(|name| is_opposite(&Sense::of(name))).copied()
}

fn with_other_bound(name: &str) -> impl Iterator<Item = String> {
    let words = words(name);
    (0..words.len()).filter_map(move |index| {
        let (_, other) = BOUNDS.iter().find(|(bound, _)| words[index] == *bound)?;
        let name: Vec<&str> =
            words.iter().enumerate().map(|(at, word)| if at == index { other } else { word.as_str() }).collect();
        Some(name.join("_"))
    })
}

/// Returns the name that negates the same as a text: `tool_not_called` for `tool_was_not_called`.
pub(super) fn same_negation<'c>(written: &str, names: &[&'c str]) -> Option<&'c str> {
    let sense = Sense::of(written);
    let is_same = |other: &Sense| other.is_negative && sense.is_negative && other.is_about(&sense);
    names.iter().find(|name| is_same(&Sense::of(name))).copied()
}

/// Whether a name contains a negation.
pub(super) fn is_negative(name: &str) -> bool {
    words(name).iter().any(|word| NEGATIONS.contains(&word.as_str()))
}

/// Returns the number of words that two names have in common.
pub(super) fn common_words(one: &str, other: &str) -> usize {
    let words_of_other = words(other);
    words(one).iter().filter(|word| words_of_other.contains(word)).count()
}

/// Whether two names are about different things of one kind: `input_path` and `output_path`.
pub(super) fn are_siblings(one: &str, other: &str) -> bool {
    let words = |name: &str| {
        let mut words = words(name);
        words.retain(|word| !UNITS.contains(&word.as_str()));
        words
    };
    let (ours, theirs) = (words(one), words(other));
    let has_own = |words: &[String], others: &[String]| words.iter().any(|word| !others.contains(word));
    ours.iter().any(|word| theirs.contains(word)) && has_own(&ours, &theirs) && has_own(&theirs, &ours)
}

/// Returns a word without differences in spelling.
pub(super) fn squashed(text: &str) -> String {
    text.chars().filter(|letter| !matches!(letter, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Whether a text differs from a name only by slips inside its words, or in spelling, and not in its numbers: `p50` is
/// not a slip of `p90`. In a short word, only a letter too many or too few is a slip, and neither that nor another unit
/// `is_sure`: `run` and `ran`, `maxNs` and `maxMs` may be intended.
pub(super) fn differ_by_slips(written: &str, name: &str, is_sure: bool) -> bool {
    let (all_ours, all_theirs) = (squashed(written), squashed(name));
    // What is half typed is no slip, but may be meant.
    if all_ours == all_theirs || !is_sure && all_theirs.starts_with(&all_ours) {
        return true;
    }
    if have_other_numbers(written, name) {
        return false;
    }
    let words = |name: &str| {
        let mut words = words(name);
        words.retain(|word| is_sure || !UNITS.contains(&word.as_str()));
        words
    };
    let (ours, theirs) = (words(written), words(name));
    if ours.len() != theirs.len() {
        // Without separators, one letter too many or too few.
        let is_one_letter = all_ours.len() != all_theirs.len() && strsim::osa_distance(&all_ours, &all_theirs) == 1;
        return is_anagram(&all_ours, &all_theirs) || !is_sure && is_one_letter && is_slip(&all_ours, &all_theirs);
    }
    let is_slip_of = |one: &str, other: &str| {
        let is_long = one.chars().count().min(other.chars().count()) >= LONG;
        let is_short_slip = || one.len() != other.len() && strsim::osa_distance(one, other) == 1;
        let lacks_first = || other.chars().skip(1).eq(one.chars());
        is_slip(one, other) && (is_long || !is_sure && is_short_slip()) || !is_sure && is_long && lacks_first()
    };
    let mut slips = 0;
    ours.iter().zip(&theirs).all(|(one, other)| {
        let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
        if one == other || is_anagram(one, other) {
            return true;
        }
        slips += 1;
        slips == 1 && is_slip_of(one, other) && !negates(one, other) && !negates(other, one)
    })
}

/// Whether a word is another one with a prefix that negates it, possibly with a slip.
fn negates(one: &str, other: &str) -> bool {
    let rests = PREFIXES.iter().filter_map(|prefix| one.strip_prefix(prefix));
    rests.into_iter().any(|rest| rest.len() > 1 && strsim::osa_distance(rest, other) <= 1)
}

/// Whether two words begin alike and differ in one letter, or in two if they are long, as a slip leaves them.
fn is_slip(one: &str, other: &str) -> bool {
    let most = if one.len().min(other.len()) < 8 { 1 } else { 2 };
    one.chars().next() == other.chars().next() && strsim::osa_distance(one, other) <= most
}

/// Whether the letters of a word are exchanged.
fn is_anagram(one: &str, other: &str) -> bool {
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    one.len() > 2 && sorted(one) == sorted(other)
}

pub(super) fn have_other_numbers(one: &str, other: &str) -> bool {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let (one, other) = (digits(one), digits(other));
    let is_number = !one.is_empty() && !other.is_empty();
    is_number && one.trim_start_matches('0') != other.trim_start_matches('0')
}

pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        let is_end = !letter.is_alphanumeric() && letter != '\'' || letter.is_uppercase() && was_small;
        if is_end && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        was_small = letter.is_lowercase() || letter.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposites_are_seen_however_they_are_spelled() {
        for (written, name) in [
            ("unexpected", "expected"),
            ("unexpcted", "expected"),
            ("unexpected_status", "expected_status"),
            ("unordered", "ordered"),
            ("min_total_tokens", "max_total_tokens"),
            ("minTotalTokens", "max_total_tokens"),
            ("mintotaltokens", "max_total_tokens"),
            ("passRateMax", "passRateMin"),
            ("uncontains", "contains"),
            ("doesntContain", "contain"),
            ("shouldCall", "shouldNotCall"),
            ("shouldBeCalled", "shouldNotCall"),
            ("model_not_used", "model_used"),
            ("tool_permitted", "tool_not_permitted"),
            ("disallowed_tools", "allowed_tools"),
            ("denied_tools", "allowed_tools"),
            ("updated_before", "updated_after"),
            ("unran", "ran"),
            ("minMs", "maxMs"),
            ("disabled", "enabled"),
            ("minLenght", "maxLength"),
            ("p90", "p50"),
            ("2.0", "1.0"),
            ("excludes", "includes"),
        ] {
            assert!(!differ_by_slips(written, name, false), "{written} is not {name}");
        }
    }

    #[test]
    fn slips_keep_their_sense() {
        for (written, name) in [
            ("expcted", "expected"),
            ("expeced_status", "expected_status"),
            ("odered", "ordered"),
            ("max_total_token", "max_total_tokens"),
            ("mxa_total_tokens", "max_total_tokens"),
            ("passrateMin", "passRateMin"),
            ("shoudlNtoCall", "shouldNotCall"),
            ("should_not_call", "shouldNotCall"),
            ("notcontains", "notContains"),
            ("inputs", "input"),
            ("intnet", "intent"),
            ("descripton", "description"),
            ("contians", "contains"),
            ("modle-1", "model-01"),
        ] {
            assert!(differ_by_slips(written, name, false), "{written} is {name}");
        }
    }

    #[test]
    fn the_name_whose_opposite_is_written_is_found() {
        let names = ["expected", "not_expected", "notContains", "maxTotalTokens", "passRateMin"];
        assert_eq!(opposite_of("unexpected", &names), None);
        assert_eq!(opposite_of("unexpected", &names[..1]), Some("expected"));
        assert_eq!(opposite_of("min_total_token", &names), Some("maxTotalTokens"));
        assert_eq!(opposite_of("passrateMin", &names), None);
        assert_eq!(same_negation("unexpectd", &names), Some("not_expected"));
        assert_eq!(opposite_of("contains", &names), Some("notContains"));
        assert_eq!(opposite_of("temperature", &names), None);
    }
}
