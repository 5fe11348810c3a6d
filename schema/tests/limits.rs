//! Files that KindLM rejects because of their size get one warning.

use std::time::Instant;

use speclens_schema::{
    analysis::Analyzer,
    document::{Document, MAX_LINE_BYTES, ScalarRules},
    files::MemoryFiles,
    json_schema::SpecFile,
    problem::{Code, Severity},
    settings::Settings,
};

const HEAD: &str = "kindlm: 1\nproject: p\nsuite: { name: s }\nproviders: { ollama: {} }\n";

/// Returns the warnings for a suite with this many models and tests, and comments of this many bytes.
fn warnings(models: usize, tests: usize, comment: usize) -> Vec<(String, String)> {
    let comment = "# 345678\n".repeat(comment / 9 + 1);
    let mut text = format!("{HEAD}{comment}prompts: {{ p: {{ user: u }} }}\nmodels:\n");
    for model in 0..models {
        text.push_str(&format!("  - {{ id: m{model}, provider: ollama, model: x }}\n"));
    }
    text.push_str("tests:\n");
    for test in 0..tests {
        text.push_str(&format!("  - {{ name: t{test}, prompt: p, expect: {{ output: {{ contains: [a] }} }} }}\n"));
    }
    let document = Document::read(&text, ScalarRules::Yaml12);
    let problems = Analyzer::new(SpecFile::KINDLM).problems(&document, &MemoryFiles::default(), &Settings::default());
    problems
        .into_iter()
        .inspect(|problem| assert_eq!((problem.code, problem.severity), (Code::UpstreamDiffers, Severity::Hint)))
        .map(|problem| (problem.at.as_str().to_owned(), problem.message))
        .collect()
}

#[test]
fn what_the_original_can_read_has_no_warning() {
    assert_eq!(warnings(50, 1000, 0), []);
}

#[test]
fn more_than_the_original_reads_is_reported_once() {
    let warnings = warnings(51, 1001, 1_048_576);
    let places: Vec<&str> = warnings.iter().map(|(at, _)| at.as_str()).collect();
    assert_eq!(places, ["", "/models", "/tests"]);
    assert!(warnings.iter().all(|(_, message)| message.contains("KindLM rejects")), "{warnings:?}");
}

/// Returns how long checking takes, the fastest of a few tries.
fn time_of_checking(file: SpecFile, text: &str) -> f64 {
    let tries = (0..3).map(|_| {
        let start = Instant::now();
        let document = Document::read(text, file.scalar_rules());
        let problems = Analyzer::new(file).problems(&document, &MemoryFiles::default(), &Settings::default());
        assert!(!problems.is_empty());
        start.elapsed().as_secs_f64()
    });
    tries.fold(f64::MAX, f64::min)
}

/// Asserts that many mistakes cost less than this many times as much as few.
#[track_caller]
fn assert_growth(what: &str, [few, many]: [usize; 2], limit: f64, time: impl Fn(usize) -> f64) {
    // Other work on the machine can make one of the two slow; then the next try decides.
    let tries: Vec<f64> = (0..5).map(|_| time(many) / time(few)).take_while(|ratio| *ratio >= limit).collect();
    assert!(tries.len() < 5, "{what}: {many} cost {tries:?} times as much as {few}");
}

/// Eight times as many mistakes in one mapping take about eight times as long, not sixty-four times.
#[test]
fn mistakes_cost_what_they_are_many() {
    let lines = |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let test = "kindlm: 1\ntests:\n- name: a\n  command: x\n";
    type Suite<'s> = (&'static str, &'s dyn Fn(usize) -> String);
    let suites: &[Suite<'_>] = &[
        ("unknown keys at the top", &|count| lines(count, &|at| format!("k{at}: 1\n"))),
        ("unknown keys of a section", &|count| format!("suite:\n{}", lines(count, &|at| format!("  k{at}: 1\n")))),
        ("misspelled keys", &|count| format!("suite:\n{}", lines(count, &|at| format!("  nam{at}: 1\n")))),
        ("wrong types", &|count| format!("{test}  vars:\n{}", lines(count, &|at| format!("    k{at}: 1\n")))),
        ("anchors", &|count| lines(count, &|at| format!("k: &a{at} x\n"))),
        ("aliases", &|count| {
            format!("{test}  vars:\n{}", lines(count, &|at| format!("    k{at}: &a{at} 1\n    l{at}: *a{at}\n")))
        }),
        ("one anchor again and again", &|count| {
            format!("{test}  vars:\n{}", lines(count, &|at| format!("    k{at}: &a 1\n    l{at}: *a\n")))
        }),
        ("repeated keys", &|count| format!("suite:\n{}", lines(count, &|at| format!("  k{}: 1\n", at / 2)))),
    ];
    for (what, suite) in suites {
        assert_growth(what, [400, 3200], 24.0, |count| time_of_checking(SpecFile::KINDLM, &suite(count)));
    }
}

/// Eight times as many tests take about eight times as long.
#[test]
fn tests_cost_what_they_are_many() {
    let suite = |count: usize| {
        let tests: String = (0..count).map(|at| format!("- name: t{at}\n  command: echo {at}\n")).collect();
        format!("kindlm: 1\ntests:\n{tests}")
    };
    assert_growth("tests", [300, 2400], 13.0, |count| time_of_checking(SpecFile::KINDLM, &suite(count)));
}

/// One mistake after an anchor is found at each of its aliases, all of them in one item of the list.
#[test]
fn mistakes_behind_aliases_cost_what_they_are_many() {
    let claw = "version: \"1.0\"\ntarget: {type: skill, path: skills/a, trigger: /a}\nscenarios:\n- name: a\n  when: {invoke: /a}\n  then:\n";
    let bench = "cli: stock\ntasks:\n- id: a\n  intent: Remove what is out of stock\n  assert:\n";
    let kindlm = "kindlm: 1\ntests:\n- name: a\n  command: x\n  expect:\n    toolCalls:\n";
    for (file, head, claim) in [
        (SpecFile::CLAWSPEC_SCENARIOS, claw, "{type: nope, path: x}"),
        (SpecFile::CLAWSPEC_SCENARIOS, claw, "nope"),
        (SpecFile::CLI_BENCH, bench, "{nope: x}"),
        (SpecFile::KINDLM, kindlm, "{tol: x}"),
    ] {
        let what = format!("{claim} in {}", file.as_str());
        // Each mistake costs so much by itself that a square shows late.
        assert_growth(&what, [300, 2400], 18.0, |count| {
            time_of_checking(file, &format!("{head}    - &a {claim}\n{}", "    - *a\n".repeat(count)))
        });
    }
}

/// A quote that is never closed makes text of all that follows: no piece for each of its lines.
#[test]
fn litter_is_one_mistake_in_many_lines() {
    let text = format!("kindlm: 1\nproject: \"\n{}suite: {{name: s}}\n", "word\n".repeat(200_000));
    let document = Document::read(&text, ScalarRules::Yaml12);
    assert!(document.blocks().len() < 1000, "{} blocks", document.blocks().len());
    assert!(!document.faults().is_empty());
    assert!(document.root().unwrap().get("suite").is_some());
}

#[test]
fn file_with_a_very_long_line_is_not_read_and_the_line_is_reported() {
    for (length, is_read) in [(MAX_LINE_BYTES - 100, true), (9_000_000, false)] {
        for end in ["\n", "\r\n"] {
            let value = "w ".repeat(length / 2);
            let text = format!("{HEAD}tests:\n  - {{name: t, command: \"{value}\"}}\n").replace('\n', end);
            let document = Document::read(&text, ScalarRules::Yaml12);
            assert_eq!(document.root().is_some_and(|root| root.get("tests").is_some()), is_read);
            let problems =
                Analyzer::new(SpecFile::KINDLM).problems(&document, &MemoryFiles::default(), &Settings::default());
            let large: Vec<_> = problems.iter().filter(|it| it.code == Code::TooLarge).collect();
            assert_eq!(large.len(), usize::from(!is_read), "{large:?}");
            if let [large] = &large[..] {
                assert_eq!(&text[large.range.start..][..5], "  - {");
                assert_eq!(problems.len(), 1, "{problems:?}");
            }
        }
    }
}

#[test]
fn an_anchor_used_a_hundred_times_is_reported_once() {
    let suite = |uses: usize| {
        let vars: String = (0..uses).map(|at| format!("  v{at}: *a\n")).collect();
        format!("{HEAD}trace:\n  spanFilter:\n    attributeMatch:\n      k: &a x\n{}", vars.replace("  v", "      v"))
    };
    let warnings = |uses: usize| {
        let document = Document::read(&suite(uses), ScalarRules::Yaml12);
        let problems =
            Analyzer::new(SpecFile::KINDLM).problems(&document, &MemoryFiles::default(), &Settings::default());
        problems.into_iter().filter(|it| it.message.contains("`&a`")).map(|it| it.at.as_str().to_owned()).collect()
    };
    let none: Vec<String> = warnings(99);
    assert!(none.is_empty(), "{none:?}");
    assert_eq!(warnings(250), ["/trace/spanFilter/attributeMatch/v99"]);
}

/// Merges of merges multiply: what they lead to is bounded.
#[test]
fn chains_of_merges_end() {
    let chain = |length: usize| {
        let first = "- &m0 {name: a, tags: [negative], when: {invoke: /d}, then: [{type: file_present, path: x}]}\n";
        let rest = (1..length).map(|at| {
            let before = at - 1;
            format!("- &m{at} {{<<: [*m{before}, *m{before}], name: s{at}}}\n")
        });
        let head = "version: \"1.0\"\ntarget: {type: skill, path: skills/d, trigger: /d}\nscenarios:\n";
        format!("{head}{first}{}", rest.collect::<String>())
    };
    let check = |text: &str| {
        let start = Instant::now();
        let document = Document::read(text, ScalarRules::Yaml11);
        let analyzer = Analyzer::new(SpecFile::CLAWSPEC_SCENARIOS);
        let problems = analyzer.problems(&document, &MemoryFiles::default(), &Settings::default());
        assert!(problems.iter().any(|problem| problem.code == Code::TooLarge));
        start.elapsed().as_secs_f64()
    };
    // Twice the links take about twice as long, not a million times.
    let (short, long) = (check(&chain(20)), check(&chain(40)));
    assert!(long < short * 16.0, "{short} s for 20, {long} s for 40");
}
