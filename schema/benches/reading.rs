//! What a keystroke, a first reading and a judgment cost, without any transport. `cargo bench -p speclens-schema`,
//! with the name of a kind of file after `--` for that kind alone.
//!
//! Each figure is the median and the 95th percentile of many rounds on a file of about 1 MB.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and ends when it cannot go on")]

use std::time::{Duration, Instant};

use speclens_schema::{
    analysis::Analyzer,
    document::Document,
    evidence::{Capture, CommandLog, Evidence, Exit, Ran},
    faults,
    files::MemoryFiles,
    json_schema::SpecFile,
    judge::judge,
    mask::Secrets,
    settings::Settings,
};

/// Returns a suite of so many tests: every third has claims that the next but one shares.
fn suite(file: SpecFile, tests: usize) -> String {
    let (mut text, item): (_, fn(usize) -> String) = match file.as_str() {
        "kindlm" => ("kindlm: 1\nproject: bench\nsuite:\n  name: bench\ntests:\n".to_owned(), |test| match test % 3 {
            0 => format!(
                "  - name: item {test}\n    command: printf 'order %s delivered' '{{{{order}}}}'\n    vars:\n      order: \"A-{test}\"\n    expect: &claims{test}\n      output:\n        contains: [order, \"A-{test}\"]\n        maxLength: 200\n"
            ),
            1 => format!(
                "  - name: item {test}\n    command: |\n      printf 'line one'\n      printf 'line two'\n    expect:\n      toolCalls:\n        - tool: lookup\n          argsMatch: {{order_id: \"{test}\"}}\n      latency: {{maxMs: 60000}}\n"
            ),
            _ => format!(
                "  - name: item {test}\n    command: sh agent.sh --order {test}   # a comment\n    tags: [smoke, nightly]\n    expect: *claims{}\n",
                test - 2
            ),
        }),
        "cli-bench" => {
            ("cli: stock\nproviders: [openai/gpt-4o-mini]\ntasks:\n".to_owned(), |test| indented(&task(test)))
        }
        "cli-bench-tasks" => ("# Tasks of one file.\n".to_owned(), task),
        "clawspec-scenarios" => (
            "version: \"1.0\"\ntarget:\n  type: skill\n  path: skills/newsletter\n  trigger: /newsletter\nscenarios:\n"
                .to_owned(),
            |test| match test % 3 {
                0 => format!(
                    "  - name: item {test}\n    description: A draft for {{{{today}}}} is written.\n    tags: [smoke, p0]\n    given:\n      - type: file_present\n        path: skills/newsletter/SKILL.md\n    when:\n      invoke: /newsletter\n      params: {{topic: spring {test}, test_mode: true}}\n    then: &claims{test}\n      - type: artifact_exists\n        path: memory/drafts/{{{{today}}}}-newsletter.md\n        timeout: 60\n      - type: artifact_contains\n        path: memory/drafts/{{{{today}}}}-newsletter.md\n        sections: [Hook, Body, CTA]\n"
                ),
                1 => format!(
                    "  - name: item {test}\n    tags: [negative, p0]\n    when:\n      invoke: /newsletter send {test} now\n    then:\n      - type: tool_not_called\n        tool: resend.send\n        log_path: /tmp/openclaw/openclaw-{{{{today}}}}.log\n        run_id: \"{{{{run_id}}}}\"\n      - {{type: log_entry, path: memory/logs/run.log, pattern: \"^draft saved: .+\\\\.md$\"}}\n"
                ),
                _ => format!(
                    "  - name: item {test}\n    tags: [nightly]\n    when: {{invoke: /newsletter {test}}}\n    then: *claims{}\n",
                    test - 2
                ),
            },
        ),
        _ => unreachable!("such files are short"),
    };
    (0..tests).for_each(|test| text.push_str(&item(test)));
    text
}

fn task(test: usize) -> String {
    match test % 3 {
        0 => format!(
            "- id: item {test}\n  intent: Remove every product that is out of stock from list {test}\n  difficulty: hard\n  max_turns: 6\n  setup:\n    - stock add --name Tea --count {test}\n  assert: &claims{test}\n    - exit_code: 0\n    - ran: \"stock (remove|delete) .*{test}\"\n    - run_count:\n        pattern: \"stock add\"\n        max: 0\n"
        ),
        1 => format!(
            "- id: item {test}\n  intent: |\n    Show nothing but the version number of the program,\n    for the {test}th time\n  env: {{STOCK_FILE: \"{{{{workdir}}}}/stock.csv\"}}\n  assert:\n    - output_equals: \"1.4.{test}\"\n    - verify:\n        run: stock list --json | jq length\n        output_equals: \"{test}\"\n"
        ),
        _ => format!(
            "- id: item {test}\n  intent: Try to remove product {test}, which does not exist   # a comment\n  difficulty: easy\n  assert: *claims{}\n",
            test - 2
        ),
    }
}

fn indented(item: &str) -> String {
    item.lines().map(|line| format!("  {line}\n")).collect()
}

/// Returns what an attempt may have left behind, whatever the format.
fn evidence() -> Evidence {
    let kept = |text: &str| Some(Capture::whole(text.to_owned()));
    let exit = Some(Exit { code: Some(0), signal: None });
    let ran = |command: &str| Ran {
        command: Capture::whole(command),
        exit,
        stdout: kept("1.4.1\n"),
        stderr: kept(""),
        ..Ran::default()
    };
    let commands = vec![ran("stock --help"), ran("stock remove --name Tea"), ran("stock list --json")];
    Evidence {
        command: Some(Ran { stdout: kept(&"the order A-1 was delivered\n".repeat(40)), ..ran("sh agent.sh") }),
        commands: Some(CommandLog { commands, cut: false, unseen: None }),
        duration_ms: Some(1.0),
        ..Evidence::default()
    }
}

fn measure(what: &str, rounds: usize, mut work: impl FnMut()) {
    work();
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    println!("{what:<50} p50 {:>10.3?}   p95 {:>10.3?}", times[rounds / 2], times[rounds * 95 / 100]);
}

fn main() {
    let wanted: Vec<SpecFile> = std::env::args().filter_map(|word| SpecFile::parse(&word)).collect();
    for file in [SpecFile::KINDLM, SpecFile::CLI_BENCH, SpecFile::CLI_BENCH_TASKS, SpecFile::CLAWSPEC_SCENARIOS] {
        if wanted.is_empty() || wanted.contains(&file) {
            measure_all(file);
        }
    }
}

fn measure_all(file: SpecFile) {
    let tests = 1024 * 1024 * 300 / suite(file, 300).len();
    let text = suite(file, tests);
    println!("\n{}: {tests} tests, {:.2} MB", file.as_str(), text.len() as f64 / 1024.0 / 1024.0);
    let (files, settings) = (MemoryFiles::default(), Settings::default());
    let analyzer = Analyzer::new(file);
    let rules = file.scalar_rules();
    measure("read, by blocks alone", 10, || drop(Document::read_cut(&text, rules)));
    measure("read, blocks and whole", 10, || drop(Document::read(&text, rules)));
    measure("read by blocks and find problems", 5, || {
        let document = Document::read_cut(&text, rules);
        analyzer.problems(&document, &files, &settings);
    });

    let mut document = Document::read(&text, rules);
    let problems = analyzer.problems(&document, &files, &settings);
    measure("lower", 3, || {
        let document = Document::read_cut(&text, rules);
        drop(analyzer.suite(&document, &files, &settings, &problems));
    });
    let at = text.find(&format!("item {}\n", tests / 2)).unwrap() + "item".len();
    let mut odd = false;
    let mut type_on = |document: &mut Document| {
        if odd {
            document.edit(at..at + 1, "")
        } else {
            document.edit(at..at, "x")
        }
        odd = !odd;
        document.refresh();
    };
    measure("keystroke: edit and bring the tree up to date", 200, || type_on(&mut document));
    measure("keystroke: problems of the text alone", 200, || drop(faults::problems(&document)));
    measure("keystroke: tree and all problems", 200, || {
        type_on(&mut document);
        drop(analyzer.problems(&document, &files, &settings));
    });
    measure("keystroke: cases", 200, || drop(analyzer.suite(&document, &files, &settings, &problems)));

    let suite = analyzer.suite(&document, &files, &settings, &problems);
    let mut evidence = evidence();
    suite.dialect.interpret(&mut evidence);
    let secrets = Secrets::none();
    measure("judge every case", 20, || suite.cases.iter().for_each(|case| drop(judge(case, &evidence, &secrets))));
}
