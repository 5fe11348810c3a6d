//! Properties of the reader: reading by blocks gives the same as reading the whole, an edited document is the document
//! of the edited text, damage is contained, and no input causes a panic.
//!
//! `SPECLENS_FUZZ_RUNS` sets the number of mutations (20,000 by default).

#[path = "../../../tests/common/list_style.rs"]
mod list_style;

mod hostile;

use std::collections::HashSet;

use list_style::ListStyle;

use crate::{Document, FaultKind, NodeRef, Pointer, ScalarRules, Shape, loose, tree::NodeKind, view};

/// Returns a suite with everything that authors use: block and flow style, quotes, block scalars, anchors, comments,
/// non-ASCII text.
fn suite(tests: usize) -> String {
    let mut text = String::from(
        "# A suite\nkindlm: 1\nproject: demo\nsuite:\n  name: \"many\"\n  tags: [a, b]\nprompts:\n  ask:\n    user: >-\n      folded\n      text\n  other: {user: 'it''s'}\ntests:\n",
    );
    for test in 0..tests {
        text.push_str(&match test % 5 {
            0 => format!(
                "  - name: test {test}\n    command: printf 'hello {test}'\n    expect:\n      output:\n        contains: [hello, \"{test}\"]\n        maxLength: 100\n"
            ),
            1 => format!(
                "  # a comment\n  - name: 'täst {test} 😀'\n    command: |\n      printf 'a: b'\n      # not a comment\n      - no item\n    vars:\n      a: \"x: y\"\n    expect: &e{test}\n      toolCalls:\n        - tool: f\n          argsMatch: {{id: {test}, l: [1, 2]}}\n        - tool: g\n          shouldNotCall: true\n"
            ),
            2 => format!("  - {{name: flow {test}, command: \"true\", expect: {{output: {{contains: [a]}}}}}}\n"),
            3 => format!("  - name: alias {test}\n    command: \"echo \\\"x\\\"\"\n    expect: *e{}\n\n", test - 2),
            _ => format!(
                "  - name: multi {test}\n    command: echo one\n      two three\n    tags:\n    - x\n    - y\n    expect:\n      guardrails:\n        pii: {{enabled: true}}\n        keywords:\n          deny:\n            - secret\n"
            ),
        });
    }
    text.push_str("gates:\n  passRateMin: 0.5\ndefaults: {timeoutMs: 1000}\n");
    text
}

/// Returns the same tests in a file whose root is their list.
fn task_file(tests: usize) -> String {
    let suite = suite(tests);
    let (start, end) = (suite.find("tests:\n").unwrap() + "tests:\n".len(), suite.find("gates:").unwrap());
    let mut text = String::from("# Tasks\n---\n");
    for line in suite[start..end].split_inclusive('\n') {
        text.push_str(line.strip_prefix("  ").unwrap_or(line));
    }
    text
}

/// Returns one of them, in one of the list styles.
fn base(round: usize, tests: usize) -> String {
    let text = if round.is_multiple_of(2) { suite(tests) } else { task_file(tests) };
    ListStyle::ALL[round / 2 % 3].of(&text)
}

fn whole(text: &str) -> Option<Document> {
    let parsed = loose::parse(text, ScalarRules::Yaml12).ok()?;
    parsed.root.as_ref().filter(|root| matches!(root.kind, NodeKind::Mapping(_) | NodeKind::Sequence(_)))?;
    parsed.second_document.is_none().then(|| Document::read_uncut(text, ScalarRules::Yaml12))
}

fn is_collection(document: &Document) -> bool {
    document.root().is_some_and(|root| matches!(root.shape(), Shape::Mapping | Shape::Sequence))
}

/// Returns every node with its place, as text for comparing two documents.
fn outline(document: &Document) -> Vec<String> {
    let mut lines = Vec::new();
    let Some(root) = document.root() else { return lines };
    view::walk(root, &Pointer::root(), &mut |node, pointer| {
        let range = if pointer.is_root() { 0..0 } else { node.own_range() };
        let text = if node.alias().is_some() { node.alias() } else { node.text() };
        let keys: Vec<_> =
            if node.alias().is_some() { Vec::new() } else { node.entries().map(|entry| entry.key.range()).collect() };
        lines.push(format!("{pointer} {range:?} {text:?} {:?} {:?} {keys:?}", node.anchor(), node.tag()));
    });
    lines
}

/// Asserts that children are within the range of their parent, even in a damaged text.
#[track_caller]
fn assert_nested(node: NodeRef<'_>, text: &str) {
    let children = node.entries().flat_map(|entry| [entry.key, entry.value]).chain(node.items());
    for child in children.filter(|_| node.alias().is_none()) {
        let (outer, inner) = (node.own_range(), child.own_range());
        assert!(outer.start <= inner.start && inner.end <= outer.end, "{inner:?} is not in {outer:?}\n{text}");
        assert_nested(child, text);
    }
}

/// Compares two trees and shows the first difference.
#[track_caller]
fn assert_same(found: &Document, expected: &Document, text: &str) {
    let (found, expected) = (outline(found), outline(expected));
    let first = found.iter().zip(&expected).position(|(found, expected)| found != expected);
    let at = first.unwrap_or(found.len().min(expected.len()));
    assert!(found == expected, "found {:?}\nexpected {:?}\nin\n{text}", found.get(at), expected.get(at));
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

const SNIPPETS: &[&str] = &[
    " ", "\n", "\t", ":", ": ", "-", "- ", "'", "\"", "[", "]", "{", "}", ",", "#", " #", "&a ", "*a", "!", "|", ">",
    "%", "@", "`", "a", "ä", "😀", "key", "\r\n", "\r", "---\n", "...\n", "  ", "    ", "? ", "<<: *e1", "\u{feff}",
    "\u{a0}", "\u{a0}: x: y", "\u{3000}", "\u{2028}", "\u{85}", "\u{7f}", "e\u{301}", "👩\u{200d}🔬", "\0", "\\", "0",
    "<<<<<<< HEAD\n", "\n- x", "\n  - name: new\n",
];

/// Returns a random edit of a text: position, removed text, inserted text.
fn random_edit(random: &mut Random, text: &str) -> (std::ops::Range<usize>, String) {
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(random.below(text.len() + 1));
    let length = if random.below(2) == 0 { 0 } else { random.below(12) };
    let end = boundary((start + length).min(text.len())).max(start);
    let count = random.below(3);
    let new: String = (0..count).map(|_| SNIPPETS[random.below(SNIPPETS.len())]).collect();
    (start..end, new)
}

#[test]
fn reading_by_blocks_says_what_reading_the_whole_says() {
    let bases = [suite(25), task_file(25), ListStyle::Flat.of(&suite(25)), ListStyle::Deep.of(&task_file(25))];
    let mut random = Random(0x5eed_0001);
    let mut intact = [0; 4];
    for round in 0..10_000 {
        let mut text = bases[round % 4].clone();
        for _ in 0..=random.below(3) {
            let (range, new) = random_edit(&mut random, &text);
            text.replace_range(range, &new);
        }
        if round % 3 == 0 {
            text = text.replace('\n', "\r\n");
        }
        let document = Document::read(&text, ScalarRules::Yaml12);
        match whole(&text) {
            Some(whole) => {
                intact[round % 4] += 1;
                assert_same(&document, &whole, &text);
                assert!(document.is_intact(), "{:?}\n{text}", document.faults());
            }
            None => assert!(!document.is_intact() || !is_collection(&document), "accepted\n{text}"),
        }
    }
    assert!(intact.iter().all(|count| *count > 400), "only {intact:?} of the mutated texts were YAML");
}

#[test]
fn an_edited_document_is_the_document_of_the_edited_text() {
    let mut random = Random(0x5eed_0002);
    for round in 0..80 {
        let mut text = base(round, 12);
        let mut document = Document::read(&text, ScalarRules::Yaml12);
        for _ in 0..60 {
            // Several edits may precede a request for the tree.
            for _ in 0..=random.below(3) {
                let (range, new) = random_edit(&mut random, &text);
                text.replace_range(range.clone(), &new);
                document.edit(range, &new);
            }
            document.refresh();
            assert_eq!(String::from(document.text()), text);
            let lengths: usize = document.blocks().map(|(_, block)| block.length()).sum();
            assert_eq!(lengths, text.len(), "blocks do not cover the text");
            assert_kept(&document, &text);
            let fresh = Document::read_cut(&text, ScalarRules::Yaml12);
            if fresh.is_intact() {
                assert_same(&document, &fresh, &text);
                assert!(document.is_intact());
            } else {
                assert!(!document.faults().is_empty());
            }
        }
    }
}

/// What is kept from one edit to the next is what would be found out anew.
fn assert_kept(document: &Document, text: &str) {
    let lengths = document.blocks.iter().map(|block| block.length());
    let starts: Vec<usize> = lengths.scan(0, |at, length| Some(std::mem::replace(at, *at + length))).collect();
    assert_eq!(*document.starts, starts, "{text}");
    let lists = document.root().into_iter().flat_map(|root| root.entries().map(|entry| entry.value).chain([root]));
    for list in lists {
        let plain =
            list.items().enumerate().filter(|(_, item)| item.alias().is_some() || item.shape() != Shape::Mapping);
        let plain: Vec<usize> = plain.map(|(index, _)| index).collect();
        assert_eq!(list.plain_items().map(|(index, _)| index).collect::<Vec<_>>(), plain, "{text}");
    }
}

#[test]
fn blocks_of_a_long_document_move_with_the_edits_before_them() {
    for line_break in ["\n", "\r\n"] {
        let item = |number: usize| format!("  - name: n{number}{line_break}    run: x{line_break}");
        let mut text = format!("tests:{line_break}{}", (0..1_000).map(item).collect::<String>());
        let mut document = Document::read(&text, ScalarRules::Yaml12);
        assert_kept(&document, &text);
        let start_of = |text: &str, number: usize| text.find(&item(number)).unwrap_or(text.len());
        let edits: [(usize, usize, String); 5] = [
            (3, 3, item(2_000)),
            (500, 501, item(500).replace('x', "longer")),
            (100, 400, String::new()),
            (1_000, 1_000, (3_000..3_200).map(item).collect()),
            (0, 1, String::new()),
        ];
        for (first, end, new) in edits {
            let ids = |document: &Document| document.blocks().map(|(_, block)| block.id()).collect::<HashSet<_>>();
            let before = ids(&document);
            let range = start_of(&text, first)..start_of(&text, end);
            text.replace_range(range.clone(), &new);
            document.edit(range, &new);
            document.refresh();
            assert_kept(&document, &text);
            let fresh = ids(&document).difference(&before).count();
            assert!(fresh <= new.matches("- name").count() + 1, "{fresh} blocks were read again");
        }
    }
}

/// A saved document is the same in an editor that opens the file.
#[test]
fn a_saved_document_is_the_reopened_one() {
    let mut random = Random(0x5eed_0005);
    let mut broken = 0;
    for round in 0..80 {
        let mut text = base(round, 8);
        let mut document = Document::read(&text, ScalarRules::Yaml12);
        for _ in 0..40 {
            for _ in 0..=random.below(2) {
                let (range, new) = random_edit(&mut random, &text);
                text.replace_range(range.clone(), &new);
                document.edit(range, &new);
                document.refresh();
            }
            document.consult_whole(&text);
            let reopened = Document::read(&text, ScalarRules::Yaml12);
            assert_same(&document, &reopened, &text);
            assert_eq!(document.faults(), reopened.faults(), "{text}");
            broken += usize::from(!reopened.is_intact());
        }
    }
    assert!(broken > 1300, "only {broken} of the texts were broken");
}

/// Lines that close something far above them: everything in between is read again.
#[test]
fn a_late_end_is_seen_by_what_it_ends() {
    for (text, typed) in [
        ("prompts: {\n  a: {user: x},\n  b: {user: y},\n  c: {user: z},\n", "}\n"),
        ("prompts: {\na: {user: x},\nb: {user: y},\nc: {user: z},\n", "}\n"),
        ("a: \"one\nb: two\nc: three\n", "\"\n"),
        ("tests:\n- name: \"one\n- name: two\n- name: three\n", "\"\n"),
        ("- name: \"one\n- name: two\n- name: three\n", "\"\n"),
        ("- [\n- name: two\n- name: three\n", "]\n"),
    ] {
        let mut document = Document::read(text, ScalarRules::Yaml12);
        document.edit(text.len()..text.len(), typed);
        document.refresh();
        let fresh = Document::read_cut(&format!("{text}{typed}"), ScalarRules::Yaml12);
        assert_eq!(document.is_intact(), fresh.is_intact(), "{text}");
        if fresh.is_intact() {
            assert_same(&document, &fresh, text);
        }
    }
}

/// Characters that only look like blanks are part of their word, wherever the line is cut.
#[test]
fn foreign_blanks_are_letters() {
    for blank in ["\u{a0}", "\u{3000}", "\u{2028}", "\u{85}", "e\u{301}"] {
        for line in ["a@: b: c", "a@: b: c: d", "a@: [", "a@:\n  b: c: d", "- @: b: c", "-@: b: c: d", "a:@b: c: d"] {
            let text = format!("kindlm: 1\n{}\n", line.replace('@', blank));
            for text in [text.clone(), format!("t:\n  - n: x\n    {}", text.replace('\n', "\n    "))] {
                let document = Document::read(&text, ScalarRules::Yaml12);
                for fault in document.faults() {
                    assert!(text.get(fault.range.clone()).is_some(), "{fault:?}\n{text}");
                    assert_ne!(fault.kind, FaultKind::Defect, "{text}");
                }
                assert_eq!(document.is_intact(), whole(&text).is_some(), "{text:?}");
            }
        }
    }
    let document = Document::read("a\u{a0}: b: c\n", ScalarRules::Yaml12);
    assert_eq!(document.root().unwrap().entries().next().unwrap().key.key_text(), "a\u{a0}");
}

/// Text that is allowed before the first entry is not a fault, however the text is cut and edited.
#[test]
fn a_document_may_say_that_it_begins() {
    for head in ["---\n", "--- # why\n", "# why\n---\n\n", "%YAML 1.2\n---\n", "\n\n---\n"] {
        for line_break in ["\n", "\r\n"] {
            let text = format!("{head}t:\n  - n: x\n  - n: y\n").replace('\n', line_break);
            let expected = whole(&text).expect("this is YAML");
            let mut document = Document::read_cut(&text, ScalarRules::Yaml12);
            for _ in 0..2 {
                assert_eq!(document.faults(), [], "{text}");
                assert_same(&document, &expected, &text);
                let at = text.find('x').unwrap();
                document.edit(at..at + 1, "z");
                document.edit(at..at + 1, "x");
            }
        }
    }
}

/// `...` ends the document; the text after it is another one, whatever it looks like.
#[test]
fn nothing_follows_the_end_of_the_document() {
    for head in ["a: 1\n", "t:\n  - n: x\n", "t:\n- n: x\n", "t:\n  - n: x\ng: 1\n", "t: [{n: x}]\n"] {
        for end in ["...\n", "...", "... # why\n", "...\n# why\n\n", "...\n...\n"] {
            let text = format!("{head}{end}");
            for document in [Document::read(&text, ScalarRules::Yaml12), Document::read_cut(&text, ScalarRules::Yaml12)]
            {
                assert_eq!(document.faults(), [], "{text}");
                assert_eq!(outline(&document), outline(&Document::read(head, ScalarRules::Yaml12)), "{text}");
            }
        }
        for rest in [
            "g: 0\n", "gates:\n  g: 0\n", "  - n: y\n", "- n: y\n", "---\n", "---\ng: 0\n", "%YAML 1.2\n---\n",
            "text\n",
        ] {
            for end in ["...\n", "... # why\n", "...\n\n# why\n", "...\n...\n"] {
                let text = format!("{head}{end}{rest}");
                let document = Document::read(&text, ScalarRules::Yaml12);
                assert!(!document.is_intact(), "{text}");
                assert!(
                    document
                        .root()
                        .unwrap()
                        .get("g")
                        .is_none_or(|gates| head.contains("g:") && gates.text() == Some("1")),
                    "{text}"
                );
                assert!(!Document::read_cut(&text, ScalarRules::Yaml12).is_intact(), "{text}");
            }
        }
    }
}

/// A line that PyYAML refuses is a fault, and one that it accepts is not.
#[test]
fn lines_that_are_not_deep_enough() {
    for (text, line) in [
        ("suite: {\nname: s}\n", Some(2)),
        ("suite: {\n name: s}\n", None),
        ("suite: {\n  name: s\n}\n", None),
        ("suite: {\n  tags: [\n a\n]}\n", Some(4)),
        ("suite: {\n\n# why\n  name: s # a\n  }\nb: 1\n", None),
        ("t:\n- n: {a: 1\n  , b: 2}\n", Some(3)),
        ("t:\n- n: {a: 1\n   , b: 2}\n", None),
        ("t:\n- n: {a: 1\n  }\n", None),
        ("t:\n  - {a: 1,\n  b: 2}\n", Some(3)),
        ("t:\n  - {a: 1,\n   b: 2}\n", None),
        ("t:\n  - c: \"x\n\n    y\"\n", Some(4)),
        ("t:\n  - c: \"x\n\n     y\n     \"\n", None),
        ("a:\n  b: 'x\n  '\n", Some(3)),
        ("&a b: {\n  c: 1}\n", None),
        (": gates:\n    a: 1\n", Some(1)),
        ("a:\n  : b:\n", Some(2)),
        ("a:\n  : {b: 1}\n", None),
        ("a:\n  : b\n", None),
    ] {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let document = Document::read(&text, ScalarRules::Yaml12);
            let faults = document.faults();
            let lines: Vec<usize> =
                faults.iter().map(|fault| 1 + document.text().byte_to_line(fault.range.start)).collect();
            match line {
                None => assert_eq!(faults, [], "{text}"),
                Some(line) => assert!(
                    !lines.is_empty() && lines.iter().all(|found| found.abs_diff(line) <= 2),
                    "{text}{faults:#?}"
                ),
            }
        }
    }
}

/// Returns keys by the names above them and their place, as far as an edit left their line unchanged.
fn keys(document: &Document, moved: impl Fn(usize) -> Option<usize>) -> HashSet<(String, usize)> {
    fn visit(node: NodeRef<'_>, path: &str, found: &mut Vec<(String, usize)>) {
        if node.alias().is_some() {
            return;
        }
        for entry in node.entries() {
            let path = format!("{path}/{}", entry.key.key_text());
            found.push((path.clone(), entry.key.range().start));
            visit(entry.value, &path, found);
        }
        node.items().for_each(|item| visit(item, path, found));
    }
    let mut found = Vec::new();
    if let Some(root) = document.root() {
        visit(root, "", &mut found);
    }
    found.into_iter().filter_map(|(path, at)| Some((path, moved(at)?))).collect()
}

#[test]
fn damage_stays_where_it_is() {
    damage_stays(&suite(100));
}

#[test]
fn damage_stays_where_it_is_in_lists_that_are_not_indented() {
    damage_stays(&ListStyle::Flat.of(&suite(100)));
}

#[test]
fn damage_stays_in_its_item() {
    damage_stays(&task_file(100));
}

#[test]
fn damage_stays_in_its_item_with_lists_that_are_not_indented() {
    damage_stays(&ListStyle::Flat.of(&task_file(100)));
}

#[track_caller]
fn damage_stays(text: &str) {
    let original = Document::read(text, ScalarRules::Yaml12);
    assert!(original.is_intact());
    let mut random = Random(0x5eed_0003);
    let (mut breaking, mut expected_keys, mut kept_keys) = (0, 0, 0);
    while breaking < 1000 {
        let (range, new) = random_edit(&mut random, text);
        let mut edited = text.to_owned();
        edited.replace_range(range.clone(), &new);
        if loose::parse(&edited, ScalarRules::Yaml12).is_ok() {
            continue;
        }
        breaking += 1;
        let mut document = original.clone();
        document.edit(range.clone(), &new);
        document.refresh();
        let first_line = text[..range.start].rfind('\n').map_or(0, |end| end + 1);
        let last_line = text[range.end..].find('\n').map_or(text.len(), |end| range.end + end);
        let expected = keys(&original, |at| {
            if at < first_line {
                Some(at)
            } else if at > last_line {
                Some(at - range.len() + new.len())
            } else {
                None
            }
        });
        let kept = keys(&document, Some);
        expected_keys += expected.len();
        kept_keys += expected.intersection(&kept).count();
        assert!(!document.faults().is_empty(), "a broken text without a fault: {range:?} {new:?}\n{edited}");
    }
    let share = kept_keys as f64 / expected_keys as f64;
    assert!(share > 0.99, "{:.2} % of the undamaged keys were kept", share * 100.0);
}

#[test]
fn children_in_a_range_are_those_that_touch_it() {
    for whole in [
        suite(6),
        suite(6).replace('\n', "\r\n"),
        suite(6).replace("\n  ", "\n"),
        suite(5).replace("name: '", "name '"),
    ] {
        let document = Document::read(&whole, ScalarRules::Yaml12);
        let mut nodes: Vec<NodeRef<'_>> = Vec::new();
        if let Some(root) = document.root() {
            view::walk(root, &Pointer::root(), &mut |node, _| nodes.push(node));
        }
        for start in (0..whole.len()).step_by(23) {
            for range in [start..start, start..start + 60, start..whole.len()] {
                let touches = |own: std::ops::Range<usize>| range.start <= own.end && own.start <= range.end;
                for node in nodes.iter().filter(|node| node.alias().is_none()) {
                    let all = node.items().enumerate().filter(|(_, item)| touches(item.own_range()));
                    let all: Vec<usize> = all.map(|(index, _)| index).collect();
                    assert_eq!(node.items_in(&range).map(|(index, _)| index).collect::<Vec<_>>(), all, "{range:?}");
                    let own = |entry: crate::EntryRef<'_>| {
                        let (key, value) = (entry.key.own_range(), entry.value.own_range());
                        key.start..key.end.max(value.end)
                    };
                    let all: Vec<_> = node.entries().map(own).filter(|own| touches(own.clone())).collect();
                    assert_eq!(node.entries_in(&range).map(own).collect::<Vec<_>>(), all, "{range:?}\n{whole}");
                }
            }
        }
    }
}
