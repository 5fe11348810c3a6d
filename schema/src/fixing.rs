//! Applies selected fixes repeatedly until nothing changes. `speclens check --fix` and the editor's *fix all* use this
//! function.
//!
//! A round applies every selected fix that does not touch the text of another one; the rest follows in the next
//! round. A round must not do harm: if the fixes together would cause a new problem (two keys with the same name),
//! fewer are applied, and a fix that does harm alone is skipped.

use std::{
    collections::{BTreeMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
};

use similar::{DiffOp, TextDiff};

use crate::{
    document::{Document, Pointer},
    problem::{Code, Edit, Fix, Problem, Severity},
};

/// Maximum number of rounds, far more than fixes that depend on each other need.
const MAX_ROUNDS: usize = 256;

/// Result of applying fixes.
#[derive(Clone, Debug)]
pub struct FixedText {
    /// Text with the fixes applied.
    pub text: String,
    /// Fixes in the order in which they were applied.
    pub applied: Vec<Applied>,
    pub left: Vec<Problem>,
}

/// A fix that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    pub code: Code,
    pub title: String,
    /// Line, counted from 0, in the text at that time.
    pub line: usize,
}

/// Whether to apply fixes that reveal errors in text that was not checked before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revealing {
    /// Apply the fix: the errors were there before.
    Allowed,
    /// Skip the fix.
    Refused,
}

/// Applies the selected fixes until none is left. `look` returns the problems of a text in document order; `choose`
/// returns the fix of a problem to apply, if any.
pub fn apply_fixes(
    document: &Document,
    look: &dyn Fn(&Document) -> Vec<Problem>,
    choose: &dyn for<'p> Fn(&'p Problem) -> Option<&'p Fix>,
    revealing: Revealing,
) -> FixedText {
    let mut document = document.clone();
    let mut text = String::from(document.text());
    let mut problems = look(&document);
    let mut applied = Vec::new();
    let mut given_up: HashSet<(Code, Pointer, String)> = HashSet::new();
    let mut seen = HashSet::from([fingerprint(&text)]);
    let mut limit = usize::MAX;
    for _ in 0..MAX_ROUNDS {
        let wanted =
            |problem: &Problem, fix: &Fix| !given_up.contains(&(problem.code, problem.at.clone(), fix.title.clone()));
        let mut batch: Vec<(&Problem, &Fix)> = batch(&problems, choose)
            .map(|(index, fix)| (&problems[index], fix))
            .filter(|(problem, fix)| wanted(problem, fix))
            .collect();
        batch.truncate(limit);
        if batch.is_empty() {
            break;
        }
        let edits: Vec<Edit> = batch.iter().flat_map(|(_, fix)| adapted(&document, &fix.edits)).collect();
        let new_text = replaced(&text, &edits);
        let new = document_with(&document, &edits, &new_text);
        let found = look(&new);
        if revealing == Revealing::Refused {
            let mut is_revealing = batch
                .iter()
                .filter(|(problem, _)| brings_errors_to_light(&document, problem, &edits, &problems, &found))
                .map(|(problem, fix)| (problem.code, problem.at.clone(), fix.title.clone()))
                .peekable();
            if is_revealing.peek().is_some() {
                given_up.extend(is_revealing);
                continue;
            }
        }
        let uncovered: Vec<Uncovered> =
            batch.iter().filter_map(|(problem, _)| uncovered(&document, problem, &edits)).collect();
        if !does_harm(&problems, &found, &uncovered) && seen.insert(fingerprint(&new_text)) {
            applied.extend(batch.iter().map(|(problem, fix)| Applied {
                code: problem.code,
                title: fix.title.clone(),
                line: document.text().byte_to_line(problem.range.start.min(text.len())),
            }));
            (document, text, problems) = (new, new_text, found);
            limit = usize::MAX;
        } else if let [(problem, fix)] = batch.as_slice() {
            given_up.insert((problem.code, problem.at.clone(), fix.title.clone()));
            limit = usize::MAX;
        } else {
            limit = batch.len() / 2;
        }
    }
    FixedText { text, applied, left: problems }
}

/// Returns the document after edits. After a few edits, only the affected text is parsed again.
fn document_with(document: &Document, edits: &[Edit], new_text: &str) -> Document {
    /// Maximum number of edits for which this is faster than parsing everything.
    const MAX_INCREMENTAL_EDITS: usize = 64;
    if edits.len() > MAX_INCREMENTAL_EDITS {
        return Document::read(new_text, document.rules());
    }
    let mut new = document.clone();
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.range.start, edit.range.end));
    // Last edit first, so the offsets of the others stay valid.
    sorted.into_iter().rev().for_each(|edit| new.edit(edit.range.clone(), &edit.text));
    debug_assert_eq!(String::from(new.text()), new_text, "the edits do not overlap");
    new.refresh();
    new.consult_whole(new_text);
    new
}

/// Whether a fix reveals more errors with other codes in text that was not checked before.
fn brings_errors_to_light(
    document: &Document,
    problem: &Problem,
    edits: &[Edit],
    before: &[Problem],
    after: &[Problem],
) -> bool {
    let Some(place) = uncovered(document, problem, edits) else { return false };
    let errors = |problems: &[Problem], place: &Range<usize>| {
        let is_other = |other: &&Problem| {
            other.severity == Severity::Error
                && other.code != problem.code
                && place.start <= other.range.start
                && other.range.end <= place.end
        };
        problems.iter().filter(is_other).count()
    };
    errors(after, &place.after) > errors(before, &place.before)
}

/// Returns the fixes that can be applied together, each with the index of its problem. No fix touches the text of an
/// earlier one.
pub fn batch<'p>(
    problems: &'p [Problem],
    choose: &dyn for<'q> Fn(&'q Problem) -> Option<&'q Fix>,
) -> impl Iterator<Item = (usize, &'p Fix)> {
    // Start and end of each edit that is already selected.
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    problems.iter().enumerate().filter_map(move |(index, problem)| {
        let fix = choose(problem)?;
        // Two insertions at the same offset touch too: their order would be arbitrary.
        let is_free =
            |range: &Range<usize>| taken.range(..=range.end).next_back().is_none_or(|(_, end)| *end < range.start);
        if fix.edits.is_empty() || !fix.edits.iter().all(|edit| is_free(&edit.range)) {
            return None;
        }
        taken.extend(fix.edits.iter().map(|edit| (edit.range.start, edit.range.end)));
        Some((index, fix))
    })
}

pub fn replaced(text: &str, edits: &[Edit]) -> String {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut new = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        new.push_str(&text[at..edit.range.start]);
        new.push_str(&edit.text);
        at = edit.range.end;
    }
    new.push_str(&text[at..]);
    new
}

pub fn adapted(document: &Document, edits: &[Edit]) -> Vec<Edit> {
    let adapt = |edit: &Edit| {
        let end = if edit.text.contains('\n') { line_end(document, edit.range.start) } else { "\n" };
        // Moved lines have their own ends already.
        let text = if end == "\n" { edit.text.clone() } else { edit.text.replace("\r\n", "\n").replace('\n', end) };
        Edit { range: edit.range.clone(), text }
    };
    edits.iter().map(adapt).collect()
}

/// Returns the line ending of the line at an offset, or that of the first line if it has none.
fn line_end(document: &Document, at: usize) -> &'static str {
    let text = document.text();
    let of = |line: usize| {
        let line = text.line(line);
        let mut letters = line.chars_at(line.len_chars()).reversed();
        match (letters.next(), letters.next()) {
            (Some('\n'), Some('\r')) => Some("\r\n"),
            (Some('\n'), _) => Some("\n"),
            (Some('\r'), _) => Some("\r"),
            _ => None,
        }
    };
    of(text.byte_to_line(at.min(text.len_bytes()))).or_else(|| of(0)).unwrap_or("\n")
}

/// Text that was not checked before a fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncovered {
    pub before: Range<usize>,
    pub after: Range<usize>,
}

/// Returns the text that a fix uncovers: below a key that was unknown, or in an assertion with an unknown type,
/// nothing was checked. The fix did not cause the problems there.
pub fn uncovered(document: &Document, problem: &Problem, edits: &[Edit]) -> Option<Uncovered> {
    let at = if problem.code == Code::UnknownKey {
        problem.at.clone()
    } else if problem.code == Code::UnknownType {
        problem.at.parent()?
    } else {
        return None;
    };
    let node = document.find(&at)?;
    let own = if node.alias().is_some() { node.range() } else { node.own_range() };
    let key = document.key_range_of(&at);
    let before = key.start.min(own.start)..own.end.max(key.end);
    let moved = |offset: usize, is_before: &dyn Fn(&Edit) -> bool| {
        let (gone, come) = edits
            .iter()
            .filter(|edit| is_before(edit))
            .fold((0, 0), |(gone, come), edit| (gone + edit.range.len(), come + edit.text.len()));
        (offset + come).saturating_sub(gone)
    };
    let start = moved(before.start, &|edit| edit.range.end <= before.start && edit.range.start < before.start);
    let end = moved(before.end, &|edit| edit.range.start <= before.end);
    Some(Uncovered { before, after: start..end.max(start) })
}

/// Whether a new text is worse: not parseable, or with more errors, except for revealed ones.
fn does_harm(before: &[Problem], after: &[Problem], uncovered: &[Uncovered]) -> bool {
    let broken = |problems: &[Problem]| problems.iter().filter(|problem| problem.code.is_about_reading()).count();
    let errors = |problems: &[Problem], place: fn(&Uncovered) -> &Range<usize>| {
        let is_in = |range: &Range<usize>| {
            uncovered.iter().map(place).any(|place| place.start <= range.start && range.end <= place.end)
        };
        problems.iter().filter(|problem| problem.severity == Severity::Error && !is_in(&problem.range)).count()
    };
    broken(after) > broken(before) || errors(after, |it| &it.after) > errors(before, |it| &it.before)
}

fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Returns the edits that turn one text into another: few, small, in order, without overlap.
pub fn edits_between(before: &str, after: &str) -> Vec<Edit> {
    let diff = TextDiff::from_lines(before, after);
    let starts = |lines: &mut dyn Iterator<Item = &str>| -> Vec<usize> {
        let mut at = 0;
        let mut starts = vec![0];
        starts.extend(lines.map(|line| {
            at += line.len();
            at
        }));
        starts
    };
    let old = starts(&mut diff.iter_old_slices());
    let new = starts(&mut diff.iter_new_slices());
    let changed = diff.ops().iter().filter(|op| !matches!(op, DiffOp::Equal { .. })).map(|op| {
        let range = old[op.old_range().start]..old[op.old_range().end];
        let text = &after[new[op.new_range().start]..new[op.new_range().end]];
        trimmed(&before[range.clone()], text, range.start)
    });
    changed.collect()
}

/// Returns a replacement without its common prefix and suffix. A line ending is never split.
fn trimmed(old: &str, new: &str, at: usize) -> Edit {
    let common = |old: &mut dyn Iterator<Item = char>, new: &mut dyn Iterator<Item = char>| -> usize {
        old.zip(new)
            .take_while(|(old, new)| old == new && !matches!(old, '\r' | '\n'))
            .map(|(old, _)| old.len_utf8())
            .sum()
    };
    let head = common(&mut old.chars(), &mut new.chars());
    let (old, new) = (&old[head..], &new[head..]);
    let end = |text: &str| text.trim_end_matches(['\r', '\n']).len();
    let (old_end, new_end) = (end(old), end(new));
    let (mut old_kept, mut new_kept) = (old, new);
    if old[old_end..] == new[new_end..] {
        (old_kept, new_kept) = (&old[..old_end], &new[..new_end]);
        let tail = common(&mut old_kept.chars().rev(), &mut new_kept.chars().rev());
        (old_kept, new_kept) = (&old_kept[..old_kept.len() - tail], &new_kept[..new_kept.len() - tail]);
    }
    Edit { range: at + head..at + head + old_kept.len(), text: new_kept.to_owned() }
}

/// Returns the difference of two texts as a unified diff; empty if they are equal.
pub fn unified(path: &str, before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after).unified_diff().context_radius(3).header(path, path).to_string()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::{document::ScalarRules, faults};

    /// Reports words from a list, each with its replacement.
    fn look(words: &'static [(&'static str, &'static str)]) -> impl Fn(&Document) -> Vec<Problem> {
        move |document| {
            let text = String::from(document.text());
            let mut problems = faults::problems(document);
            for (word, replacement) in words {
                problems.extend(text.match_indices(word).map(|(at, _)| {
                    let range = at..at + word.len();
                    let fix =
                        Fix::safe(format!("{word} to {replacement}"), vec![Edit::new(range.clone(), *replacement)]);
                    Problem::new(Code::UnknownKey, Pointer::root(), range, "wrong").with_fix(fix)
                }));
            }
            problems.sort_by_key(|problem| problem.range.start);
            problems
        }
    }

    fn safe(problem: &Problem) -> Option<&Fix> {
        problem.fixes.iter().find(|fix| fix.is_safe())
    }

    #[track_caller]
    fn check(text: &str, words: &'static [(&'static str, &'static str)], expected: Expect) {
        let document = Document::read(text, ScalarRules::Yaml12);
        let fixed = apply_fixes(&document, &look(words), &safe, Revealing::Allowed);
        assert_eq!(replaced(text, &edits_between(text, &fixed.text)), fixed.text);
        let titles: Vec<&str> = fixed.applied.iter().map(|applied| applied.title.as_str()).collect();
        expected.assert_eq(&format!("{:?}\n{}\n{} left\n", fixed.text, titles.join(", "), fixed.left.len()));
    }

    #[test]
    fn fixes_follow_from_each_other() {
        check(
            "aa: 1\n",
            &[("aa", "bb"), ("bb", "cc")],
            expect![[r#"
            "cc: 1\n"
            aa to bb, bb to cc
            0 left
        "#]],
        );
    }

    #[test]
    fn overlapping_fixes_are_applied_one_after_the_other() {
        check(
            "abc: abc\n",
            &[("abc", "x"), ("bc", "y")],
            expect![[r#"
            "x: x\n"
            abc to x, abc to x
            0 left
        "#]],
        );
    }

    #[test]
    fn what_would_do_harm_is_left_to_a_person() {
        // Both keys would get the same name, so only one is renamed.
        check(
            "one: 1\nuno: 2\n",
            &[("one", "I"), ("uno", "I")],
            expect![[r#"
            "I: 1\nuno: 2\n"
            one to I
            1 left
        "#]],
        );
        // The text would no longer be YAML.
        check(
            "a: b\nc: d\n",
            &[("b", "[")],
            expect![[r#"
            "a: b\nc: d\n"

            1 left
        "#]],
        );
    }

    #[test]
    fn circles_end() {
        check(
            "one: 1\n",
            &[("one", "uno"), ("uno", "one")],
            expect![[r#"
            "uno: 1\n"
            one to uno
            1 left
        "#]],
        );
    }

    #[test]
    fn line_ends_stay_as_they_are() {
        for (text, expected) in [
            ("a: 1\r\nxx: 2\r\n", "a: 1\r\nb: 0\r\ny: 2\r\n"),
            ("a: 1\nxx: 2", "a: 1\nb: 0\ny: 2"),
            ("a: 1\r\nxx: 2", "a: 1\r\nb: 0\r\ny: 2"),
        ] {
            let document = Document::read(text, ScalarRules::Yaml12);
            let fixed = apply_fixes(&document, &look(&[("xx", "b: 0\ny")]), &safe, Revealing::Allowed);
            assert_eq!(fixed.text, expected);
            assert_eq!(replaced(text, &edits_between(text, &fixed.text)), expected);
        }
    }

    #[test]
    fn edits_between_texts_are_small() {
        let edits = edits_between("a: 1\r\nbé: x\r\nc: 3\r\n", "a: 1\r\nbé: yy\r\nc: 3\r\nd: 4\r\n");
        assert_eq!(edits, [Edit::new(11..12, "yy"), Edit::new(20..20, "d: 4\r\n")]);
        assert!(edits_between("a", "a").is_empty());
    }
}
