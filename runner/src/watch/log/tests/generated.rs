//! Random logs: the result equals that of a reader with all lines in memory, and no bytes cause a failure.

use proptest::prelude::*;

use super::*;

/// Something that happens to a log.
#[derive(Clone, Debug)]
enum Step {
    /// A line is written, without its end.
    Line(Vec<u8>),
    /// The file is rotated because of its size.
    SetAside,
    /// The day ends.
    Midnight,
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let run = || prop::sample::select(vec!["r1", "r2", "r3", "r10", "s1", "other"]);
    let json = |message: String, trace: bool| {
        let trace = if trace { ",\"traceId\":\"4bf92f3577b34da6\"" } else { "" };
        format!("{{\"0\":\"{{}}\",\"1\":\"{message}\",\"_meta\":{{\"logLevelName\":\"DEBUG\"}}{trace}}}").into_bytes()
    };
    prop_oneof![
        4 => (run(), "[a-z]{1,4}").prop_map(|(run, tool)| format!("t run_id={run} tool={tool} agent=a").into_bytes()),
        2 => (run(), run()).prop_map(|(run, child)| {
            format!("run_id={run} tool=sessions_spawn agent=a params.agentId=b child_run_id={child}").into_bytes()
        }),
        1 => (run(), 0..9_u64).prop_map(|(run, count)| {
            format!("run_id={run} token_usage input={count} output=1 total=2").into_bytes()
        }),
        1 => run().prop_map(|run| format!("run_id={run} session_started agent=b").into_bytes()),
        3 => (run(), any::<bool>()).prop_map(move |(run, trace)| {
            json(format!("embedded run tool start: runId={run} tool=x toolCallId=c"), trace)
        }),
        2 => (run(), run(), any::<bool>()).prop_map(move |(run, session, trace)| {
            json(format!("embedded run start: runId={run} sessionId={session}"), trace)
        }),
        1 => (run(), any::<bool>()).prop_map(move |(session, trace)| {
            json(format!("session state: sessionId={session} sessionKey=agent:b:subagent:{session}"), trace)
        }),
        1 => (run(), run()).prop_map(|(run, session)| {
            format!("{{\"1\":{{\"runId\":\"{run}\",\"sessionId\":\"{session}\",\"logicalSessionKey\":\"k\"}}}}").into_bytes()
        }),
        1 => run().prop_map(|run| format!("embedded run done: runId={run} sessionId=s1").into_bytes()),
        2 => prop::collection::vec(any::<u8>().prop_filter("an end of a line", |byte| *byte != b'\n'), 0..40),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![12 => line().prop_map(Step::Line), 1 => Just(Step::SetAside), 1 => Just(Step::Midnight)]
}

/// A gateway that writes a log.
struct Writer {
    place: LogDirectory,
    day: u32,
}

impl Writer {
    fn file(&self) -> String {
        format!("logs/gw-2026-05-{:02}.log", self.day)
    }

    fn take(&mut self, step: &Step) {
        let numbered = |number: u32| format!("logs/gw-2026-05-{:02}.{number}.log", self.day);
        match step {
            Step::Line(bytes) => {
                self.place.append(&self.file(), bytes);
                self.place.append(&self.file(), "\n");
            }
            Step::SetAside if self.place.path(&self.file()).exists() => {
                for number in (1..9).rev().filter(|number| self.place.path(&numbered(*number)).exists()) {
                    self.place.rename(&numbered(number), &numbered(number + 1));
                }
                self.place.rename(&self.file(), &numbered(1));
            }
            Step::SetAside => {}
            Step::Midnight => self.day += 1,
        }
    }
}

/// Returns the facts that claims are judged by, without places.
fn facts(log: GatewayLog) -> impl PartialEq + std::fmt::Debug {
    let calls: Vec<_> =
        log.calls.into_iter().map(|call| (call.relation, call.run, call.tool, call.to_agent, call.child_run)).collect();
    let sessions: Vec<_> =
        log.sessions.into_iter().map(|session| (session.relation, session.run, session.agent)).collect();
    let usages: Vec<_> =
        log.usages.into_iter().map(|usage| (usage.relation, usage.input, usage.output, usage.total)).collect();
    let unclear: Vec<_> = log.unclear.into_iter().map(|unclear| unclear.tool).collect();
    let state = (log.is_done, log.gaps, log.failure, unclear);
    (calls, sessions, usages, log.known.is_some(), log.is_detailed, state, log.traces)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn answer_equals_that_of_a_reader_with_all_lines_in_memory(
        steps in prop::collection::vec(step(), 0..60),
        begin in any::<prop::sample::Index>(),
        run in prop::sample::select(vec!["r1", "s1", ""]),
        key in prop::sample::select(vec![None, Some("k")]),
    ) {
        // More files than a gateway keeps are not followed.
        prop_assume!(steps.iter().filter(|step| matches!(step, Step::SetAside)).count() < 5);
        let mut writer = Writer { place: LogDirectory::new(), day: 10 };
        let begin = begin.index(steps.len() + 1);
        steps[..begin].iter().for_each(|step| writer.take(step));
        let watch = writer.place.watch();
        steps[begin..].iter().for_each(|step| writer.take(step));
        let identity = Identity { session_key: key.map(str::to_owned), ..identity(run) };
        let answer = watch.collect(&identity);
        let since: Vec<String> = steps[begin..]
            .iter()
            .filter_map(|step| match step {
                Step::Line(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
                Step::SetAside | Step::Midnight => None,
            })
            .collect();
        prop_assert_eq!(facts(GatewayLog::of(&answer, run)), facts(GatewayLog::read(&since.join("\n"), run, key)));
        prop_assert_eq!(&answer.gaps, &[]);
        for (text, place) in answer.placed() {
            let bytes = fs::read(writer.place.path(&answer.files[place.file].path)).unwrap();
            let line = bytes.split(|byte| *byte == b'\n').nth(place.line).unwrap();
            let line = String::from_utf8_lossy(line);
            prop_assert_eq!(text, line.strip_suffix('\r').unwrap_or(&line));
        }
    }

    #[test]
    fn no_bytes_do_any_harm(
        parts in prop::collection::vec(prop_oneof![line(), prop::collection::vec(any::<u8>(), 0..30)], 0..20),
        run in prop::sample::select(vec!["r1", "s1", "", "\"", "é\\"]),
    ) {
        let place = LogDirectory::new();
        place.append(TODAY, parts.concat());
        let answer = place.look(None, run);
        let text = String::from_utf8_lossy(&parts.concat()).into_owned();
        for (line, found) in answer.placed() {
            prop_assert_eq!(found.file, 0);
            prop_assert!(text.contains(line), "{}", line);
        }
        prop_assert_eq!(answer.lines.text.lines().count(), answer.places.len());
    }
}
