//! Two recorded runs side by side, as a page for browsers.

use std::sync::Arc;

use speclens_runner::report::html::{
    attempt::{self, Room, unified},
    details, filter,
    state::class,
    writer::{self, Html},
};
use speclens_schema::{evidence::Evidence, fixing, mask::shown, verdict::Status};

use super::comparison::{AssertionDiff, Compared, FileDiff, SuiteDiff, TestDiff};

/// Tests that differ are open, as long as there are not more.
const MAX_OPEN: usize = 20;

/// Returns the page. `names`: what the user calls the sides; `summary`: how many tests differ.
pub(super) fn page(names: [&str; 2], suites: &[SuiteDiff], summary: &[String]) -> String {
    let tests = || suites.iter().flat_map(|suite| &suite.tests);
    let title = format!("{} and {}", names[0], names[1]);
    writer::page(&format!("Comparison of {title}"), None, |html| {
        html.element("header", &[], |html| {
            html.leaf("h1", &[], &format!("Comparison of {title}"));
            let is_same = !tests().any(|test| test.is_different);
            let class = class(if is_same { Status::Pass } else { Status::Warn });
            summary.iter().for_each(|line| html.leaf("p", &[("class", &format!("result {class}"))], line));
            html.element("ul", &[("class", "facts")], |html| {
                names.iter().zip(["A", "B"]).for_each(|(name, side)| html.leaf("li", &[], &format!("{side}: {name}")));
            });
        });
        html.element("main", &[("id", "results"), ("tabindex", "-1")], |html| {
            let count = |of: State| tests().filter(|test| State::of(test) == of).count();
            let states = State::ALL.map(|state| (state, count(state)));
            let states = states.into_iter().filter(|(_, count)| *count > 0);
            let states: Vec<(Status, String)> =
                states.map(|(state, count)| (state.status(), format!("{} {count}", state.words()))).collect();
            filter(html, &states);
            let (room, mut open) = (Room::among(tests().flat_map(|_| [Status::Fail; 2])), MAX_OPEN);
            suites.iter().for_each(|it| suite(html, it, room, &mut open));
        });
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Different,
    Same,
    NotCompared,
}

impl State {
    const ALL: [State; 3] = [State::Different, State::Same, State::NotCompared];

    fn of(test: &TestDiff) -> State {
        match (test.is_compared(), test.is_different) {
            (false, _) => State::NotCompared,
            (true, true) => State::Different,
            (true, false) => State::Same,
        }
    }

    fn words(self) -> &'static str {
        match self {
            State::Different => "≠ different",
            State::Same => "= same",
            State::NotCompared => "? not compared",
        }
    }

    /// Returns the status with the same color.
    fn status(self) -> Status {
        match self {
            State::Different => Status::Warn,
            State::Same => Status::Skip,
            State::NotCompared => Status::Unknown,
        }
    }
}

fn suite(html: &mut Html, suite: &SuiteDiff, room: Room, open: &mut usize) {
    html.element("section", &[("class", "suite")], |html| {
        html.leaf("h2", &[], &suite.suite);
        suite.tests.iter().for_each(|it| test(html, it, room, open));
    });
}

fn test(html: &mut Html, test: &TestDiff, room: Room, open: &mut usize) {
    let state = State::of(test);
    let is_open = test.is_different && *open > 0;
    *open -= usize::from(is_open);
    details(html, &format!("test {}", class(state.status())), is_open, |html| {
        html.element("summary", &[], |html| {
            html.leaf("h3", &[], &test.name);
            html.leaf("span", &[("class", "aside")], state.words());
        });
        html.element("div", &[("class", "body")], |html| {
            figures(html, test);
            let are_several = [&test.a, &test.b].into_iter().flatten().any(|it| it.attempts > 1);
            let whose = if are_several { " of the first attempts" } else { "" };
            for (title, diff) in [("Calls and commands", &test.steps), ("Answer", &test.answer)] {
                if !diff.is_empty() {
                    html.leaf("h4", &[], &format!("{title}{whose}"));
                    unified(html, &diff.lines().collect::<Vec<_>>());
                }
            }
            let first = test.first.each_ref().map(|run| run.as_ref()?.evidence.get());
            if let [Some(a), Some(b)] = &first {
                test.files.iter().for_each(|file| file_texts(html, &file.path, [a, b]));
            }
            if first.iter().any(Option::is_some) {
                details(html, "attempt", false, |html| {
                    html.element("summary", &[], |html| html.leaf("h4", &[], "First attempts, side by side"));
                    html.element("div", &[("class", "body sides")], |html| sides(html, &first, room));
                });
            }
        });
    });
}

/// Writes what differs between the texts of a file that both first attempts have written.
fn file_texts(html: &mut Html, path: &str, sides: [&Evidence; 2]) {
    let text = |evidence: &Evidence| {
        let file = evidence.files.as_ref()?.files.iter().find(|file| file.path == path)?;
        Some(shown(&file.text.as_ref()?.text).into_owned())
    };
    if let [Some(a), Some(b)] = sides.map(text) {
        html.leaf("h4", &[], &format!("File {path}"));
        unified(html, &fixing::unified("", &a, &b).lines().skip(2).collect::<Vec<_>>());
    }
}

fn sides(html: &mut Html, first: &[Option<Arc<Evidence>>; 2], room: Room) {
    for (first, side) in first.iter().zip(["A", "B"]) {
        html.element("section", &[("class", "side")], |html| {
            html.leaf("h5", &[], side);
            match first {
                Some(evidence) => attempt::write(html, evidence, Status::Fail, "h6", room),
                None => attempt::note(html, "no recording"),
            }
        });
    }
}

/// Writes a table of everything that is compared: the result, each assertion, the figures, and files that differ.
fn figures(html: &mut Html, test: &TestDiff) {
    let room = [("class", "scroll"), ("tabindex", "0"), ("role", "group"), ("aria-label", &*test.name)];
    html.element("div", &room, |html| {
        html.element("table", &[], |html| {
            html.element("thead", &[], |html| {
                html.element("tr", &[], |html| {
                    for name in ["", "A", "B", "change"] {
                        match name {
                            "" => html.leaf("td", &[], ""),
                            name => html.leaf("th", &[("scope", "col")], name),
                        }
                    }
                });
            });
            html.element("tbody", &[], |html| {
                row(html, &test.outcome(), None);
                for assertion in &test.assertions {
                    let message = assertion.message().filter(|_| AssertionDiff::is_different(assertion));
                    row(html, &assertion.shares(), message.map(String::as_str));
                }
                test.figures().iter().for_each(|figure| row(html, figure, None));
                for file in test.files.iter().map(FileDiff::changes) {
                    row(html, &Compared { name: format!("file {}", file.name), ..file }, None);
                }
            });
        });
    });
}

fn row(html: &mut Html, compared: &Compared, message: Option<&str>) {
    // The files that are listed differ, whatever happened to them.
    let differs = compared.differs() || compared.a.ends_with("with other content");
    html.element("tr", &[("class", if differs { "is-changed" } else { "" })], |html| {
        html.element("th", &[("scope", "row")], |html| {
            html.push_text(&compared.name);
            message.iter().for_each(|message| html.leaf("p", &[("class", "message")], message));
        });
        html.leaf("td", &[], &compared.a);
        html.leaf("td", &[], &compared.b);
        html.leaf("td", &[], if differs { "≠ differs" } else { "" });
    });
}
