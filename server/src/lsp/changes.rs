//! Applies the changes of client messages. A change that reads no file is applied at once; the rest, and whatever
//! follows it, is done by background threads. Changes of one document are applied in the order of the messages, as are
//! those of all documents; a change that waits for a file delays no other document. A request waits for the earlier
//! changes that concern it, and no later one is applied before it has read the result.

use std::{
    collections::{HashSet, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

/// Number of threads that apply changes: all but one may wait for files before other documents are delayed.
pub(super) const THREADS: usize = 3;

/// Work on a thread that may wait for files.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// The subject of a change or a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About<'a> {
    /// One document, by its address.
    Document(&'a str),
    /// Every document.
    All,
    /// Every document, after the earlier changes of one document, by its address.
    AllAfter(&'a str),
}

/// The pending changes.
#[derive(Default)]
pub(super) struct Changes {
    queue: Mutex<Queue>,
    /// Notified when there is work, and at the end.
    wakeup: Condvar,
}

#[derive(Default)]
struct Queue {
    /// In the order of the messages. A change remains here until it is applied.
    changes: VecDeque<Change>,
    next_number: u64,
    is_stopping: bool,
}

struct Change {
    number: u64,
    /// The document it concerns; `None` for all.
    document: Option<String>,
    /// The document whose earlier changes it waits for, in addition to those about all documents.
    after: Option<String>,
    /// `None` while it is being applied.
    work: Option<Job>,
    /// Work that waits for it.
    followers: Vec<Follower>,
}

/// Work that waits for several changes: the last change to complete runs it.
type Follower = Arc<Mutex<Option<Job>>>;

impl Change {
    fn concerns(&self, about: About<'_>) -> bool {
        match (&self.document, about) {
            (None, _) | (_, About::All | About::AllAfter(_)) => true,
            (Some(document), About::Document(uri)) => document == uri,
        }
    }
}

impl Queue {
    fn push(&mut self, about: About<'_>, work: Job) {
        let (document, after) = match about {
            About::Document(uri) => (Some(uri.to_owned()), None),
            About::All => (None, None),
            About::AllAfter(uri) => (None, Some(uri.to_owned())),
        };
        let number = self.next_number;
        self.next_number += 1;
        self.changes.push_back(Change { number, document, after, work: Some(work), followers: Vec::new() });
    }

    /// Takes the first change that need not wait for another one. One about all documents waits only for others about
    /// all, and for the document that it follows: otherwise a document that waits for a file would delay everything.
    fn take(&mut self) -> Option<(u64, Job)> {
        let mut busy: HashSet<&str> = HashSet::new();
        let mut is_all_busy = false;
        let free = self.changes.iter().position(|change| match &change.document {
            Some(document) => busy.insert(document) && !is_all_busy && change.work.is_some(),
            None => {
                let is_first = !std::mem::replace(&mut is_all_busy, true);
                let follows = change.after.as_deref().is_some_and(|document| busy.contains(document));
                is_first && !follows && change.work.is_some()
            }
        });
        let change = &mut self.changes[free?];
        change.work.take().map(|work| (change.number, work))
    }
}

impl Changes {
    /// Applies a change. Work that reads no file is done before this returns, unless earlier changes must be applied
    /// first; `at_once` returns the rest, which may wait for files.
    pub(super) fn make(&self, about: About<'_>, at_once: impl FnOnce() -> Option<Job> + Send + 'static) {
        let is_free = !self.queue().changes.iter().any(|change| change.concerns(about));
        // Messages arrive one at a time, so no other change can come between.
        let work: Option<Job> = match is_free {
            true => at_once(),
            false => Some(Box::new(move || at_once().into_iter().for_each(|rest| rest()))),
        };
        if let Some(work) = work {
            self.queue().push(about, work);
            self.wakeup.notify_one();
        }
    }

    /// Calls `look` when the earlier changes about something are applied: at once if there are none. Later ones
    /// wait for it.
    pub(super) fn look<T: Send + 'static>(
        &self,
        about: About<'_>,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (answer, answered) = oneshot::channel();
        let look: Job = Box::new(move || {
            // A receiver that was dropped needs no answer.
            let _ = answer.send(look());
        });
        let follower = Follower::new(Mutex::new(Some(look)));
        for change in self.queue().changes.iter_mut().filter(|change| change.concerns(about)) {
            change.followers.push(Arc::clone(&follower));
        }
        run_if_last(follower);
        answered
    }

    /// Applies changes until the server stops. Blocks its thread.
    pub(super) fn make_until_stopped(&self) {
        while let Some((number, work)) = self.next() {
            attempt(work);
            // A later change must not be applied before these have read the state.
            while let Some(followers) = self.made(number) {
                followers.into_iter().for_each(run_if_last);
            }
            self.wakeup.notify_all();
        }
    }

    /// Stops applying changes.
    pub(super) fn stop(&self) {
        let mut queue = self.queue();
        queue.is_stopping = true;
        let dropped = std::mem::take(&mut queue.changes);
        drop(queue);
        // Requests that wait for them no longer wait.
        drop(dropped);
        self.wakeup.notify_all();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<(u64, Job)> {
        let mut queue = self.queue();
        loop {
            if queue.is_stopping {
                return None;
            }
            if let Some(work) = queue.take() {
                return Some(work);
            }
            queue = self.wakeup.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the work that waited for an applied change; the change leaves the queue when there is none.
    fn made(&self, number: u64) -> Option<Vec<Follower>> {
        let mut queue = self.queue();
        let place = queue.changes.iter().position(|change| change.number == number)?;
        if queue.changes[place].followers.is_empty() {
            queue.changes.remove(place);
            return None;
        }
        Some(std::mem::take(&mut queue.changes[place].followers))
    }
}

/// Runs work that no longer waits for anything.
fn run_if_last(follower: Follower) {
    if let Some(look) =
        Arc::into_inner(follower).and_then(|look| look.into_inner().unwrap_or_else(PoisonError::into_inner))
    {
        attempt(look);
    }
}

fn attempt(work: Job) {
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        tracing::error!("handling a change panicked; the next changes are still handled");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};

    use super::*;

    /// Changes with their thread, and a log of what was done.
    struct Bench {
        changes: Arc<Changes>,
        done: Arc<Mutex<Vec<&'static str>>>,
    }

    impl Bench {
        fn new() -> Bench {
            let changes = Arc::new(Changes::default());
            for _ in 0..THREADS {
                let working = Arc::clone(&changes);
                std::thread::spawn(move || working.make_until_stopped());
            }
            Bench { changes, done: Arc::default() }
        }

        fn note(&self, what: &'static str) -> impl FnOnce() + Send + use<> {
            let done = Arc::clone(&self.done);
            move || done.lock().unwrap().push(what)
        }

        /// A change that is complete at once.
        fn quick(&self, about: About<'_>, what: &'static str) {
            let note = self.note(what);
            self.changes.make(about, move || {
                note();
                None
            });
        }

        /// Returns a sender: the change waits until it is dropped.
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
    fn change_that_waits_for_a_file_delays_its_own_document_alone() {
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
    fn change_of_everything_delays_every_document() {
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
    fn change_of_everything_waits_for_no_document() {
        let bench = Bench::new();
        let release = bench.slow(A, "slow a");
        bench.changes.make(About::All, || None);
        drop(bench.slow(About::All, "all"));
        bench.quick(B, "b");
        bench.look(B, "look at b").blocking_recv().unwrap();
        let look = bench.look(A, "look at a");
        assert_eq!(bench.done(), ["all", "b", "look at b"]);
        drop(release);
        look.blocking_recv().unwrap();
        assert_eq!(bench.done(), ["all", "b", "look at b", "slow a", "look at a"]);
    }

    #[test]
    fn change_of_everything_that_follows_a_document_waits_for_it_alone() {
        let bench = Bench::new();
        let (release, other) = (bench.slow(A, "slow a"), bench.slow(B, "slow b"));
        bench.quick(About::AllAfter("a"), "all after a");
        let look = bench.look(About::Document("c"), "look at c");
        assert_eq!(bench.done(), Vec::<&str>::new());
        drop(release);
        look.blocking_recv().unwrap();
        assert_eq!(bench.done(), ["slow a", "all after a", "look at c"]);
        drop(other);
        bench.look(B, "look at b").blocking_recv().unwrap();
    }

    #[test]
    fn changes_of_a_document_that_waits_take_one_thread() {
        let bench = Bench::new();
        let release = bench.slow(A, "slow a");
        (0..2 * THREADS).for_each(|_| bench.quick(A, "a"));
        drop(bench.slow(B, "slow b"));
        bench.look(B, "look at b").blocking_recv().unwrap();
        assert_eq!(bench.done(), ["slow b", "look at b"]);
        drop(release);
        bench.look(A, "look at a").blocking_recv().unwrap();
    }

    #[test]
    fn change_that_panics_is_not_the_last_one() {
        let bench = Bench::new();
        bench.changes.make(A, || Some(Box::new(|| panic!("as the test wants"))));
        bench.changes.look(A, || ()).blocking_recv().unwrap();
        bench.quick(A, "next");
        bench.look(A, "look").blocking_recv().unwrap();
        assert_eq!(bench.done(), ["next", "look"]);
    }

    #[test]
    fn waiting_request_ends_when_server_stops() {
        let bench = Bench::new();
        let release = bench.slow(A, "never");
        let look = bench.look(A, "look");
        bench.changes.stop();
        assert!(look.blocking_recv().is_err());
        drop(release);
    }
}
