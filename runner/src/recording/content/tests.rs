use speclens_schema::evidence::{CommandLog, Ran};

use super::*;

fn capture(letter: &str, bytes: usize) -> Option<Capture> {
    Some(Capture::whole(letter.repeat(bytes)))
}

fn evidence() -> Evidence {
    let command = |bytes| Ran { stdout: capture("c", bytes), ..Ran::default() };
    Evidence {
        command: Some(Ran {
            stdout: capture("o", MIN_SEPARATE_BYTES + 1),
            stderr: capture("e", MIN_SEPARATE_BYTES),
            ..Ran::default()
        }),
        commands: Some(CommandLog {
            commands: vec![command(3), command(2 * MIN_SEPARATE_BYTES)],
            cut: false,
            unseen: None,
        }),
        ..Evidence::default()
    }
}

#[test]
fn large_texts_are_taken_out_and_put_back() {
    let whole = evidence();
    let mut apart = whole.clone();
    let (refs, texts) = take_out(&mut apart);
    let sizes: Vec<(usize, u64)> = refs.iter().map(|text| (text.capture, text.bytes)).collect();
    assert_eq!(sizes, [(1, MIN_SEPARATE_BYTES as u64 + 1), (6, 2 * MIN_SEPARATE_BYTES as u64)]);
    assert_eq!(apart.stderr(), whole.stderr());
    let stored: HashMap<Digest, String> = texts.into_iter().collect();
    let read = |text: &TextRef| text.check(stored[&text.sha256].clone().into_bytes());
    put_back(&mut apart, &refs, read).unwrap();
    assert_eq!(apart, whole);
    // The capture already has its text, or does not exist.
    assert_eq!(put_back(&mut apart, &refs, read), Err(Unusable::Damaged));
    assert_eq!(put_back(&mut Evidence::default(), &refs, read), Err(Unusable::Damaged));
}

#[test]
fn only_digests_name_texts() {
    let digest = Digest::of(b"text");
    assert_eq!(Digest::parse(digest.as_str()), Some(digest.clone()));
    for bad in
        ["../../../../etc/passwd".to_owned(), "a".repeat(63), "A".repeat(64), format!("{}/", &digest.as_str()[..63])]
    {
        assert!(serde_json::from_value::<Digest>(bad.clone().into()).is_err(), "{bad}");
    }
}

#[test]
fn identity_is_made_once_and_only_its_owner_reads_it() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join("state/speclens");
    let threads = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| Machine::of(&state).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(threads.iter().all(|machine| *machine == threads[0]));
    assert_ne!(Machine::of(&home.path().join("other")), Some(threads[0].clone()));
    assert_eq!(fs::read_dir(&state).unwrap().count(), 1, "no draft stays");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(state.join(FILE)).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn directory_that_can_hold_no_identity_gives_none() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("file"), "").unwrap();
    assert_eq!(Machine::of(&home.path().join("file/state")), None);
    fs::write(home.path().join(FILE), "not an identity").unwrap();
    assert_eq!(Machine::of(home.path()), None);
}
