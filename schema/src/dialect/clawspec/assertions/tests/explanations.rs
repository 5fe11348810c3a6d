//! Details of a verdict beyond its message: notes, help, and locations in other files.

use super::*;

/// Returns the locations of a verdict in other files: file, line from 1, marked text, label.
fn places(assertion: &str, world: &World) -> Vec<String> {
    let related = judge(assertion, world).related.into_iter();
    let shown = related.map(|related| {
        let RelatedPlace::File(place) = related.at else { panic!("{assertion}: a place in the claim") };
        match place.line_part {
            Some(line_part) => {
                let marked = &line_part.text[line_part.range()];
                format!("{}:{} `{marked}` {}", place.path, line_part.line + 1, related.message)
            }
            None => format!("{} {}", place.path, related.message),
        }
    });
    shown.collect()
}

#[test]
fn verdict_names_the_places_in_other_files_that_decide() {
    let log = |line: usize, message: &str| {
        format!("gw.log:{line} `{}` {message}", LOG.lines().nth(line - 1).unwrap().trim_start())
    };
    let cases = [
        (
            "{type: log_entry, path: run.log, pattern: 'approved by \\w'}",
            vec!["run.log:2 `approved by x` found here".to_owned()],
        ),
        (
            "{type: log_entry, path: run.log, pattern: approved, absent: true}",
            vec!["run.log:2 `approved` found here".to_owned()],
        ),
        (
            "{type: log_entry, path: run.log, pattern: approved by nobody}",
            vec!["run.log:2 `approved by x` the closest line is here".to_owned()],
        ),
        ("{type: log_entry, path: run.log, pattern: refused, absent: true}", vec![]),
        (
            "{type: artifact_absent_words, path: out/a.md, words: [x, urgent, IS here]}",
            vec![
                "out/a.md:8 `URGENT` the word `urgent`".to_owned(),
                "out/a.md:3 `is here` the word `IS here`".to_owned(),
            ],
        ),
        (
            "{type: artifact_matches_golden, path: run.log, golden: golden.md}",
            vec![
                "run.log:1 `first` 11 words different here".to_owned(),
                "golden.md:1 `# Hook` the golden file has this instead".to_owned(),
            ],
        ),
        (
            "{type: artifact_matches_golden, path: out/a.md, golden: golden.md, rouge_threshold: 0.9}",
            vec![
                "out/a.md:5 `Body` 4 words here that the golden file lacks".to_owned(),
                "golden.md:4 `` the golden file lacks it here".to_owned(),
            ],
        ),
        ("{type: tool_not_called, tool: fs.read}", vec![log(2, "called here")]),
        ("{type: tool_not_permitted, allowed_tools: [fs.read]}", vec![log(3, "`sessions_spawn` was called here")]),
        (
            "{type: token_budget, max_total_tokens: 39}",
            vec![log(5, "tokens are counted here"), log(6, "tokens are counted here")],
        ),
        ("{type: tool_was_called, tool: fs.write}", Vec::new()),
        ("{type: tool_not_called, tool: fs.write}", Vec::new()),
    ];
    for (assertion, expected) in cases {
        for end in ["\n", "\r\n"] {
            let mut world = world();
            for file in &mut world.files {
                if let Some(Content::Text(text)) = &mut file.content {
                    text.text = text.text.replace('\n', end);
                }
            }
            assert_eq!(places(assertion, &world), expected, "{assertion}");
        }
    }
}

fn notes(assertion: &str, world: &World) -> Vec<String> {
    let verdict = judge(assertion, world);
    verdict.outcome.mismatch().unwrap_or_else(|| panic!("{verdict:?}")).notes.clone()
}

#[test]
fn calls_are_aligned_with_the_expected_ones() {
    let calls = ["read", "read", "search", "write"].iter().zip(0..);
    let world = World { trace: trace(calls.map(|(name, at)| span(SpanKind::Tool, name, at)).collect()), ..world() };
    let title = "the calls (`-`: expected but missing, `+`: not expected):";
    assert_eq!(
        notes("{type: tool_sequence, mode: strict, expected: [search, send, write]}", &world),
        [format!("{title}\n+ read (2 times)\n  search\n- send\n  write")]
    );
    let ordered = notes("{type: tool_sequence, expected: [write, search]}", &world);
    assert_eq!(ordered.len(), 1, "{ordered:?}");
}

#[test]
fn spans_over_budget_come_largest_first_and_costs_by_model() {
    let asked = |name: &str, total: u64| Span {
        model: Some(name.to_owned()),
        tokens: Some(Tokens { input: total, output: 0, total }),
        cost_usd: Some(total as f64 / 100.0),
        ..span(SpanKind::Llm, name, 0)
    };
    let spans = vec![asked("small", 10), asked("large", 30), asked("small", 15)];
    let world = World { trace: trace(spans), ..world() };
    assert_eq!(
        notes("{type: per_span_budget, max_tokens: 5}", &world),
        ["the spans with the most tokens:\nlarge (llm): 30 tokens\nsmall (llm): 15 tokens\nsmall (llm): 10 tokens"]
    );
    assert_eq!(
        notes("{type: trace_cost, max_usd: 0.1}", &world),
        ["cost by model:\nlarge: $0.3000 (1 span)\nsmall: $0.2500 (2 spans)"]
    );
    let TraceAnswer::Found(whole) = world.trace.clone() else { unreachable!() };
    let metered = World { trace: TraceAnswer::Found(Trace { cost_usd: Some(0.05), ..whole }), ..world };
    check("{type: trace_cost, max_usd: 0.1}", &metered, Status::Pass, "");
}

#[test]
fn judge_explains_a_score_that_is_too_low() {
    let reply = |text: &str| ModelReply { text: Capture::whole(text), ..ModelReply::default() };
    let scores = vec![reply(r#"{"score": 2, "reasoning": "it shouts"}"#), reply(r#"{"score": 1, "reason": "dull"}"#)];
    let world = World { scores, ..world() };
    let found = judge("{type: llm_judge, path: out/a.md, rubric: r}", &world);
    assert_eq!(found.outcome.mismatch().unwrap().notes, ["the judge: it shouts"]);
    let found = judge("{type: llm_judge, path: out/a.md, rubric: r, consistency: {runs: 2}}", &world);
    assert_eq!(found.outcome.mismatch().unwrap().notes, ["score 2: it shouts", "score 1: dull"]);
}

#[test]
fn values_of_a_state_file_are_shown_side_by_side_with_their_lines() {
    for end in ["\n", "\r\n"] {
        let text = "status: ready\nphase: running\nnested:\n  count: 1\n".replace('\n', end);
        let mut world = world();
        world.files.push(file("run.yaml", &text));
        let found = judge(
            "{type: state_file, path: run.yaml, expected_status: done, expected_fields: {phase: complete, nested.count: '1', nested.none: 2}}",
            &world,
        );
        let mismatch = found.outcome.mismatch().unwrap();
        assert_eq!(mismatch.message, "Expected status done, got ready");
        assert_eq!(
            mismatch.notes,
            [
                "status: expected the string done, found the string ready",
                "phase: expected the string complete, found the string running",
                "nested.count: expected the string 1, found the number 1",
                "nested.none: expected the number 2, found null",
            ]
        );
        let places: Vec<(&str, usize)> = found
            .related
            .iter()
            .map(|related| match &related.at {
                RelatedPlace::File(place) => (related.message.as_str(), place.line_part.as_ref().unwrap().line),
                RelatedPlace::Claim(_) => panic!("{related:?}"),
            })
            .collect();
        let expected = [
            ("`status` is here", 0),
            ("`phase` is here", 1),
            ("`nested.count` is here", 3),
            ("`none` is missing here", 2),
        ];
        assert_eq!(places, expected);
    }
}

#[test]
fn passages_that_differ_most_from_the_golden_file_are_places_in_both() {
    let golden = "# Hook\n\nSpring is here\n\nBuy now, it is good for you\n";
    let text = "# Hook\n\nSummer is here\n\nNothing to see in this place at all\nPS: bye\n";
    let mut world = world();
    world.files.extend([file("new.md", text), file("good.md", golden)]);
    let found = judge("{type: artifact_matches_golden, path: new.md, golden: good.md}", &world);
    let places: Vec<String> = found
        .related
        .iter()
        .map(|related| match &related.at {
            RelatedPlace::File(place) => {
                format!("{}:{} {}", place.path, place.line_part.as_ref().unwrap().line, related.message)
            }
            RelatedPlace::Claim(_) => panic!("{related:?}"),
        })
        .collect();
    let expected = [
        "new.md:4 17 words different here",
        "good.md:4 the golden file has this instead",
        "new.md:2 2 words different here",
        "good.md:2 the golden file has this instead",
    ];
    assert_eq!(places, expected);
}

#[test]
fn section_that_is_missing_points_at_the_nearest_heading() {
    for claim in [
        "{type: llm_judge, path: out/a.md, rubric: r, section: Hok}",
        "{type: artifact_contains, path: out/a.md, sections: [Hok]}",
    ] {
        let found = judge(claim, &world());
        assert_eq!(found.outcome.mismatch().unwrap().notes, ["the heading nearest to `Hok` is `Hook`"]);
        let RelatedPlace::File(place) = &found.related[0].at else { panic!("{found:?}") };
        assert_eq!((place.path.as_str(), place.line_part.as_ref().unwrap().line), ("out/a.md", 0));
    }
    let found = judge("{type: artifact_contains, path: out/a.md, sections: [Prices]}", &world());
    assert_eq!(
        found.outcome.mismatch().unwrap().notes,
        ["`out/a.md` has no heading similar to `Prices`; it has `Hook`, `Body`"]
    );
}
