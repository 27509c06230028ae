"use strict";
// What arrives is HTML that the service has escaped; scripts in it would not run under the page's policy either.
(() => {
  const log = document.getElementById("log");
  const state = document.getElementById("state");
  const live = document.getElementById("live");
  if (!log || !log.dataset.stream) return;

  const atEnd = () => window.innerHeight + window.scrollY >= document.body.scrollHeight - 80;

  function add(html) {
    const holder = document.createElement("template");
    holder.innerHTML = html;
    const block = holder.content.firstElementChild;
    if (!block) return;
    const follow = atEnd();
    const key = block.dataset.key;
    const last = log.lastElementChild;
    if ("whole" in block.dataset) {
      for (const piece of [...log.children]) if (piece.dataset.key === key) piece.remove();
      log.append(block);
    } else if (key && last && last.dataset.key === key && !("whole" in last.dataset)) {
      const text = block.querySelector("pre");
      let target = last.querySelector("pre");
      if (text && target) target.append(text.textContent);
      else if (text) last.append(text);
    } else {
      log.append(block);
    }
    document.getElementById("nothing")?.remove();
    if (follow) window.scrollTo(0, document.body.scrollHeight);
  }

  function replaceState(html) {
    const closed = new Set([...state.querySelectorAll("details.file:not([open]) summary code")].map((e) => e.textContent));
    state.innerHTML = html;
    for (const code of state.querySelectorAll("details.file summary code"))
      if (closed.has(code.textContent)) code.closest("details").open = false;
  }

  const source = new EventSource(log.dataset.stream);
  source.addEventListener("open", () => { live.hidden = false; });
  source.addEventListener("error", () => { live.hidden = true; });
  source.addEventListener("entry", (event) => add(event.data));
  source.addEventListener("state", (event) => replaceState(event.data));
  source.addEventListener("end", () => { source.close(); live.hidden = true; });
})();
