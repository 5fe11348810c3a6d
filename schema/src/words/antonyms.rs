//! Names of opposite sense. `minTokens` differs from `maxTokens` in two letters, and so does `unexpected` from
//! `expected`: similarity must never invert an assertion.
//!
//! Opposites are formed word by word: a word is replaced by its opposite (`min` by `max`), or a negation is
//! removed or inserted. A text that is more similar to one of these than to the name does not mean the name.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::{outline, squashed};

/// Pairs of opposite words.
const POLES: &[(&str, &str)] = &[
    ("above", "below"),
    ("absent", "present"),
    ("absent", "exists"),
    ("absence", "presence"),
    ("accept", "reject"),
    ("accepted", "rejected"),
    ("accepts", "rejects"),
    ("activate", "deactivate"),
    ("active", "inactive"),
    ("add", "remove"),
    ("added", "removed"),
    ("after", "before"),
    ("all", "any"),
    ("all", "none"),
    ("any", "none"),
    ("all", "some"),
    ("allow", "block"),
    ("allow", "deny"),
    ("allow", "forbid"),
    ("allow", "refuse"),
    ("allowed", "blocked"),
    ("allowed", "denied"),
    ("allowed", "forbidden"),
    ("allowed", "refused"),
    ("allows", "denies"),
    ("allows", "forbids"),
    ("allowlist", "blocklist"),
    ("allowlist", "denylist"),
    ("whitelist", "blacklist"),
    ("always", "never"),
    ("asc", "desc"),
    ("ascending", "descending"),
    ("async", "sync"),
    ("complete", "incomplete"),
    ("contain", "exclude"),
    ("contain", "lack"),
    ("contain", "omit"),
    ("contains", "excludes"),
    ("contains", "lacks"),
    ("contains", "omits"),
    ("correct", "incorrect"),
    ("decrease", "increase"),
    ("disable", "enable"),
    ("disabled", "enabled"),
    ("disallow", "permit"),
    ("disallowed", "permitted"),
    ("down", "up"),
    ("downgrade", "upgrade"),
    ("earliest", "latest"),
    ("empty", "full"),
    ("end", "start"),
    ("ended", "started"),
    ("equal", "differ"),
    ("equals", "differs"),
    ("even", "odd"),
    ("exact", "inexact"),
    ("exclude", "include"),
    ("excluded", "included"),
    ("excludes", "includes"),
    ("excluding", "including"),
    ("exclusive", "inclusive"),
    ("exists", "missing"),
    ("external", "internal"),
    ("fail", "pass"),
    ("fail", "succeed"),
    ("failed", "passed"),
    ("failed", "succeeded"),
    ("failing", "passing"),
    ("fails", "passes"),
    ("failure", "success"),
    ("false", "true"),
    ("fewer", "more"),
    ("first", "last"),
    ("forbid", "permit"),
    ("forbidden", "permitted"),
    ("from", "to"),
    ("greater", "less"),
    ("high", "low"),
    ("higher", "lower"),
    ("highest", "lowest"),
    ("input", "output"),
    ("known", "unknown"),
    ("least", "most"),
    ("left", "right"),
    ("less", "more"),
    ("local", "remote"),
    ("longer", "shorter"),
    ("longest", "shortest"),
    ("lower", "upper"),
    ("max", "min"),
    ("maximal", "minimal"),
    ("maximum", "minimum"),
    ("missing", "present"),
    ("negative", "positive"),
    ("newer", "older"),
    ("newest", "oldest"),
    ("no", "yes"),
    ("off", "on"),
    ("open", "closed"),
    ("optional", "required"),
    ("over", "under"),
    ("post", "pre"),
    ("prior", "later"),
    ("private", "public"),
    ("read", "write"),
    ("receive", "send"),
    ("received", "sent"),
    ("request", "response"),
    ("sensitive", "insensitive"),
    ("since", "until"),
    ("valid", "invalid"),
    ("with", "without"),
];

/// Words that invert a name when they are inserted or removed.
const NEGATIONS: &[&str] = &[
    "not", "no", "non", "never", "without", "none", "cannot", "cant", "dont", "doesnt", "doesnot", "didnot", "didnt",
    "isnt", "arent", "mustnt", "shouldnt", "wont", "lacks", "missing", "absent", "excludes", "forbidden", "forbid",
    "anti",
];

/// Negations that are prefixes of a word.
const PREFIXES: &[&str] = &["un", "non", "dis", "in", "im", "de", "anti", "mis"];

/// Prefixes that may be removed from a word: `in` and `de` begin too many words without a negation.
const REMOVABLE: &[&str] = &["un", "non", "dis"];

/// Quantifiers.
const QUANTIFIERS: &[&str] = &["any", "all", "some", "none", "each", "every", "only", "either"];

/// Words with which a name forbids something.
const DENIALS: &[&str] = &[
    "deny", "denied", "disallow", "disallowed", "forbid", "forbids", "forbidden", "block", "blocked", "exclude",
    "excluded", "excludes", "reject", "rejected", "refuse", "refused", "prohibit", "prohibited", "unexpected", "never",
    "avoid", "ban", "banned",
];

/// Auxiliary verbs that do not change the sense of a name.
const AUXILIARIES: &[&str] = &["was", "is", "be", "been", "are", "were", "does", "did", "has", "have", "should"];

/// Maximum length of a word that is inserted, removed or replaced.
const LONGEST_WORD: usize = 9;

/// Maximum number of letters of a text whose sense is compared. Names are shorter.
const MAX_LETTERS: usize = 64;

/// Opposites of each word that has any.
static OTHER_POLES: LazyLock<FxHashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut poles: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for (one, other) in POLES.iter().copied() {
        poles.entry(one).or_default().push(other);
        poles.entry(other).or_default().push(one);
    }
    poles
});

/// Words that set a lower bound.
const LEAST: &[&str] = &["min", "minimum", "least"];

/// Words that set an upper bound.
const MOST: &[&str] = &["max", "maximum", "most"];

/// A bound that a name sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Least,
    Most,
}

/// Returns the bound that a name sets, and its other words: `most` and `latency` for `maxLatency`.
pub(super) fn bound_in(name: &str) -> Option<(Bound, Vec<String>)> {
    let mut words = words(name);
    let bound = words.iter().find_map(|word| match word.as_str() {
        word if LEAST.contains(&word) => Some(Bound::Least),
        word if MOST.contains(&word) => Some(Bound::Most),
        _ => None,
    })?;
    words.retain(|word| ![LEAST, MOST, &["at"]].iter().any(|it| it.contains(&word.as_str())));
    Some((bound, words))
}

/// A text to compare with the opposites of names.
struct Written {
    letters: String,
    length: usize,
    kinds: u64,
    /// Its negations, quantifiers, bounds and auxiliary verbs: none of them is a misspelling of another word.
    known: Vec<String>,
}

impl Written {
    fn new(text: &str) -> Written {
        let letters = squashed(text);
        let (length, kinds) = outline(&letters);
        let is_known = |word: &String| {
            [NEGATIONS, QUANTIFIERS, AUXILIARIES, LEAST, MOST].iter().any(|it| it.contains(&word.as_str()))
        };
        let known = words(text).into_iter().filter(is_known).collect();
        Written { letters, length, kinds, known }
    }

    fn distance(&self, other: &str) -> usize {
        strsim::osa_distance(&self.letters, other)
    }

    /// Returns the distance of the nearest name with an opposite word, if it is within the limit.
    fn to_swapped(&self, name: &str, limit: usize) -> Option<usize> {
        if self.is_far(name, limit) {
            return None;
        }
        self.least(limit, swapped(&words(name)))
    }

    /// Returns the distance of the nearest name with one negation added or removed, if it is within the limit.
    fn to_negated(&self, name: &str, limit: usize) -> Option<usize> {
        if self.is_far(name, limit) {
            return None;
        }
        let (length, kinds) = outline(name);
        // Most names have another length or other letters and are excluded quickly.
        let more = (self.length + limit > length && !lacks(kinds, self.kinds, limit)).then(|| {
            let words = words(name);
            let (_, own) = outline(&words.concat());
            let missing = self.length.saturating_sub(length);
            let fits = |negation: &str| {
                negation.len().abs_diff(missing) <= limit && self.has_like_letters(own | outline(negation).1, limit)
            };
            self.least(limit, more_negated(&words, &fits))
        });
        let less = (self.length < length + limit && !lacks(self.kinds, kinds, limit))
            .then(|| self.least(limit, less_negated(&words(name))));
        more.flatten().into_iter().chain(less.flatten()).min()
    }

    /// Whether the length alone excludes a name, whichever of its words is replaced. This applies to most names.
    fn is_far(&self, name: &str, limit: usize) -> bool {
        name.len().abs_diff(self.letters.len()) > LONGEST_WORD + 3 + limit
    }

    /// Whether these kinds of letters allow the distance: each misspelling adds and removes at most one letter. This is
    /// faster to check than the distance.
    fn has_like_letters(&self, kinds: u64, limit: usize) -> bool {
        !lacks(kinds, self.kinds, limit) && !lacks(self.kinds, kinds, limit)
    }

    fn least(&self, limit: usize, names: impl Iterator<Item = String>) -> Option<usize> {
        let names = names.filter(|name| !name.is_empty() && name.len().abs_diff(self.letters.len()) <= 4 * limit);
        let has_known = |name: &String| self.known.iter().all(|word| name.contains(word.as_str()));
        let has_letters = |name: &String| self.has_like_letters(outline(name).1, limit);
        names
            .filter(has_known)
            .filter(has_letters)
            .map(|name| self.distance(&name))
            .min()
            .filter(|least| *least <= limit)
    }
}

/// Whether one name lacks more kinds of letters of another one than the limit.
fn lacks(of: u64, in_: u64, limit: usize) -> bool {
    (of & !in_).count_ones() as usize > limit
}

/// Whether a text that resembles a name has another meaning: its opposite, or another number.
pub(super) fn is_another(written: &str, name: &str) -> bool {
    if have_other_numbers(written, name) || replaces_sense(written, name) || adds_bound(written, name) {
        return true;
    }
    let written = Written::new(written);
    if written.letters.len().max(name.len()) > MAX_LETTERS {
        return false;
    }
    let Some(nearer) = written.distance(&squashed(name)).checked_sub(1) else { return false };
    written.to_swapped(name, nearer + 1).is_some() || written.to_negated(name, nearer).is_some()
}

/// Whether whole words of a text change the sense of a name: `was` instead of `not`, or `any` where the name has none.
fn replaces_sense(written: &str, name: &str) -> bool {
    let (ours, theirs) = (words(written), words(name));
    let squashed = squashed(written);
    let distance = |other: &str| strsim::osa_distance(&squashed, other);
    let own = distance(&theirs.concat());
    let negations = theirs.iter().enumerate().filter(|(_, word)| NEGATIONS.contains(&word.as_str()));
    let mut affirmed =
        negations.flat_map(|(index, _)| AUXILIARIES.iter().map(|verb| with(&theirs, index, verb)).collect::<Vec<_>>());
    affirmed.any(|other| distance(&other) < own)
        || ours.iter().any(|word| QUANTIFIERS.contains(&word.as_str()) && !theirs.contains(word))
}

/// Whether a text sets a bound that the name does not: `minTimeout` is not `timeout`.
fn adds_bound(written: &str, name: &str) -> bool {
    let bound = |name: &str| bound_in(name).map(|(bound, _)| bound);
    bound(written).is_some_and(|ours| bound(name) != Some(ours))
}

/// Returns the name whose opposite a text is, if there is one, and the distance from that opposite.
pub(super) fn opposite_of<'c>(written: &str, names: impl IntoIterator<Item = &'c str>) -> Option<(&'c str, usize)> {
    let written = Written::new(written);
    if written.letters.len() > MAX_LETTERS {
        return None;
    }
    let limit = slips_of(&written);
    let of_name = |name: &'c str| {
        let opposites = [written.to_swapped(name, limit), written.to_negated(name, limit)];
        Some((name, opposites.into_iter().flatten().min()?))
    };
    let names = names.into_iter().filter(|name| name.len() <= MAX_LETTERS);
    names.filter_map(of_name).min_by_key(|(_, distance)| *distance)
}

/// Whether a word of a name negates or forbids, so that it never means a name without such a word.
pub(super) fn denies(name: &str) -> bool {
    words(name).iter().any(|word| NEGATIONS.contains(&word.as_str()) || DENIALS.contains(&word.as_str()))
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

/// Whether a text negates a name, possibly with a misspelling, and another name negates it too: `unexpected` and
/// `not_expected`, `tool_was_not_called` and `tool_not_called`.
pub(super) fn both_negate(name: &str, written: &str, other: &str) -> bool {
    // Verbs that a name may omit.
    let bare = |text: &str| {
        words(text).into_iter().filter(|word| !AUXILIARIES.contains(&word.as_str())).collect::<Vec<_>>().join("_")
    };
    let negates = |text: &str, name: &str, slips: fn(&Written) -> usize| {
        let text = Written::new(text);
        text.to_negated(name, slips(&text)).is_some()
    };
    let both = |name: &str, written: &str, other: &str| negates(other, name, |_| 0) && negates(written, name, slips_of);
    both(name, written, other) || both(&bare(name), &bare(written), &bare(other))
}

/// Returns the maximum number of misspelled letters in a text.
fn slips_of(written: &Written) -> usize {
    match written.length {
        0..=4 => 0,
        5..=8 => 1,
        _ => 2,
    }
}

/// Whether a text differs from a name only by misspellings inside longer words, or in spelling. A short word, and the
/// start of a word, may be intended: `shouldNow`, `nran`, `iContains`, `maxNs`, `run` for `ran`.
pub(super) fn slips_inside_words(written: &str, name: &str) -> bool {
    const SHORT: usize = 4;
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    let is_slip = |(one, other): (&String, &String)| {
        let is_long = one.chars().count().min(other.chars().count()) >= SHORT;
        let is_swapped = one.len() > 2 && sorted(one) == sorted(other);
        one == other || is_swapped || is_long && one.chars().next() == other.chars().next()
    };
    let (ours, theirs) = (words(written), words(name));
    let (all_ours, all_theirs) = (squashed(written), squashed(name));
    if ours.len() == theirs.len() || all_ours == all_theirs {
        return all_ours == all_theirs || ours.iter().zip(&theirs).all(is_slip);
    }
    // For words without separators, transposed letters are a misspelling in any of them.
    sorted(&all_ours) == sorted(&all_theirs)
}

/// Whether both texts have numbers that differ: `p50` is not a misspelling of `p90`.
pub(super) fn have_other_numbers(one: &str, other: &str) -> bool {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let (one, other) = (digits(one), digits(other));
    let is_number = !one.is_empty() && !other.is_empty();
    is_number && one.trim_start_matches('0') != other.trim_start_matches('0')
}

/// Returns the words of a name, in lower case.
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

/// Returns the names in which one word is replaced by its opposite.
fn swapped(words: &[String]) -> impl Iterator<Item = String> {
    words.iter().enumerate().flat_map(move |(index, word)| {
        let others = OTHER_POLES.get(word.as_str()).into_iter().flatten();
        others.map(move |other| with(words, index, other))
    })
}

/// Returns the names with one more negation, which has to fit.
fn more_negated(words: &[String], fits: &impl Fn(&str) -> bool) -> impl Iterator<Item = String> {
    (0..=words.len()).flat_map(move |index| {
        let prefixes = if index < words.len() { PREFIXES } else { &[] };
        let negations = NEGATIONS.iter().chain(prefixes).filter(move |it| fits(it));
        negations.map(move |negation| {
            let (before, behind) = words.split_at(index);
            [before.concat(), (*negation).to_owned(), behind.concat()].concat()
        })
    })
}

/// Returns the names with one negation less.
fn less_negated(words: &[String]) -> impl Iterator<Item = String> {
    words.iter().enumerate().flat_map(move |(index, word)| {
        let whole = NEGATIONS.contains(&word.as_str()).then(|| with(words, index, ""));
        let parts = REMOVABLE.iter().filter_map(move |prefix| {
            let rest = word.strip_prefix(prefix).filter(|rest| rest.len() > 3)?;
            Some(with(words, index, rest))
        });
        whole.into_iter().chain(parts)
    })
}

/// Returns a name with one word replaced.
fn with(words: &[String], index: usize, other: &str) -> String {
    words.iter().enumerate().map(|(at, word)| if at == index { other } else { word.as_str() }).collect()
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
            assert!(is_another(written, name), "{written} is not {name}");
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
            assert!(!is_another(written, name), "{written} is {name}");
        }
    }

    #[test]
    fn the_name_whose_opposite_is_written_is_found() {
        let names = ["expected", "not_expected", "max_total_tokens", "notContains"];
        assert_eq!(opposite_of("unexpected", names), Some(("expected", 0)));
        assert_eq!(opposite_of("min_total_token", names), Some(("max_total_tokens", 1)));
        assert_eq!(opposite_of("contains", names), Some(("notContains", 0)));
        assert_eq!(opposite_of("temperature", names), None);
    }
}
