//! What is found while the author types is what is found when the same text is opened: problems and cases, in
//! every kind of file.

use crate::{list_style, numbers};

use std::{fs, path::Path};

use speclens_schema::{
    analysis::Analyzer,
    document::Document,
    files::MemoryFiles,
    json_schema::SpecFile,
    problem::Code,
    settings::{Level, Settings},
};

use list_style::ListStyle;
use numbers::Numbers;

/// Returns a text of each kind, with an anchor that is used in another part.
fn text_of(file: SpecFile) -> String {
    let path = match file.as_str() {
        "kindlm" => "examples/order-status/kindlm.yaml",
        "cli-bench" => "examples-editing/cli-bench/cli-bench.yaml",
        "cli-bench-tasks" => "examples-editing/cli-bench/tasks/basics.yaml",
        "clawspec" => "examples/clawspec/clawspec.yaml",
        "clawspec-ledger" => "examples/clawspec/coverage-ledger.yaml",
        "clawspec-scenarios" => "examples/clawspec/skills/newsletter/tests/scenarios.yaml",
        "clawspec-handoff" => "examples/clawspec/skills/newsletter/tests/handoffs/lead-to-brand.yaml",
        "clawspec-pipeline" => "examples/clawspec/skills/newsletter/tests/pipeline.yaml",
        "clawspec-baselines" => "examples/clawspec/skills/newsletter/tests/baselines.yaml",
        "script" => {
            return "tasks:\n  a: &t\n    - run: [b, c]\n      expect: {exit_code: 0}\n    - say: done\n  b: *t\ndefault:\n  - {}\n  - fail: authentication\nanswers:\n  - {asked: a, say: b}\n  - {asked: ab}\nusage: {input_tokens: 1}\n".to_owned();
        }
        "gateway" => {
            return "runs:\n  - when: {skill: /a}\n    steps: &s\n      - tool: {name: b}\n      - write: {path: c, content: d}\n  - when: {agent: b}\n    steps: *s\n  - when: {agent: b, says: x}\nscores:\n  - {score: 4}\n  - {asked: a, score: 3}\n".to_owned();
        }
        "speclens" => return "severity: {unused: off}\nlimits:\n  output_mib: 64\n".to_owned(),
        other => unreachable!("there is no text of {other}"),
    };
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("the example is there");
    let more = match file.as_str() {
        "kindlm" => {
            "  - name: named\n    command: \"true\"\n    expect: &e {output: {contains: [x]}}\n  - name: using\n    command: \"true\"\n    expect: *e\n"
        }
        "cli-bench" => {
            "  - id: named\n    intent: a\n    assert: &e [{ran: git log}]\n  - id: using\n    intent: b\n    assert: *e\n"
        }
        "cli-bench-tasks" => {
            "- id: named\n  intent: a\n  assert: &e [{ran: git log}]\n- id: using\n  intent: b\n  assert: *e\n- file://more.yaml\n"
        }
        "clawspec-scenarios" => {
            "  - &e\n    name: named\n    when: {invoke: /a}\n    then: [{type: no_span_errors}]\n  - <<: *e\n    name: using\n"
        }
        _ => "",
    };
    format!("{text}{more}")
}

/// Everything that is found, in words.
fn found(document: &Document, analyzer: &Analyzer, file: SpecFile, settings: &Settings) -> (Vec<String>, Vec<String>) {
    let files = MemoryFiles::default().at(match file.as_str() {
        "cli-bench-tasks" => "tasks/basics.yaml",
        _ => "skills/newsletter/tests/scenarios.yaml",
    });
    let analysis = analyzer.analyze(document, &files, settings);
    let parts = analyzer.look(document, &files, settings);
    let places = |range: std::ops::Range<usize>| -> Vec<_> {
        let touched = parts.touching(&range).map(|found| (found.code, found.severity, found.range.clone()));
        touched.collect()
    };
    let all: Vec<_> = analysis.problems.iter().map(|it| (it.code, it.severity, it.range.clone())).collect();
    assert_eq!((parts.len(), places(0..usize::MAX)), (all.len(), all.clone()));
    for at in (0..document.text().len_bytes()).step_by(97) {
        let touched: Vec<_> =
            all.iter().filter(|(.., range)| range.start <= at + 9 && at <= range.end).cloned().collect();
        assert_eq!(places(at..at + 9), touched, "at {at}");
    }
    let problems = analysis.problems.iter().map(|problem| format!("{problem:?}")).collect();
    (problems, analysis.suite.cases.iter().map(|case| format!("{case:?}")).collect())
}

/// Asserts that what is found in an edited document is what is found when its text is opened. Returns that.
#[track_caller]
fn same(
    document: &Document,
    text: &str,
    analyzer: &Analyzer,
    file: SpecFile,
    settings: &Settings,
) -> (Vec<String>, Vec<String>) {
    // What is found now is kept for the next round.
    found(document, analyzer, file, settings);
    let mut saved = document.clone();
    saved.consult_whole(text);
    let typed = found(&saved, analyzer, file, settings);
    let opened = found(&Document::read(text, file.scalar_rules()), &Analyzer::new(file), file, settings);
    for (typed, opened) in [(&typed.0, &opened.0), (&typed.1, &opened.1)] {
        let first = typed.iter().zip(opened).position(|(typed, opened)| typed != opened);
        let at = first.unwrap_or(typed.len().min(opened.len()));
        assert!(typed == opened, "{:#?}\n{:#?}\nin\n{text}", typed.get(at), opened.get(at));
    }
    opened
}

#[track_caller]
fn check(file: SpecFile) {
    let mut changed = Settings::default();
    for (code, level) in
        [(Code::UnknownKey, Level::Hint), (Code::MissingField, Level::Off), (Code::Unused, Level::Error)]
    {
        changed.severity.insert(code.as_str().to_owned(), level);
    }
    changed.compat.extend(file.dialect());
    let texts = [
        text_of(file),
        ListStyle::Flat.of(&text_of(file)),
        format!("# speclens: allow(unknown-key, wrong-type)\n{}", text_of(file).replace('\n', "\r\n")),
        text_of(file).replace("name: ", "# speclens: allow(unknown-key, unused, vacuous-claim)\n    name: "),
    ];
    let mut numbers = Numbers(file.as_str().len() as u64);
    let (mut cases, mut problems) = (0, 0);
    for round in 0..16 {
        let mut text = texts[round % texts.len()].clone();
        let settings = if round % 3 == 2 { &changed } else { &Settings::default() };
        let mut document = Document::read(&text, file.scalar_rules());
        let analyzer = Analyzer::new(file);
        for _ in 0..12 {
            let (range, new) = numbers.edit(&text);
            text.replace_range(range.clone(), &new);
            document.edit(range, &new);
            document.refresh();
            let opened = same(&document, &text, &analyzer, file, settings);
            problems += opened.0.len();
            cases += opened.1.len();
        }
    }
    assert!(problems > 100, "only {problems} problems");
    assert!(cases > 100 || file.case_list().is_none(), "only {cases} cases");
}

/// Returns a list in which items have to do with each other: the head of the file, and pieces of which items are made.
fn related_items(file: SpecFile) -> (&'static str, Vec<&'static str>) {
    match file.as_str() {
        "clawspec-scenarios" => (
            "version: \"1.0\"\ntarget: {type: agent, path: skills/a, trigger: /a}\ndefaults: {timeout: 3, test_mode: true}\nscenarios:\n",
            vec![
                "- name: a\n  then: &x\n    - {type: artifact_exists, path: m/one.md}\n    - {type: artifact_exists, path: m/two.md, timeout: 3}\n",
                "- name: b\n  then: *x\n",
                "- name: c\n  tags: [negative]\n  given: [{type: file_absent, path: m/one.md}]\n  then:\n    - {type: artifact_contains, path: m/one.md, updated_after: now}\n    - {type: artifact_exists, path: m/two.md}\n",
                "- name: a\n  when: {invoke: sessions_spawn, params: {task: [1]}}\n  then: [{type: artifact_exists, path: m/one.md}]\n",
                "- &y\n  name: d\n  when: {invoke: /a, params: {test_mode: true}}\n  then:\n    - &p {type: artifact_exists, path: m/two.md}\n    - *p\n",
                "- <<: *y\n  name: b\n",
            ],
        ),
        "clawspec-pipeline" => (
            "name: p\nstages:\n",
            vec![
                "- {name: a, agent: one}\n",
                "- name: &n b\n  agent: two\n",
                "- {name: *n, agent: two}\n",
                "- {name: c, handoff_contract: h.yaml}\n",
            ],
        ),
        "kindlm" => (
            "kindlm: 1\nproject: p\nsuite: {name: s}\ndefaults: {timeoutMs: 100}\ngates: {judgeAvgMin: 0.5, driftScoreMax: 0.5, deterministicPassRate: 0.5}\nmodels: [{id: m, provider: openai}]\nprompts: {greet: {user: 'say {{word}}'}}\ntests:\n",
            vec![
                "- {name: a, command: x, expect: &e {latency: {maxMs: 200}}}\n",
                "- {name: b, prompt: greet, vars: {word: x}, expect: {judge: [{criteria: good, minScore: 0.5}]}}\n",
                "- {name: a, prompt: great, models: [m, n], vars: {wort: x}, expect: *e}\n",
                "- {name: c, command: y, expect: {output: {contains: [x]}, baseline: {drift: {method: embedding}}}}\n",
                "- {name: d, command: y, expect: {latency: {maxMs: 20}, output: {contains: [x]}\n",
            ],
        ),
        "cli-bench" => (
            "cli: git\nproviders: [openai/gpt-4o-mini]\nhelp_modes: [discoverable]\ntasks:\n",
            vec![
                "- {id: a, intent: use git, max_turns: 2, assert: &c [{ran: git log}]}\n",
                "- {id: b, intent: 'show the log with `git log`', assert: *c}\n",
                "- {id: a, intent: show what git log shows, assert: [{ran: git log}]}\n",
                "- file://more.yaml\n",
                "- file://*.yaml\n",
            ],
        ),
        other => unreachable!("no items of {other} have to do with each other"),
    }
}

/// Types, cuts and pastes items of a list. A list of 150 items is looked at in several chunks.
#[track_caller]
fn check_relations(file: SpecFile) {
    let settings = Settings::default();
    let (head, pieces) = related_items(file);
    for (seed, line_break, count, rounds) in
        [(1, "\n", 8, 120), (2, "\r\n", 8, 120), (3, "\n", 8, 120), (4, "\n", 150, 24)]
    {
        let indent = if seed == 3 { "  " } else { "" };
        let piece = |number: usize| -> String {
            let lines = pieces[number % pieces.len()].lines();
            lines.map(|line| format!("{indent}{line}{line_break}")).collect()
        };
        let mut numbers = Numbers(seed);
        let mut text = format!("{}{}", head.replace('\n', line_break), (0..count).map(piece).collect::<String>());
        let mut document = Document::read(&text, file.scalar_rules());
        let analyzer = Analyzer::new(file);
        let mut reported = 0;
        for _ in 0..rounds {
            let dash = format!("{line_break}{indent}- ");
            let starts: Vec<usize> = text.match_indices(&dash).map(|(at, _)| at + line_break.len()).collect();
            let start = starts[numbers.below(starts.len())];
            let end = starts.iter().copied().find(|at| *at > start).unwrap_or(text.len());
            let letter = (start..end).find(|at| text[*at..end].starts_with("m/") || text[*at..end].starts_with(": a"));
            let (range, new) = match numbers.below(6) {
                0 if starts.len() > 3 => (start..end, String::new()),
                0 | 1 => (start..start, piece(numbers.below(pieces.len()))),
                2 => (start..end, piece(numbers.below(pieces.len()))),
                3 => (text.len()..text.len(), piece(numbers.below(pieces.len()))),
                // A letter in a name or a path, and its removal.
                4 => (letter.unwrap_or(start) + 2..letter.unwrap_or(start) + 2, "z".to_owned()),
                _ => match text.find('z') {
                    Some(at) => (at..at + 1, String::new()),
                    None => (start + dash.len()..start + dash.len(), "z".to_owned()),
                },
            };
            text.replace_range(range.clone(), &new);
            document.edit(range, &new);
            document.refresh();
            reported += same(&document, &text, &analyzer, file, &settings).0.len();
        }
        assert!(reported > 500, "only {reported} problems");
    }
}

#[test]
fn relations_between_items_are_found_while_items_come_and_go() {
    for file in [SpecFile::CLAWSPEC_SCENARIOS, SpecFile::CLAWSPEC_PIPELINE, SpecFile::KINDLM, SpecFile::CLI_BENCH] {
        check_relations(file);
    }
}

#[test]
fn list_whose_items_are_replaced_at_once_keeps_no_problem_between_them() {
    let settings = Settings::default();
    for file in [SpecFile::CLAWSPEC_SCENARIOS, SpecFile::CLAWSPEC_PIPELINE, SpecFile::KINDLM, SpecFile::CLI_BENCH] {
        let (head, pieces) = related_items(file);
        for line_break in ["\n", "\r\n"] {
            let head = head.trim_end().replace('\n', line_break);
            let items = format!("{line_break}{}", pieces.concat().replace('\n', line_break));
            for other in ["", " []", " {}", " *x", " text", "\n-", "\n- name: a"] {
                let other = format!("{}{line_break}", other.replace('\n', line_break));
                let mut document = Document::read(&format!("{head}{items}"), file.scalar_rules());
                let analyzer = Analyzer::new(file);
                for (old, new) in [(&items, &other), (&other, &items)] {
                    same(&document, &format!("{head}{old}"), &analyzer, file, &settings);
                    document.edit(head.len()..head.len() + old.len(), new);
                    document.refresh();
                    same(&document, &format!("{head}{new}"), &analyzer, file, &settings);
                }
            }
        }
    }
}

#[test]
fn line_without_indentation_belongs_to_the_item_only_as_long_as_the_lines_below_it_do() {
    let settings = Settings::default();
    let file = SpecFile::KINDLM;
    for line_break in ["\n", "\r\n"] {
        let text =
            "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n- name: c\n  command: x\nvars: {w: 1}\n  tags: [x]\n";
        let mut text = text.replace('\n', line_break);
        let mut document = Document::read(&text, file.scalar_rules());
        let analyzer = Analyzer::new(file);
        for (old, new) in [(": [x]", "\n  - "), ("\n  - ", ": [x]"), ("tags", "-"), ("  -", "  #"), ("  #", "  expect")]
        {
            let (old, new) = (old.replace('\n', line_break), new.replace('\n', line_break));
            same(&document, &text, &analyzer, file, &settings);
            let at = text.rfind(&old).expect("it is there");
            text.replace_range(at..at + old.len(), &new);
            document.edit(at..at + old.len(), &new);
            document.refresh();
            same(&document, &text, &analyzer, file, &settings);
        }
    }
}

#[test]
fn kindlm_suites() {
    check(SpecFile::KINDLM);
}

#[test]
fn cli_bench_suites() {
    check(SpecFile::CLI_BENCH);
}

#[test]
fn cli_bench_task_files() {
    check(SpecFile::CLI_BENCH_TASKS);
}

#[test]
fn clawspec_scenarios() {
    check(SpecFile::CLAWSPEC_SCENARIOS);
}

#[test]
fn clawspec_handoffs_and_pipelines() {
    check(SpecFile::CLAWSPEC_HANDOFF);
    check(SpecFile::CLAWSPEC_PIPELINE);
}

#[test]
fn clawspec_settings_ledgers_and_baselines() {
    check(SpecFile::CLAWSPEC);
    check(SpecFile::CLAWSPEC_LEDGER);
    check(SpecFile::CLAWSPEC_BASELINES);
    check(SpecFile::SETTINGS);
}

#[test]
fn scripted_models_and_gateways() {
    check(SpecFile::SCRIPT);
    check(SpecFile::GATEWAY);
}

/// A keystroke in a long list costs its item, not the file: all other blocks stay.
#[test]
fn long_lists_are_cut() {
    for (file, list) in [
        (SpecFile::KINDLM, "tests"),
        (SpecFile::CLI_BENCH, "tasks"),
        (SpecFile::CLI_BENCH_TASKS, ""),
        (SpecFile::CLAWSPEC_SCENARIOS, "scenarios"),
        (SpecFile::CLAWSPEC_PIPELINE, "stages"),
        (SpecFile::CLAWSPEC_PIPELINE, "pipeline_health"),
    ] {
        let head = if list.is_empty() { String::new() } else { format!("version: \"1.0\"\n{list}:\n") };
        let items: String = (0..100).map(|item| format!("- name: item {item}\n  more: [a, b]\n")).collect();
        let text = format!("{head}{items}");
        let mut document = Document::read(&text, file.scalar_rules());
        let ids = |document: &Document| document.blocks().map(|(_, block)| block.id()).collect::<Vec<_>>();
        let before = ids(&document);
        assert!(before.len() >= 100, "{}", file.as_str());
        let at = text.find("item 50").expect("it is there");
        document.edit(at..at, "x");
        document.refresh();
        let after = ids(&document);
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        assert_eq!((changed, before.len()), (1, after.len()), "{}", file.as_str());
        let lists = speclens_schema::validate::Definition::lists(file);
        assert!(lists.contains(&list), "{}: {lists:?}", file.as_str());
    }
}

/// While the author types on below a mistake, the editor shows what it shows when the file is opened.
#[test]
fn typing_on_below_a_mistake_changes_nothing_about_it() {
    // A suite up to a line of a test, what is typed there, and good lines that follow.
    let suites = [
        (
            SpecFile::KINDLM,
            "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n",
            "    command: echo hi\n    tags: [x, y]\n    expect: {output: {contains: [hi]}}\n",
        ),
        (
            SpecFile::CLI_BENCH,
            "cli: git\nproviders: [openai/gpt-4o]\ntasks:\n  - id: a\n",
            "    intent: Make a branch\n    difficulty: hard\n    assert: [{exit_code: 0}]\n",
        ),
        (
            SpecFile::CLAWSPEC_SCENARIOS,
            "version: \"1.0\"\ntarget: {type: skill, path: skills/demo, trigger: /demo}\nscenarios:\n  - name: a\n",
            "    tags: [negative, smoke]\n    when: {invoke: /demo}\n    then: [{type: file_present, path: x}]\n",
        ),
    ];
    let mistakes = [
        "    setup:\n      - output_contains: done: yes\n",
        "    description: Show this: x\n",
        "    description: \"git\\s+log\"\n",
        "    description: 'it's'\n",
        "    description: @x\n",
        "    description: `x`\n",
        "    description: *.md\n",
        "    description: {{x}} y\n",
        "    description: [a\n",
        "    description: {a: b\n",
        "    description: \"a\" b\n",
        "    description:x\n",
        "    foo\n",
        "   description: x\n",
        "     description: x\n",
        "    \tdescription: x\n",
        "\tdescription: x\n",
        "    setup:\n      -x\n",
        "    - x\n",
        "    : x\n",
    ];
    for (file, head, rest) in suites {
        for (mistake, style) in mistakes.iter().flat_map(|mistake| ListStyle::ALL.map(|style| (mistake, style))) {
            // A list that is moved takes its items' lines with it.
            let moved = |part: &str| {
                let before = style.of(head);
                style.of(&format!("{head}{part}"))[before.len()..].to_owned()
            };
            let (mistake, next, rest) = (&moved(mistake), &moved("    category: x\n"), &moved(rest));
            let head = &style.of(head);
            let mut text = format!("{head}{rest}");
            let mut document = Document::read(&text, file.scalar_rules());
            let analyzer = Analyzer::new(file);
            let mut type_at = |text: &mut String, at: usize, typed: &str| {
                for (offset, letter) in typed.char_indices() {
                    text.insert(at + offset, letter);
                    document.edit(at + offset..at + offset, letter.encode_utf8(&mut [0; 4]));
                    document.refresh();
                }
                let fresh = Document::read(text, file.scalar_rules());
                let settings = &Settings::default();
                let seen = found(&document, &analyzer, file, settings);
                let opened = found(&fresh, &Analyzer::new(file), file, settings);
                assert_eq!(seen, opened, "{}\n{text}", file.as_str());
            };
            type_at(&mut text, head.len(), mistake);
            // The next line, a change in it, and one in the line after that.
            type_at(&mut text, head.len() + mistake.len(), next);
            let list = text.find("a\n").expect("there is a name");
            type_at(&mut text, list, "y");
            let end = text.len();
            type_at(&mut text, end, "    more: x\n");
        }
    }
}
