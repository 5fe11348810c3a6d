//! Logs in real directories. Nothing here sleeps in real time.

mod generated;

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::PathBuf,
};

use tempfile::TempDir;

use super::*;

const PATTERN: &str = "logs/gw-{date}.log";
const TODAY: &str = "logs/gw-2026-05-14.log";

struct LogDirectory(TempDir);

impl LogDirectory {
    fn new() -> LogDirectory {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("logs")).unwrap();
        LogDirectory(directory)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn append(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let mut file = OpenOptions::new().create(true).append(true).open(self.path(path)).unwrap();
        file.write_all(bytes.as_ref()).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    fn watch(&self) -> LogWatch {
        LogWatch::begin(PATTERN, self.0.path())
    }

    /// Returns the answer without a watch.
    fn look(&self, path: Option<&str>, run: &str) -> LogAnswer {
        look(&need(path, run), PATTERN, self.0.path(), None).answer
    }
}

fn need(path: Option<&str>, run: &str) -> LogNeed {
    LogNeed { path: path.map(str::to_owned), run: run.to_owned(), moment: ObservationTime::After }
}

fn identity(run: &str) -> Identity {
    Identity { run_id: Some(run.to_owned()), ..Identity::default() }
}

fn call(run: &str, tool: &str) -> String {
    format!("t run_id={run} tool={tool} agent=a\n")
}

/// Returns each line as `file:line text`, lines counted from 1.
fn shown(answer: &LogAnswer) -> Vec<String> {
    let line = |(text, place): (&str, LinePlace)| {
        let file = answer.files[place.file].path.rsplit('/').next().unwrap().to_owned();
        format!("{file}:{} {text}", place.line + 1)
    };
    answer.placed().map(line).collect()
}

fn since(watch: &LogWatch, run: &str) -> Vec<String> {
    shown(&watch.collect(&identity(run)))
}

#[test]
fn only_lines_of_the_run_that_were_written_since_are_collected_with_their_places() {
    let place = LogDirectory::new();
    place.append(TODAY, format!("{}{}", call("r1", "before"), call("other", "x")));
    let watch = place.watch();
    assert_eq!(since(&watch, "r1"), Vec::<String>::new());
    place.append(TODAY, format!("{}{}", call("other", "x"), call("r1", "read")));
    assert_eq!(since(&watch, "r1"), ["gw-2026-05-14.log:4 t run_id=r1 tool=read agent=a"]);
    // Another run is looked up in the whole log.
    let other = look(&need(None, "other"), PATTERN, place.0.path(), Some((Some(&watch), &identity("r1")))).answer;
    assert_eq!(shown(&other).len(), 2);
    assert_eq!(shown(&place.look(Some(TODAY), "r1")).len(), 2);
}

#[test]
fn log_that_moves_on_during_the_act_is_followed() {
    let place = LogDirectory::new();
    place.append(TODAY, call("r1", "before"));
    let watch = place.watch();
    place.append(TODAY, call("r1", "first"));
    place.rename(TODAY, "logs/gw-2026-05-14.1.log");
    place.append(TODAY, call("r1", "second"));
    place.rename("logs/gw-2026-05-14.1.log", "logs/gw-2026-05-14.2.log");
    place.rename(TODAY, "logs/gw-2026-05-14.1.log");
    place.append(TODAY, call("r1", "third"));
    place.append("logs/gw-2026-05-15.log", call("r1", "fourth"));
    let expected = [
        "gw-2026-05-14.2.log:2 t run_id=r1 tool=first agent=a",
        "gw-2026-05-14.1.log:1 t run_id=r1 tool=second agent=a",
        "gw-2026-05-14.log:1 t run_id=r1 tool=third agent=a",
        "gw-2026-05-15.log:1 t run_id=r1 tool=fourth agent=a",
    ];
    assert_eq!(since(&watch, "r1"), expected);
    // A claim may name the day in UTC, and the gateway that of its own time zone.
    for day in ["14", "15"] {
        let path = format!("logs/gw-2026-05-{day}.log");
        let seen =
            look(&need(Some(&path), "r1"), PATTERN, place.0.path(), Some((Some(&watch), &identity("r1")))).answer;
        assert_eq!((shown(&seen).len(), seen.gaps.len()), (4, 0), "{path}");
        assert_eq!(shown(&place.look(Some(&path), "r1")).len(), 5, "{path}");
    }
    assert_eq!(place.look(Some("logs/gw-2026-05-20.log"), "r1").files, []);
}

#[cfg(unix)]
#[test]
fn log_that_is_removed_is_read_to_its_end() {
    let place = LogDirectory::new();
    place.append(TODAY, call("r1", "before"));
    let watch = place.watch();
    place.append(TODAY, call("r1", "late"));
    fs::remove_file(place.path(TODAY)).unwrap();
    place.append(TODAY, call("r1", "new"));
    let answer = watch.collect(&identity("r1"));
    assert_eq!((shown(&answer).len(), answer.gaps), (2, vec![]));
    // A gateway that has removed files because there were too many may have removed others in between.
    place.append("logs/gw-2026-05-14.5.log", "\n");
    assert_eq!(watch.collect(&identity("r1")).gaps, [LogGap::Removed]);
}

#[test]
fn log_that_is_emptied_during_the_act_has_a_gap() {
    for later in [call("r1", "x"), format!("{}{}", "another line\n".repeat(100), call("r1", "x"))] {
        let place = LogDirectory::new();
        place.append(TODAY, "some line\n".repeat(20));
        let watch = place.watch();
        fs::write(place.path(TODAY), &later).unwrap();
        let answer = watch.collect(&identity("r1"));
        assert_eq!((shown(&answer).len(), answer.gaps), (1, vec![LogGap::Truncated]), "{later}");
    }
}

#[test]
fn line_that_is_half_written_is_not_taken_for_whole() {
    let place = LogDirectory::new();
    let watch = place.watch();
    let reading = |place: &LogDirectory| {
        let reading = look(&need(None, "r1"), PATTERN, place.0.path(), Some((Some(&watch), &identity("r1"))));
        (reading.is_half, reading.answer.placed().count())
    };
    place.append(TODAY, "t run_id=r1 tool=rea");
    assert_eq!(reading(&place), (true, 1));
    place.append(TODAY, "d agent=a\nt run_id=r2 tool=x");
    assert_eq!(reading(&place), (false, 1), "the half line is of another run");
}

#[test]
fn unreadable_log_says_why() {
    let place = LogDirectory::new();
    fs::create_dir(place.path(TODAY)).unwrap();
    assert_eq!(
        place.look(None, "r1").files,
        [LogFile { path: TODAY.to_owned(), unread: Some(ReadFailure::Directory) }]
    );
    place.append("logs/gw-2026-05-13.log", "\n");
    assert!(place.look(None, "r1").was_read());
    let missing = place.look(Some("logs/other.log"), "r1");
    assert_eq!(
        (missing.files.len(), missing.beside),
        (0, vec!["gw-2026-05-13.log".to_owned(), "gw-2026-05-14.log".to_owned()])
    );
    #[cfg(unix)]
    {
        let _socket = std::os::unix::net::UnixListener::bind(place.path("logs/socket")).unwrap();
        let found = place.look(Some("logs/socket"), "r1").files;
        assert!(matches!(&found[..], [LogFile { unread: Some(ReadFailure::Failed(_)), .. }]), "{found:?}");
    }
}

#[test]
fn log_of_any_name_is_read_with_what_was_set_aside_of_it() {
    let place = LogDirectory::new();
    place.append("logs/[a] b.log", call("r1", "now"));
    place.append("logs/[a] b.log.1", call("r1", "before"));
    place.append("logs/[a] b.old.log", call("r1", "never"));
    let tools = |answer: &LogAnswer| -> Vec<String> {
        GatewayLog::of(answer, "r1").calls.into_iter().map(|call| call.tool).collect()
    };
    assert_eq!(tools(&place.look(Some("logs/[[]a] b.log"), "r1")), ["before", "now"]);
    assert_eq!(tools(&place.look(Some("logs/[a] b.log"), "r1")), ["now"]);
    let named = |pattern: &str| look(&need(None, "r1"), pattern, place.0.path(), None).answer;
    assert_eq!(tools(&named("logs/[a] b.log")), ["before", "now"]);
    let absolute = place.path("logs/[a] b.log").to_str().unwrap().to_owned();
    let seen = look(&need(Some(&absolute), "r1"), "logs/[a] b.log", place.0.path(), None).answer;
    assert_eq!(tools(&seen), ["before", "now"]);
}

#[test]
fn lines_of_any_length_and_any_bytes_are_read() {
    let place = LogDirectory::new();
    let long = "x".repeat(3 << 20);
    place.append(TODAY, format!("run_id=r1 {long}\n{}", call("r1", "second")));
    place.append(TODAY, b"\xff\xfe run_id=r1 tool=\xff agent=a\r\n\0\0\n");
    place.append(TODAY, "y".repeat((1 << 20) - 40));
    place.append(TODAY, format!("\n{}", call("r1", "last")));
    let answer = place.look(None, "r1");
    let numbers: Vec<(usize, usize)> = answer.placed().map(|(text, place)| (place.line, text.len())).collect();
    // The values of a long line stay.
    let shortened = "{\"runid\":\"r1\",\"message\":\"\"}";
    let lengths =
        [(0, shortened.len()), (1, call("r1", "second").len() - 1), (2, 33), (5, call("r1", "last").len() - 1)];
    assert_eq!(numbers, lengths);
    let log = GatewayLog::of(&answer, "r1");
    assert_eq!((log.calls[1].tool.as_str(), log.unclear.len()), ("last", 1), "a damaged name may be any");
    assert_eq!(answer.gaps, [LogGap::LongLine]);
    let watch = place.watch();
    for (line, gaps) in [
        (format!("{} run_id=r2 tool=read\n", "x".repeat(200_000)), vec![]),
        (format!("{} run_id=r2 tool=exec\n", "x ".repeat(100_000)), vec![]),
        (format!("{long} run_id=r2 tool=write\n"), vec![LogGap::LongLine]),
    ] {
        place.append(TODAY, line);
        assert_eq!(watch.collect(&identity("r2")).gaps, gaps);
    }
    let called: Vec<String> = watch.read(&identity("r2")).calls.into_iter().map(|call| call.tool).collect();
    assert_eq!(called, ["read", "exec"]);
}

#[test]
fn answer_is_bounded_and_still_says_that_the_run_is_done() {
    let place = LogDirectory::new();
    place.append(TODAY, call("r1", &"x".repeat(1000)).repeat(1000));
    place.append(TODAY, "embedded run done: runId=r1\n");
    let answer = place.look(None, "r1");
    assert!(answer.lines.text.len() <= MAX_BYTES + 100 && answer.gaps == [LogGap::Cut]);
    assert!(GatewayLog::of(&answer, "r1").is_done);
}

#[test]
fn lines_that_the_gateway_dropped_are_a_gap_where_they_may_be_of_the_run() {
    let dropped = "{\"0\":\"[openclaw] file log queue overflow; dropped 1 oldest record\",\"dropped\":1}\n";
    let place = LogDirectory::new();
    place.append(TODAY, dropped);
    place.append(TODAY, call("r1", "x"));
    assert_eq!(place.look(None, "r1").gaps, []);
    let watch = place.watch();
    assert_eq!(watch.collect(&identity("r1")).gaps, []);
    place.append(TODAY, dropped);
    assert_eq!(watch.collect(&identity("r1")).gaps, [LogGap::Dropped]);
    assert_eq!(place.look(None, "r1").gaps, [LogGap::Dropped]);
}

#[test]
fn lines_before_what_says_whose_they_are_are_found() {
    let place = LogDirectory::new();
    let json = |message: &str| format!("{{\"1\":\"{message}\",\"traceId\":\"abcdef\"}}\n");
    place.append(TODAY, json("embedded run tool start: runId=inner tool=read"));
    place.append(TODAY, json("embedded run start: runId=inner sessionId=s1"));
    place.append(
        TODAY,
        "{\"1\":{\"runId\":\"hook\",\"logicalSessionKey\":\"hook:k\",\"sessionId\":\"s1\"},\"2\":\"x\"}\n",
    );
    for (run, key) in [("hook", None), ("unanswered", Some("hook:k"))] {
        let identity = Identity { session_key: key.map(str::to_owned), ..identity(run) };
        let watch = LogWatch { marks: Arc::from([]), ..place.watch() };
        let answer = watch.collect(&identity);
        assert_eq!(GatewayLog::of(&answer, run).calls.len(), 1, "{run}");
    }
}

#[tokio::test(start_paused = true)]
async fn run_is_waited_for_until_the_log_says_that_it_is_done() {
    let place = LogDirectory::new();
    let watch = place.watch();
    let is_done = async |run: &str| {
        let identity = identity(run);
        let done = watch.until(&identity, |log| log.is_done);
        tokio::time::timeout(Duration::from_secs(60), done).await.is_ok()
    };
    assert!(!is_done("r1").await, "there is no log");
    place.append(TODAY, "embedded run start: runId=r1\nembedded run done: runId=r2\nembedded run done: runI");
    assert!(!is_done("r1").await);
    place.append(TODAY, "d=r1 durationMs=5\n");
    assert!(is_done("r1").await);
    place.append(
        TODAY,
        "embedded run tool start: runId=r3 tool=sessions_spawn toolCallId=c\nembedded run done: runId=r3\n",
    );
    assert!(!is_done("r3").await, "the other agent has not begun");
    place.append(TODAY, "run_id=r4 parent_run_id=r3 session_started agent=copy\nembedded run done: runId=r4\n");
    assert!(is_done("r3").await);
}
