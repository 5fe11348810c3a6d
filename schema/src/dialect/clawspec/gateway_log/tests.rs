use super::*;

fn call(run: &str, tool: &str, line: usize) -> Call {
    let (run, tool) = (run.to_owned(), tool.to_owned());
    Call { kin: Kin::Own, run, tool, to_agent: None, child_run: None, line }
}

const WORDS: &str = "t run_id=r1 session_started agent=lead\n\
    t run_id=r1 tool=sessions_spawn agent=lead params.agentId=copy child_run_id=r2\n\
    t run_id=r2 token_usage input=10 output=5 total=15\n\
    t run_id=r1 agent=lead tool=late\n\
    nothing\n";

#[test]
fn words_are_read() {
    let log = GatewayLog::read(WORDS, "r1", None);
    let session = Session { kin: Kin::Own, run: "r1".to_owned(), agent: "lead".to_owned(), line: 0 };
    assert_eq!(log.sessions, [session]);
    let (to_agent, child_run) = (Some("copy".to_owned()), Some("r2".to_owned()));
    assert_eq!(log.calls, [Call { to_agent, child_run, ..call("r1", "sessions_spawn", 1) }]);
    assert_eq!(log.usages, [Usage { kin: Kin::Started, input: 10, output: 5, total: 15, line: 2 }]);
    assert!(log.known == Some(0) && log.is_detailed && !log.is_done);
    assert_eq!(GatewayLog::read(WORDS, "r3", None), GatewayLog::default());
}

#[test]
fn empty_id_stands_for_every_run() {
    let log = GatewayLog::read(WORDS, "", None);
    assert_eq!((log.calls.len(), log.usages[0].kin), (1, Kin::Own));
}
