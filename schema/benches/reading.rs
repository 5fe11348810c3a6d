//! What a keystroke, a first reading and a judgement cost, without any transport. `cargo bench -p speclens-schema`.
//!
//! Each figure is the median and the 95th percentile of many rounds on a suite of about 1 MB (5,000 tests).

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and ends when it cannot go on")]

use std::time::{Duration, Instant};

use speclens_schema::{
    analysis::Analyzer, dialect::ScalarRules, document::Document, files::MemoryFiles, json_schema::SpecFile,
    settings::Settings,
};

fn suite(tests: usize) -> String {
    let mut text = String::from("kindlm: 1\nproject: bench\nsuite:\n  name: bench\ntests:\n");
    for test in 0..tests {
        text.push_str(&match test % 3 {
            0 => format!("  - name: test {test}\n    command: printf 'order %s delivered' '{{{{order}}}}'\n    vars:\n      order: \"A-{test}\"\n    expect: &claims{test}\n      output:\n        contains: [order, \"A-{test}\"]\n        maxLength: 200\n"),
            1 => format!("  - name: test {test}\n    command: |\n      printf 'line one'\n      printf 'line two'\n    expect:\n      toolCalls:\n        - tool: lookup\n          argsMatch: {{order_id: \"{test}\"}}\n      latency: {{maxMs: 60000}}\n"),
            _ => format!("  - name: test {test}\n    command: sh agent.sh --order {test}   # a comment\n    tags: [smoke, nightly]\n    expect: *claims{}\n", test - 2),
        });
    }
    text
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
    let text = suite(5000);
    println!("{:.2} MB", text.len() as f64 / 1024.0 / 1024.0);
    let (files, settings) = (MemoryFiles::default(), Settings::default());
    let analyzer = Analyzer::new(SpecFile::KindLm);
    measure("read, blocks and whole", 10, || drop(Document::read(&text, ScalarRules::Yaml12)));
    measure("read and find problems", 5, || {
        let document = Document::read(&text, ScalarRules::Yaml12);
        analyzer.problems(&document, &files, &settings);
    });

    let mut document = Document::read(&text, ScalarRules::Yaml12);
    let problems = analyzer.problems(&document, &files, &settings);
    measure("lower", 3, || drop(analyzer.suite(&document, &files, &settings, &problems)));
    let at = text.find("  - name: test 2499").unwrap() + "  - name: test 2499".len();
    let mut odd = false;
    measure("keystroke: edit and bring the tree up to date", 200, || {
        if odd {
            document.edit(at..at + 1, "")
        } else {
            document.edit(at..at, "x")
        }
        odd = !odd;
        document.refresh();
    });
    measure("keystroke: problems of the text alone", 200, || drop(document.problems()));
    measure("keystroke: all problems", 200, || drop(analyzer.problems(&document, &files, &settings)));
    measure("keystroke: cases", 200, || drop(analyzer.suite(&document, &files, &settings, &problems)));
}
