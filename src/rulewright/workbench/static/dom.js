// What all parts of the page share. Every text comes in by textContent, so no name or label can
// become markup.
const token = new URLSearchParams(location.search).get("token");

export const page = { state: null, chosen: null, refresh: null }; // refresh(state) shows a new state
export const $ = (id) => document.getElementById(id);

export async function ask(task, asked = {}) {
  const response = await fetch(`/api/${task}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-token": token },
    body: JSON.stringify(asked),
  }).catch(() => {
    throw new Error("The server has stopped. Start 'rulewright edit' again: applied edits are kept.");
  });
  const found = await response.json().catch(() => ({ error: response.statusText }));
  if (response.ok) return found;
  throw Object.assign(new Error(found.error), { status: response.status });
}

export function element(tag, options = {}, ...children) {
  return fill(document.createElement(tag), options, children);
}

export function drawn(tag, options = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), options, children);
}

function fill(made, options, children) {
  for (const [name, value] of Object.entries(options)) {
    if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false && value !== null)
      made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const button = (text, onclick, options = {}) =>
  element("button", { type: "button", text, onclick, ...options });

export const choice = (options, pairs) =>
  element("select", options, ...pairs.map(([value, text]) => element("option", { value, text })));

// A form of one line: what it calls on Enter gets its first field, where errors are shown.
export function form(submit, ...children) {
  const made = element("form", { class: "row" }, ...children);
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(made.querySelector("input, select"));
  });
  return made;
}

export const table = (titles, rows) => element("table", {},
  element("thead", {}, element("tr", {}, ...titles.map((title, place) =>
    element("th", { class: place ? "n" : "", scope: "col", text: title })))),
  element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((cell, place) =>
    element("td", { class: place ? "n" : "" }, cell))))));

export function say(text, ...actions) {
  $("message").hidden = !text;
  $("message").replaceChildren(text || "", ...actions);
}

// Errors about what a field holds are shown at the field, others at the top.
export async function attempt(work, field = null) {
  say("");
  showError(field, "");
  try {
    return await work();
  } catch (error) {
    if (field && error.status === 400) showError(field, error.message);
    else if (error.status === 409) say(`${error.message} `, button("Show the model as it is", reload));
    else say(error.message);
    return null;
  }
}

export async function reload() {
  const found = await attempt(() => ask("state"));
  if (found) page.refresh(found);
}

function showError(field, text) {
  if (!field) return;
  const id = `${field.id}-error`;
  $(id)?.remove();
  field.setAttribute("aria-invalid", String(Boolean(text)));
  if (!text) return;
  field.setAttribute("aria-describedby", id);
  field.after(element("p", { id, class: "error", role: "alert", text }));
  field.focus();
}

export const number = (value, digits = 3) =>
  value === null || value === undefined ? "–" : Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString("en") : value.toFixed(digits);
export const signed = (value) =>
  value === null ? "–" : (value > 0 ? "+" : "") + number(value).replace(/^-(?=0\.000$)/, "");
export const many = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
export const short = (text, most = 26) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

const NAMES = { log_loss: "Log-loss", accuracy: "Accuracy", auc: "AUC", brier_score_loss: "Brier score",
  ece: "Calibration error", rmse: "RMSE", mae: "MAE", r2: "R²" };
export const nameOf = (figure) => NAMES[figure] || figure;

// Long work shows its progress and a button that ends it; new work ends what is under way.
let job = null;

export function cancel() {
  if (job) ask("cancel", { job }).catch(() => {});
  job = null;
}

export async function work(asked, place, show, field = null) {
  cancel();
  const started = await attempt(() => ask("start", asked), field);
  if (!started) return;
  const own = (job = started.job);
  const bar = element("progress", { max: 1, value: 0, "aria-label": "Progress" });
  const steps = element("span", { class: "soft", text: "working" });
  place.replaceChildren(element("div", { class: "row" }, bar, steps,
    button("Cancel", () => ask("cancel", { job: own }))));
  while (job === own) {
    const found = await attempt(() => ask("job", { job: own }));
    if (!found) return;
    if (found.done) {
      job = null;
      if (found.error) place.replaceChildren(element("p", { class: "soft", text: found.error }));
      else show(found.result);
      return;
    }
    bar.max = found.total;
    bar.value = found.steps;
    steps.textContent = `working: ${found.steps} of ${found.total}`;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}
