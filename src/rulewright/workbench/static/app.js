// The workbench page. Every text comes in by textContent, so no name or label can become markup.
const token = new URLSearchParams(location.search).get("token");
const $ = (id) => document.getElementById(id);
let state = null; // the model as the server knows it
let chosen = null; // printed number of the chosen rule
let pending = null; // the previewed edit
let job = null; // long work under way
let previews = 0; // number of the last preview asked for

async function ask(task, asked = {}) {
  const response = await fetch(`/api/${task}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-token": token },
    body: JSON.stringify(asked),
  }).catch(() => { throw new Error("The server has stopped. Start 'rulewright edit' again: applied edits are kept."); });
  const found = await response.json().catch(() => ({ error: response.statusText }));
  if (!response.ok) {
    const error = new Error(found.error);
    error.status = response.status;
    throw error;
  }
  return found;
}

function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "text") made.textContent = value;
    else if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function drawn(tag, options) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "text") made.textContent = value;
    else made.setAttribute(name, value);
  }
  return made;
}

function say(text, ...actions) {
  $("message").hidden = !text;
  $("message").replaceChildren(text || "", ...actions);
}

async function attempt(work) {
  try {
    say("");
    return await work();
  } catch (error) {
    say(error.message);
    return null;
  }
}

const number = (value, digits = 3) =>
  value === null || value === undefined ? "–" : Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString("en") : value.toFixed(digits);
const signed = (value) => (value === null ? "–" : (value > 0 ? "+" : "") + number(value));
const many = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
const NAMES = { log_loss: "Log-loss", accuracy: "Accuracy", auc: "AUC", brier_score_loss: "Brier score",
  ece: "Calibration error", rmse: "RMSE", mae: "MAE" };
const RISING = new Set(["accuracy", "auc"]);

function showState(found) {
  state = found;
  document.title = `${found.title} – workbench`;
  $("title").textContent = found.title;
  $("scope").textContent = `${many(found.rules.length, "rule")}, ${found.scope}; ${many(found.log.length, "edit")}${found.saved ? "" : ", not saved"}`;
  $("figures").replaceChildren(...Object.entries(found.figures).map(([key, value]) =>
    element("div", {}, element("span", { class: "soft", text: NAMES[key] || key }), element("b", { text: number(value) }))));
  $("start").textContent = found.preamble[0];
  $("undo").disabled = !found.can.undo;
  $("redo").disabled = !found.can.redo;
  $("save").disabled = found.saved;
  $("refit").disabled = $("grow").disabled = !found.n_rows;
  $("grow").hidden = found.form === "list";
  showRules();
  $("add-class").hidden = found.form !== "additive";
  $("add-points").hidden = found.form === "list";
  const known = $("add-class").value;
  $("add-class").replaceChildren(element("option", { value: "", text: "class: best fit" }),
    ...found.classes.map((name) => element("option", { value: name, text: name })));
  $("add-class").value = known;
  $("words").replaceChildren(...found.columns.flatMap((column) => column.ordered
    ? [element("option", { value: `${quote(column.name)} >= ` })]
    : column.labels.slice(0, 12).map((label) => element("option", { value: `${quote(column.name)} = ${quote(label)}` }))));
  $("log").replaceChildren(...found.log.map((entry) => element("li", {
    text: `${entry.when.slice(0, 16).replace("T", " ")} ${entry.author}: ${entry.text}${entry.reason ? ` (${entry.reason})` : ""}` })));
  if (!found.log.length) $("log").replaceChildren(element("p", { class: "soft", text: "No edits yet." }));
  if (chosen !== null && !found.rules.some((rule) => rule.number === chosen)) chosen = null;
  showEditor();
  if (found.rules.some((rule) => rule.frozen) && found.n_rows) {
    const version = found.version;
    ask("cost", { version }).then((cost) => { if (state.version === version) $("cost").textContent = cost.text; }, () => {});
  }
  $("cost").textContent = "";
  if (found.broken.length) say(`Constraints are broken: ${found.broken.join("; ")}`);
}

const quote = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

function showRules() {
  const lines = [], byColumn = new Map();
  for (const rule of state.rules) {
    const column = $("order").value === "column" ? rule.columns[0] || "" : "";
    if (!byColumn.has(column)) byColumn.set(column, []);
    byColumn.get(column).push(rule);
  }
  for (const [column, rules] of byColumn) {
    if (column) lines.push(element("li", {}, element("h3", { text: column })));
    lines.push(...rules.map(ruleLine));
  }
  $("rules").replaceChildren(...lines);
}

function ruleLine(rule) {
  // Blue raises the number or the last of two classes, orange the other.
  const lowers = rule.value < 0 !== (state.classes.length === 2 && rule.head === state.classes[0]);
  const effect = rule.value === null || state.classes.length > 2 ? "" : lowers ? "down" : "up";
  const cells = Object.entries(rule.cells).filter(([title]) => title !== "#").map(([title, cell]) => `${title} ${cell}`);
  return element("li", {}, element("button", {
    class: `rule ${effect}`, "aria-current": String(rule.number === chosen), "data-number": rule.number,
    onclick: () => choose(rule.number) },
  element("span", { class: `text${rule.frozen ? " frozen" : ""}`, text: `${rule.number}. ${rule.text}` }),
  element("span", { class: "cells", text: cells.join(" · ") })));
}

function choose(which) {
  chosen = which;
  for (const line of document.querySelectorAll(".rule"))
    line.setAttribute("aria-current", String(Number(line.dataset.number) === which));
  showEditor();
}

// ---- the editor of one rule

function showEditor() {
  const rule = state.rules.find((one) => one.number === chosen);
  if (!rule) {
    $("editor").replaceChildren(element("h2", { text: "Editor" }), element("p", { class: "soft", text: "Choose a rule." }));
    return;
  }
  const text = element("input", { class: "wide", id: "rule-text", value: rule.if, spellcheck: "false", list: "words", "aria-label": "Conditions" });
  const chart = element("div", { id: "chart" });
  const chips = rule.conditions.map((condition, place) => element("button", {
    class: "chip", type: "button", text: condition.text, "aria-pressed": String(place === 0),
    onclick: (event) => {
      for (const chip of document.querySelectorAll(".chip")) chip.setAttribute("aria-pressed", String(chip === event.target));
      showColumn(rule, condition, chart, text);
    } }));
  const points = rule.value === null ? null : element("form", { class: "row", onsubmit: (event) => {
    event.preventDefault();
    preview({ do: "set_points", rule: rule.number, points: Number($("points").value) });
  } }, element("label", { for: "points", text: "Points" }),
  element("input", { id: "points", type: "number", step: "any", value: rule.value.toPrecision(4) }),
  element("button", { text: "Preview fixed points" }));
  $("editor").replaceChildren(
    element("h2", { text: `Rule ${rule.number}` }),
    element("div", { class: "chips" }, ...chips),
    element("form", { onsubmit: (event) => { event.preventDefault(); preview({ do: "replace", rule: rule.number, text: text.value }); } },
      text, element("div", { class: "row" }, element("button", { text: "Preview conditions" }))),
    points,
    element("div", { class: "row" },
      element("button", { text: rule.frozen ? "Thaw" : "Freeze", onclick: () => preview({ do: rule.frozen ? "thaw" : "freeze", rules: [rule.number] }) }),
      element("button", { text: "Remove", onclick: () => preview({ do: "drop", rules: [rule.number] }) }),
      element("button", { text: "Alternatives", id: "alternatives", disabled: !state.n_rows, onclick: () => suggest(rule) })),
    chart, element("div", { id: "suggestions" }));
  if (rule.conditions.length && state.n_rows) showColumn(rule, rule.conditions[0], chart, text);
}

async function showColumn(rule, condition, chart, text) {
  const found = await attempt(() => ask("column", { name: condition.column }));
  if (!found) return;
  chart.replaceChildren(element("h3", { text: `${condition.column}: rows, and ${state.form === "regression" ? "mean" : `share of ${state.classes.at(-1)}`}` }), distribution(found, condition));
  if (!condition.cut || !found.ends.length) return;
  const ends = found.ends.map((pair) => pair[0]);
  const slider = element("input", { type: "range", min: 0, max: ends.length - 1, step: 1, id: "slider",
    value: nearest(ends, condition.cut.value), "aria-label": `Threshold of ${condition.column}` });
  const shown = element("output", { text: condition.text });
  slider.addEventListener("input", () => {
    const cut = ends[Number(slider.value)];
    const changed = `${quote(condition.column)} ${condition.cut.sign} ${cut}`;
    shown.textContent = changed;
    text.value = rule.if.split(" and ").map((part, place) =>
      rule.conditions[place] && rule.conditions[place].text === condition.text ? changed : part).join(" and ");
    slider.setAttribute("aria-valuetext", changed);
  });
  slider.addEventListener("change", () => preview({ do: "replace", rule: rule.number, text: text.value }));
  chart.append(element("label", { class: "soft", for: "slider", text: "Move the threshold " }), shown, slider,
    element("div", { class: "row" }, element("button", { text: "Loss along the threshold", onclick: () => cuts(rule, condition, chart) })));
}

const nearest = (values, wanted) => values.reduce((best, value, place) =>
  Math.abs(value - wanted) < Math.abs(values[best] - wanted) ? place : best, 0);

function distribution(found, condition) {
  const width = 420, height = 130, bottom = 20, n = found.counts.length;
  const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Distribution of ${found.column}` });
  const most = Math.max(...found.counts, 1), step = width / n;
  const known = found.means.filter((mean) => mean !== null);
  const low = state.form === "regression" ? Math.min(...known) : 0, high = state.form === "regression" ? Math.max(...known) : 1;
  const points = [];
  found.counts.forEach((count, place) => {
    const top = (height - bottom) * (1 - count / most);
    const bar = drawn("rect", { class: "bar", x: place * step + 1, y: top, width: Math.max(step - 2, 1), height: height - bottom - top });
    bar.append(drawn("title", { text: `${found.labels[place]}: ${number(count, 0)} rows, ${number(found.means[place])}` }));
    picture.append(bar);
    if (found.means[place] !== null)
      points.push(`${(place + 0.5) * step},${(height - bottom) * (1 - (found.means[place] - low) / (high - low || 1))}`);
  });
  picture.append(drawn("polyline", { class: "mean", points: points.join(" ") }));
  if (condition.cut && found.ends.length) {
    const place = found.ends.findIndex((pair) => pair[1] >= condition.cut.value);
    const x = (place < 0 ? n : place) * step;
    picture.append(drawn("line", { class: "cut", x1: x, x2: x, y1: 0, y2: height - bottom }));
  }
  const last = found.labels.length - 1;
  picture.append(drawn("text", { x: 2, y: height - 6, text: short(found.labels[0] || "") }),
    drawn("text", { x: width - 2, y: height - 6, "text-anchor": "end", text: short(found.labels[last] || "") }));
  return picture;
}

const short = (text) => (text.length > 26 ? `${text.slice(0, 25)}…` : text);

// ---- long work

async function work(asked, place, show) {
  const started = await attempt(() => ask("start", asked));
  if (!started) return;
  const own = started.job;
  job = own;
  const steps = element("span", { class: "soft", text: "working ..." });
  place.replaceChildren(steps, element("button", { text: "Cancel", onclick: () => ask("cancel", { job: own }) }));
  while (job === own) {
    const found = await attempt(() => ask("job", { job: own }));
    if (!found) return;
    if (found.done) {
      if (found.error) place.replaceChildren(element("p", { class: "soft", text: found.error }));
      else show(found.result);
      return;
    }
    steps.textContent = `working: ${found.steps} candidates `;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

function suggest(rule) {
  const place = $("suggestions");
  work({ work: "suggest", rule: rule.number }, place, (found) => place.replaceChildren(
    element("h3", { text: "Alternatives, by held-out loss" }),
    table(["rule", "same rows", "loss"], found.map((one) => [
      element("button", { class: "chip", text: one.text, onclick: () => preview({ do: "replace", rule: rule.number, text: one.text }) }),
      `${Math.round(100 * one.overlap)} %`, signed(one.change)]))));
}

function cuts(rule, condition, chart) {
  const place = element("div", {});
  chart.append(place);
  work({ work: "cuts", rule: rule.number, column: condition.column }, place, (found) => {
    const width = 420, height = 110;
    const xs = found.map((pair) => pair[0]), ys = found.map((pair) => pair[1]);
    const [a, b, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const at = (x, y) => `${10 + (width - 20) * (x - a) / (b - a || 1)},${10 + (height - 35) * (1 - (y - low) / (high - low || 1))}`;
    const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Held-out loss along the threshold" });
    picture.append(drawn("polyline", { class: "mean", points: found.map((pair) => at(...pair)).join(" ") }),
      drawn("text", { x: 4, y: height - 6, text: number(a) }),
      drawn("text", { x: width - 4, y: height - 6, "text-anchor": "end", text: number(b) }),
      drawn("text", { x: width / 2, y: height - 6, "text-anchor": "middle", text: `loss from ${signed(low)} to ${signed(high)}` }));
    place.replaceChildren(element("h3", { text: "Change of the held-out loss" }), picture);
  });
}

// ---- preview and apply

const table = (titles, rows) => element("table", {},
  element("thead", {}, element("tr", {}, ...titles.map((title, place) => element("th", { class: place ? "n" : "", text: title })))),
  element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((cell, place) =>
    element("td", { class: place ? "n" : "" }, cell))))));

async function preview(edit) {
  const own = ++previews;
  $("preview").setAttribute("aria-busy", "true");
  const found = await attempt(() => ask("preview", { edit, version: state.version }));
  if (own !== previews) return; // a later one was asked for
  $("preview").removeAttribute("aria-busy");
  if (found) showPreview(edit, found);
}

function showPreview(edit, found) {
  pending = edit;
  const reason = element("input", { id: "reason", class: "wide", placeholder: "Reason, for the log", "aria-label": "Reason" });
  const parts = [element("h2", { text: "Preview" }), element("p", { text: found.text })];
  if (found.figures) {
    parts.push(table(["held-out", "before", "after", "change [95 %]"], found.figures.map((one) => {
      const rise = one.after - one.before, worse = RISING.has(one.figure) ? rise < 0 : rise > 0;
      const sure = one.low !== null && (one.low > 0 || one.high < 0);
      const range = one.low === null ? "" : ` [${signed(one.low)}, ${signed(one.high)}]`;
      return [NAMES[one.figure] || one.figure, number(one.before), number(one.after),
        element("span", { class: sure ? (worse ? "worse" : "better") : "", text: signed(rise) + range })];
    })));
    parts.push(element("p", { id: "decisions", text: found.changed
      ? `${found.changed.toLocaleString("en")} of ${found.n_rows.toLocaleString("en")} ${state.form === "regression" ? "predictions" : "decisions"} change`
      : "No prediction changes." }));
    if (found.moves.length) parts.push(table(["from", "to", "rows"], found.moves.map(([one, other, n]) => [one, other, String(n)])));
    if (found.examples.length) parts.push(element("details", {}, element("summary", { text: `Rows to look at: ${found.examples.join(", ")}` }),
      table(["column", ...found.examples.map((row) => `row ${row}`)], Object.entries(found.values).map(([name, values]) => [name, ...values]))));
    if (found.groups.length) parts.push(table(["group", "rows", "changed", "before", "after"], found.groups.map((one) =>
      [`${one.column} = ${one.label}`, String(one.n_rows), String(one.n_changed), number(one.before), number(one.after)])));
  }
  for (const line of found.broken) parts.push(element("p", { class: "worse", text: `Breaks a constraint: ${line}` }));
  parts.push(element("form", { onsubmit: (event) => { event.preventDefault(); apply(reason.value); } }, reason,
    element("div", { class: "row" }, element("button", { id: "apply", class: "main", text: "Apply" }),
      element("button", { type: "button", text: "Discard", onclick: discard }))));
  $("preview").replaceChildren(...parts);
}

function discard() {
  pending = null;
  $("preview").replaceChildren(element("h2", { text: "Preview" }), element("p", { class: "soft", text: "Nothing to apply." }));
  showEditor();
}

async function apply(reason) {
  const found = await attempt(() => ask("apply", { edit: pending, reason, version: state.version }));
  if (!found) return;
  discard();
  showState(found);
}

async function change(task) {
  const found = await attempt(() => ask(task, { version: state.version }));
  if (!found) return;
  discard();
  showState(found);
}

async function save(replaces = false) {
  try {
    showState(await ask("save", { version: state.version, replaces }));
    say(`Saved to ${state.file}.`);
  } catch (error) {
    const again = element("button", { text: "Replace the file", onclick: () => save(true) });
    say(`${error.message} `, ...(error.status === 409 && !replaces ? [again] : []));
  }
}

$("undo").onclick = () => change("undo");
$("redo").onclick = () => change("redo");
$("refit").onclick = () => preview({ do: "refit" });
$("grow").onclick = () => {
  const place = element("div", {}), edit = { do: "grow", n_rules: 1 };
  $("preview").replaceChildren(element("h2", { text: "Preview" }), place);
  work({ work: "grow", n_rules: 1, version: state.version }, place, (found) => showPreview(edit, found));
};
$("order").onchange = showRules;
$("save").onclick = () => save();
$("export").onchange = async (event) => {
  const to = event.target.value;
  event.target.value = "";
  const found = to && await attempt(() => ask("export", { to }));
  if (!found) return;
  if (to === "report") {
    const address = URL.createObjectURL(new Blob([found.text], { type: "text/html" }));
    element("a", { href: address, download: `${state.title}.report.html` }).click();
    return;
  }
  $("text").textContent = found.text;
  $("text-dialog").showModal();
};
$("add-form").onsubmit = (event) => {
  event.preventDefault();
  const edit = { do: "add", text: $("add-text").value };
  if ($("add-class").value) edit.votes = $("add-class").value;
  if ($("add-points").value) edit.points = Number($("add-points").value);
  preview(edit);
};
document.addEventListener("keydown", (event) => {
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
  const key = event.key.toLowerCase();
  if ((event.ctrlKey || event.metaKey) && key === "s") { event.preventDefault(); save(); }
  else if ((event.ctrlKey || event.metaKey) && key === "z" && !typing && state.can.undo) change("undo");
  else if ((event.ctrlKey || event.metaKey) && key === "y" && !typing && state.can.redo) change("redo");
  else if (!typing && (key === "j" || key === "k") && state.rules.length) {
    const places = state.rules.map((rule) => rule.number);
    const at = places.indexOf(chosen) + (key === "j" ? 1 : -1);
    choose(places[Math.min(Math.max(at, 0), places.length - 1)]);
    document.querySelector(".rule[aria-current=true]").focus();
  }
});

attempt(async () => {
  const found = await ask("state");
  showState(found);
  if (found.rules.length) choose(found.rules[0].number);
  if (found.unsaved) {
    say(`${found.unsaved} edits of an earlier session were not saved. `,
      element("button", { text: "Make them again", onclick: async () => { const next = await attempt(() => ask("resume")); if (next) showState(next); } }));
  }
});
