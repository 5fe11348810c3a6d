//! Renames all occurrences of a name.

use speclens_schema::{
    analysis::Analyzer,
    document::{Document, Style},
    files::MemoryFiles,
    fixing::replaced,
    json_schema::SpecFile,
    problem::{Code, Edit, Problem, Severity},
    quoting::scalar,
    settings::Settings,
    template::is_variable_name,
};

use super::{
    cross_file_names,
    occurrences::{self, NameKind, Occurrence},
};

/// Returns the edits that rename the name at an offset, in the order of the text; or the reason why it is impossible.
pub(crate) fn rename(document: &Document, file: SpecFile, offset: usize, to: &str) -> Result<Vec<Edit>, String> {
    let found = occurrences::find(document, file, offset)
        .ok_or_else(|| "no name at the cursor; put the cursor on a name".to_owned())?;
    match &found.kind {
        NameKind::Variable(_) if to.starts_with("env.") => {
            return Err("names that begin with `env.` are reserved; choose another name".to_owned());
        }
        NameKind::Variable(_) if !is_variable_name(to) => {
            return Err(format!("`{to}` is not a valid variable name; use letters, digits, `_` and `.`"));
        }
        NameKind::Anchor
            if to.is_empty() || to.contains(|letter: char| letter.is_whitespace() || ",[]{}".contains(letter)) =>
        {
            return Err(format!(
                "`{to}` is not a valid anchor name: it must not be empty or contain spaces or brackets"
            ));
        }
        NameKind::Thing(_) | NameKind::Shared(_) if to.trim().is_empty() || to.contains(['\n', '\r']) => {
            return Err("a name must be a single line and must not be empty".to_owned());
        }
        NameKind::Thing(kind) => {
            let others = occurrences::find_other(document, file, offset, &found.kind, to);
            if to != found.name && others.iter().any(|other| other.is_definition) {
                return Err(merged(kind, to));
            }
        }
        NameKind::Variable(_) => {
            let others = occurrences::find_other(document, file, offset, &found.kind, to);
            if to != found.name && !others.is_empty() {
                return Err(format!(
                    "`{to}` is already a variable here, and the rename would merge the two; choose another name"
                ));
            }
        }
        NameKind::Shared(kind) => {
            if let Some(reason) = meaning(file, kind, &found.name).filter(|_| to != found.name) {
                return Err(reason);
            }
            if let Some(kind) = taken(document, file, kind, &found.name, to) {
                return Err(kind);
            }
        }
        NameKind::BuiltIn(_) => {
            return Err(format!("`{}` is defined by the format and cannot be renamed", found.name));
        }
        NameKind::Anchor => {
            let others = occurrences::find_other(document, file, offset, &found.kind, to);
            if to != found.name && !others.is_empty() {
                return Err(format!("`{to}` is already an anchor or alias here; choose another name"));
            }
        }
    }
    let mut places = found.places;
    if let NameKind::Thing(kind) = &found.kind
        && places.iter().filter(|place| place.is_definition).count() > 1
    {
        // One of several things with the same name is renamed; references may mean any of them.
        if !places.iter().any(|place| place.is_definition && place.range == found.token) {
            return Err(ambiguous(kind, &found.name));
        }
        places.retain(|place| place.range == found.token);
    }
    let edits: Vec<Edit> = places.iter().map(|place| edit(place, to)).collect();
    if to != found.name {
        refuse_an_error(document, file, &edits, to)?;
    }
    Ok(edits)
}

pub(crate) fn refuse_an_error(document: &Document, file: SpecFile, edits: &[Edit], to: &str) -> Result<(), String> {
    match new_error(document, file, edits) {
        Some(message) => Err(format!("`{to}` is not a valid name here: {message}")),
        None => Ok(()),
    }
}

fn new_error(document: &Document, file: SpecFile, edits: &[Edit]) -> Option<String> {
    let text = replaced(&String::from(document.text()), edits);
    let errors = |document: &Document| {
        let problems = Analyzer::new(file).problems(document, &MemoryFiles::default(), &Settings::default());
        problems.into_iter().filter(|problem| problem.severity == Severity::Error).collect::<Vec<_>>()
    };
    let before = errors(&Document::read(&String::from(document.text()), file.scalar_rules()));
    let after = errors(&Document::read(&text, file.scalar_rules()));
    let count = |all: &[Problem], code: Code| all.iter().filter(|problem| problem.code == code).count();
    let new = after.iter().find(|problem| count(&after, problem.code) > count(&before, problem.code));
    new.map(|problem| problem.message.clone())
}

/// Returns the reason why a shared name cannot become another one: the document already has that name, so the two would
/// become one.
fn taken(document: &Document, file: SpecFile, kind: &'static str, from: &str, to: &str) -> Option<String> {
    let mut others = cross_file_names::mentions(document, file, "").into_iter();
    (to != from && others.any(|other| other.kind == kind && other.name == to)).then(|| merged(kind, to))
}

pub(crate) fn meaning(file: SpecFile, kind: &str, name: &str) -> Option<String> {
    file.dialect()?.fixed_name(kind, name).map(str::to_owned)
}

pub(crate) fn merged(kind: &str, to: &str) -> String {
    format!("`{kind}` already has `{to}`; choose another name")
}

pub(crate) fn ambiguous(kind: &str, name: &str) -> String {
    format!("several `{kind}` are named `{name}`; rename one of them where it is defined")
}

pub(crate) fn edit(place: &Occurrence, to: &str) -> Edit {
    let (range, text) = match &place.scalar {
        None => (place.range.clone(), to.to_owned()),
        Some((_, Style::SingleQuoted)) => (place.range.clone(), to.replace('\'', "''")),
        Some((range, Style::DoubleQuoted)) => (range.clone(), serde_json::Value::from(to).to_string()),
        Some((range, Style::Plain | Style::Literal | Style::Folded)) => (range.clone(), scalar(to)),
    };
    Edit { range, text }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::{rename, replaced};
    use crate::ide::tests::fixture::Fixture;

    /// Checks the lines that a rename changes; the same with Windows line breaks and preceding emoji.
    #[track_caller]
    fn check(fixture: &str, to: &str, expected: Expect) {
        let apply = |fixture: &Fixture, offset: usize, to: &str| -> Result<String, String> {
            let edits = rename(&fixture.document, fixture.file, offset, to)?;
            Ok(replaced(&fixture.text(), &edits))
        };
        let unix = Fixture::parse(fixture);
        let renamed = apply(&unix, unix.offset(), to);
        match &renamed {
            Ok(new) => {
                let old = unix.text();
                assert_eq!(new.lines().count(), old.lines().count());
                let changed = new.lines().zip(old.lines()).filter(|(new, old)| new != old);
                expected.assert_eq(&changed.map(|(new, _)| format!("+ {new}\n")).collect::<String>());
            }
            Err(reason) => expected.assert_eq(reason),
        }
        let shown = renamed.unwrap_or_else(|reason| reason);
        let (head, body) = fixture
            .split_once('\n')
            .filter(|(head, _)| head.starts_with("//-"))
            .unwrap_or(("//- /kindlm.yaml", fixture));
        let other = Fixture::parse(&format!("{head}\n{}", format!("# 😀 ä\n{body}").replace('\n', "\r\n")));
        let shown_there = apply(&other, other.offset(), to).unwrap_or_else(|reason| reason);
        let shown_there = shown_there.replace("\r\n", "\n");
        assert_eq!(shown_there.strip_prefix("# 😀 ä\n").unwrap_or(&shown_there), shown);
    }

    const SUITE: &str = r#"models:
  - { id: small, provider: openai, model: small }
prompts:
  "small": { user: "{{q}} {{env.q}} {{ q }}" }
tests:
  - name: small
    prompt: small
    models: [small, 'small']
    vars: { q: small }
  - name: b
    prompt: 'small'
    vars:
      q: x
  - name: c
    command: echo {{q}} {{q}}
    vars: { q: y }
"#;

    #[test]
    fn a_thing_is_renamed_wherever_it_is_named_and_nothing_else() {
        check(
            &SUITE.replace("[small", "[sm$0all"),
            "mini: 1",
            expect![[r#"
                +   - { id: "mini: 1", provider: openai, model: small }
                +     models: ["mini: 1", 'mini: 1']
            "#]],
        );
        check(
            &SUITE.replace("\"small\":", "\"sm$0all\":"),
            "it's",
            expect![[r#"
                +   "it's": { user: "{{q}} {{env.q}} {{ q }}" }
                +     prompt: "it's"
                +     prompt: 'it''s'
            "#]],
        );
    }

    #[test]
    fn a_variable_is_renamed_in_the_prompt_and_in_the_tests_that_fill_it() {
        check(
            &SUITE.replace("\"{{q}}", "\"{{$0q}}"),
            "question",
            expect![[r#"
                +   "small": { user: "{{question}} {{env.q}} {{ q }}" }
                +     vars: { question: small }
                +       question: x
            "#]],
        );
        check(
            "tests:\n  - command: a {{q}} {{q}}\n    vars: {$0q: 1}\n",
            "r",
            expect![[r#"
                +   - command: a {{r}} {{r}}
                +     vars: {r: 1}
            "#]],
        );
    }

    #[test]
    fn a_variable_that_several_tests_share_is_renamed_in_all_of_them() {
        check(
            "x-vars: &v { q: 1 }\ntests:\n  - command: a {{$0q}}\n    vars: *v\n  - { command: 'b {{q}}', vars: *v }\n  - { command: 'c {{q}}', vars: { q: 2 } }\n",
            "r",
            expect![[r#"
                + x-vars: &v { r: 1 }
                +   - command: a {{r}}
                +   - { command: 'b {{r}}', vars: *v }
            "#]],
        );
    }

    #[test]
    fn a_model_is_renamed_with_its_threshold() {
        for text in [
            "providers: [op$0enai/a, 'openai/b']\nthresholds: {models: {openai/a: 80, openai/b: 70}}\n",
            "providers: [openai/a, 'openai/b']\nthresholds: {models: {openai$0/a: 80, openai/b: 70}}\n",
        ] {
            check(
                &format!("//- /cli-bench.yaml\n{text}"),
                "google/c",
                expect![[r#"
                    + providers: [google/c, 'openai/b']
                    + thresholds: {models: {google/c: 80, openai/b: 70}}
                "#]],
            );
        }
    }

    #[test]
    fn tags_are_renamed_in_all_tests() {
        check(
            "tests:\n  - tags: [smo$0ke, slow]\n  - tags: ['smoke']\n  - name: smoke\n",
            "quick",
            expect![[r#"
                +   - tags: [quick, slow]
                +   - tags: ['quick']
            "#]],
        );
    }

    #[test]
    fn tag_with_a_meaning_in_its_format_is_not_renamed() {
        check(
            "//- /clawspec-scenarios.yaml\nversion: '1.0'\nscenarios:\n  - name: a\n    tags: [neg$0ative, slow]\n",
            "refusal",
            expect![
                "ClawSpec requires a tag with the name `negative`, so it cannot be renamed; edit individual tags instead"
            ],
        );
        check(
            "tests:\n  - tags: [neg$0ative]\n",
            "refusal",
            expect![[r#"
                +   - tags: [refusal]
            "#]],
        );
    }

    #[test]
    fn an_anchor_is_renamed_with_its_aliases_only() {
        check(
            "tests:\n  - name: a\n    expect: &a {output: {contains: [a]}}\n  - {name: b, expect: *a$0}\n  - name: c\n    expect: &a {}\n  - expect: *a\n",
            "claims",
            expect![[r#"
                +     expect: &claims {output: {contains: [a]}}
                +   - {name: b, expect: *claims}
            "#]],
        );
    }

    #[test]
    fn anchor_does_not_get_the_name_of_another_one() {
        for text in [
            "tests:\n  - name: a\n    expect: &a$0 {}\n  - {name: b, expect: &b {}}\n  - {name: c, expect: *b}\n  - {name: d, expect: *a}\n",
            "tests:\n- name: a\n  expect: &a {}\n- name: b\n  expect: &b {}\n- name: c\n  expect: *a$0\n",
            "tests:\n  - {name: a, expect: &a {}}\n  - {name: b, expect: *$0a}\n  - {name: c, expect: *b}\n",
        ] {
            check(text, "b", expect!["`b` is already an anchor or alias here; choose another name"]);
        }
    }

    #[test]
    fn one_of_several_things_with_a_name_is_renamed_alone() {
        const TWINS: &str = "models:\n  - {id: a, provider: openai, model: x}\n  - {id: a, provider: openai, model: y}\ntests:\n  - models: [a]\n";
        check(
            &TWINS.replacen("{id: a", "{id: $0a", 1),
            "b",
            expect![[r#"
                +   - {id: b, provider: openai, model: x}
            "#]],
        );
        check(
            &TWINS.replace("[a]", "[$0a]"),
            "b",
            expect!["several `models` are named `a`; rename one of them where it is defined"],
        );
    }

    #[test]
    fn names_are_found_beside_half_typed_tests() {
        check(
            "models:\n  - id: m$0\ntests:\n  - name: \"open\n    models: [\n  - name: b\n    models: [m]\n",
            "mini",
            expect![[r#"
                +   - id: mini
                +     models: [mini]
            "#]],
        );
    }

    #[test]
    fn names_that_cannot_be_are_refused() {
        check(
            "prompts: {a$0: {user: x}, b: {user: y}}\n",
            "b",
            expect!["`prompts` already has `b`; choose another name"],
        );
        check(
            "tests:\n  - command: '{{$0q}}'\n    vars: {q: 1}\n",
            "a b",
            expect!["`a b` is not a valid variable name; use letters, digits, `_` and `.`"],
        );
        check(
            "tests:\n  - command: '{{$0q}}'\n    vars: {q: 1}\n",
            "env.q",
            expect!["names that begin with `env.` are reserved; choose another name"],
        );
        // One variable of a test onto another, from wherever it is named.
        for text in [
            "tests:\n  - command: a {{topic}} {{role}}\n    vars: {to$0pic: x, role: r}\n",
            "tests:\n  - command: a {{to$0pic}}\n    vars: {topic: x, role: r}\n",
            "prompts: {p: {user: '{{to$0pic}} {{role}}'}}\ntests:\n  - prompt: p\n    vars: {topic: x, role: r}\n",
        ] {
            check(
                text,
                "role",
                expect!["`role` is already a variable here, and the rename would merge the two; choose another name"],
            );
        }
        check(
            "providers: {oll$0ama: {}}\nmodels: [{id: m, provider: ollama, model: x}]\n",
            "foo",
            expect![
                "`foo` is not a valid name here: expected `openai`, `anthropic`, `gemini`, `mistral`, `cohere`, `ollama`, `http` or `mcp` for `provider`, found the string `foo`"
            ],
        );
        check(
            "models: [{id: m, provider: oll$0ama, model: x}]\n",
            "foo",
            expect![
                "`foo` is not a valid name here: expected `openai`, `anthropic`, `gemini`, `mistral`, `cohere`, `ollama`, `http` or `mcp` for `provider`, found the string `foo`"
            ],
        );
        check(
            "//- /cli-bench.yaml\nproviders: [a/b$0]\n",
            "b",
            expect!["`b` is not a valid name here: `b` is not a valid model id"],
        );
        check(
            "//- /cli-bench.yaml\nproviders: [a/b$0, a/c]\n",
            "a/c",
            expect!["`models` already has `a/c`; choose another name"],
        );
        check(
            "//- /cli-bench-tasks.yaml\n- assert: [{file_exists: '{{work$0dir}}/a'}]\n",
            "x",
            expect!["`workdir` is defined by the format and cannot be renamed"],
        );
        check("kindlm$0: 1\n", "x", expect!["no name at the cursor; put the cursor on a name"]);
    }
}
