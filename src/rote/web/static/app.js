"use strict";
// The pages work without this script but for dropping a table; it moves numbers with the sliders, polls what is going
// on, searches while one types, and copies commands.

function ready() {
  const planner = document.getElementById("planner");
  if (planner) { sliders(planner); dropping(planner); }
  const live = document.querySelector("[data-live]");
  if (live) poll(live);
  const search = document.querySelector("[data-search]");
  if (search) searching(search);
  copying(document);
}

async function fetched(address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  return { ok: answer.ok, text: await answer.text() };
}

// Puts a part of a page in its place; what arrives is our own server's, escaped there. A screen reader is told the one
// line that matters, not the whole part.
function place(element, text) {
  element.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
  copying(element);
  const line = element.querySelector("[data-said]")?.dataset.said, said = document.getElementById("said");
  if (line && said.textContent !== line) said.textContent = line;
}

function sliders(form) {
  const numbers = document.getElementById("numbers");
  const problem = document.getElementById("problem");
  let asked = 0, going = false, again = false;

  async function refresh() {
    if (going) { again = true; return; }
    going = true;
    const ticket = ++asked;
    const query = new URLSearchParams(new FormData(form));
    for (const [name, value] of [...query]) if (value === "") query.delete(name);
    const answer = await fetched(form.dataset.numbers + "?" + query);
    if (answer.ok) {
      place(numbers, answer.text);
      history.replaceState(null, "", numbers.querySelector("[data-address]").dataset.address);
      problem.hidden = true;
    } else {
      const page = new DOMParser().parseFromString(answer.text, "text/html");
      problem.textContent = page.querySelector("[role=alert]")?.textContent ?? answer.text;
      problem.hidden = false;
    }
    form.dataset.shown = ticket;
    going = false;
    if (again) { again = false; refresh(); }
  }

  for (const range of form.querySelectorAll("input[type=range]")) {
    const number = document.getElementById(range.dataset.for);
    const low = Math.log(Number(range.min)), high = Math.log(Number(range.max));
    // Sizes are moved by factors: a step is a hundredth of the way in logarithms.
    range.min = 0; range.max = 1000; range.step = 1;
    const follow = () => { range.value = Math.round(1000 * (Math.log(Math.max(1, Number(number.value))) - low) / (high - low)); };
    range.addEventListener("input", () => {
      const before = Number(number.value), value = Math.round(Math.exp(low + (high - low) * range.value / 1000));
      number.value = value;
      if (value !== before) refresh();
    });
    range.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const value = Math.min(Number(number.max), Math.max(Number(number.min), Number(number.value) + step));
      number.value = value; follow(); refresh();
    });
    number.addEventListener("input", () => { follow(); refresh(); });
    follow();
  }
  for (const select of form.querySelectorAll("#variant")) select.addEventListener("change", refresh);
  document.getElementById("layers").addEventListener("input", refresh);
  // Other facts or another precision are another page: their plan changes too.
  for (const select of form.querySelectorAll("#facts, #dtype")) {
    select.addEventListener("change", () => {
      if (select.id === "facts" && select.value && select.value !== "none") {
        location.assign("/planner?" + new URLSearchParams({ facts: select.value, dtype: form.elements.dtype.value }));
      } else { form.requestSubmit(); }
    });
  }
  for (const button of form.querySelectorAll("[data-plain]")) button.hidden = true;
}

function dropping(form) {
  const drop = document.getElementById("drop"), file = document.getElementById("file");
  const problem = document.getElementById("problem");
  async function send(chosen) {
    problem.hidden = true;
    try {
      const answer = await fetch("/planner/table?" + new URLSearchParams({ name: chosen.name }), {
        method: "POST", body: chosen, headers: { Accept: "application/json" },
      });
      if (answer.ok) { location.assign((await answer.json()).address); return; }
      const text = await answer.text();
      const isJson = (answer.headers.get("content-type") || "").startsWith("application/json");
      problem.textContent = isJson ? JSON.parse(text).error
        : new DOMParser().parseFromString(text, "text/html").querySelector("[role=alert]")?.textContent ?? text;
    } catch { problem.textContent = `${chosen.name}: could not be sent; it may be larger than 8 MiB`; }
    problem.hidden = false;
    file.value = "";
  }
  file.addEventListener("change", () => { if (file.files.length) send(file.files[0]); });
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  });
}

function poll(live) {
  const goesOn = () => live.querySelector("[data-again]")?.dataset.again === "1";
  async function look() {
    const answer = await fetched(live.dataset.live);
    if (answer.ok) place(live, answer.text);
    if (goesOn()) setTimeout(look, 1000);
  }
  if (goesOn()) setTimeout(look, 1000);
}

function searching(form) {
  const found = document.getElementById("found"), field = form.elements.search;
  let ticket = 0;
  field.addEventListener("input", async () => {
    const own = ++ticket;
    const answer = await fetched(form.dataset.search + "?" + new URLSearchParams(new FormData(form)));
    if (own === ticket && answer.ok) { place(found, answer.text); form.dataset.shown = own; }
  });
}

function copying(root) {
  if (!navigator.clipboard) return;
  for (const command of root.querySelectorAll("pre .copy")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(command.firstChild.textContent);
      button.textContent = "copied";
    });
    command.append(button);
  }
}

ready();
