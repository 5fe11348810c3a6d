//! The third of five tests is half typed, in every typical way: the other four keep their outline, their problems,
//! their names (a lens is at each) and their completion.

use speclens_schema::{
    analysis::Analyzer,
    document::{Document, ScalarRules},
    files::MemoryFiles,
    json_schema::SpecFile,
    settings::Settings,
};

use crate::ide::{
    completion::complete,
    symbols::{Symbol, SymbolKind, symbols},
    values::Values,
};

const HEAD: &str = "kindlm: 1\nproject: demo\nsuite: { name: half typed }\ntests:\n";
const TAIL: &str = "gates:\n  passRateMin: 0.5\n";

/// Returns a test without errors. It has a blank line to complete keys at, a value to complete, and one problem.
fn sound(name: &str) -> String {
    format!(
        "  - name: {name}\n    command: echo {name}\n    vars: {{ unused: x }}\n    \n    expect:\n      output:\n        format: text\n        contains: [{name}]\n        contains: [again]\n      toolCalls:\n        - tool: lookup\n"
    )
}

const THIRD: &str = r#"  - name: third
    command: |
      printf 'x'
      echo done
    vars:
      a: "b"
    expect:
      output:
        contains: [one, two]
        format: text
      toolCalls:
        - tool: lookup
"#;

/// The edits: a name, the text to remove, the text to insert.
const STATES: &[(&str, &str, &str)] = &[
    ("a key without its colon", "    vars:\n", "    vars\n"),
    ("a half-typed key", "    expect:\n", "    exp\n"),
    ("a half-typed key in a claim", "        format: text\n", "        form\n"),
    ("a half-typed item", "        - tool: lookup\n", "        - to\n"),
    ("an open double quote", "a: \"b\"", "a: \"b"),
    ("an open single quote", "name: third", "name: 'third"),
    ("an open quote around a key", "    vars:", "    \"vars:"),
    ("an open bracket", "[one, two]", "[one, two"),
    ("an open bracket with a comma", "[one, two]", "[one,"),
    ("an open brace", "output:\n", "output: {\n"),
    ("an open brace with a key", "vars:\n      a: \"b\"", "vars: { a: "),
    ("a bracket too many", "[one, two]", "[one, two]]"),
    ("a tab", "        format: text", "\t\tformat: text"),
    ("too much indentation", "    expect:", "     expect:"),
    ("too little indentation", "    vars:", "   vars:"),
    ("no indentation", "    expect:\n", "expect:\n"),
    ("a dangling dash in a claim", "        - tool: lookup\n", "        - tool: lookup\n        - \n"),
    ("a dangling dash in the tests", "  - name: third\n", "  - \n  - name: third\n"),
    ("a dash alone", "  - name: third\n", "  -\n"),
    ("a dash without a blank", "  - name", "  -name"),
    ("a repeated key", "    vars:\n", "    command: x\n    vars:\n"),
    ("an unknown alias", "a: \"b\"", "a: *nope"),
    ("an empty alias", "a: \"b\"", "a: *"),
    ("an empty anchor", "a: \"b\"", "a: &"),
    ("an empty value", "format: text", "format:"),
    ("a colon without a blank", "name: third", "name:third"),
    ("a colon in the value", "name: third", "name: a: b"),
    ("a reserved letter", "name: third", "name: @third"),
    ("text behind a closed quote", "a: \"b\"", "a: \"b\" c"),
    ("an unknown escape", "a: \"b\"", "a: \"\\q\""),
    ("a stray line", "    vars:\n", "  oops\n    vars:\n"),
    ("a stray line in the first column", "    vars:\n", "oops\n    vars:\n"),
    (
        "a cut in the block scalar",
        "      printf 'x'\n      echo done\n    vars:\n      a: \"b\"\n    expect:\n      output:\n        contains: [one, two]\n        format: text\n      toolCalls:\n        - tool: lookup\n",
        "      pri\n",
    ),
    ("a line of the block scalar in the first column", "      echo done", "echo done"),
    ("a block scalar without a line", "command: |\n      printf 'x'\n      echo done\n", "command: |\n"),
    (
        "conflict markers",
        "    vars:\n      a: \"b\"\n",
        "<<<<<<< HEAD\n    vars:\n      a: \"b\"\n=======\n    vars:\n      a: \"c\"\n>>>>>>> other\n",
    ),
    (
        "conflict markers around the name",
        "  - name: third\n",
        "<<<<<<< HEAD\n  - name: third\n=======\n  - name: tres\n>>>>>>> other\n",
    ),
    ("a document marker", "    vars:\n", "---\n    vars:\n"),
    ("pasted JSON that is cut", "  - name: third\n", "  - {\"name\": \"third\", \"command\": \"x\n"),
    ("nothing but a word", THIRD, "  third\n"),
];

fn text(third: &str) -> String {
    let tests = [sound("first"), sound("second"), third.to_owned(), sound("fourth"), sound("fifth")];
    format!("{HEAD}{}{TAIL}", tests.concat())
}

/// Returns everything that an editor shows of the undamaged tests, with ranges as text.
fn shown(document: &Document) -> Vec<String> {
    let text = String::from(document.text());
    let analysis = Analyzer::new(SpecFile::KINDLM).analyze(document, &MemoryFiles::default(), &Settings::default());
    let mut lines = Vec::new();
    let outline = symbols(document, SpecFile::KINDLM);
    let section = |name: &str| outline.iter().find(|symbol| symbol.name == name);
    lines.push(format!("{:?}", section("gates").map(|gates| &text[gates.range.clone()])));
    for name in ["first", "second", "fourth", "fifth"] {
        let source = sound(name);
        let start = text.find(&source).expect("it is undamaged");
        let range = start..start + source.len();
        let tests = section("tests").map(|tests| tests.children.as_slice()).unwrap_or_default();
        let found: Vec<&Symbol> = tests.iter().filter(|test| test.name == name).collect();
        lines.push(format!("{name}: outlined {} times", found.len()));
        for test in found {
            assert_eq!(test.kind, SymbolKind::Test);
            let claims: Vec<&str> = test.children.iter().map(|claim| &text[claim.range.clone()]).collect();
            lines.push(format!("{name}: outline {} · {} {claims:?}", &text[test.selection.clone()], test.detail));
        }
        for problem in analysis.problems.iter().filter(|problem| range.contains(&problem.range.start)) {
            let code = problem.code.as_str();
            lines.push(format!("{name}: {code} {} `{}`", problem.message, &text[problem.range.clone()]));
        }
        for (place, from) in [("keys", "    \n"), ("values", "text\n"), ("claims", "output:")] {
            let at = start + source.find(from).expect("it is there") + if place == "keys" { 4 } else { 0 };
            let offered = complete(
                document,
                SpecFile::KINDLM,
                at,
                Values { files: &MemoryFiles::default(), now: "" },
                &|_| Vec::new(),
                None,
            );
            let labels: Vec<String> = offered.into_iter().map(|item| item.label).collect();
            lines.push(format!("{name}: {place} {}", labels.join(" ")));
        }
    }
    lines
}

#[test]
fn the_other_tests_keep_everything() {
    let intact = Document::read(&text(THIRD), ScalarRules::Yaml12);
    let expected = shown(&intact);
    assert!(expected.iter().any(|line| line.contains("format")), "{expected:#?}");
    let mut lost = Vec::new();
    for (state, from, to) in STATES {
        assert!(THIRD.contains(from), "{state}");
        let damaged = text(&THIRD.replacen(from, to, 1));
        // Once typed into the open document, once opened with the same text.
        let mut typed = intact.clone();
        let start = text(THIRD).find(THIRD).expect("it is there") + THIRD.find(from).expect("checked");
        typed.edit(start..start + from.len(), to);
        typed.refresh();
        assert_eq!(String::from(typed.text()), damaged);
        for (how, document) in [("typed", typed), ("opened", Document::read(&damaged, ScalarRules::Yaml12))] {
            let found = shown(&document);
            let missing: Vec<&String> = expected.iter().filter(|line| !found.contains(line)).collect();
            let new: Vec<&String> = found.iter().filter(|line| !expected.contains(line)).collect();
            if !missing.is_empty() || !new.is_empty() {
                lost.push(format!("{state} ({how}):\n  lost {missing:#?}\n  new {new:#?}"));
            }
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

#[test]
fn the_damaged_test_itself_is_completed() {
    let labels = |third: &str| {
        let cursor = third.find("$0").expect("a cursor");
        let text = text(&third.replacen("$0", "", 1));
        let document = Document::read(&text, ScalarRules::Yaml12);
        let at = HEAD.len() + sound("first").len() + sound("second").len() + cursor;
        let offered = complete(
            &document,
            SpecFile::KINDLM,
            at,
            Values { files: &MemoryFiles::default(), now: "" },
            &|_| Vec::new(),
            None,
        );
        offered.into_iter().map(|item| item.label).collect::<Vec<_>>()
    };
    for (third, wanted) in [
        ("  - name: third\n    exp$0\n", "expect"),
        ("  - name: third\n    $0\n    expect: { output: [\n", "command"),
        ("  - name: 'third\n    $0\n", "command"),
        ("  - name: third\n    expect:\n      output:\n        con$0\n", "contains"),
        ("  - name: third\n    expect:\n      output: { contains: [a, \"b], form$0\n", "nothing"),
        ("  - name: third\n    expect: { output: { con$0\n", "contains"),
        ("  - $0\n", "name"),
        ("  - na$0\n", "name"),
        ("  - name: third\n    expect:\n      toolCalls:\n        -$0\n", "tool"),
        ("  - name: third\n    skip: t$0\n    vars: *\n", "true"),
    ] {
        let found = labels(third);
        let is_offered = found.iter().any(|label| label == wanted) || (wanted == "nothing" && found.is_empty());
        assert!(is_offered, "{third}: {found:?}");
    }
}
