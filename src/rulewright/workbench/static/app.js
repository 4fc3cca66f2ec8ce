// The workbench page: header, rules, log, dialogs and keys.
import { complete } from "./complete.js";
import { $, ask, attempt, button, choice, element, form, many, nameOf, number, page, reload, say, work } from "./dom.js";
import { showEditor } from "./editor.js";
import { discard, figures, preview, showPreview } from "./preview.js";

page.refresh = (found) => {
  page.state = found;
  page.by ??= found.by[0] || "";
  if (!found.rules.some((rule) => rule.number === page.chosen)) page.chosen = found.rules[0]?.number ?? null;
  document.title = `${found.title} – workbench`;
  $("title").textContent = found.title;
  $("scope").textContent = `${many(found.rules.length, "rule")}, ${found.scope}; ${many(found.log.length, "edit")}${found.saved ? "" : ", not saved"}`;
  $("figures").replaceChildren(...Object.entries(found.figures).map(([key, value]) =>
    element("div", {}, element("span", { class: "soft", text: nameOf(key) }), element("b", { text: number(value) }))));
  $("start").textContent = found.preamble.slice(0, 2).join("\n");
  $("order").options[0].text = found.form === "list" ? "in order" : "by strength";
  $("undo").disabled = !found.can.undo;
  $("redo").disabled = !found.can.redo;
  $("save").disabled = found.saved;
  $("refit").disabled = $("grow").disabled = !found.n_rows;
  $("refit").textContent = found.form === "list" ? "Recount" : "Refit";
  $("grow").hidden = found.form === "list";
  $("final").hidden = !found.n_final;
  discard();
  showRules();
  showAdding();
  showConstraints();
  showPolicies();
  showLog();
  showEditor();
  showCost();
};

function showCost() {
  const { version, n_rows: nRows, rules } = page.state;
  $("cost").textContent = "";
  if (!nRows || !rules.some((rule) => rule.frozen)) return;
  ask("cost", { version }).then((cost) => { if (page.state.version === version) $("cost").textContent = cost.text; }, () => {});
}

function showLog() {
  const write = (entry) => `${entry.when.slice(0, 16).replace("T", " ")}${entry.author ? ` ${entry.author}` : ""}: ${entry.text}${entry.reason ? ` (${entry.reason})` : ""}`;
  $("log").replaceChildren(...page.state.log.map((entry) => element("li", { text: write(entry) })));
  $("no-log").hidden = page.state.log.length > 0;
}

// ---- rules

function showRules() {
  const lines = [], byColumn = new Map();
  for (const rule of page.state.rules) {
    const column = $("order").value === "column" ? rule.columns[0] || "" : "";
    if (!byColumn.has(column)) byColumn.set(column, []);
    byColumn.get(column).push(rule);
  }
  for (const [column, rules] of byColumn) {
    if (column) lines.push(element("li", {}, element("h3", { text: column })));
    lines.push(...rules.map((rule) => element("li", {}, lineOf(rule))));
  }
  $("rules").replaceChildren(...lines);
}

function lineOf(rule) {
  const cells = Object.entries(rule.cells).filter(([name, value]) => value && !["#", "rule"].includes(name))
    .map(([name, value]) => `${name} ${value}`);
  const { classes, form: kind } = page.state, isList = kind === "list";
  const rises = rule.value * (classes.length && rule.head !== classes.at(-1) ? -1 : 1) >= 0;
  const side = isList || classes.length > 2 ? "" : rises ? "up" : "down";
  return element("button", { class: `rule ${side}`, type: "button", "data-number": rule.number,
    "aria-current": String(rule.number === page.chosen), onclick: () => choose(rule.number) },
  element("span", { class: `text${rule.frozen ? " frozen" : ""}`, text: `${rule.number}. ${rule.text}${isList ? ` → ${rule.head}` : ""}` }),
  element("span", { class: "cells", text: cells.join(" · ") }));
}

function choose(which) {
  page.chosen = which;
  for (const line of document.querySelectorAll(".rule"))
    line.setAttribute("aria-current", String(Number(line.dataset.number) === which));
  showEditor();
  if (matchMedia("(max-width: 1000px)").matches) $("editor").scrollIntoView({ block: "start" });
}

// ---- edits of the whole model

function showAdding() {
  const { form: kind, classes } = page.state, known = $("add-class").value;
  $("add-class").hidden = kind !== "additive";
  $("add-points").hidden = kind === "list";
  $("add-class").replaceChildren(element("option", { value: "", text: "class: best fit" }),
    ...classes.map((name) => element("option", { value: name, text: name })));
  $("add-class").value = known;
}

function showConstraints() {
  const { monotone = {}, forbidden = [] } = page.state.constraints;
  const column = choice({ id: "constrain-column", "aria-label": "Column" }, page.state.columns.map((one) => [one.name, one.name]));
  const kind = choice({ id: "constrain-kind", "aria-label": "Constraint" }, [["forbidden", "may not be used"],
    ["increasing", "never lowers the prediction"], ["decreasing", "never raises the prediction"], ["", "has no constraint"]]);
  const take = () => {
    const wanted = { monotone: { ...monotone }, forbidden: forbidden.filter((name) => name !== column.value) };
    delete wanted.monotone[column.value];
    if (kind.value === "forbidden") wanted.forbidden.push(column.value);
    else if (kind.value) wanted.monotone[column.value] = kind.value;
    preview({ do: "constrain", ...wanted }, column);
  };
  const digits = element("input", { id: "digits", type: "number", required: true, min: 1, max: 15, value: 2, "aria-label": "Digits" });
  const known = [...forbidden.map((name) => `${name} may not be used`), ...Object.entries(monotone).map((pair) => pair.join(": "))];
  const fixing = element("p", { class: "soft", text: `Constraints: ${known.join("; ") || "none"}.` });
  const broken = page.state.broken.map((line) => element("p", { class: "warning", text: `Broken: ${line}` }));
  $("constraints").replaceChildren(fixing, ...broken, form(take, column, kind, element("button", { text: "Preview constraint" })),
    form(() => preview({ do: "round", digits: Number(digits.value) }, digits), element("label", { for: "digits", text: "Digits of thresholds" }), digits,
      element("button", { text: "Preview rounding" })));
  if (page.state.broken.length) $("more").open = true;
}

function showPolicies() {
  const lines = page.state.policies.map((one) => element("li", { class: one.state === "proved" ? "" : "warning",
    text: `${one.title}: ${one.state}${one.state === "proved" ? "" : ` (${one.finding})`}` }));
  $("policies").replaceChildren(...(lines.length ? [element("h3", { text: "Policies" }), element("ul", {}, ...lines)] : []));
}

async function change(task) {
  const found = await attempt(() => ask(task, { version: page.state.version }));
  if (found) page.refresh(found);
}

async function save(replaces = false) {
  try {
    page.refresh(await ask("save", { version: page.state.version, replaces }));
    say(`Saved to ${page.state.file}.`);
  } catch (error) {
    const again = button("Replace the file", () => save(true));
    say(`${error.message} `, ...(error.status === 409 && !replaces ? [again] : []));
  }
}

function grow() {
  const place = element("div", {}), edit = { do: "grow", n_rules: 1 };
  $("preview").replaceChildren(element("h2", { text: "Preview" }), place);
  work({ work: "grow", n_rules: 1, version: page.state.version }, place, (found) => showPreview(edit, found));
}

async function openFinal() {
  const found = await attempt(() => ask("open_final", { version: page.state.version }));
  if (!found) return $("final-dialog").close();
  page.refresh(found.state);
  $("final-figures").replaceChildren(figures(found.figures, "final part"), element("p", { text: found.state.opening }));
}

async function exportTo(to) {
  const found = await attempt(() => ask("export", { to }));
  if (!found) return;
  if (to === "report") download(found.text, "text/html", `${page.state.title}.report.html`);
  else {
    $("text").textContent = found.text;
    $("text-dialog").showModal();
  }
}

function download(text, kind, name) {
  const address = URL.createObjectURL(new Blob([text], { type: kind }));
  element("a", { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}

// Edits of a session that ended early are offered; nothing else can be done before the answer.
function offer(unsaved) {
  const answer = (task) => async () => {
    $("resume-dialog").close();
    const found = await attempt(() => ask(task));
    if (!found) return;
    page.refresh(found.state || found);
    if (found.left_out?.length) say(`Left out: ${found.left_out.join("; ")}`);
  };
  $("unsaved").replaceChildren(...unsaved.map((text) => element("li", { text })));
  $("resume-buttons").replaceChildren(button("Make them again", answer("resume"), { class: "main" }), button("Discard them", answer("discard")));
  $("resume-dialog").addEventListener("cancel", (event) => event.preventDefault());
  $("resume-dialog").showModal();
}

$("undo").onclick = () => change("undo");
$("redo").onclick = () => change("redo");
$("refit").onclick = () => preview({ do: "refit" });
$("grow").onclick = grow;
$("order").onchange = showRules;
$("save").onclick = () => save();
$("report").onclick = () => exportTo("report");
$("export").onchange = (event) => {
  const to = event.target.value;
  event.target.value = "";
  if (to) exportTo(to);
};
$("final").onclick = () => {
  $("final-figures").replaceChildren(
    element("p", { text: `${many(page.state.n_final, "row")} were kept aside. Figures of rows that are looked at again and again become optimistic, so open them once, when the edits are done.` }),
    element("p", { text: page.state.opening }), button("Open it", openFinal, { class: "main" }));
  $("final-dialog").showModal();
};
$("add-form").onsubmit = (event) => {
  event.preventDefault();
  const edit = { do: "add", text: $("add-text").value };
  if ($("add-class").value) edit.votes = $("add-class").value;
  if ($("add-points").value) edit.points = Number($("add-points").value);
  preview(edit, $("add-text"));
};
document.addEventListener("keydown", (event) => {
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
  const key = event.key.toLowerCase(), isCommand = event.ctrlKey || event.metaKey;
  if (!page.state || document.querySelector("dialog[open]")) return;
  if (isCommand && key === "s") { event.preventDefault(); save(); }
  else if (isCommand && key === "z" && !typing && page.state.can.undo) change("undo");
  else if (isCommand && key === "y" && !typing && page.state.can.redo) change("redo");
  else if (!typing && !isCommand && (key === "j" || key === "k") && page.state.rules.length) {
    const places = [...document.querySelectorAll(".rule")].map((line) => Number(line.dataset.number));
    const at = places.indexOf(page.chosen) + (key === "j" ? 1 : -1);
    choose(places[Math.min(Math.max(at, 0), places.length - 1)]);
    document.querySelector(".rule[aria-current=true]").focus();
  }
});
$("add-text").replaceWith(complete($("add-text").cloneNode()));

await reload();
if (page.state?.unsaved.length) offer(page.state.unsaved);
