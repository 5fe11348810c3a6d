use super::*;
use crate::evidence::{Capture, FilesAnswer, ObservationTime};

fn need(section: Option<&str>) -> ScoreNeed {
    ScoreNeed {
        judge: Judge::Endpoint(Address::Gateway("/qa/judge".to_owned())),
        rubric: "Score 1-5".to_owned(),
        path: "a.md".to_owned(),
        section: section.map(str::to_owned),
        identity: None,
        moment: ObservationTime::After,
        times: 1,
    }
}

fn observed(capture: Capture) -> Vec<Observation> {
    let file = SeenFile { path: "a.md".to_owned(), content: Some(Content::Text(capture)), ..SeenFile::default() };
    let answer = Answer::Files(FilesAnswer { files: vec![file], ..FilesAnswer::default() });
    vec![Observation { need: Need::Files(need(None).file("a.md")), answer }]
}

#[test]
fn section_is_cut_out_at_its_heading_up_to_the_next_of_its_level() {
    for end in ["\n", "\r\n"] {
        let text = "# Hook\n\none\n\n## Detail\n\ntwo\n\n# Body\n\nhook: three\n".replace('\n', end);
        let seen = observed(Capture::whole(text.clone()));
        let scored = |section| need(section).scored(&seen).map(|scored| scored.text);
        let hook = "# Hook\n\none\n\n## Detail\n\ntwo\n\n".replace('\n', end);
        assert_eq!(scored(Some("hook")), Ok(hook));
        assert_eq!(scored(None), Ok(text));
        assert!(scored(Some("End")).is_err_and(|reason| reason.contains("no section `End`")));
    }
}

#[test]
fn nothing_is_asked_about_a_file_that_is_not_known_whole() {
    for (capture, part) in [
        (Capture { cut: true, ..Capture::whole("x") }, "cut off"),
        (Capture::whole("x".repeat(MAX_FILE_BYTES + 1)), "400000 bytes"),
    ] {
        let reason = need(None).scored(&observed(capture)).unwrap_err();
        assert!(reason.contains(part), "{reason}");
    }
    assert!(need(None).scored(&[]).is_err_and(|reason| reason.contains("not observed")));
    let missing =
        vec![Observation { need: Need::Files(need(None).file("a.md")), answer: Answer::Files(FilesAnswer::default()) }];
    assert!(need(None).scored(&missing).is_err_and(|reason| reason.contains("does not exist")));
}

#[test]
fn prompt_holds_rubric_identity_and_text() {
    let scored = Scored { text: "Hello".to_owned(), identity: Some("# Me".to_owned()) };
    let (_, text) = need(None).prompt(&scored);
    assert_eq!(text, "## Rubric\nScore 1-5\n\n## Who the author is meant to be\n# Me\n\n## Text\nHello");
}
