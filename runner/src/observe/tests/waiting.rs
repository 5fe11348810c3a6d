//! Waits for files, with a clock that is paused unless all tasks wait.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, UNIX_EPOCH},
};

use speclens_schema::evidence::FilesNeed;
use tokio::time::{Instant, sleep};

use super::{Cancelled, Need, View, directory, empty, files, files_at, observe, paths, text, view};

fn waiting_for(pattern: &str, wait_ms: u64) -> FilesNeed {
    FilesNeed { wait_ms, ..files_at(pattern) }
}

fn written_at(path: &Path, seconds: u64) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

#[tokio::test(start_paused = true)]
async fn wait_ends_when_a_file_is_there() {
    let (directory, view) = empty();
    let write = async {
        sleep(Duration::from_millis(2_450)).await;
        fs::write(directory.path().join("late.md"), "").unwrap();
    };
    let (found, ()) = tokio::join!(files(waiting_for("*.md", 60_000), &view), write);
    assert_eq!((paths(&found), found.files[0].seen_after_ms, found.waited_ms), (vec!["late.md"], 2_500, 2_500));
}

#[tokio::test(start_paused = true)]
async fn file_that_never_comes_is_waited_for_to_the_end() {
    let (directory, view) = empty();
    fs::write(directory.path().join("other.md"), "").unwrap();
    let began = Instant::now();
    let found = files(waiting_for("late.md", 1_050), &view).await;
    assert_eq!((found.files.len(), found.waited_ms), (0, 1_050));
    assert_eq!(found.beside, ["other.md"]);
    assert!(began.elapsed() >= Duration::from_millis(1_050));
}

#[tokio::test(start_paused = true)]
async fn file_that_was_written_too_early_does_not_end_the_wait() {
    let (directory, view) = empty();
    let path = directory.path().join("draft.md");
    fs::write(&path, "old").unwrap();
    written_at(&path, 1_000);
    let need = FilesNeed { since_us: Some(2_000_000_000), content: true, ..waiting_for("draft.md", 30_000) };
    let write = async {
        sleep(Duration::from_millis(950)).await;
        fs::write(&path, "new").unwrap();
        written_at(&path, 2_000);
    };
    let (found, ()) = tokio::join!(files(need.clone(), &view), write);
    assert_eq!((text(found.files[0].content.as_ref()), found.files[0].seen_after_ms), (("new", false), 1_000));
    // A file that is too early is observed anyway, so the report can say so.
    written_at(&path, 1_999);
    let found = files(need, &view).await;
    assert_eq!((paths(&found), found.waited_ms), (vec!["draft.md"], 30_000));
}

/// Appends lines to a file while it is waited for.
async fn write_slowly(path: &Path, lines: usize) {
    for _ in 0..lines {
        let mut file = File::options().create(true).append(true).open(path).unwrap();
        writeln!(file, "line").unwrap();
        sleep(Duration::from_millis(60)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn half_written_file_is_not_taken() {
    let (directory, view) = empty();
    let path = directory.path().join("long");
    let need = FilesNeed { content: true, ..waiting_for("long", 60_000) };
    let (found, ()) = tokio::join!(files(need, &view), write_slowly(&path, 20));
    assert_eq!(text(found.files[0].content.as_ref()).0.lines().count(), 20);
    assert!(found.waited_ms >= 1_140, "{found:?}");
}

#[tokio::test(start_paused = true)]
async fn file_whose_existence_is_enough_is_taken_at_once() {
    let (directory, view) = empty();
    let path = directory.path().join("long");
    let (found, ()) = tokio::join!(files(waiting_for("long", 60_000), &view), write_slowly(&path, 20));
    assert!(found.waited_ms <= 100, "{found:?}");
}

#[tokio::test(start_paused = true)]
async fn file_that_is_still_written_at_the_end_of_the_wait_was_seen_too_late() {
    let (directory, view) = empty();
    let path = directory.path().join("long");
    let need = FilesNeed { content: true, ..waiting_for("long", 500) };
    let (found, ()) = tokio::join!(files(need, &view), write_slowly(&path, 40));
    assert_eq!((found.files.len(), found.waited_ms), (1, 500));
    assert!(found.files[0].seen_after_ms > 500, "{found:?}");
}

#[tokio::test(start_paused = true)]
async fn file_that_is_there_at_the_end_of_the_wait_is_in_time() {
    let (directory, view) = empty();
    let write = async {
        sleep(Duration::from_millis(940)).await;
        fs::write(directory.path().join("late"), "x").unwrap();
    };
    let need = FilesNeed { content: true, ..waiting_for("late", 950) };
    let (found, ()) = tokio::join!(files(need, &view), write);
    assert_eq!((found.files[0].seen_after_ms, found.waited_ms), (950, 950));
    assert_eq!(text(found.files[0].content.as_ref()), ("x", false));
}

#[tokio::test(start_paused = true)]
async fn cancelled_wait_ends_at_once() {
    let (_directory, view) = empty();
    let need = Need::Files(waiting_for("never", 3_600_000));
    let cancel = async {
        sleep(Duration::from_millis(1_010)).await;
        view.cancel.cancel();
    };
    let began = Instant::now();
    let (found, ()) = tokio::join!(observe(&need, &view), cancel);
    assert_eq!(found, Err(Cancelled));
    assert_eq!(began.elapsed().as_millis() / 10, 101);
}

#[tokio::test(start_paused = true)]
async fn time_of_a_suspended_program_does_not_count_towards_a_wait() {
    static SUSPENDED_MS: AtomicU64 = AtomicU64::new(7_000);
    let directory = directory();
    let suspended = || Duration::from_millis(SUSPENDED_MS.load(Ordering::Relaxed));
    let view = View { suspended, ..view(directory.path()) };
    let write = async {
        sleep(Duration::from_millis(500)).await;
        // The program is stopped, and continues after the end of the wait.
        SUSPENDED_MS.store(67_000, Ordering::Relaxed);
        tokio::time::advance(Duration::from_millis(60_000)).await;
        sleep(Duration::from_millis(200)).await;
        fs::write(directory.path().join("late"), "").unwrap();
    };
    let (found, ()) = tokio::join!(files(waiting_for("late", 1_000), &view), write);
    assert_eq!(paths(&found), ["late"]);
    assert!(found.files[0].seen_after_ms <= 1_000, "{found:?}");
}
