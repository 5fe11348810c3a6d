'use strict';
// Loads the page again when there is a newer one; what is open stays open.
const key = 'speclens';
const parts = () => [...document.querySelectorAll('details')].filter((part) => part.querySelector(':scope > .body[id]'));
const name = (part) => part.querySelector(':scope > .body').id;
const saved = JSON.parse(sessionStorage.getItem(key) ?? 'null');
sessionStorage.removeItem(key);
if (saved) {
  for (const part of parts()) part.open = saved.open.includes(name(part));
  for (const id of saved.hidden) document.getElementById(id)?.click();
  scrollTo(0, saved.at);
}
const again = () => {
  const open = parts().filter((part) => part.open).map(name);
  const hidden = [...document.querySelectorAll('.filter input:not(:checked)')].map((box) => box.id);
  sessionStorage.setItem(key, JSON.stringify({ open, hidden, at: scrollY }));
  location.reload();
};
const state = document.getElementById('live');
const wait = async () => {
  for (;;) {
    try {
      const answer = await fetch(`after/${state.dataset.version}`, { cache: 'no-store' });
      if (answer.status === 200) return again();
      if (answer.status !== 204) throw new Error(answer.statusText);
      state.textContent = 'This page follows the files.';
    } catch {
      state.textContent = 'speclens view has ended; this page no longer follows the files.';
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
};
wait();
