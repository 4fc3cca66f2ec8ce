// What the pending edit changes, before it is applied.
import { $, ask, attempt, button, choice, element, many, nameOf, number, page, signed, table } from "./dom.js";

const RISING = new Set(["accuracy", "auc", "r2"]);
let pending = null; // the previewed edit
let asked = 0; // number of the last preview that was asked for

export async function preview(edit, field = null) {
  const own = ++asked;
  $("preview").setAttribute("aria-busy", "true");
  const by = page.by ? [page.by] : [];
  const found = await attempt(() => ask("preview", { edit, version: page.state.version, by }), field);
  if (own !== asked) return; // a later one was asked for
  $("preview").removeAttribute("aria-busy");
  if (found) showPreview(edit, found);
}

export function showPreview(edit, found) {
  pending = edit;
  const reason = element("input", { id: "reason", class: "wide", placeholder: "Reason, for the log", "aria-label": "Reason" });
  const applying = element("form", {}, reason, element("div", { class: "row" },
    element("button", { id: "apply", class: "main", text: "Apply" }), button("Discard", discard)));
  applying.addEventListener("submit", (event) => { event.preventDefault(); apply(reason.value); });
  const sizes = Object.entries(found.sizes).map(([name, [old, now]]) => (old === now ? `${now} ${name}` : `${name}: ${old} → ${now}`));
  $("preview").replaceChildren(
    element("h2", { text: "Preview" }), element("p", { class: "edit", text: found.text }),
    element("p", { class: "soft", text: sizes.join(", ") }),
    ...found.broken.map((line) => element("p", { class: "warning", text: `Breaks a constraint: ${line}` })),
    ...found.policies.map((one) => element("p", { class: one.after === "proved" ? "soft" : "warning",
      text: `Policy ${one.title}: ${one.before === one.after ? one.after : `${one.before} → ${one.after}`}${one.after === "proved" ? "" : ` (${one.finding})`}` })),
    ...(found.figures ? measured(found) : [element("p", { class: "soft", text: "No rows to measure on." })]),
    applying, ...(found.figures ? details(found) : []));
  if (matchMedia("(max-width: 1000px)").matches) $("preview").scrollIntoView({ block: "start" });
}

function measured(found) {
  const changes = found.changed
    ? `${found.changed.toLocaleString("en")} of ${many(found.n_rows, "prediction")} change (${(100 * found.changed / found.n_rows).toFixed(1)} %)`
    : "No prediction changes.";
  return [
    figures(found.figures, "held-out"),
    found.cost ? element("p", { id: "fixing", text: `${found.cost[0].toUpperCase()}${found.cost.slice(1)}` }) : null,
    element("p", { id: "decisions", text: changes }),
    found.moves.length ? table(["from", "to", "rows"], found.moves.map(([one, other, n]) => [one, other, n.toLocaleString("en")])) : null,
  ].filter(Boolean);
}

// Rows whose decision changes, and the groups of a column.
function details(found) {
  const answer = page.state.form === "regression" ? "mean" : `P(${page.state.classes.at(-1)})`;
  const groups = found.groups.map((one) => [one.label, one.n_rows.toLocaleString("en"),
    one.n_changed.toLocaleString("en"), number(one.before), number(one.after)]);
  return [
    found.examples.length ? examples(found) : null,
    groupsBy(),
    groups.length ? table([page.by, "rows", "changed", `${answer} before`, "after"], groups) : null,
  ].filter(Boolean);
}

export const figures = (changes, title) => table([title, "before", "after", "change [95 %]"], changes.map((one) => {
  const rise = one.after - one.before, worse = RISING.has(one.figure) ? rise < 0 : rise > 0;
  const sure = one.low !== null && (one.low > 0 || one.high < 0);
  const range = one.low === null ? null : element("span", { class: "range", text: `[${signed(one.low)}, ${signed(one.high)}]` });
  return [nameOf(one.figure), number(one.before), number(one.after), element("span", {},
    element("b", { class: sure ? (worse ? "worse" : "better") : "", text: `${signed(rise)}${sure ? (worse ? " worse" : " better") : ""}` }), " ", range)];
}));

function examples(found) {
  const values = Object.entries(found.values).map(([name, own]) => [name, ...own]);
  return element("details", {}, element("summary", { text: `Rows to look at: ${found.examples.join(", ")}` }),
    table(["column", ...found.examples.map((row) => `row ${row}`)], values));
}

// The column whose labels are compared; another one previews the edit again.
function groupsBy() {
  const names = page.state.columns.filter((column) => !column.ordered).map((column) => column.name);
  if (!names.length) return null;
  const made = choice({ id: "by", "aria-label": "Column of the groups" }, [["", "no groups"], ...names.map((name) => [name, name])]);
  made.value = page.by;
  made.addEventListener("change", () => { page.by = made.value; preview(pending); });
  return element("label", { class: "row soft" }, "What each group sees:", made);
}

export function discard() {
  pending = null;
  asked += 1;
  $("preview").removeAttribute("aria-busy");
  $("preview").replaceChildren(element("h2", { text: "Preview" }), element("p", { class: "soft", text: "An edit shows here what it changes, before it is applied." }));
}

async function apply(reason) {
  const found = await attempt(() => ask("apply", { edit: pending, reason, version: page.state.version }));
  if (found) page.refresh(found);
}
