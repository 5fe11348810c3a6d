use super::{super::events::parse_text, read};
use crate::ScalarRules;

/// Asserts that it reads a text, and as the parser does.
#[track_caller]
fn assert_read(text: &str) {
    let found = read(text).unwrap_or_else(|| panic!("left to the parser:\n{text}"));
    assert_eq!(Some(found), parse_text(text, ScalarRules::Yaml12).unwrap().root, "{text}");
}

#[test]
fn what_authors_write_is_read_without_the_parser() {
    let texts = [
        "key: value\n",
        "key: value",
        "a: it's a \"word\", [no] {list} & *no* alias! 50% @home #1 http://x:80/?q=1#top -> b | c > d\n",
        "a: b # comment\n\n# another\nc: d  \n",
        "a: \"b: #c\"   # comment\n'd e': 'it''s'\n\"f\": \"\\\"g\\\" \\\\ \\n \\t\"\n",
        "a:\nb: ~\nc: # nothing\n  # comment\nd: -1\ne: --flag\nf: ./x\ng: -/x\n",
        "list:\n  - a\n  - b: c\n    d: e\n  -   f: g\n      h: i\n  -\n  - - x\n    - y\nnext: z\n",
        "list:\n- a\n- b:\n  - c\n- d\nnext: z\n",
        "  - name: a\n    tags: [a, \"b, c\", 'd', http://x:80/, -1, 1.5, a b ,]\n    empty: []\n",
        "- {name: a b, list: [{a: 1}, {}], \"q\": 'r', url: http://x, alias: *b}\n",
        "a: &name\n  b: c\nd: *name\ne: &f g\nh: &i [j]\nk: &l\n- m\n- &n o\n- &p\n  q: r\n<<: *name\n",
        "a: |\n  b\n   c # no comment\n\n  d: e\nf: >\n  g\n  h\n\n  i\nj: |-\n\n  k\n\nl: >-\n  m\n# comment\nn: o\n",
        "a:\n- --flag\n- # no - dash\n  - b\n",
        "- |\n  a\n- >-\n   b\n   c\n-  d: |\n     e\n",
        "name: täst – 😀 „x“\n",
        "- a: b\r\n  c: |\r\n    d\r\n\r\n    e\r\n  f: [g]\r\n",
        "a:\n  b:\n    c:\n      d: e\n  f: g\nh: i\n",
    ];
    texts.into_iter().for_each(assert_read);
}

#[test]
fn everything_else_is_left_to_the_parser() {
    let texts = [
        "", "# comment\n", "word\n", "--- # document\na: b\n", "a: b\n---\nc: d\n", "a: b\n...\n", "%YAML 1.2\n",
        "\u{feff}a: b\n", "a:\tb\n", "a: \u{a0}b\n", "a: b\u{2028}c: d\n", "a: b\rc: d\n", "? a\n: b\n",
        "a: !!str b\n", "a: b: c\n", "a: b\n  c\n", "a: \"b\n  c\"\n", "a: 'b' c\n", "a: \"\\u00e4\"\n",
        "a: [b,\n  c]\n", "a: [b: c]\n", "a: {b, c: d}\n", "a: {b: }\n", "a: {\"b\":c}\n", "a: [b]: c\n",
        "a: b\n c: d\n", "  a: b\nc: d\n", "- a\nb: c\n", "a: |2\n   b\n", "a: |+\n  b\n", "a: |\n  b", "a: |\nb: c\n",
        "a: |\n    b\n  c\n", "a: |\n     \n  b\n", "a: >\n  b\n    c\n  d\n", "a: &b *c\n", "&a b: c\n",
        "a: &b\nc: d\n", "a : b\n", ": b\n",
    ];
    for text in texts {
        assert_eq!(read(text), None, "{text}");
    }
}

/// Returns a source of random numbers, each below a limit.
fn random() -> impl FnMut(usize) -> usize {
    let mut seed = 88_172_645_463_325_252_u64;
    move |limit| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % limit as u64).unwrap()
    }
}

/// Asserts that it reads a text as the parser does, if it reads it. Returns whether it does.
#[track_caller]
fn is_read(text: &str) -> bool {
    let Some(found) = read(text) else { return false };
    let parsed = parse_text(text, ScalarRules::Yaml12);
    assert_eq!(parsed.as_ref().map(|parsed| parsed.root.as_ref()), Ok(Some(&found)), "{text:?}");
    true
}

#[test]
fn characters_in_any_order_are_read_as_by_the_parser_or_left_to_it() {
    const PIECES: &[&str] = &[
        "a", "b ", " ", ", ", ",", ":", ": ", "[", "]", "{", "}", "\"", "'", "#", " #", "-", "- ", "*a", "&a ", "\n",
        "\n  ", "|", ">", "ä", "\\", "/", "1", ".", "~", "?", "!", "''", "\\n", "\r\n", "|\n  ", "key: ", "\n- ",
        "[a, ", "{a: ",
    ];
    const BEGINNINGS: &[&str] =
        &["", "a: ", "- ", "a: [", "a: {b: ", "- [", "a: \"", "a: '", "a: |\n  ", "a: >\n  b", "- - "];
    let mut below = random();
    let mut count = 0;
    for _ in 0..150_000 {
        let mut text = String::from(BEGINNINGS[below(BEGINNINGS.len())]);
        (0..=below(9)).for_each(|_| text.push_str(PIECES[below(PIECES.len())]));
        if below(2) == 0 {
            text.push_str([']', '}', '"', '\''].map(String::from).get(below(6)).map_or("\n", String::as_str));
        }
        count += usize::from(is_read(&text));
    }
    assert!(count > 5_000, "only {count} of the texts were read");
}

#[test]
fn lines_in_any_order_are_read_as_by_the_parser_or_left_to_it() {
    const LINES: &[&str] = &[
        "key: value", "key:", "- item", "-", "- key: value", "- key:", "# comment", "", "'quoted': \"text\"", "- - a",
        "text: |", "folded: >-", "- |", "words", "  deeper words", "key: [a, b]", "- {a: b}", "key: &a", "key: *a",
        "key: &b value # comment", "- &c", "key: 'open", "trailing:  ", "key: - a", "key: a: b", "[a]: b", "- key : a",
        "\"a\" : b", "key: \"a\" b", "...", "---", "? key", ": value", "key: {a: [b, {c: d}]}", "- [a]", "<<: *a",
        "key: #comment", "key: a#b", "key:value", "- 'a': b", "*a : b", "key: >", "key: |2", "key: a\\b",
        "key: \"\\n\"",
    ];
    let mut below = random();
    let mut count = 0;
    for round in 0..60_000 {
        let line_break = if round % 7 == 0 { "\r\n" } else { "\n" };
        let mut text = String::new();
        let mut indent: usize = 0;
        for _ in 0..=below(7) {
            indent = match below(4) {
                0 => indent + 2,
                1 => indent.saturating_sub(2 * below(3)),
                2 if below(6) == 0 => indent + 1,
                _ => indent,
            };
            text.push_str(&" ".repeat(indent));
            text.push_str(LINES[below(LINES.len())]);
            text.push_str(line_break);
        }
        if below(5) == 0 {
            text.truncate(text.trim_end().len());
        }
        count += usize::from(is_read(&text));
    }
    assert!(count > 5_000, "only {count} of the texts were read");
}
