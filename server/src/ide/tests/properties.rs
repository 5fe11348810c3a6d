//! Properties of all features: no text and no cursor causes a panic or an answer outside of the text.
//!
//! `SPECLENS_FUZZ_RUNS` sets the number of edited texts (400 without it).

use std::sync::Arc;

use speclens_schema::{
    document::{Document, ScalarRules},
    files::MemoryFiles,
    json_schema::SpecFile,
};

use crate::ide::{
    completion::complete,
    folding::folds,
    hints::hints,
    hover::hover,
    models::Reach,
    symbols::{Symbol, symbols},
    tokens::tokens,
    values::Values,
};

/// A suite with the constructs that authors use: block and flow style, quotes, multi-line texts, comments, anchors.
const SUITE: &str = r#"# A suite
kindlm: 1
project: "demo"
suite: { name: a b, tags: [x, "y, z"] }
providers:
  openai:
    apiKeyEnv: KEY
models:
- id: small
  provider: openai
  model: m
  params: {temperature: 0.5,
    stopSequences: ["}", ']']}
prompts:
  ask:
    system: >-
      Be {{tone}}: always
      and: ever
    user: "{{question}}
      more"
tests:
  # first
  - name: täst 😀
    command: |
      printf 'a: b'
      # no comment
      - no item
    vars:
      a: "x: y"

      b: 'it''s'
    expect: &e
      toolCalls:
      - tool: f
        argsMatch: {id: 1, l: [1, {x: 2}]}
      -   tool: g
          shouldNotCall: true
      output:
        contains:
          - a
          - b: c
        format: text # why
  - {name: flow, command: "true", expect: {output: {contains: [a], maxLength: 3}}}
  -
    name: below
    prompt: ask
    models: [small]
    tools:
      - name: f
        responses:
          - when: { a: 1 }
            then: x
    expect: *e
  - name: multi
    command: echo one
      two three
    "expect": {
      "guardrails": {
        "pii": {},
      },
    }
gates:
  passRateMin: 0.5
"#;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).expect("it is below a usize")
    }
}

fn visit(document: &Document, offset: usize) {
    let text = String::from(document.text());
    let files = MemoryFiles::new("/", [("a.json", "{}"), ("d/b.json", "{}")]);
    let values = Values { files: &files, now: "2026-05-14T12:00:00Z" };
    for hint in hints(document, SpecFile::KINDLM, 0..text.len(), values) {
        assert!(text.is_char_boundary(hint.at));
    }
    let mut last = 0;
    for token in tokens(document, SpecFile::KINDLM, 0..text.len()) {
        assert!(last <= token.range.start && text.get(token.range.clone()).is_some(), "{token:?}\n{text}");
        last = token.range.end;
    }
    for item in complete(document, SpecFile::KINDLM, offset, values, &|_| Vec::new(), None) {
        let range = item.edit.range;
        assert!(range.start <= offset && offset <= range.end, "{offset} {range:?} {}\n{text}", item.label);
        assert!(!text[range].contains('\n'), "{}", item.label);
        assert!(!item.label.is_empty());
    }
    let reach = Reach { settings: &Arc::default(), environment: &|_| None };
    if let Some(hover) = hover(document, SpecFile::KINDLM, offset, None, values, reach) {
        assert!(text.get(hover.range).is_some());
    }
}

fn check_symbols(symbols: &[Symbol], text: &str) {
    for symbol in symbols {
        assert!(text.get(symbol.range.clone()).is_some(), "{symbol:?}\n{text}");
        let (range, selection) = (&symbol.range, &symbol.selection);
        assert!(range.start <= selection.start && selection.end <= range.end, "{symbol:?}\n{text}");
        assert!(!symbol.name.is_empty());
        check_symbols(&symbol.children, text);
    }
}

#[test]
fn no_cursor_makes_anything_panic() {
    let document = Document::read(SUITE, ScalarRules::Yaml12);
    (0..=SUITE.len()).filter(|at| SUITE.is_char_boundary(*at)).for_each(|at| visit(&document, at));
    let cuts = (0..SUITE.len()).filter(|at| SUITE.is_char_boundary(*at));
    for cut in cuts.step_by(3) {
        let document = Document::read(&SUITE[..cut], ScalarRules::Yaml12);
        visit(&document, cut);
    }
}

#[test]
fn no_text_makes_anything_panic() {
    const SNIPPETS: &[&str] = &[
        "\"", "'", "[", "]", "{", "}", "- ", "-", ": ", ":", "\n", "\r\n", "\r", "\t", "  ", "#", "# speclens: allow(",
        "{{", "}}", "|\n", "&a ", "*a", "!x ", "😀", "? ", "---\n", "key: ", "schemaFile: ", "\u{feff}", ",", "\\",
        "@", "%",
    ];
    let runs = std::env::var("SPECLENS_FUZZ_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(400);
    let mut random = Random(0x5eed_0001);
    for _ in 0..runs {
        let mut text = SUITE.to_owned();
        let mut document = Document::read(&text, ScalarRules::Yaml12);
        for _ in 0..1 + random.below(4) {
            let boundary = |at: usize, text: &str| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let start = boundary(random.below(text.len() + 1), &text);
            let end = boundary((start + [0, 0, 1, 3, 40][random.below(5)]).min(text.len()), &text).max(start);
            let new = SNIPPETS[random.below(SNIPPETS.len())];
            text.replace_range(start..end, new);
            document.edit(start..end, new);
            document.refresh();
            for at in [start, boundary(start + new.len(), &text), boundary(random.below(text.len() + 1), &text)] {
                visit(&document, at);
            }
        }
        check_symbols(&symbols(&document, SpecFile::KINDLM), &text);
        for fold in folds(&document) {
            assert!(
                text.get(fold.range.clone()).is_some_and(|folded| folded.contains(['\n', '\r'])),
                "{fold:?}\n{text}"
            );
        }
    }
}
