//! Whatever a person types: nothing panics, everything points into the text, and what is known of an edited document is
//! what would be known of the same text read again.

use crate::{common, golden, numbers};

use speclens_schema::{
    act::Act,
    analysis::{Analysis, Analyzer},
    document::Document,
    evidence::Evidence,
    problem::Problem,
    settings::Settings,
    verdict::Outcome,
};

use golden::Golden;
use numbers::Numbers;

#[track_caller]
fn points_into(text: &str, problem: &Problem) {
    let own = problem.related.iter().filter(|related| related.file.is_none());
    let ranges = own.map(|related| &related.range);
    let edits = problem.fixes.iter().flat_map(|fix| fix.edits.iter().map(|edit| &edit.range));
    for range in std::iter::once(&problem.range).chain(ranges).chain(edits) {
        assert!(text.get(range.clone()).is_some(), "{problem:?}\n{text}");
    }
    assert!(!problem.message.contains("a bug in"), "{text}");
    assert!(!problem.message.contains("under any of the"), "{}", problem.message);
}

#[test]
fn typing_leaves_what_reading_again_would_find() {
    let settings = Settings::default();
    let mut numbers = Numbers(7);
    let (mut found, mut compared) = (0, 0);
    for Golden { file, text, files, .. } in Golden::all() {
        let analyzer = Analyzer::new(file);
        for _ in 0..3 {
            let mut document = Document::read(&text, file.scalar_rules());
            for _ in 0..=numbers.below(4) {
                let (range, comes) = numbers.edit(&String::from(document.text()));
                document.edit(range, &comes);
                document.refresh();
                let now = String::from(document.text());
                let analysis = analyzer.analyze(&document, &files, &settings);
                analysis.problems.iter().for_each(|problem| points_into(&now, problem));
                for claim in analysis.suite.cases.iter().flat_map(|case| &case.claims) {
                    let verdicts = claim.check.check(Act::of(&Evidence::default()));
                    assert!(verdicts.iter().all(|row| row.outcome != Outcome::Pass), "{verdicts:?}");
                }
                found += analysis.problems.len();
            }
            let now = String::from(document.text());
            let fresh = Document::read(&now, file.scalar_rules());
            // A damaged text may be taken apart in other ways when it is read from its beginning.
            if !fresh.is_intact() || !document.is_intact() {
                continue;
            }
            compared += 1;
            let kept = analyzer.analyze(&document, &files, &settings);
            let new = analyzer.analyze(&fresh, &files, &settings);
            assert_eq!(common::render(&now, &kept.problems), common::render(&now, &new.problems), "{now}");
            let places = |analysis: &Analysis| -> Vec<String> {
                let cases = analysis.suite.cases.iter();
                cases.map(|case| format!("{} {} {} {}", case.name, case.at, case.intact, case.claims.len())).collect()
            };
            assert_eq!(places(&kept), places(&new), "{now}");
        }
    }
    assert!(found > 2000 && compared > 100, "only {found} problems, {compared} compared");
}
