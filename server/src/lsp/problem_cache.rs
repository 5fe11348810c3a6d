//! A cache of the problems of a document. Editors request them repeatedly: diagnostics are sent or pulled
//! after each keystroke, and actions at each move of the cursor.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ropey::Rope;
use speclens_schema::{analysis::Problems, document::Document, settings::Settings};

/// The last known problems. They do not record which files they depend on: when files change, the cache is replaced.
#[derive(Default)]
pub(super) struct ProblemCache(Mutex<Option<Arc<CachedProblems>>>);

/// The problems of one text, once they are known.
struct CachedProblems {
    text: Rope,
    verdict: (bool, bool, Vec<u64>),
    settings: Arc<Settings>,
    problems: OnceLock<Arc<Problems>>,
}

impl ProblemCache {
    /// Returns the problems of a document. They are computed once: concurrent callers wait, unless they need another
    /// text or other settings.
    pub(super) fn problems(
        &self,
        document: &Document,
        settings: &Arc<Settings>,
        look: impl FnOnce() -> Problems,
    ) -> Arc<Problems> {
        let cached = {
            let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match found.as_ref().filter(|known| known.is_about(document, settings)) {
                Some(known) => Arc::clone(known),
                None => Arc::clone(found.insert(Arc::new(CachedProblems::about(document, settings)))),
            }
        };
        Arc::clone(cached.problems.get_or_init(|| Arc::new(look())))
    }
}

impl CachedProblems {
    fn about(document: &Document, settings: &Arc<Settings>) -> CachedProblems {
        CachedProblems {
            text: document.text().clone(),
            verdict: document.verdict(),
            settings: Arc::clone(settings),
            problems: OnceLock::new(),
        }
    }

    fn is_about(&self, document: &Document, settings: &Arc<Settings>) -> bool {
        self.text.is_instance(document.text())
            && (Arc::ptr_eq(&self.settings, settings) || self.settings == *settings)
            && self.verdict == document.verdict()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        cell::Cell,
        sync::{
            Barrier,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
    };

    use speclens_schema::{
        dialect::ScalarRules,
        document::Pointer,
        json_schema::SpecFile,
        problem::{Code, Problem},
        settings::{Limits, Settings},
    };

    use super::*;

    fn problem(message: &str) -> Problems {
        let problem = Problem::new(Code::UnknownKey, Pointer::root(), 0..0, message);
        Problems::of_whole(SpecFile::KINDLM, vec![problem])
    }

    fn message(problems: &Problems) -> &str {
        &problems[0].message
    }

    #[test]
    fn problems_are_looked_for_again_for_another_text_and_other_settings() {
        let (found, count) = (ProblemCache::default(), Cell::new(0));
        let ask = |document: &Document, settings: &Settings| {
            let looked = || {
                count.set(count.get() + 1);
                problem("found")
            };
            found.problems(document, &Arc::new(settings.clone()), looked);
            count.get()
        };
        let mut document = Document::read("a: 1\n", ScalarRules::Yaml12);
        let settings = Settings::default();
        assert_eq!([ask(&document, &settings), ask(&document.clone(), &settings)], [1, 1]);
        document.edit(3..4, "2");
        document.refresh();
        assert_eq!([ask(&document, &settings), ask(&document, &settings)], [2, 2]);
        let other =
            Settings { limits: Limits { stop_repeats: !settings.limits.stop_repeats, ..settings.limits }, ..settings };
        assert_eq!(ask(&document, &other), 3);
    }

    #[test]
    fn problems_that_several_ask_for_at_once_are_looked_for_once() {
        const ASKERS: usize = 4;
        let (found, count, begin) = (ProblemCache::default(), AtomicUsize::new(0), Barrier::new(ASKERS));
        let (document, settings) = (Document::read("a: 1\n", ScalarRules::Yaml12), Arc::default());
        thread::scope(|scope| {
            for _ in 0..ASKERS {
                scope.spawn(|| {
                    begin.wait();
                    let look = || problem(&count.fetch_add(1, Ordering::SeqCst).to_string());
                    assert_eq!(message(&found.problems(&document, &settings, look)), "0");
                });
            }
        });
        assert_eq!(count.into_inner(), 1);
    }

    #[test]
    fn another_text_does_not_wait_for_the_first() {
        let (found, begun, go_on) = (ProblemCache::default(), Barrier::new(2), Barrier::new(2));
        let document = Document::read("a: 1\n", ScalarRules::Yaml12);
        let other = Document::read("b: 1\n", ScalarRules::Yaml12);
        let settings = Arc::default();
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                found.problems(&document, &settings, || {
                    begun.wait();
                    go_on.wait();
                    problem("of the first")
                })
            });
            begun.wait();
            let of_other = found.problems(&other, &settings, || problem("of the other"));
            assert_eq!(message(&of_other), "of the other");
            go_on.wait();
            assert_eq!(message(&first.join().unwrap()), "of the first");
        });
    }
}
