//! Folds problems that aliases repeat: the problem is reported at the value, and each use of the value is a related
//! location.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::ranges::Ranges;
use crate::{
    document::Document,
    finding::USED_AGAIN,
    problem::{Code, Problem, Related},
};

/// Label of the value, if only its uses are checked.
const VALUE: &str = "the value is here";

/// A value with a problem.
struct AliasedValue {
    /// Bytes of the value.
    own: Range<usize>,
    /// Index of the problem that was found at the value.
    at_value: Option<usize>,
    /// Indices of the problems that were found through aliases.
    uses: Vec<usize>,
}

/// Whether a problem was found through an alias.
fn is_through_alias(problem: &Problem, document: &Document) -> bool {
    is_about_the_value(problem.code) && document.text().get_byte(problem.range.start) == Some(b'*')
}

/// Reports each problem that aliases repeat only once.
pub(super) fn fold(problems: &mut Vec<Problem>, document: &Document) {
    let through_alias = |problem: &Problem| is_through_alias(problem, document);
    let own = |problem: &Problem| Some(document.find(&problem.at)?.resolved().own_range());
    // Blocks of aliased values, by code and message: only there can the same problem be found at the value. A lookup in
    // the tree costs more than everything else.
    let mut repeated: FxHashMap<(Code, &str), Vec<Range<usize>>> = FxHashMap::default();
    for problem in problems.iter().filter(|problem| through_alias(problem)) {
        repeated
            .entry((problem.code, problem.message.as_str()))
            .or_default()
            .extend(own(problem).map(|own| document.block_around(own.start)));
    }
    if repeated.is_empty() {
        return;
    }
    let repeated: FxHashMap<(Code, &str), Ranges> =
        repeated.into_iter().map(|(said, values)| (said, Ranges::of(values.into_iter()))).collect();
    let is_repeated = |problem: &Problem| {
        let values = repeated.get(&(problem.code, problem.message.as_str()));
        values.is_some_and(|values| through_alias(problem) || values.hold(problem.range.start))
    };
    // Problems that an alias repeats, in document order: their locations, and the locations of the uses.
    let mut places: Vec<AliasedValue> = Vec::new();
    let mut known: FxHashMap<(Code, &str, Range<usize>), usize> = FxHashMap::default();
    for (index, problem) in problems.iter().enumerate() {
        if !is_repeated(problem) {
            continue;
        }
        let Some(own) = own(problem) else { continue };
        let found = *known.entry((problem.code, problem.message.as_str(), own.clone())).or_insert_with(|| {
            places.push(AliasedValue { own, at_value: None, uses: Vec::new() });
            places.len() - 1
        });
        match through_alias(problem) {
            true => places[found].uses.push(index),
            false => {
                places[found].at_value.get_or_insert(index);
            }
        }
    }
    let mut gone = vec![false; problems.len()];
    for AliasedValue { own, at_value, uses } in places {
        let Some((&first, others)) = uses.split_first() else { continue };
        let (reported, others) = match at_value {
            Some(reported) => (reported, uses.as_slice()),
            // The value is not checked where it is written, so the problem is reported at its first use.
            None => {
                let at = problems[first].at.clone();
                problems[first].related.push(Related {
                    message: VALUE.to_owned(),
                    repeats: false,
                    at,
                    range: own,
                    file: None,
                });
                (first, others)
            }
        };
        for index in others {
            let (at, range) = (problems[*index].at.clone(), problems[*index].range.clone());
            gone[*index] = true;
            let related = &mut problems[reported].related;
            if related.last().is_none_or(|last| last.range != range) {
                related.push(Related { message: USED_AGAIN.to_owned(), repeats: true, at, range, file: None });
            }
        }
    }
    let mut gone = gone.into_iter();
    problems.retain(|_| !gone.next().unwrap_or_default());
}

/// Whether problems with this code are about the value itself, wherever it is used.
fn is_about_the_value(code: Code) -> bool {
    matches!(
        code,
        Code::UnknownKey
            | Code::MissingField
            | Code::ConflictingFields
            | Code::WrongType
            | Code::InvalidValue
            | Code::OutOfRange
            | Code::UnknownType
            | Code::UnknownReference
            | Code::NeverEvaluated
            | Code::MissingFile
            | Code::InvalidPath
            | Code::InvalidSchemaFile
            | Code::InvalidPattern
            | Code::SuspiciousPattern
            | Code::VacuousClaim
            | Code::UnquotedTemplate
            | Code::AmbiguousScalar
            | Code::UpstreamDiffers
            | Code::PastedSecret
    )
}
