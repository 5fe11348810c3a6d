//! Received traces, for as long as they may be requested.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use speclens_schema::trace::{CostCounters, Exported, ExportedTrace, LogRecord, Signals, TraceId};
use tokio::{sync::watch, time::Instant};

const MAX_SPANS: usize = 250_000;

const MAX_BYTES: usize = 256 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Store {
    held: Mutex<TraceBuffer>,
    arrivals: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct TraceBuffer {
    traces: HashMap<TraceId, Received>,
    cost_counters: CostCounters,
    arrivals: u64,
    lost: u64,
    spans: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Received {
    spans: Vec<Exported>,
    logs: Vec<LogRecord>,
    bytes: usize,
    first: u64,
    last: Instant,
}

pub(super) struct Contents<'s> {
    pub(super) traces: Vec<ExportedTrace<'s>>,
    pub(super) last: Vec<Instant>,
    pub(super) cost_counters: &'s CostCounters,
    pub(super) is_cut: bool,
}

impl Default for Store {
    fn default() -> Store {
        Store { held: Mutex::default(), arrivals: watch::Sender::new(0) }
    }
}

impl Store {
    fn held(&self) -> MutexGuard<'_, TraceBuffer> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the data of a request of this many bytes, and returns how many spans or records did not fit.
    pub(super) fn take(&self, signals: Signals, bytes: usize) -> usize {
        let count = signals.spans.len() + signals.logs.len();
        let share = bytes / count.max(1);
        let mut held = self.held();
        held.arrivals += 1;
        held.make_place(count, bytes, signals.spans.first().map(|it| &it.span.trace_id));
        held.cost_counters.add(signals.points);
        if signals.unassigned > 0 {
            held.lost = held.arrivals;
        }
        let mut refused = 0;
        for exported in signals.spans {
            if !held.has_place(share) {
                refused += 1;
                held.lost = held.arrivals;
                continue;
            }
            held.spans += 1;
            let received = held.entry(exported.span.trace_id.clone(), share);
            received.spans.push(exported);
        }
        for event in signals.logs {
            if !held.has_place(share) {
                refused += 1;
                continue;
            }
            let received = held.entry(event.trace_id.clone(), share);
            received.logs.push(event);
        }
        let arrivals = held.arrivals;
        drop(held);
        self.arrivals.send_replace(arrivals);
        refused
    }

    /// Notes that a request was refused, whatever spans it had.
    pub(super) fn lose(&self) {
        let mut held = self.held();
        held.arrivals += 1;
        held.lost = held.arrivals;
    }

    /// Returns the number of arrivals so far.
    pub(super) fn now(&self) -> u64 {
        self.held().arrivals
    }

    pub(super) fn listen(&self) -> watch::Receiver<u64> {
        self.arrivals.subscribe()
    }

    /// Looks at everything in the store. Traces that existed at the arrival `since` are older.
    pub(super) fn look<A>(&self, since: u64, look: impl FnOnce(Contents<'_>) -> A) -> A {
        let held = self.held();
        let mut traces: Vec<(&TraceId, &Received)> = held.traces.iter().collect();
        traces.sort_by_key(|(id, received)| (received.first, *id));
        let (traces, last) = traces
            .into_iter()
            .map(|(id, received)| {
                let is_older = received.first <= since;
                (ExportedTrace { id, spans: received.spans.iter().collect(), is_older }, received.last)
            })
            .unzip();
        look(Contents { traces, last, cost_counters: &held.cost_counters, is_cut: held.lost > since })
    }

    /// Returns everything in the store. What was lost counts as one span without a trace.
    pub(super) fn drain(&self) -> Signals {
        let mut held = self.held();
        let mut traces: Vec<Received> = std::mem::take(&mut held.traces).into_values().collect();
        (held.spans, held.bytes) = (0, 0);
        traces.sort_by_key(|received| received.first);
        let mut all = Signals { unassigned: usize::from(held.lost > 0), ..Signals::default() };
        for received in traces {
            all.spans.extend(received.spans);
            all.logs.extend(received.logs);
        }
        all
    }

    /// Returns the time since the last arrival; `None` if nothing has arrived.
    pub(super) fn quiet(&self) -> Option<Duration> {
        self.held().traces.values().map(|received| received.last.elapsed()).min()
    }
}

impl TraceBuffer {
    fn has_place(&self, bytes: usize) -> bool {
        self.spans < MAX_SPANS && self.bytes + bytes <= MAX_BYTES
    }

    fn entry(&mut self, id: TraceId, bytes: usize) -> &mut Received {
        self.bytes += bytes;
        let first = self.arrivals;
        let new = || Received { spans: Vec::new(), logs: Vec::new(), bytes: 0, first, last: Instant::now() };
        let received = self.traces.entry(id).or_insert_with(new);
        received.bytes += bytes;
        received.last = Instant::now();
        received
    }

    /// Removes the traces that have been quiet for longest, until there is space for this much more.
    fn make_place(&mut self, spans: usize, bytes: usize, growing: Option<&TraceId>) {
        while self.spans + spans > MAX_SPANS || self.bytes + bytes > MAX_BYTES {
            let others = self.traces.iter().filter(|(id, _)| Some(*id) != growing);
            let Some(oldest) = others.min_by_key(|(_, received)| received.last).map(|(id, _)| id.clone()) else {
                break;
            };
            if let Some(gone) = self.traces.remove(&oldest) {
                self.lost = self.lost.max(gone.first);
                self.spans -= gone.spans.len();
                self.bytes -= gone.bytes;
            }
        }
    }
}
