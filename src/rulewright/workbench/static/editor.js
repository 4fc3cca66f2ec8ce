// The editor of one rule: its conditions as chips, sliders and labels, alternatives, and points.
import { distribution, lossCurve, nearest } from "./charts.js";
import { complete } from "./complete.js";
import { $, ask, attempt, button, cancel, choice, element, form, page, signed, table, work } from "./dom.js";
import { preview } from "./preview.js";

const MOST_LABELS = 40;
let draft = []; // conditions of the chosen rule as they are being edited
let at = 0; // the condition that is shown

export function showEditor() {
  cancel();
  const rule = page.state.rules.find((one) => one.number === page.chosen);
  if (!rule) {
    $("editor").replaceChildren(element("h2", { text: "Editor" }), element("p", { class: "soft", text: "Choose a rule." }));
    return;
  }
  draft = rule.conditions.map((condition) => ({ ...condition }));
  at = 0;
  const text = element("input", { class: "wide", id: "rule-text", value: rule.if, "aria-label": "Conditions" });
  const replace = form(() => preview({ do: "replace", rule: rule.number, text: text.value }, text),
    complete(text), element("button", { text: "Preview conditions" }));
  $("editor").replaceChildren(
    element("h2", { text: `Rule ${rule.number}` }),
    element("div", { id: "chips", class: "chips" }),
    replace, element("div", { id: "condition" }), pointsOf(rule),
    element("div", { class: "row" }, ...actionsOf(rule)),
    element("div", { id: "suggestions" }), partsOf(rule));
  showChips(rule);
  showCondition(rule);
}

function actionsOf(rule) {
  const actions = [
    button(rule.frozen ? "Thaw" : "Freeze", () => preview({ do: rule.frozen ? "thaw" : "freeze", rules: [rule.number] }),
      { title: "A refit keeps the points of a frozen rule" }),
    button("Remove", () => preview({ do: "drop", rules: [rule.number] })),
    button("Alternatives", () => suggest(rule), { id: "alternatives", disabled: !page.state.n_rows }),
  ];
  if (page.state.form === "list") {
    const move = (to) => preview({ do: "move", rule: rule.number, to });
    actions.push(button("Up", () => move(rule.number - 1), { disabled: rule.number === 1 }),
      button("Down", () => move(rule.number + 1), { disabled: rule.number === page.state.rules.length }));
  }
  return actions;
}

function pointsOf(rule) {
  if (rule.value === null) return null;
  const field = element("input", { id: "points", type: "number", step: "any", value: Number(rule.value.toPrecision(4)) });
  return form(() => preview({ do: "set_points", rule: rule.number, points: Number(field.value) }, field),
    element("label", { for: "points", text: page.state.form === "regression" ? "Adds" : "Points" }), field,
    element("button", { text: "Fix points", title: "Fix the points: a refit keeps them" }));
}

// Split and merge: one rule becomes two, or several become one.
function partsOf(rule) {
  const condition = element("input", { id: "split-text", placeholder: "column >= 3", "aria-label": "Condition that divides the rule" });
  const others = page.state.rules.filter((one) => one.number !== rule.number && one.head === rule.head);
  const other = choice({ id: "merge-with", "aria-label": "Rule to merge with" },
    others.map((one) => [one.number, `${one.number}. ${one.text}`]));
  return element("details", {}, element("summary", { text: "Split or merge" }),
    form(() => preview({ do: "split", rule: rule.number, text: condition.value }, condition),
      complete(condition), element("button", { text: "Preview split" })),
    others.length ? form(() => preview({ do: "merge", rules: [rule.number, Number(other.value)] }, other),
      other, element("button", { text: "Preview merge" })) : null);
}

// ---- conditions

function showChips(rule) {
  $("chips").replaceChildren(...draft.map((condition, place) => element("button", {
    class: "chip", type: "button", text: condition.text, "aria-pressed": String(place === at),
    onclick: () => { at = place; showChips(rule); showCondition(rule); } })));
}

function change(rule, changed, isDone) {
  Object.assign(draft[at], changed);
  const chip = $("chips").children[at];
  if (chip) chip.textContent = draft[at].text;
  const text = $("rule-text");
  text.value = draft.length ? draft.map((condition) => condition.text).join(" and ") : "true";
  if (isDone) preview({ do: "replace", rule: rule.number, text: text.value }, text);
}

async function showCondition(rule) {
  const condition = draft[at];
  if (!condition || !page.state.n_rows) return;
  const found = await attempt(() => ask("column", { name: condition.column, head: rule.head }));
  if (!found || draft[at] !== condition) return; // another one was chosen
  const chart = element("div", {});
  const draw = () => chart.replaceChildren(distribution(found, condition, page.state.form === "regression"));
  draw();
  const missing = found.missing ? ` (${Math.round(found.missing).toLocaleString("en")} have no value)` : "";
  const parts = [element("h3", { text: `${condition.column}: rows${missing}; line: ${found.mean}` }), chart];
  for (const [end, cuts] of [["low", found.lows], ["high", found.highs]])
    if (condition[end] !== undefined && cuts.length) parts.push(slider(rule, condition, end, { low: found.lows, high: found.highs }, draw));
  if (condition.values) parts.push(labels(rule, condition, found, draw));
  const actions = element("div", { class: "row" });
  const hasOne = (condition.low === undefined) !== (condition.high === undefined);
  const place = element("div", {});
  if (hasOne && found.lows.length)
    actions.append(button("Loss along the threshold", () => curve(rule, condition, place)));
  if (draft.length > 1) actions.append(button("Remove this condition", () => {
    draft.splice(at, 1);
    at = 0;
    showChips(rule);
    change(rule, {}, true);
    showCondition(rule);
  }));
  $("condition").replaceChildren(...parts, actions, place);
}

function slider(rule, condition, end, cuts, draw) {
  const own = cuts[end], id = `slider-${end}`;
  const shown = element("output", { for: id, text: own[nearest(own, condition[end])][1] });
  const made = element("input", { type: "range", min: 0, max: own.length - 1, step: 1, id,
    value: nearest(own, condition[end]), "aria-label": `${end === "low" ? "Lower" : "Upper"} threshold of ${condition.column}` });
  const move = (isDone) => {
    const [value, text] = own[Number(made.value)];
    const other = end === "low" ? "high" : "low";
    const rest = condition[other] === undefined ? [] : [cuts[other][nearest(cuts[other], condition[other])][1]];
    shown.textContent = text;
    made.setAttribute("aria-valuetext", text);
    change(rule, { [end]: value, text: [text, ...rest].join(" and ") }, isDone);
    draw();
  };
  made.addEventListener("input", () => move(false));
  made.addEventListener("change", () => move(true));
  shown.textContent = condition.text;
  return element("div", {}, element("label", { class: "soft", for: id, text: "Move the threshold: " }), shown, made);
}

// Which labels the condition accepts: a box each, those of the condition first.
function labels(rule, condition, found, draw) {
  const all = [...new Set([...condition.values, ...found.values])].slice(0, MOST_LABELS);
  const boxes = all.map((value, place) => element("input", { type: "checkbox", id: `label-${place}`, value,
    checked: condition.values.includes(value) !== condition.negated }));
  const take = () => {
    const values = boxes.filter((box) => box.checked !== condition.negated).map((box) => box.value);
    if (!values.length) return;
    const [one, several] = condition.negated ? ["!=", "not in"] : ["=", "in"];
    const text = values.length === 1 ? `${found.name} ${one} ${values[0]}` : `${found.name} ${several} {${values.join(", ")}}`;
    change(rule, { values, text }, true);
    draw();
  };
  return element("fieldset", { class: "row", onchange: take }, element("legend", { class: "soft", text: `The rule applies where ${condition.column} is` }),
    ...boxes.map((box) => element("label", { class: "box" }, box, box.value)));
}

// ---- long work

function suggest(rule) {
  const place = $("suggestions");
  work({ work: "suggest", rule: rule.number }, place, (found) => place.replaceChildren(
    element("h3", { text: "Alternatives, lowest held-out loss first" }),
    found.length ? table(["conditions", "same rows", "loss"], found.map((one) => [
      button(one.text, () => preview({ do: "replace", rule: rule.number, text: one.text }), { class: "chip" }),
      `${Math.round(100 * one.overlap)} %`, signed(one.change)]))
      : element("p", { class: "soft", text: "No other condition covers nearly the same rows." })));
}

function curve(rule, condition, place) {
  const end = condition.low === undefined ? "high" : "low";
  work({ work: "cuts", rule: rule.number, column: condition.column }, place, (found) => place.replaceChildren(
    element("h3", { text: "Change of the held-out loss; choose a dot to preview it" }),
    lossCurve(found, condition[end], ([value, , text]) => change(rule, { [end]: value, text }, true))));
}
