//! Every feature in every condition: block style, flow style, with aliases, with merge keys, beside a half-typed
//! neighbor; with both line ends; columns in each of the three units; an emoji before the cursor wherever a line can
//! have one. A cell is one feature in one condition; all failing cells are listed together.
//!
//! The documents contain marks, `«name»`, for the cursor and for the start of an answer.

use std::ops::Range;

use serde_json::{Value, json};

use crate::{
    client::Client,
    positions::{edited, offset_in, position_in},
};

/// A document with its marks, and the expected answers.
struct Document {
    /// The place of the file below the directory of its condition.
    path: &'static str,
    form: &'static str,
    text: String,
    /// Entries that must be offered at `«complete»`, and entries that must not.
    offers: &'static [&'static str],
    refuses: &'static [&'static str],
    /// Expected hover at `«hover»`.
    hover: &'static str,
    /// Number of places of the name at `«name»`, including its definition.
    uses: usize,
    /// The wrong key at `«wrong»`.
    wrong: &'static str,
}

const KINDLM: &str = r#"kindlm: 1
project: "😀 ä"
suite: { name: s }
providers: { openai: { apiKeyEnv: K } }
models: [{ id: small, provider: openai, model: m }]
prompts: { "«definition»ä😀 ask": { user: "😀 {{q}}" } }
tests:
"#;

fn kindlm() -> Vec<Document> {
    let document = |form, tests: &str, uses, hover| Document {
        path: "kindlm.yaml",
        form,
        text: format!("{KINDLM}{tests}"),
        offers: &["notContains", "maxLength"],
        refuses: &["format", "schemaFile", "contains", "name"],
        hover,
        uses,
        wrong: "maxLenght",
    };
    let block = r#"«fold»  - name: "😀 one«symbol»"
    prompt: "ä😀 «name»ask"
    vars: { "q": y }
    expect:
      output:
        format: json
        schemaFile: "«link»s/ä😀.json"
        «hover»contains: [a]
        «complete»
        «wrong»maxLenght: 5
«half»  - name: two
    command: "echo 'ä😀' «token»{{q}}«hint» | cat"
    vars: { q: y }
    expect: { output: { contains: [a] } }
"#;
    let flow = r#"«fold»  - { name: "😀 one«symbol»",
      prompt: "ä😀 «name»ask", vars: { q: "😀" },
      expect: { output: { format: json, schemaFile: "«link»s/ä😀.json", «hover»contains: [a], «complete» } } }
  - { name: "😀", command: "echo 'ä😀' «token»{{q}}«hint» | cat",
      vars: { q: y }, expect: { output: { contains: ["😀"], «wrong»maxLenght: 5 } } }
"#;
    let alias = r#"«fold»  - name: "😀 one«symbol»"
    prompt: "ä😀 ask"
    vars: &«definition»shared { q: "ä😀" }
    expect: &expect
      output:
        format: json
        schemaFile: "«link»s/ä😀.json"
        contains: &words ["😀", a]
        «complete»
        «wrong»maxLenght: 5
  - { name: "😀", prompt: "ä😀 ask", vars: *«name»shared, expect: *expect }
  - name: three
    command: "echo 'ä😀' «token»{{q}}«hint» | cat"
    vars: *shared
    «hover»expect: *expect
"#;
    let merge = r#"«fold»  - &base
    name: "😀 one«symbol»"
    prompt: "ä😀 «name»ask"
    vars: { q: "😀" }
    expect:
      output: &output
        format: json
        schemaFile: "«link»s/ä😀.json"
        «hover»contains: [a]
        «complete»
        «wrong»maxLenght: 5
  - <<: *base
    name: "😀 two"
    command: "echo 'ä😀' «token»{{q}}«hint» | cat"
    vars: { q: y }
    expect: { output: { contains: [a] } }
"#;
    vec![
        document("block", &block.replace("«half»", ""), 2, "list of strings"),
        document("flow", flow, 2, "list of strings"),
        document("alias", alias, 3, "Expectations about every attempt"),
        document("merge", merge, 2, "list of strings"),
        document(
            "half-typed",
            &block.replace("«half»", "  - name: \"open\n    prompt: [\n    exp\n"),
            2,
            "list of strings",
        ),
    ]
}

fn cli_bench() -> Vec<Document> {
    let head = "cli: git\nproviders: [\"😀/x\", anthropic/x]\nscaffold: \"«link»fixtures 😀\"\nthresholds: { models: { \"😀/x\": 70, anthropic/x: 80 } }\n";
    let document = |form, head: &str, tasks: &str, uses, hover| Document {
        path: "cli-bench.yaml",
        form,
        text: format!("{head}{tasks}"),
        offers: &["difficulty", "category"],
        refuses: &["id", "intent", "assert", "cli"],
        hover,
        uses,
        wrong: "max_turn",
    };
    let block = r#"tasks:
«fold»  - id: "«definition»😀 «name»one«symbol»"
    intent: "😀 Show it"
    «hover»repeat: 2
    «wrong»max_turn: 2
    assert:
      - exit_code: 0
      - verify: { run: "echo 'ä😀' «token»{{workdir}} | cat" }
    «complete»
«half»  - "file://t😀/*.yaml«hint»"
"#;
    let flow = r#"tasks: [
«fold»  { id: "«definition»😀 «name»one«symbol»", intent: "😀 Show it", «hover»repeat: 2,
    «wrong»max_turn: 2, assert: [{ exit_code: 0 }, { verify: { run: "echo 'ä😀' «token»{{workdir}} | cat" } }], «complete» },
  "file://t😀/*.yaml«hint»" ]
"#;
    let alias = r#"tasks:
«fold»  - id: one«symbol»
    intent: &«definition»intent "😀 Show it"
    «hover»repeat: 2
    «wrong»max_turn: 2
    assert: &claims
      - exit_code: 0
      - verify: { run: "echo 'ä😀' «token»{{workdir}} | cat" }
    «complete»
  - { id: "😀", intent: *«name»intent, assert: *claims }
  - "file://t😀/*.yaml«hint»"
"#;
    let merge = r#"tasks:
«fold»  - &«definition»base
    id: one«symbol»
    intent: "😀 Show it"
    «hover»repeat: 2
    «wrong»max_turn: 2
    assert:
      - exit_code: 0
      - verify: { run: "echo 'ä😀' «token»{{workdir}} | cat" }
    «complete»
  - { <<: *«name»base, id: "😀 two" }
  - "file://t😀/*.yaml«hint»"
"#;
    vec![
        document("block", head, &block.replace("«half»", ""), 1, "integer, 1 to 100"),
        document("flow", head, flow, 1, "integer, 1 to 100"),
        document("alias", head, alias, 2, "integer, 1 to 100"),
        document("merge", head, merge, 2, "integer, 1 to 100"),
        document(
            "half-typed",
            head,
            &block.replace("«half»", "  - id: \"open\n    intent: [\n    ass\n"),
            1,
            "integer, 1 to 100",
        ),
    ]
}

fn clawspec() -> Vec<Document> {
    let head = "version: \"1.0\"\ntarget: { type: skill, path: skills/a, trigger: /a }\nscenarios:\n";
    let document = |form, scenarios: &str, uses, refuses| Document {
        path: "skills/a/tests/scenarios.yaml",
        form,
        text: format!("{head}{scenarios}"),
        offers: &["timeout"],
        refuses,
        hover: "Headings that a Markdown file must have",
        uses,
        wrong: "fieldz",
    };
    let taken: &[&str] = &["type", "path", "sections", "words", "tool", "name"];
    let block = r#"«fold»  - name: "«definition»😀 «name»one«symbol»"
    when: { invoke: "/a ä😀 «token»{{today}}«hint»" }
    then:
      - type: artifact_contains
        path: "«link»out/ä😀.md"
        «hover»sections: [Hook]
        «wrong»fieldz: [b]
        «complete»
«half»  - { name: two, tags: [negative], when: { invoke: /a }, then: [{ type: no_span_errors }] }
"#;
    let flow = r#"«fold»  - { name: "«definition»😀 «name»one«symbol»",
      when: { invoke: "/a ä😀 «token»{{today}}«hint»" },
      then: [{ type: artifact_contains, path: "«link»out/ä😀.md", «hover»sections: ["😀"], «wrong»fieldz: [b], «complete» }] }
  - { name: two, tags: [negative], when: { invoke: /a }, then: [{ type: no_span_errors }] }
"#;
    let alias = r#"«fold»  - name: "😀 one«symbol»"
    when: &«definition»when { invoke: "/a ä😀 «token»{{today}}«hint»" }
    then:
      - &claim
        type: &kind artifact_contains
        path: "«link»out/ä😀.md"
        «hover»sections: [Hook]
        «wrong»fieldz: [b]
        «complete»
  - { name: "😀", tags: [negative], when: *«name»when, then: [*claim] }
"#;
    let merge = r#"«fold»  - &base
    name: "😀 one«symbol»"
    when: { invoke: "/a ä😀 «token»{{today}}«hint»" }
    then:
      - &«definition»claim { type: artifact_contains, path: "«link»out/ä😀.md" }
      - <<: *«name»claim
        «hover»sections: [Hook]
        «wrong»fieldz: [b]
        «complete»
  - { <<: *base, name: two, tags: [negative] }
"#;
    vec![
        document("block", &block.replace("«half»", ""), 1, taken),
        document("flow", flow, 1, taken),
        document("alias", alias, 2, taken),
        document("merge", merge, 2, taken),
        document("half-typed", &block.replace("«half»", "  - name: \"open\n    when: [\n    th\n"), 1, taken),
    ]
}

/// A document without its marks, and their positions.
struct Marked {
    text: String,
    marks: Vec<(String, usize)>,
}

impl Marked {
    fn of(text: &str) -> Marked {
        let mut marks = Vec::new();
        let mut plain = String::new();
        for part in text.split('«') {
            match part.split_once('»') {
                None => plain.push_str(part),
                Some((name, rest)) => {
                    marks.push((name.to_owned(), plain.len()));
                    plain.push_str(rest);
                }
            }
        }
        Marked { text: plain, marks }
    }

    /// Returns the last mark of this name: the document's own one follows that of its head.
    fn at(&self, name: &str) -> usize {
        self.marks.iter().rfind(|(known, _)| known == name).unwrap_or_else(|| panic!("no mark {name}")).1
    }
}

/// One document in one condition, as the client sees it.
struct Cell<'c> {
    client: &'c mut Client,
    uri: String,
    name: String,
    encoding: &'static str,
    marked: &'c Marked,
    document: &'c Document,
}

impl Cell<'_> {
    fn place(&self, offset: usize) -> Value {
        position_in(&self.marked.text, offset, self.encoding)
    }

    fn offset(&self, place: &Value) -> usize {
        offset_in(&self.marked.text, place, self.encoding)
    }

    fn range(&self, range: &Value) -> Range<usize> {
        self.offset(&range["start"])..self.offset(&range["end"])
    }

    fn ask_at(&mut self, method: &str, mark: &str, more: Value) -> Value {
        let place = self.place(self.marked.at(mark));
        self.client.ask_at(method, &self.name, place, more)["result"].clone()
    }

    /// Returns the byte range of every result.
    fn ranges(&self, found: &Value) -> Vec<Range<usize>> {
        found.as_array().into_iter().flatten().map(|found| self.range(&found["range"])).collect()
    }

    /// Returns the text after edits.
    fn edited(&self, edits: &Value) -> String {
        edited(&self.marked.text, edits, self.encoding)
    }

    fn completion(&mut self) -> Result<(), String> {
        let found = self.ask_at("completion", "complete", json!({}));
        let at = self.marked.at("complete");
        let items = found["items"].as_array().cloned().unwrap_or_default();
        let labels: Vec<&str> = items.iter().map(|item| item["label"].as_str().unwrap()).collect();
        let missing: Vec<_> = self.document.offers.iter().filter(|label| !labels.contains(label)).collect();
        let wrong: Vec<_> = self.document.refuses.iter().filter(|label| labels.contains(label)).collect();
        if !missing.is_empty() || !wrong.is_empty() {
            return Err(format!("lacks {missing:?}, holds {wrong:?} of {labels:?}"));
        }
        let touches = |item: &Value| {
            let range = self.range(&item["textEdit"]["range"]);
            range.start <= at && at <= range.end
        };
        if items.iter().all(touches) { Ok(()) } else { Err("an edit is elsewhere".to_owned()) }
    }

    fn hover(&mut self) -> Result<(), String> {
        let found = self.ask_at("hover", "hover", json!({}));
        let words = found["contents"]["value"].as_str().unwrap_or_default();
        if !words.contains(self.document.hover) {
            return Err(format!("{found}"));
        }
        let start = self.range(&found["range"]).start;
        if start == self.marked.at("hover") { Ok(()) } else { Err(format!("begins at {start}")) }
    }

    fn definition(&mut self) -> Result<(), String> {
        let found = self.ask_at("definition", "name", json!({}));
        let starts: Vec<usize> = self.ranges(&found).iter().map(|range| range.start).collect();
        if starts == [self.marked.at("definition")] { Ok(()) } else { Err(format!("{starts:?}")) }
    }

    fn count(&self, found: &Value) -> Result<(), String> {
        let ranges = self.ranges(found);
        let texts: Vec<&str> = ranges.iter().map(|range| &self.marked.text[range.clone()]).collect();
        let is_same = texts.windows(2).all(|pair| pair[0] == pair[1]);
        if texts.len() == self.document.uses && is_same { Ok(()) } else { Err(format!("{texts:?}")) }
    }

    fn references(&mut self) -> Result<(), String> {
        let all = json!({ "context": { "includeDeclaration": true } });
        let found = self.ask_at("references", "name", all);
        self.count(&found)
    }

    fn highlight(&mut self) -> Result<(), String> {
        let found = self.ask_at("documentHighlight", "name", json!({}));
        self.count(&found)
    }

    fn rename(&mut self) -> Result<(), String> {
        let prepared = self.ask_at("prepareRename", "name", json!({}));
        let Some(old) = prepared["placeholder"].as_str() else { return Err(format!("prepared {prepared}")) };
        let found = self.ask_at("rename", "name", json!({ "newName": "renamed" }));
        let edits = found["changes"][&self.uri].clone();
        let text = self.edited(&edits);
        let count = text.matches("renamed").count();
        let is_right = count == self.document.uses && text.replace("renamed", old) == self.marked.text;
        if is_right { Ok(()) } else { Err(format!("{count} of {edits}")) }
    }

    fn links(&mut self) -> Result<(), String> {
        let found = self.client.about(&self.name, "documentLink");
        let starts: Vec<usize> = self.ranges(&found).iter().map(|range| range.start).collect();
        // A quoted path is linked with its quotes.
        let wanted = self.marked.at("link");
        if starts.iter().any(|start| (wanted - 1..=wanted).contains(start)) {
            Ok(())
        } else {
            Err(format!("{starts:?}"))
        }
    }

    fn selections(&mut self) -> Result<(), String> {
        let at = self.marked.at("name");
        let place = self.place(at);
        let found = self.ask_at("selectionRange", "name", json!({ "positions": [place] }));
        let mut level = &found[0];
        let mut inner = at..at;
        let mut levels = 0;
        while level.is_object() {
            let range = self.range(&level["range"]);
            if range.start > inner.start || range.end < inner.end {
                return Err(format!("{range:?} does not hold {inner:?}"));
            }
            (inner, levels, level) = (range, levels + 1, &level["parent"]);
        }
        if levels >= 4 && inner.len() > self.marked.text.len() / 2 { Ok(()) } else { Err(format!("{levels} levels")) }
    }

    fn folding(&mut self) -> Result<(), String> {
        let found = self.client.about(&self.name, "foldingRange");
        let line = self.place(self.marked.at("fold"))["line"].clone();
        let fits = |fold: &Value| fold["startLine"] == line && fold["endLine"].as_u64() > line.as_u64();
        if found.as_array().unwrap().iter().any(fits) { Ok(()) } else { Err(format!("none at {line}: {found}")) }
    }

    fn symbols(&mut self) -> Result<(), String> {
        fn below<'v>(found: &'v Value, all: &mut Vec<&'v Value>) {
            for symbol in found.as_array().into_iter().flatten() {
                all.push(symbol);
                below(&symbol["children"], all);
            }
        }
        let found = self.client.about(&self.name, "documentSymbol");
        let mut all = Vec::new();
        below(&found, &mut all);
        let at = self.marked.at("symbol");
        let fits = |symbol: &&Value| {
            let range = self.range(&symbol["selectionRange"]);
            symbol["name"].as_str().unwrap().ends_with("one") && range.start <= at && at <= range.end
        };
        if all.iter().any(fits) { Ok(()) } else { Err(format!("{found}")) }
    }

    fn tokens(&mut self) -> Result<(), String> {
        let found = self.client.about(&self.name, "semanticTokens/full");
        let data: Vec<u64> = found["data"].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect();
        let (mut line, mut column) = (0, 0);
        let mut starts = Vec::new();
        for token in data.chunks(5) {
            column = if token[0] == 0 { column + token[1] } else { token[1] };
            line += token[0];
            starts.push(json!({ "line": line, "character": column }));
        }
        let wanted = self.place(self.marked.at("token"));
        if starts.contains(&wanted) { Ok(()) } else { Err(format!("{wanted} is not among {starts:?}")) }
    }

    fn hints(&mut self) -> Result<(), String> {
        let whole = json!({ "start": self.place(0), "end": self.place(self.marked.text.len()) });
        let found = self.ask_at("inlayHint", "hint", json!({ "range": whole }));
        let wanted = self.marked.at("hint");
        let places: Vec<usize> = found.as_array().unwrap().iter().map(|hint| self.offset(&hint["position"])).collect();
        // A hint of a quoted text may follow its quote.
        if places.iter().any(|at| (wanted..=wanted + 1).contains(at)) {
            Ok(())
        } else {
            Err(format!("{places:?}, not {wanted}"))
        }
    }

    fn diagnostics(&mut self) -> Result<(), String> {
        let at = self.place(self.marked.at("wrong"));
        let found = self.client.diagnostics(&self.name, |found| !found.is_empty());
        let fits = |found: &Value| found["code"] == "unknown-key" && found["range"]["start"] == at;
        if found.iter().any(fits) { Ok(()) } else { Err(format!("{found:?}")) }
    }

    fn actions(&mut self) -> Result<(), String> {
        let at = self.place(self.marked.at("wrong"));
        let found = self.client.actions(&self.name, &json!({ "start": at, "end": at }), None);
        let fixes = found.iter().filter(|action| action["kind"] == "quickfix");
        let texts: Vec<String> = fixes.map(|fix| self.edited(&fix["edit"]["changes"][&self.uri])).collect();
        let key = format!("{}:", self.document.wrong);
        if texts.iter().any(|text| !text.contains(&key)) { Ok(()) } else { Err(format!("{found:?}")) }
    }
}

type Feature = fn(&mut Cell<'_>) -> Result<(), String>;

const FEATURES: &[(&str, Feature)] = &[
    ("diagnostics", |cell| cell.diagnostics()),
    ("completion", |cell| cell.completion()),
    ("hover", |cell| cell.hover()),
    ("definition", |cell| cell.definition()),
    ("references", |cell| cell.references()),
    ("highlight", |cell| cell.highlight()),
    ("rename", |cell| cell.rename()),
    ("links", |cell| cell.links()),
    ("selection ranges", |cell| cell.selections()),
    ("folding", |cell| cell.folding()),
    ("symbols", |cell| cell.symbols()),
    ("tokens", |cell| cell.tokens()),
    ("hints", |cell| cell.hints()),
    ("code actions", |cell| cell.actions()),
];

#[track_caller]
fn check(documents: &[Document]) {
    let mut failed = Vec::new();
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let mut files: Vec<(String, String)> = Vec::new();
        let mut cells = Vec::new();
        for (document, line_end) in documents.iter().flat_map(|document| [(document, "\n"), (document, "\r\n")]) {
            let directory = format!("{}-{}", document.form, line_end.len());
            let marked = Marked::of(&document.text.replace('\n', line_end));
            let name = format!("{directory}/{}", document.path);
            files.push((name.clone(), marked.text.clone()));
            for (path, text) in [
                ("s/ä😀.json", "{}\n"),
                ("out/ä😀.md", "# Hook\n"),
                ("fixtures 😀/a", "x\n"),
                ("t😀/a.yaml", "- { id: a, intent: b, assert: [{ exit_code: 0 }] }\n"),
                ("clawspec.yaml", "{}\n"),
                ("skills/a/SKILL.md", "x\n"),
            ] {
                files.push((format!("{directory}/{path}"), text.to_owned()));
            }
            cells.push((name, marked, document));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let mut client = Client::spawn(&files);
        let answer = client.initialize(json!({ "general": { "positionEncodings": [encoding] } }), json!({}));
        assert_eq!(answer["capabilities"]["positionEncoding"], encoding);
        for (name, marked, document) in &cells {
            client.open(name);
            let uri = client.uri(name);
            for (feature, run) in FEATURES {
                let cell =
                    &mut Cell { client: &mut client, uri: uri.clone(), name: name.clone(), encoding, marked, document };
                if let Err(why) = run(cell) {
                    failed.push(format!("{feature} · {name} · {encoding}: {why}"));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} cells:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn every_feature_works_in_kindlm_in_every_condition() {
    check(&kindlm());
}

#[test]
fn every_feature_works_in_cli_bench_in_every_condition() {
    check(&cli_bench());
}

#[test]
fn every_feature_works_in_clawspec_in_every_condition() {
    check(&clawspec());
}
