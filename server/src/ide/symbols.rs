//! The outline: sections, tests, claims. It includes everything that can be read, even in damaged documents.

use std::ops::Range;

use speclens_schema::{
    document::{Document, EntryRef, NodeRef, Shape as NodeShape},
    json_schema::{self as schema, SpecFile, SymbolSource},
    shape::{Shape, Type},
    words::plural,
};

use super::names;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub name: String,
    pub detail: String,
    pub kind: SymbolKind,
    pub range: Range<usize>,
    /// The range of the name; within `range`.
    pub selection: Range<usize>,
    pub children: Vec<Symbol>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SymbolKind {
    /// A top-level key.
    Section,
    Test,
    Claim,
    /// Something else with a name: a prompt, a model, a setting.
    Entry,
}

pub(crate) fn symbols(document: &Document, file: SpecFile) -> Vec<Symbol> {
    let Some(root) = document.root() else { return Vec::new() };
    let shape = Shape::of(file);
    let mut symbols: Vec<Symbol> = if root.shape() == NodeShape::Sequence && shape.kind() == Type::List {
        members(root, &shape)
    } else {
        let section = |entry: EntryRef<'_>| {
            let shape = shape.step(&entry.key.key_text(), Some(root));
            let children = shape.map(|shape| members(entry.value, &shape)).unwrap_or_default();
            Symbol { children, ..leaf(entry, SymbolKind::Section, brief(entry.value)) }
        };
        root.entries().map(section).collect()
    };
    symbols.iter_mut().for_each(enclose);
    symbols
}

/// Extends an entry to the end of its children: in damaged text, the node may end before them.
fn enclose(symbol: &mut Symbol) {
    for child in &mut symbol.children {
        enclose(child);
        symbol.range.end = symbol.range.end.max(child.range.end);
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkspaceSymbol {
    pub name: String,
    /// The name of the enclosing symbol.
    pub container: Option<String>,
    pub kind: SymbolKind,
    pub selection: Range<usize>,
}

/// Returns the workspace symbols of a document: tests, named entries, and contracts as such.
/// Sections and claims have the same names in every file.
pub(crate) fn workspace_symbols(document: &Document, file: SpecFile) -> Vec<WorkspaceSymbol> {
    let Some(root) = document.root() else { return Vec::new() };
    match file.symbols {
        SymbolSource::Outline => {
            collect(symbols(document, file), None, &|kind| matches!(kind, SymbolKind::Test | SymbolKind::Entry))
        }
        SymbolSource::Cases => collect(symbols(document, file), None, &|kind| kind == SymbolKind::Test),
        SymbolSource::At(find) => {
            let entry = |found: schema::SymbolName<'_>| WorkspaceSymbol {
                name: named(&found.name),
                container: Some(found.below),
                kind: SymbolKind::Entry,
                selection: found.node.range(),
            };
            find(root).into_iter().map(entry).collect()
        }
    }
}

fn collect(
    outline: Vec<Symbol>,
    container: Option<&str>,
    is_wanted: &dyn Fn(SymbolKind) -> bool,
) -> Vec<WorkspaceSymbol> {
    let mut found = Vec::new();
    for symbol in outline {
        if is_wanted(symbol.kind) {
            let container = container.map(str::to_owned);
            let Symbol { name, kind, selection, .. } = &symbol;
            found.push(WorkspaceSymbol { name: name.clone(), container, kind: *kind, selection: selection.clone() });
        }
        found.extend(collect(symbol.children, Some(&symbol.name), is_wanted));
    }
    found
}

/// Returns the entries of a section: the items of a list of mappings, or the entries of a mapping.
fn members(section: NodeRef<'_>, shape: &Shape) -> Vec<Symbol> {
    let Some(item) = shape.item().filter(|item| item.kind() == Type::Mapping) else {
        return section.entries().map(|entry| leaf(entry, SymbolKind::Entry, brief(entry.value))).collect();
    };
    let claims = item.fields(None).into_iter().filter(|field| holds_claims(&field.shape)).map(|field| field.name);
    let (naming, alternatives) = (names::name_of(&item), item.alternatives());
    let kind = ItemKind { naming, claims: claims.collect(), alternatives };
    section.items().enumerate().filter_map(|(index, node)| kind.symbol(node, index)).collect()
}

fn leaf(entry: EntryRef<'_>, kind: SymbolKind, detail: String) -> Symbol {
    let key = entry.key.range();
    let range = key.start..entry.value.range().end.max(key.end);
    Symbol { name: named(&entry.key.key_text()), detail, kind, range, selection: key, children: Vec::new() }
}

/// The type of a list's items.
struct ItemKind {
    /// The key that holds their name.
    naming: Option<&'static str>,
    claims: Vec<&'static str>,
    /// The alternative keys that define their action.
    alternatives: Vec<&'static str>,
}

impl ItemKind {
    fn name<'d>(&self, node: NodeRef<'d>) -> Option<NodeRef<'d>> {
        let name = self.naming.and_then(|field| node.get(field));
        name.filter(|name| name.text().is_some_and(|text| !text.is_empty()))
    }

    fn symbol(&self, node: NodeRef<'_>, index: usize) -> Option<Symbol> {
        let is_test = !self.claims.is_empty();
        let name = self.name(node);
        let range = node.range();
        let selection = name.map(NodeRef::range).filter(|name| range.start <= name.start && name.end <= range.end);
        let head = range.start..node.entries().next().map_or(range.end, |entry| entry.key.range().end);
        let detail = self.alternatives.iter().find_map(|field| {
            let text = first_line_of(node.get(field)?.text()?)?;
            // A command needs no prefix.
            Some(if *field == "command" { text } else { format!("{field} {text}") })
        });
        let kind = if is_test { SymbolKind::Test } else { SymbolKind::Entry };
        let noun = if is_test { "test" } else { "entry" };
        let name = match name.and_then(NodeRef::text) {
            Some(name) => named(name),
            // A text that names a file with items.
            None if node.shape() == NodeShape::Scalar && node.text().is_some_and(|text| text.contains("://")) => {
                let name = named(node.text().unwrap_or_default());
                let kind = SymbolKind::Entry;
                return Some(Symbol {
                    name,
                    detail: String::new(),
                    kind,
                    selection: range.clone(),
                    range,
                    children: Vec::new(),
                });
            }
            None if node.shape() == NodeShape::Mapping || is_test => format!("({noun} {} without a name)", index + 1),
            None => return None,
        };
        let selection = selection.unwrap_or(if head.end <= range.end { head } else { range.clone() });
        Some(Symbol { name, detail: detail.unwrap_or_default(), kind, selection, range, children: self.claims(node) })
    }

    /// Returns the claims of a test, one per key or item. Those behind an alias are at another place.
    fn claims(&self, node: NodeRef<'_>) -> Vec<Symbol> {
        let held = self.claims.iter().filter_map(|field| node.get(field));
        let held = held.filter(|held| !held.is_through_alias() && held.alias().is_none());
        held.flat_map(|held| {
            let entries = held.entries().map(|entry| leaf(entry, SymbolKind::Claim, parts(entry.value)));
            entries.chain(held.items().filter_map(claim)).collect::<Vec<_>>()
        })
        .collect()
    }
}

/// Whether a key contains claims: in a mapping, or as the items of a list.
fn holds_claims(shape: &Shape) -> bool {
    shape.holds_claims() || shape.item().is_some_and(|item| item.holds_claims())
}

/// Returns a claim that is an item of a list: its first entry is the type.
fn claim(item: NodeRef<'_>) -> Option<Symbol> {
    if item.is_through_alias() || item.alias().is_some() {
        return None;
    }
    let tag = item.entry("type").filter(|entry| entry.value.text().is_some());
    let first = item.entries().next()?;
    let (name, selection, detail) = match tag {
        Some(tag) => {
            let others = item.entries().filter(|entry| entry.key.text() != Some("type"));
            let detail = others.filter_map(|entry| entry.value.text().and_then(first_line_of)).next();
            (tag.value.text().unwrap_or_default().to_owned(), tag.value.range(), detail)
        }
        None => (first.key.key_text(), first.key.range(), Some(brief(first.value)).filter(|text| !text.is_empty())),
    };
    let range = item.range();
    let selection =
        if range.start <= selection.start && selection.end <= range.end { selection } else { range.clone() };
    let detail = detail.unwrap_or_else(|| parts(first.value));
    Some(Symbol { name: named(&name), detail, kind: SymbolKind::Claim, range, selection, children: Vec::new() })
}

fn parts(value: NodeRef<'_>) -> String {
    const MAX_PARTS: usize = 4;
    let names: Vec<String> = match value.shape() {
        NodeShape::Mapping => value.entries().map(|entry| entry.key.key_text()).collect(),
        NodeShape::Sequence => value
            .items()
            .filter_map(|item| item.entries().next().map(|entry| entry.value.text().unwrap_or_default().to_owned()))
            .collect(),
        NodeShape::Scalar | NodeShape::Dangling => Vec::new(),
    };
    let mut line = names.iter().take(MAX_PARTS).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > MAX_PARTS {
        line.push_str(", …");
    }
    line
}

/// Returns a scalar in one line; for a list, the number of its items.
fn brief(value: NodeRef<'_>) -> String {
    match value.shape() {
        NodeShape::Scalar => value.text().and_then(first_line_of).unwrap_or_default(),
        NodeShape::Sequence => plural(value.item_count(), "item"),
        NodeShape::Mapping | NodeShape::Dangling => String::new(),
    }
}

fn first_line_of(text: &str) -> Option<String> {
    const MAX_CHARACTERS: usize = 80;
    let line = text.lines().find(|line| !line.trim().is_empty())?.trim();
    let is_cut = line.chars().count() > MAX_CHARACTERS || text.trim_end().lines().count() > 1;
    let words: String = line.chars().take(MAX_CHARACTERS).collect();
    Some(if is_cut { format!("{words} …") } else { words })
}

/// Returns a name that is not empty: editors refuse symbols without a name.
fn named(name: &str) -> String {
    if name.trim().is_empty() { "(empty)".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::ide::tests::fixture::Fixture;

    fn check(fixture: &str, expected: Expect) {
        let fixture = Fixture::parse(fixture);
        let text = fixture.text();
        let mut lines = String::new();
        fn show(symbols: &[Symbol], depth: usize, text: &str, lines: &mut String) {
            for symbol in symbols {
                assert!(
                    symbol.range.start <= symbol.selection.start && symbol.selection.end <= symbol.range.end,
                    "{symbol:?}"
                );
                assert!(symbol.children.iter().all(|child| child.range.end <= symbol.range.end), "{symbol:?}");
                let at = &text[symbol.selection.clone()];
                let detail = if symbol.detail.is_empty() { String::new() } else { format!(" · {}", symbol.detail) };
                lines.push_str(&format!("{}{:?} {}{detail} @{at}\n", "  ".repeat(depth), symbol.kind, symbol.name));
                show(&symbol.children, depth + 1, text, lines);
            }
        }
        show(&symbols(&fixture.document, fixture.file), 0, &text, &mut lines);
        expected.assert_eq(&lines);
    }

    #[test]
    fn an_item_of_damaged_text_reaches_to_the_end_of_its_claims() {
        check(
            r#"//- /cli-bench.yaml
cli: x
tasks:
  - id: show-all-help
  intent: "Show thekey:
    assert:
      - ran: "x"
  - id: b
"#,
            expect![[r#"
                Section cli · x @cli
                Section tasks · 2 items @tasks
                  Test show-all-help @show-all-help
                    Claim ran · x @ran
                  Test b @b
            "#]],
        );
    }

    #[test]
    fn the_outline_has_sections_tests_and_claims() {
        check(
            r#"
kindlm: 1
project: shop
models:
  - { id: small, provider: openai, model: m }
prompts:
  ask: { user: "{{q}}" }
tests:
  - name: "one"
    command: |
      echo a
      echo b
    expect: &e
      output: { contains: [a], maxLength: 3 }
      toolCalls:
        - tool: lookup
        - tool: delete
          shouldNotCall: true
  - name: two
    prompt: ask
    expect: *e
  - command: "true"
    expect: {}
gates:
  passRateMin: 1
"#,
            expect![[r#"
                Section kindlm · 1 @kindlm
                Section project · shop @project
                Section models · 1 item @models
                  Entry small @small
                Section prompts @prompts
                  Entry ask @ask
                Section tests · 3 items @tests
                  Test one · echo a … @"one"
                    Claim output · contains, maxLength @output
                    Claim toolCalls · lookup, delete @toolCalls
                  Test two · prompt ask @two
                  Test (test 3 without a name) · true @command
                Section gates @gates
                  Entry passRateMin · 1 @passRateMin
            "#]],
        );
    }

    #[test]
    fn a_damaged_test_leaves_the_others_alone() {
        check(
            r#"
kindlm: 1
tests:
  - name: one
    command: "true"
    expect: {}
  - name: "two
    command: x
  -
  - na
  - name: three
    command: "false"
    expect: { latency: { maxMs: 1 } }
"#,
            expect![[r#"
                Section kindlm · 1 @kindlm
                Section tests · 5 items @tests
                  Test one · true @one
                  Test two · x @"two
                  Test (test 3 without a name) @
                  Test (test 4 without a name) @na
                  Test three · false @three
                    Claim latency · maxMs @latency
            "#]],
        );
    }

    #[test]
    fn a_list_of_tasks_has_an_outline() {
        check(
            "//- /cli-bench-tasks.yaml\n- id: status\n  intent: Show it.\n  assert:\n    - exit_code: 0\n    - verify: { run: git log }\n- intent: b\n- id: last\n",
            expect![[r#"
                Test status @status
                  Claim exit_code · 0 @exit_code
                  Claim verify · run @verify
                Test (test 2 without a name) @intent
                Test last @last
            "#]],
        );
    }

    #[test]
    fn tasks_of_a_suite_and_files_of_tasks_are_in_its_outline() {
        check(
            "//- /cli-bench.yaml\ncli: git\ntasks:\n  - file://tasks/*.yaml\n  - id: one\n    assert: [{ ran: git log }]\n",
            expect![[r#"
                Section cli · git @cli
                Section tasks · 2 items @tasks
                  Entry file://tasks/*.yaml @file://tasks/*.yaml
                  Test one @one
                    Claim ran · git log @ran
            "#]],
        );
    }

    #[test]
    fn settings_have_an_outline_too() {
        check(
            "//- /speclens.yaml\nseverity:\n  unused: off\nlimits: {}\n",
            expect![[r#"
            Section severity @severity
              Entry unused · off @unused
            Section limits @limits
        "#]],
        );
    }
}
