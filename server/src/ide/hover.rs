//! What is known about the place under the pointer.

use std::ops::Range;

use speclens_schema::{
    document::{Document, NodeRef, Pointer},
    files::{FileKind, Files},
    json_schema::SpecFile,
    problem::Code,
    shape::{Need, Shape, Type, Word, show},
    suite::{Action, CommandAction, Suite},
};

use super::{card, line::Line, names, template, written::Written};

/// What is shown, and for which bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The key, the value or the placeholder.
    pub range: Range<usize>,
    /// Markdown.
    pub markdown: String,
}

/// What is known about the place at `offset`; nothing about plain text. `suite` is what the document was
/// lowered to, as far as it is known: it says which command would run.
pub fn hover(
    document: &Document,
    file: SpecFile,
    offset: usize,
    suite: Option<&Suite>,
    files: &dyn Files,
) -> Option<Hover> {
    let place = Place::find(document, file, offset)?;
    match place.part {
        Part::Key(key) => place.key(key, suite),
        Part::Value(value) => place.value(value, suite, files),
        Part::Nothing => place.code(),
    }
}

struct Place<'d> {
    document: &'d Document,
    file: SpecFile,
    offset: usize,
    at: Pointer,
    part: Part<'d>,
}

#[derive(Clone, Copy)]
enum Part<'d> {
    Key(NodeRef<'d>),
    Value(NodeRef<'d>),
    /// Blanks, punctuation, comments.
    Nothing,
}

impl<'d> Place<'d> {
    fn find(document: &'d Document, file: SpecFile, offset: usize) -> Option<Place<'d>> {
        let at = document.pointer_at(offset);
        let touches = |range: Range<usize>| range.start <= offset && offset <= range.end;
        let parent = at.parent().and_then(|parent| document.find(&parent));
        let entry = parent.and_then(|parent| parent.entry(&at.last()?));
        let part = match (entry, document.find(&at)) {
            (Some(entry), _) if touches(entry.key.range()) => Part::Key(entry.key),
            (_, Some(node)) if node.text().is_some() && touches(node.range()) => Part::Value(node),
            (_, Some(_) | None) => Part::Nothing,
        };
        Some(Place { document, file, offset, at, part })
    }

    fn shape(&self) -> Option<Shape> {
        Shape::find(self.file, &self.at, self.document.root())
    }

    fn key(&self, key: NodeRef<'d>, suite: Option<&Suite>) -> Option<Hover> {
        let name = key.key_text();
        let parent = self.at.parent()?;
        let holder = Shape::find(self.file, &parent, self.document.root())?;
        let fields = holder.fields(self.document.find(&parent));
        let mut markdown = match fields.into_iter().find(|field| field.name == name) {
            Some(field) => card::field(&name, &field.shape, &field.need),
            // A name of the author's own choice.
            None => match (holder.word(), holder.map_value()?) {
                (Some(Word::Defines("vars")), _) => format!("**{name}** · what `{{{{{name}}}}}` stands for"),
                (_, value) => card::field(&name, &value, &Need::Optional),
            },
        };
        if let Some(command) = self.command(suite) {
            markdown.push_str("\n\n");
            markdown.push_str(&resolved(command));
        }
        Some(Hover { range: key.range(), markdown })
    }

    fn value(&self, value: NodeRef<'d>, suite: Option<&Suite>, files: &dyn Files) -> Option<Hover> {
        let shape = self.shape()?;
        let range = value.range();
        match shape.word() {
            Some(Word::Template(_)) => {
                return self.placeholder(&shape, value).or_else(|| {
                    let markdown = resolved(self.command(suite)?);
                    Some(Hover { range, markdown })
                });
            }
            Some(Word::Refers(kind)) => {
                let markdown = self.definition(kind, value.text()?).or_else(|| choice(&shape, value))?;
                return Some(Hover { range, markdown });
            }
            Some(Word::File(_)) => return Some(Hover { range, markdown: path(value.text()?, files)? }),
            Some(Word::Pattern(_) | Word::Defines(_) | Word::Shell) | None => {}
        }
        if let Some(markdown) = choice(&shape, value) {
            return Some(Hover { range, markdown });
        }
        match shape.kind() {
            Type::Boolean | Type::Integer | Type::Number => {
                let markdown = card::field(&self.at.last()?, &shape, &Need::Optional);
                Some(Hover { range, markdown })
            }
            Type::Text | Type::List | Type::Mapping | Type::Any => None,
        }
    }

    /// The command that a test would run, when the cursor stands at it.
    fn command<'s>(&self, suite: Option<&'s Suite>) -> Option<&'s CommandAction> {
        suite?.cases.iter().find_map(|case| match &case.action {
            Action::Command(command) if command.at == self.at => Some(command),
            Action::Command(_) | Action::Prompt(_) | Action::Agent(_) | Action::Trigger(_) | Action::None => None,
        })
    }

    /// `{{name}}` under the cursor.
    fn placeholder(&self, shape: &Shape, value: NodeRef<'d>) -> Option<Hover> {
        let written = Written::of(value)?;
        let at = written.offset(self.offset)?;
        let found = template::placeholders_of(shape.template()?, &written.text);
        let found = found.into_iter().find(|found| found.range.start <= at && at <= found.range.end)?;
        let (name, place) = (found.name, written.range(found.range));
        let head = format!("**{{{{{name}}}}}**");
        let say = |text: String| Some(Hover { range: place.clone(), markdown: format!("{head} · {text}") });
        if !template::is_variable(name) {
            return say("stays as it is: names that begin with `env.` are not replaced".to_owned());
        }
        let own = names::variables(self.document, &self.at, shape);
        if let Some(found) = own.and_then(|vars| vars.get(name)) {
            return say(card::inline(found.text().unwrap_or_default()));
        }
        let mut steps = self.at.steps();
        let (Some(section), Some(prompt)) = (steps.next(), steps.next()) else { return None };
        if section == "prompts" {
            let given = names::given_to(self.document, &prompt);
            return match given.into_iter().find(|(known, _)| known == name) {
                Some((_, value)) => {
                    say(format!("given by the tests, such as {}", card::inline(value.unwrap_or_default())))
                }
                None => say("no test that uses this prompt gives it a value".to_owned()),
            };
        }
        say("has no value in `vars`: the run would break".to_owned())
    }

    /// What a name refers to.
    fn definition(&self, kind: &str, name: &str) -> Option<String> {
        let found = names::defined(self.document, self.file, kind);
        let found = found.into_iter().find(|definition| definition.name.key_text() == name)?;
        let range = found.node.own_range();
        let line = self.document.text().byte_to_line(range.start) + 1;
        let source = String::from(self.document.text().byte_slice(range));
        let word = kind.trim_end_matches('s');
        Some(format!("**{name}** · {word}, line {line}\n\n{}", card::source(&super::snippet::moved_left(&source))))
    }

    /// A code in `# speclens: allow(…)`.
    fn code(&self) -> Option<Hover> {
        let text = self.document.text();
        let line = Line::of(text, text.byte_to_line(self.offset));
        let comment = line.parts().comment.filter(|comment| *comment <= self.offset)?;
        let words = line.slice(comment..line.end());
        if !words.trim_start_matches(['#', ' ']).starts_with("speclens:") {
            return None;
        }
        let at = self.offset - comment;
        let is_code = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let start = words[..at].rfind(|letter| !is_code(letter)).map_or(0, |before| before + 1);
        let end = words[at..].find(|letter| !is_code(letter)).map_or(words.len(), |end| at + end);
        let code = Code::parse(&words[start..end])?;
        Some(Hover { range: comment + start..comment + end, markdown: card::code(code) })
    }
}

/// The command with its values, or the names that have none.
fn resolved(command: &CommandAction) -> String {
    match &command.expanded {
        Ok(text) => format!("Runs\n\n{}", card::verbatim(text, "sh")),
        Err(missing) => {
            let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
            format!(
                "Cannot run: no value in `vars` for {}\n\n{}",
                names.join(", "),
                card::verbatim(&command.template, "sh")
            )
        }
    }
}

/// The docs of one value out of a closed set.
fn choice(shape: &Shape, value: NodeRef<'_>) -> Option<String> {
    let text = value.text()?;
    let found = shape.values().into_iter().find(|choice| match choice.value.as_str() {
        Some(name) => name == text,
        None => show(choice.value) == text,
    })?;
    found.docs.is_some().then(|| card::choice(&found))
}

/// Whether a path leads to something.
fn path(path: &str, files: &dyn Files) -> Option<String> {
    let what = match files.kind(path) {
        _ if path.is_empty() => return None,
        Some(FileKind::File) => "file below the suite's directory".to_owned(),
        Some(FileKind::Directory) => "a directory, not a file".to_owned(),
        Some(FileKind::Other) => "not a regular file".to_owned(),
        None => "no such file below the suite's directory".to_owned(),
    };
    Some(format!("{} · {what}", card::inline(path)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use expect_test::{Expect, expect};
    use speclens_schema::{
        dialect::{Dialect, Gates},
        suite::Case,
    };

    use super::*;
    use crate::ide::fixture::Fixture;

    #[track_caller]
    fn check(fixture: &str, expected: Expect) {
        let fixture = Fixture::parse(fixture);
        let suite = suite(&fixture.document);
        let found = hover(&fixture.document, fixture.file, fixture.offset(), Some(&suite), &fixture.files);
        let shown = match found {
            None => "nothing\n".to_owned(),
            Some(hover) => format!("[{}]\n{}\n", &fixture.text()[hover.range], hover.markdown),
        };
        expected.assert_eq(&shown);
    }

    /// The commands of the first test, which is all that hover asks for.
    fn suite(document: &Document) -> Suite {
        let at = Pointer::parse("/tests/0/command");
        let template = document.find(&at).and_then(NodeRef::text).unwrap_or_default().to_owned();
        let vars = document.find(&Pointer::parse("/tests/0/vars"));
        let variables: BTreeMap<String, String> = vars
            .into_iter()
            .flat_map(NodeRef::entries)
            .map(|entry| (entry.key.key_text(), entry.value.text().unwrap_or_default().to_owned()))
            .collect();
        let missing: Vec<String> = template::placeholders(&template)
            .filter(|(name, _)| !variables.contains_key(*name))
            .map(|(name, _)| name.to_owned())
            .collect();
        let filled = variables
            .iter()
            .fold(template.clone(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value));
        let expanded = if missing.is_empty() { Ok(filled) } else { Err(missing) };
        let action = CommandAction { at, template, variables, expanded, inputs: BTreeMap::new(), timeout_ms: 1000 };
        let case = Case {
            name: "a".to_owned(),
            at: Pointer::parse("/tests/0"),
            tags: Vec::new(),
            skip: false,
            repeat: 1,
            action: Action::Command(action),
            claims: Vec::new(),
            intact: true,
            file: None,
        };
        Suite {
            dialect: Dialect::KindLm,
            name: None,
            cases: vec![Arc::new(case)],
            gates: Gates::KindLm(Box::default()),
            concurrency: 1,
        }
    }

    #[test]
    fn a_key_has_its_page() {
        check(
            "tests:\n  - expect:\n      output:\n        max$0Length: 3\n",
            expect![[r#"
            [maxLength]
            **maxLength** · whole number, at least 1

            The greatest length of the text, in UTF-16 units as JavaScript counts them.

            Example: `400`
        "#]],
        );
        check(
            "tests:\n  - expect:\n      output:\n        format: js$0on\n",
            expect![[r#"
            [json]
            **json** · As one JSON value; `schemaFile` says what it must look like.
        "#]],
        );
        check(
            "tests:\n  - expect:\n      output:\n        maxLength: $03\n",
            expect![[r#"
            [3]
            **maxLength** · whole number, at least 1

            The greatest length of the text, in UTF-16 units as JavaScript counts them.

            Example: `400`
        "#]],
        );
        check(
            "tests:\n  - $0nam: x\n",
            expect![[r#"
            nothing
        "#]],
        );
        check(
            "tests:\n  - vars: { $0a: x }\n",
            expect![[r#"
                [a]
                **a** · what `{{a}}` stands for
            "#]],
        );
    }

    #[test]
    fn a_command_is_shown_as_it_would_run() {
        check(
            "tests:\n  - command: ec$0ho '{{a}}'\n    vars: { a: b c }\n",
            expect![[r#"
            [echo '{{a}}']
            Runs

            ```sh
            echo 'b c'
            ```
        "#]],
        );
        check(
            "tests:\n  - command: ec$0ho '{{a}}' {{b}}\n    vars: { a: b c }\n",
            expect![[r#"
            [echo '{{a}}' {{b}}]
            Cannot run: no value in `vars` for `b`

            ```sh
            echo '{{a}}' {{b}}
            ```
        "#]],
        );
    }

    #[test]
    fn a_placeholder_has_its_value() {
        check(
            "tests:\n  - command: \"😀 {{$0a}}\"\n    vars: { a: b c }\n",
            expect![[r#"
            [{{a}}]
            **{{a}}** · `b c`
        "#]],
        );
        check(
            "tests:\n  - command: echo {{$0b}}\n",
            expect![[r#"
            [{{b}}]
            **{{b}}** · has no value in `vars`: the run would break
        "#]],
        );
        check(
            "tests:\n  - command: |\n      echo\n      echo {{env$0.b}}\n",
            expect![[r#"
            [{{env.b}}]
            **{{env.b}}** · stays as it is: names that begin with `env.` are not replaced
        "#]],
        );
        check(
            "prompts:\n  p: { user: \"{{a$0}}\" }\ntests:\n  - { prompt: p, vars: { a: x } }\n",
            expect![[r#"
            [{{a}}]
            **{{a}}** · given by the tests, such as `x`
        "#]],
        );
    }

    #[test]
    fn a_reference_shows_what_it_refers_to() {
        check(
            "models:\n  - id: small\n    provider: openai\n    model: m\ntests:\n  - models: [sma$0ll]\n",
            expect![[r#"
            [small]
            **small** · model, line 2

            ```yaml
            id: small
            provider: openai
            model: m
            ```
        "#]],
        );
        check(
            "prompts:\n  ask:\n    user: x\ntests:\n  - prompt: a$0sk\n",
            expect![[r#"
            [ask]
            **ask** · prompt, line 3

            ```yaml
            user: x
            ```
        "#]],
        );
        check(
            "models:\n  - provider: oll$0ama\n",
            expect![[r#"
            [ollama]
            **ollama** · Models on this machine, served by Ollama.
        "#]],
        );
        check(
            "tests:\n  - prompt: n$0one\n",
            expect![[r#"
            nothing
        "#]],
        );
    }

    #[test]
    fn a_file_is_there_or_not() {
        let suite = "//- /kindlm.yaml\ntests:\n  - expect: { output: { schemaFile: ";
        check(
            &format!("{suite}a$0.json }} }}\n//- /a.json\n{{}}\n"),
            expect![[r#"
            [a.json]
            `a.json` · file below the suite's directory
        "#]],
        );
        check(
            &format!("{suite}b$0.json }} }}\n//- /a.json\n{{}}\n"),
            expect![[r#"
            [b.json]
            `b.json` · no such file below the suite's directory
        "#]],
        );
    }

    #[test]
    fn a_code_in_an_allow_comment_has_its_page() {
        check(
            "# speclens: allow(syntax, un$0used)\nkindlm: 1\n",
            expect![[r#"
            [unused]
            **unused** · hint

            Something is defined and never used.
        "#]],
        );
        check(
            "# speclens: al$0low(unused)\nkindlm: 1\n",
            expect![[r#"
            nothing
        "#]],
        );
    }

    #[test]
    fn plain_text_says_nothing() {
        check(
            "tests:\n  - name: out$0put\n",
            expect![[r#"
            nothing
        "#]],
        );
        check(
            "prompts:\n  p:\n    user: |\n      the out$0put\n",
            expect![[r#"
            nothing
        "#]],
        );
        check(
            "# out$0put\nkindlm: 1\n",
            expect![[r#"
            nothing
        "#]],
        );
        check(
            "tests:\n  - expect: { output: { contains: [form$0at] } }\n",
            expect![[r#"
            nothing
        "#]],
        );
    }

    #[test]
    fn a_damaged_document_answers_elsewhere() {
        check(
            "tests:\n  - name: \"a\n  - com$0mand: x\n    expect: {}\n",
            expect![[r#"
            [command]
            **command** · text with `{{name}}` · exactly one of `command` and `prompt` is required

            The shell command that is run.

            Run as `sh -c` in the suite's directory, with the caller's environment and no input. `{{name}}` stands
            for a value of `vars`, put in as it is: quoting is yours. The exit status alone fails nothing.

            ```yaml
            command: node agent.js --user {{user_id}}
            ```

            Its standard output is the text that `expect` looks at. Lines that begin with `{"kindlm":` are
            events: `{"kindlm":"tool_call","name":"…","arguments":{…}}` and
            `{"kindlm":"output_json","data":…}`. A command that runs longer than `defaults.timeoutMs` is ended.

            Example: `"python agent.py --input '{{question}}'"`
        "#]],
        );
    }
}
