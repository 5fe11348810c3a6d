//! Facts that evidence shows, and whether they are complete.
//!
//! That something happened follows from seeing it; that it did not follows only from evidence that is complete. A result
//! needs a [`Proof`], and only the types here make one, so a claim of absence, a bound, a count or an order cannot be
//! judged from evidence with a gap: it is unknown, and `?` carries the reason.

pub type Seen<T> = Result<T, Why>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    Unknown(String),
    Skip(String),
    Error(String),
}

impl Why {
    pub fn unknown(reason: impl Into<String>) -> Why {
        Why::Unknown(reason.into())
    }

    pub fn reason(&self) -> &str {
        match self {
            Why::Unknown(reason) | Why::Skip(reason) | Why::Error(reason) => reason,
        }
    }
}

/// A fact that nothing unobserved can change. Only the evidence itself makes one.
#[derive(Clone, Copy, Debug)]
pub struct Proof(());

impl Proof {
    pub(crate) fn made() -> Proof {
        Proof(())
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Found<T> {
    Yes(T, Proof),
    /// It is not there: the evidence is complete.
    No(Proof),
}

impl<T> Found<T> {
    pub fn yes(self) -> Option<T> {
        match self {
            Found::Yes(value, _) => Some(value),
            Found::No(_) => None,
        }
    }

    pub fn is_yes(&self) -> bool {
        match self {
            Found::Yes(..) => true,
            Found::No(_) => false,
        }
    }

    pub fn proof(&self) -> Proof {
        match self {
            Found::Yes(_, proof) | Found::No(proof) => *proof,
        }
    }

    pub fn any(answers: impl IntoIterator<Item = Seen<Found<T>>>) -> Seen<Found<T>> {
        let (mut doubt, mut absent) = (None, Proof(()));
        for answer in answers {
            match answer {
                Ok(Found::Yes(seen, proof)) => return Ok(Found::Yes(seen, proof)),
                Ok(Found::No(proof)) => absent = proof,
                Err(why) => doubt = doubt.or(Some(why)),
            }
        }
        doubt.map_or(Ok(Found::No(absent)), Err)
    }

    pub fn map<R>(self, change: impl FnOnce(T) -> R) -> Found<R> {
        match self {
            Found::Yes(value, proof) => Found::Yes(change(value), proof),
            Found::No(proof) => Found::No(proof),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Observed<T> {
    so_far: T,
    gap: Option<Why>,
}

impl<T> Observed<T> {
    /// Returns what is complete unless there is a gap.
    pub fn new(so_far: T, gap: Option<Why>) -> Observed<T> {
        Observed { so_far, gap }
    }

    /// Returns it with one more reason why it may not be all. The first one counts.
    pub fn with_gap(self, gap: Option<Why>) -> Observed<T> {
        Observed { gap: self.gap.or(gap), ..self }
    }

    pub fn map<R>(self, read: impl FnOnce(T) -> R) -> Observed<R> {
        Observed { so_far: read(self.so_far), gap: self.gap }
    }

    pub fn as_ref(&self) -> Observed<&T> {
        Observed { so_far: &self.so_far, gap: self.gap.clone() }
    }

    /// Returns what was seen, for messages: it decides nothing.
    pub fn so_far(&self) -> &T {
        &self.so_far
    }

    pub fn gap(&self) -> Option<&Why> {
        self.gap.as_ref()
    }

    /// Returns all of it, or the reason why that is unknown. For counts, orders and averages, which anything missing
    /// could change.
    pub fn complete(&self) -> Seen<(&T, Proof)> {
        match &self.gap {
            Some(why) => Err(why.clone()),
            None => Ok((&self.so_far, Proof(()))),
        }
    }

    /// Searches for something that stays true whatever else happened: a call, a word, a limit that was exceeded.
    pub fn search<'o, R>(&'o self, look: impl FnOnce(&'o T) -> Option<R>) -> Seen<Found<R>> {
        match look(&self.so_far) {
            Some(seen) => Ok(Found::Yes(seen, Proof(()))),
            None => self.complete().map(|(_, proof)| Found::No(proof)),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Count {
    pub least: usize,
    /// The number of those that may be there in addition, with the reason; `None` for any number.
    more: Option<usize>,
    why: Option<Why>,
}

impl Count {
    pub fn exceeds(&self, limit: f64) -> Seen<Found<()>> {
        self.answer(self.least as f64 > limit, self.more.is_some_and(|more| (self.least + more) as f64 <= limit))
    }

    /// Returns whether there are at least this many.
    pub fn reaches(&self, limit: f64) -> Seen<Found<()>> {
        self.answer(self.least as f64 >= limit, self.more.is_some_and(|more| ((self.least + more) as f64) < limit))
    }

    fn answer(&self, is_seen: bool, is_impossible: bool) -> Seen<Found<()>> {
        match &self.why {
            _ if is_seen => Ok(Found::Yes((), Proof(()))),
            Some(why) if !is_impossible => Err(why.clone()),
            Some(_) | None => Ok(Found::No(Proof(()))),
        }
    }
}

impl<'e, T> Observed<&'e [T]> {
    /// Searches the items: one that certainly fits decides; one that may fit, or a missing one, makes the answer
    /// unknown.
    pub fn any<R>(&self, mut fits: impl FnMut(usize, &'e T) -> Seen<Found<R>>) -> Seen<Found<R>> {
        match Found::any(self.so_far.iter().enumerate().map(|(index, item)| fits(index, item)))? {
            Found::No(_) => self.complete().map(|(_, proof)| Found::No(proof)),
            found => Ok(found),
        }
    }

    pub fn count<R>(&self, mut fits: impl FnMut(&'e T) -> Seen<Found<R>>) -> Count {
        let mut count = Count { least: 0, more: self.gap.is_none().then_some(0), why: self.gap.clone() };
        for item in self.so_far {
            match fits(item) {
                Ok(Found::Yes(..)) => count.least += 1,
                Ok(Found::No(_)) => {}
                Err(why) => {
                    count.more = count.more.map(|more| more + 1);
                    count.why = count.why.or(Some(why));
                }
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut() -> Option<Why> {
        Some(Why::unknown("cut"))
    }

    fn fits(wanted: i32) -> impl FnMut(usize, &i32) -> Seen<Found<i32>> {
        move |_, item| match *item {
            0 => Err(Why::unknown("masked")),
            item if item == wanted => Ok(Found::Yes(item, Proof(()))),
            _ => Ok(Found::No(Proof(()))),
        }
    }

    #[test]
    fn sighting_decides_and_absence_needs_everything() {
        let some = [1, 2];
        for (gap, wanted, expected) in
            [(None, 2, Some(true)), (None, 3, Some(false)), (cut(), 2, Some(true)), (cut(), 3, None)]
        {
            let seen = Observed::new(&some[..], gap);
            assert_eq!(seen.any(fits(wanted)).ok().map(|found| found.is_yes()), expected, "{wanted}");
            let found = seen.search(|items| items.iter().find(|item| **item == wanted));
            assert_eq!(found.ok().map(|found| found.is_yes()), expected, "{wanted}");
        }
        assert!(Observed::new(&[0, 2][..], None).any(fits(2)).unwrap().is_yes());
        assert_eq!(Observed::new(&[0, 2][..], None).any(fits(3)).unwrap_err().reason(), "masked");
    }

    #[test]
    fn bounds_are_decided_by_what_is_certain() {
        let count = |items: &'static [i32], gap| Observed::new(items, gap).count(|item| fits(1)(0, item));
        let answer = |found: Seen<Found<()>>| found.ok().map(|found| found.is_yes());
        let exact = count(&[1, 1, 2], None);
        assert_eq!([answer(exact.exceeds(1.0)), answer(exact.exceeds(2.0))], [Some(true), Some(false)]);
        assert_eq!([answer(exact.reaches(2.0)), answer(exact.reaches(3.0))], [Some(true), Some(false)]);
        let masked = count(&[1, 0], None);
        assert_eq!([0.0, 1.0, 2.0].map(|limit| answer(masked.exceeds(limit))), [Some(true), None, Some(false)]);
        assert_eq!([1.0, 2.0, 3.0].map(|limit| answer(masked.reaches(limit))), [Some(true), None, Some(false)]);
        let open = count(&[1, 0], cut());
        assert_eq!([0.0, 9.0].map(|limit| answer(open.exceeds(limit))), [Some(true), None]);
        assert_eq!([1.0, 9.0].map(|limit| answer(open.reaches(limit))), [Some(true), None]);
    }
}
