//! What messages of the client change. A change that looks at no file is made at once; what is left of it, and what comes
//! after it, is done by a thread of its own, in the order of the messages. A request waits for the changes that
//! concern it and came before it, and no later one is made before it has seen what they left.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

/// Work on a thread that may wait for files.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// What a change is about, or a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About<'a> {
    /// One document, by its address.
    Document(&'a str),
    /// Every document.
    All,
}

/// The changes that are not made yet.
#[derive(Default)]
pub(super) struct Changes {
    queue: Mutex<Queue>,
    /// Rung when there is work, and at the end.
    bell: Condvar,
}

#[derive(Default)]
struct Queue {
    /// In the order of the messages. The first one stays here while it is made.
    changes: VecDeque<Change>,
    is_stopping: bool,
}

struct Change {
    concern: Concern,
    /// `None` while it is being made.
    work: Option<Job>,
    /// What waits for it.
    followers: Vec<Job>,
}

/// Who waits for a change.
enum Concern {
    /// What is about this document, or about all.
    Document(String),
    /// Everybody.
    All,
    /// What is about all documents.
    Work,
}

impl Change {
    fn new(concern: Concern, work: Job) -> Change {
        Change { concern, work: Some(work), followers: Vec::new() }
    }

    fn of(about: About<'_>, work: Job) -> Change {
        let concern = match about {
            About::Document(uri) => Concern::Document(uri.to_owned()),
            About::All => Concern::All,
        };
        Change::new(concern, work)
    }

    fn concerns(&self, about: About<'_>) -> bool {
        match (&self.concern, about) {
            (Concern::All, _) | (_, About::All) => true,
            (Concern::Document(document), About::Document(uri)) => document == uri,
            (Concern::Work, About::Document(_)) => false,
        }
    }
}

impl Changes {
    /// Makes a change. What looks at no file is done before this returns, unless earlier changes have to be made first; it
    /// returns what is left, which may wait for files.
    pub(super) fn make(&self, about: About<'_>, at_once: impl FnOnce() -> Option<Job> + Send + 'static) {
        let mut queue = self.queue();
        if queue.changes.iter().any(|change| change.concerns(about)) {
            let work = move || at_once().into_iter().for_each(|rest| rest());
            queue.changes.push_back(Change::of(about, Box::new(work)));
        } else {
            // Messages come one at a time, so nothing is put in between.
            drop(queue);
            let Some(rest) = at_once() else { return };
            queue = self.queue();
            queue.changes.push_back(Change::of(about, rest));
        }
        drop(queue);
        self.bell.notify_one();
    }

    /// Does work in its turn and waits until it is done. What is about one document does not wait for it.
    pub(super) fn perform(&self, work: impl FnOnce() + Send + 'static) {
        let (tell, told) = std::sync::mpsc::channel::<()>();
        let work = move || {
            work();
            drop(tell);
        };
        self.queue().changes.push_back(Change::new(Concern::Work, Box::new(work)));
        self.bell.notify_one();
        // It ends when the work is dropped, done or not.
        let _ = told.recv();
    }

    /// Takes a look when the changes about something are made that came before: at once, if there are none. Later ones
    /// wait for it.
    pub(super) fn look<T: Send + 'static>(
        &self,
        about: About<'_>,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (tell, told) = oneshot::channel();
        let look = move || {
            // Who has gone away needs no answer.
            let _ = tell.send(look());
        };
        let mut queue = self.queue();
        match queue.changes.iter_mut().rfind(|change| change.concerns(about)) {
            Some(change) => change.followers.push(Box::new(look)),
            None => {
                drop(queue);
                look();
            }
        }
        told
    }

    /// Makes changes until the server stops. Blocks its thread.
    pub(super) fn make_until_stopped(&self) {
        while let Some(work) = self.next() {
            attempt(work);
            // A later change must not be made before these have looked.
            while let Some(followers) = self.done() {
                followers.into_iter().for_each(attempt);
            }
        }
    }

    /// Makes no further changes.
    pub(super) fn stop(&self) {
        let mut queue = self.queue();
        queue.is_stopping = true;
        queue.changes.clear();
        drop(queue);
        self.bell.notify_all();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<Job> {
        let mut queue = self.queue();
        loop {
            if queue.is_stopping {
                return None;
            }
            if let Some(work) = queue.changes.front_mut().and_then(|change| change.work.take()) {
                return Some(work);
            }
            queue = self.bell.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What waits for the change that was made; it leaves the queue when there is nothing.
    fn done(&self) -> Option<Vec<Job>> {
        let mut queue = self.queue();
        let change = queue.changes.front_mut()?;
        if change.followers.is_empty() {
            queue.changes.pop_front();
            return None;
        }
        Some(std::mem::take(&mut change.followers))
    }
}

fn attempt(work: Job) {
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        tracing::error!("a change of a document or of files panicked; the next ones are made");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};

    use super::*;

    /// Changes with their thread, and what was done in its order.
    struct Bench {
        changes: Arc<Changes>,
        done: Arc<Mutex<Vec<&'static str>>>,
    }

    impl Bench {
        fn new() -> Bench {
            let changes = Arc::new(Changes::default());
            let working = Arc::clone(&changes);
            std::thread::spawn(move || working.make_until_stopped());
            Bench { changes, done: Arc::default() }
        }

        fn note(&self, what: &'static str) -> impl FnOnce() + Send + use<> {
            let done = Arc::clone(&self.done);
            move || done.lock().unwrap().push(what)
        }

        /// A change of which nothing is left.
        fn quick(&self, about: About<'_>, what: &'static str) {
            let note = self.note(what);
            self.changes.make(about, move || {
                note();
                None
            });
        }

        /// A change that waits for a file until the sender is dropped.
        fn slow(&self, about: About<'_>, what: &'static str) -> mpsc::Sender<()> {
            let (release, held) = mpsc::channel::<()>();
            let note = self.note(what);
            self.changes.make(about, move || {
                Some(Box::new(move || {
                    assert!(held.recv().is_err());
                    note();
                }))
            });
            release
        }

        fn look(&self, about: About<'_>, what: &'static str) -> oneshot::Receiver<()> {
            self.changes.look(about, self.note(what))
        }

        fn done(&self) -> Vec<&'static str> {
            self.done.lock().unwrap().clone()
        }
    }

    impl Drop for Bench {
        fn drop(&mut self) {
            self.changes.stop();
        }
    }

    const A: About<'static> = About::Document("a");
    const B: About<'static> = About::Document("b");

    #[test]
    fn changes_that_look_at_no_file_are_made_at_once() {
        let bench = Bench::new();
        bench.quick(A, "one");
        bench.look(A, "look").try_recv().unwrap();
        bench.quick(About::All, "two");
        assert_eq!(bench.done(), ["one", "look", "two"]);
    }

    #[test]
    fn change_that_waits_for_a_file_holds_up_its_own_document_alone() {
        let bench = Bench::new();
        let release = bench.slow(A, "slow a");
        bench.quick(B, "b");
        bench.look(B, "look at b").try_recv().unwrap();
        bench.look(A, "look at a").try_recv().unwrap_err();
        assert_eq!(bench.done(), ["b", "look at b"]);
        drop(release);
    }

    #[test]
    fn looks_see_what_came_before_them_and_nothing_later() {
        let bench = Bench::new();
        let release = bench.slow(A, "slow a");
        let looks = [bench.look(A, "first look"), bench.look(About::All, "look at all")];
        bench.quick(A, "later a");
        let last = bench.look(A, "last look");
        drop(release);
        for look in looks.into_iter().chain([last]) {
            look.blocking_recv().unwrap();
        }
        assert_eq!(bench.done(), ["slow a", "first look", "look at all", "later a", "last look"]);
    }

    #[test]
    fn change_of_everything_holds_up_every_document() {
        let bench = Bench::new();
        let release = bench.slow(About::All, "all");
        bench.quick(B, "b");
        let look = bench.look(B, "look at b");
        assert_eq!(bench.done(), Vec::<&str>::new());
        drop(release);
        look.blocking_recv().unwrap();
        assert_eq!(bench.done(), ["all", "b", "look at b"]);
    }

    #[test]
    fn change_that_panics_is_not_the_last_one() {
        let bench = Bench::new();
        bench.changes.make(A, || Some(Box::new(|| panic!("as the test wants"))));
        bench.changes.look(A, || ()).blocking_recv().unwrap();
        bench.changes.perform(bench.note("next"));
        assert_eq!(bench.done(), ["next"]);
    }

    #[test]
    fn whoever_waits_when_the_server_stops_waits_no_longer() {
        let bench = Bench::new();
        let release = bench.slow(A, "never");
        let look = bench.look(A, "look");
        bench.changes.stop();
        assert!(look.blocking_recv().is_err());
        bench.changes.perform(bench.note("too late"));
        drop(release);
    }
}
