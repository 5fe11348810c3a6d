//! Inlay hints: the values of placeholders, and the number of files that a pattern matches.

use std::ops::Range;

use speclens_schema::{
    document::{Document, NodeRef},
    files::Matches,
    json_schema::SpecFile,
    shape::Word,
    template_syntax,
};

use super::{values::Values, walk, written::Written};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    /// The byte after which it is shown.
    pub at: usize,
    pub label: String,
    /// The file pattern whose matches it counts: the tooltip lists them.
    pub pattern: Option<String>,
}

/// Maximum number of patterns that are counted for one request: each reads directories.
const MAX_PATTERNS: usize = 64;

/// Maximum number of characters of a value: a longer one is not useful within a line.
const MAX_CHARACTERS: usize = 40;

pub(crate) fn hints(document: &Document, file: SpecFile, range: Range<usize>, values: Values<'_>) -> Vec<Hint> {
    let mut found = Vec::new();
    let mut counted = 0;
    walk::values(document, file, &range, &mut |node, shape, parent| {
        let (is_path, template) = (matches!(shape.word(), Some(Word::File(_))), shape.template());
        if !is_path && template.is_none() {
            return;
        }
        let Some(written) = Written::of(node) else { return };
        if let Some(kind) = template {
            placeholders((document, file), kind, &written, parent, values, &mut found);
        }
        if is_path && counted < MAX_PATTERNS {
            let pattern = values.pattern(shape, &written.text);
            counted += usize::from(pattern.is_some());
            found.extend(pattern.map(|pattern| count(node, pattern, values)));
        }
    });
    found.retain(|hint| range.start <= hint.at && hint.at <= range.end);
    found.sort_by_key(|hint| hint.at);
    found
}

fn placeholders(
    (document, file): (&Document, SpecFile),
    kind: &str,
    written: &Written,
    parent: Option<NodeRef<'_>>,
    values: Values<'_>,
    found: &mut Vec<Hint>,
) {
    let built_in = template_syntax::variables(kind, file);
    let given = parent.and_then(|parent| parent.get(kind));
    for placeholder in template_syntax::placeholders_of(kind, &written.text) {
        let at = written.range(placeholder.range()).end;
        let value = match given.and_then(|given| given.get(placeholder.name)) {
            Some(value) => value.text().filter(|_| !is_near(document, value, at)).map(str::to_owned),
            None => {
                built_in.iter().find(|known| known.name == placeholder.name).and_then(|known| values.of(known.name))
            }
        };
        let fits = |value: &String| {
            !value.is_empty()
                && value.chars().count() <= MAX_CHARACTERS
                && !value.contains(|letter: char| letter.is_control())
        };
        if let Some(value) = value.filter(fits) {
            found.push(Hint { at, label: format!("= {value}"), pattern: None });
        }
    }
}

fn is_near(document: &Document, value: NodeRef<'_>, at: usize) -> bool {
    let text = document.text();
    text.byte_to_line(value.own_range().start) == text.byte_to_line(at)
}

fn count(node: NodeRef<'_>, pattern: String, values: Values<'_>) -> Hint {
    let Matches { paths, cut } = values.files.glob(&pattern);
    let label = match (paths.len(), cut) {
        (0, false) => "no file".to_owned(),
        (1, false) => "1 file".to_owned(),
        (files, false) => format!("{files} files"),
        (0, true) => "too many files to check".to_owned(),
        (files, true) => format!("{files} files or more"),
    };
    Hint { at: node.own_range().end, label, pattern: Some(pattern) }
}

pub(crate) fn matches(pattern: &str, values: Values<'_>) -> String {
    const MAX_SHOWN: usize = 20;
    let Matches { paths, cut } = values.files.glob(pattern);
    let mut lines: Vec<String> =
        paths.iter().take(MAX_SHOWN).map(|path| format!("- {}", super::markdown::inline(path))).collect();
    if paths.len() > MAX_SHOWN || cut {
        let more = paths.len().saturating_sub(MAX_SHOWN);
        lines.push(if cut { "- and possibly more".to_owned() } else { format!("- and {more} more") });
    }
    if lines.is_empty() {
        lines.push(format!("no file matches {}", super::markdown::inline(pattern)));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::{Values, hints, matches};
    use crate::ide::tests::fixture::Fixture;

    const NOW: &str = "2026-05-14T12:00:00Z";

    /// Checks the text with each hint inserted, with Unix and Windows line breaks.
    #[track_caller]
    fn check(fixture: &str, expected: Expect) {
        let show = |text: &str| {
            let fixture = Fixture::parse(text);
            let mut text = fixture.text();
            let values = Values { files: &fixture.files, now: NOW };
            let found = hints(&fixture.document, fixture.file, 0..text.len(), values);
            for hint in found.iter().rev() {
                text.insert_str(hint.at, &format!("⟨{}⟩", hint.label));
            }
            text.replace("\r\n", "\n")
        };
        let shown = show(fixture);
        expected.assert_eq(&shown);
        let main = fixture.find("\n//- ").map_or(fixture.len(), |end| end + 1);
        let (main, others) = fixture.split_at(main);
        let (head, body) =
            main.split_once('\n').filter(|(head, _)| head.starts_with("//-")).unwrap_or(("//- /kindlm.yaml", main));
        let other = format!("{head}\n# 😀\r\n{}{others}", body.replace('\n', "\r\n"));
        assert_eq!(show(&other), format!("# 😀\n{shown}"));
    }

    #[test]
    fn placeholders_show_values_that_are_elsewhere() {
        check(
            "tests:\n  - command: echo {{a}} {{b}} {{env.a}}\n    vars:\n      a: \"x y\"\n  - { command: '{{a}}', vars: { a: b } }\n",
            expect![[r#"
                tests:
                  - command: echo {{a}}⟨= x y⟩ {{b}} {{env.a}}
                    vars:
                      a: "x y"
                  - { command: '{{a}}', vars: { a: b } }
            "#]],
        );
    }

    #[test]
    fn an_alias_and_half_typed_text_are_no_obstacle() {
        check(
            "tests:\n  - command: echo {{a}}\n    vars: &v\n      a: x\n  - command: |\n      echo {{a}}\n      echo {{a\n    vars: *v\n  - command: \"echo {{a}}\n",
            expect![[r#"
                tests:
                  - command: echo {{a}}⟨= x⟩
                    vars: &v
                      a: x
                  - command: |
                      echo {{a}}⟨= x⟩
                      echo {{a
                    vars: *v
                  - command: "echo {{a}}
            "#]],
        );
    }

    #[test]
    fn names_that_the_format_fills_show_their_values() {
        check(
            "//- /clawspec-scenarios.yaml\nscenarios:\n  - name: a\n    then:\n      - type: artifact_exists\n        path: \"out/{{ today }}/*.md\"\n      - {type: artifact_exists, path: 'x/{{run_id}}-{{today}}.md'}\n//- /out/2026-05-14/a.md\nx\n",
            expect![[r#"
                scenarios:
                  - name: a
                    then:
                      - type: artifact_exists
                        path: "out/{{ today }}⟨= 2026-05-14⟩/*.md"⟨1 file⟩
                      - {type: artifact_exists, path: 'x/{{run_id}}-{{today}}⟨= 2026-05-14⟩.md'}
            "#]],
        );
    }

    #[test]
    fn patterns_say_how_many_files_they_match() {
        check(
            "//- /cli-bench.yaml\ntasks:\n  - file://tasks/*.yaml\n  - file://tasks/a.yaml\n  - \"file://none/*.yaml\"\n//- /tasks/a.yaml\n[]\n//- /tasks/b.yaml\n[]\n",
            expect![[r#"
                tasks:
                  - file://tasks/*.yaml⟨2 files⟩
                  - file://tasks/a.yaml
                  - "file://none/*.yaml"⟨no file⟩
            "#]],
        );
        let fixture = Fixture::parse("//- /cli-bench.yaml\n//- /tasks/a.yaml\n[]\n//- /tasks/b.yaml\n[]\n");
        let values = Values { files: &fixture.files, now: NOW };
        assert_eq!(matches("tasks/*.yaml", values), "- `tasks/a.yaml`\n- `tasks/b.yaml`");
    }
}
