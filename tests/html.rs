//! The page of a run, and of a comparison.

use std::{collections::BTreeSet, fs};

use crate::support::{Place, suite};

const FIXED: [(&str, &str); 1] = [("SPECLENS_NOW", "2026-05-14T12:00:00Z")];

fn page(place: &Place, options: &[&str]) -> String {
    let done = place.run_with(&FIXED, &[&["run", "--report", "html"], options].concat());
    assert!(done.stdout.starts_with("<!doctype html>\n"), "{done:?}");
    assert_sound(&done.stdout);
    done.stdout
}

/// Checks that every element is closed, each id is unique, each link leads to one, and nothing is loaded.
#[track_caller]
fn assert_sound(page: &str) {
    let (mut open, mut ids, mut links) = (Vec::new(), BTreeSet::new(), Vec::new());
    let (head, rest) = page.split_once("<style>").unwrap();
    let (style, body) = rest.split_once("</style>").unwrap();
    assert!(!style.contains("url(") && !style.contains("@import"));
    for tag in head.split('<').skip(1).chain(body.split('<').skip(1)) {
        let tag = tag.split('>').next().unwrap();
        let name = tag.split(' ').next().unwrap();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop().as_deref(), Some(name), "{tag}"),
            None if ["!doctype", "meta", "input"].contains(&name) => {}
            None => open.push(name.to_owned()),
        }
        for part in tag.split('"').collect::<Vec<_>>().chunks_exact(2) {
            match part[0].trim_start_matches(name).trim() {
                "id=" => assert!(ids.insert(part[1]), "{tag}"),
                "href=" => links.push(part[1].strip_prefix('#').unwrap()),
                attribute => assert!(!attribute.starts_with("on") && !attribute.starts_with("src"), "{tag}"),
            }
        }
        assert!(!["script", "img", "link", "iframe", "object", "base"].contains(&name), "{tag}");
    }
    assert_eq!(open, Vec::<String>::new());
    assert!(links.iter().all(|link| ids.contains(link)), "{links:?}");
}

#[test]
fn page_of_each_format_has_its_tests_and_their_timelines() {
    for (directory, parts) in [
        ("schema/examples/hello", &["says-hello", "Hello, world", "<h4>command, attempt 1</h4>"][..]),
        ("schema/examples/cli-bench", &["<h4>scripted/", "Turn 1", "<th scope=\"col\">careful</th>"]),
        (
            "schema/examples/clawspec",
            &["<h4>gateway, attempt 1</h4>", "Gateway", "<code>skills/newsletter/tests/scenarios.yaml"],
        ),
    ] {
        let page = page(&Place::copy_of(directory), &[]);
        for part in parts.iter().chain(&["<time datetime=\"2026-05-14T12:00:00Z\">2026-05-14 12:00:00 UTC</time>"]) {
            assert!(page.contains(part), "{directory} lacks {part}");
        }
    }
}

#[test]
fn failures_are_at_their_lines_with_expected_and_actual_value() {
    let place = Place::copy_of("tests/specs/failing");
    let page = page(&place, &["kindlm.yaml"]);
    let line = page.split("<li value=\"15\"").nth(1).unwrap().split("<li ").next().unwrap();
    for part in
        ["class=\"is-fail\"", "order_id: &quot;12345&quot;", "args match", "<dt>expected</dt>", "<dt>actual</dt>"]
    {
        assert!(line.contains(part), "{line}");
    }
    let passed = page.split("<li value=\"13\"").nth(1).unwrap().split("<li ").next().unwrap();
    assert!(passed.contains("✓") && passed.contains("called"), "{passed}");
    let spans = self::page(&place, &["newsletter"]);
    assert!(spans.contains("<table class=\"spans\">") && spans.contains("<rect "), "the spans are a waterfall");
}

#[test]
fn texts_with_several_lines_are_compared_line_by_line() {
    let place = Place::empty();
    place.write(
        "cli-bench.yaml",
        "cli: sh\nproviders: [scripted/one]\ntasks:\n  - id: list\n    intent: x\n    max_turns: 2\n    assert:\n      - verify: {run: cat a, output_equals: \"one\\ntwo\\nthree\"}\n",
    );
    place.write("one.script.yaml", "default: [{run: 'printf \"one\\nzwei\\nthree\\n\" > a'}]\n");
    let page = page(&place, &[]);
    assert!(page.contains("<span> one</span><del>-two</del><ins>+zwei</ins><span> three</span>"), "{page}");
}

#[test]
fn hostile_texts_are_shown_as_text() {
    let hostile = "</pre><script>alert(1)</script>\" onclick=\"x";
    let place = Place::with(&suite("cat out.txt", "{output: {contains: [none]}}"));
    place.write("out.txt", format!("{hostile}\u{1b}[31mred\u{1b}[2J\u{202e}gnp"));
    let page = page(&place, &[]);
    assert!(
        page.contains(
            "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot; onclick=&quot;xred\u{fffd}[2J\u{fffd}gnp"
        )
    );
    assert!(!page.contains(['\u{1b}', '\u{202e}']));
}

#[test]
fn secrets_are_masked_in_names_lines_and_outputs() {
    const KEY: &str = "sk-live-0123456789abcdef";
    let place = Place::with(&format!(
        "kindlm: 1\nproject: p\nsuite: {{name: s {KEY}}}\ntests:\n  - name: prints {KEY}\n    command: echo $SHOP_API_KEY; echo {KEY} >&2\n    expect: {{output: {{contains: [{KEY}, none]}}}}\n"
    ));
    let secret = ("SHOP_API_KEY", KEY);
    for options in [&["run", "--report", "html"][..], &["run", "--recorded", "--report", "html"]] {
        let done = place.run_with(&[secret], options);
        assert_sound(&done.stdout);
        assert!(done.stdout.contains("********") && !done.stdout.contains(KEY), "{}", done.stdout);
    }
    place.write("other/kindlm.yaml", place.read("kindlm.yaml"));
    place.run_with(&[secret], &["run", "other"]);
    let done = place.run_with(&[secret], &["diff", "kindlm.yaml", "other", "--format", "html"]);
    assert_sound(&done.stdout);
    assert!(!done.stdout.contains(KEY), "{}", done.stdout);
}

#[test]
fn page_of_a_recorded_run_is_the_same_each_time() {
    let place = Place::copy_of("tests/specs/failing/stock");
    page(&place, &[]);
    let recorded = || {
        let page = page(&place, &["--recorded"]);
        let (before, after) = page.split_once("<li>duration of the run").unwrap();
        format!("{before}{}", after.split_once("</li>").unwrap().1)
    };
    assert!(recorded().contains("· recorded"));
    assert_eq!(recorded(), recorded());
}

#[test]
fn missing_recordings_skipped_tests_and_refused_suites_have_their_reasons() {
    let place = Place::with(&format!(
        "{}  - name: later\n    skip: true\n    command: x\n    expect: {{}}\n",
        suite("echo a", "{output: {contains: [a]}}")
    ));
    let page_of = |place: &Place| page(place, &["--recorded"]);
    let page = page_of(&place);
    assert!(page.contains("no-recording") && page.contains("the suite skips the test"), "{page}");
    let refused = page_of(&Place::with("kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - nam: x\n"));
    assert!(refused.contains("the suite has errors and was not run") && refused.contains("kindlm.yaml:5"), "{refused}");
}

#[test]
fn page_without_tests_says_so() {
    let place = Place::with("kindlm: 1\nproject: p\nsuite: {name: s}\ntests: []\n");
    let text = page(&place, &[]);
    assert!(text.contains("0 tests"), "{text}");
    let empty = page(&Place::empty(), &[]);
    assert!(empty.contains("error") && empty.contains("0 tests"), "{empty}");
}

#[test]
fn long_output_is_cut_with_the_size_of_the_rest() {
    let place = Place::with(&suite("seq 1 2000", "{output: {contains: ['2000']}}"));
    let page = page(&place, &[]);
    assert!(page.contains("standard output (2000 lines)"), "{page}");
    assert!(page.contains("bytes left out here; `speclens recordings show` prints everything"), "{page}");
    assert!(page.contains("\n400\n") || page.contains("\n399\n400<"), "{page}");
    assert!(!page.contains("\n1999\n2000"));
}

#[test]
fn attempts_of_several_days_are_a_history() {
    let place = Place::with(&format!(
        "{}  - name: other\n    command: echo b\n    expect: {{output: {{contains: [c]}}}}\n",
        suite("echo a", "{output: {contains: [a]}}")
    ));
    let now = page(&place, &[]);
    assert!(now.contains("Recordings keep the newest attempt only"), "{now}");
    // The time at which an attempt began is in the name of its recording, and in it.
    let mut recordings = place.recordings().into_iter();
    let path = recordings.find(|path| fs::read_to_string(path).unwrap().contains("echo b")).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let hexadecimal = name.split('.').nth_back(1).unwrap();
    let began_us = u64::from_str_radix(hexadecimal, 16).unwrap().to_string();
    let text = fs::read_to_string(&path).unwrap().replace(&began_us, "1700000000000000");
    fs::remove_file(&path).unwrap();
    let earlier = name.replace(hexadecimal, &format!("{:016x}", 1_700_000_000_000_000_u64));
    place.write(&format!(".speclens/recordings/{earlier}"), text);
    let page = page(&place, &["--recorded"]);
    assert!(page.contains("<th scope=\"row\">2023-11-14</th>"), "{page}");
}

#[test]
fn two_runs_are_compared_side_by_side() {
    let place = Place::empty();
    for (name, answer) in [("a", "done"), ("b", "sorry")] {
        place.write(&format!("{name}/kindlm.yaml"), suite(&format!("echo {answer}"), "{output: {contains: [done]}}"));
        place.run(&["run", name]);
    }
    let done = place.run(&["diff", "a", "b", "--format", "html"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_sound(&done.stdout);
    for part in [
        "differences in 1 of 1 test",
        "<td>1 of 1</td><td>0 of 1</td><td>≠ differs</td>",
        "<del>-done</del><ins>+sorry</ins>",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
}
