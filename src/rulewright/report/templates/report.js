"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const by = (id) => document.getElementById(id);
  const make = (tag, text, name) => {
    const node = document.createElement(tag);
    if (text !== undefined && text !== null) node.textContent = text;
    if (name) node.className = name;
    return node;
  };
  const round = (x, digits) => Number(x.toPrecision(digits)).toLocaleString("en", {maximumFractionDigits: 12});
  const percent = (x) => (100 * x).toFixed(1) + " %";

  // The table of rules: search, sort, open.
  const table = by("rule-table");
  const rules = {};
  if (table) {
    by("rule-tools").hidden = table.tBodies[0].rows.length < 10;
    const body = table.tBodies[0];
    const lines = Array.from(body.rows, (row, rank) => {
      const [place, strength, support, value] = row.dataset.v.split("|").map(Number);
      const text = row.cells[1].textContent.trim();
      rules[place] = {text, effect: row.cells[2].textContent.trim(), conditions: Array.from(row.querySelectorAll(".if span"), (part) => part.textContent)};
      return {row, place, text: text.toLowerCase(), keys: {0: data.numbers[place], 1: text, 2: rank, 3: strength, 4: support, 5: value}};
    });
    let sorted = data.inOrder ? "0" : "2", up = true;
    const arrange = () => {
      const number = (x) => (Number.isNaN(x) ? -Infinity : x);
      lines.sort((a, b) => {
        const [x, y] = [a.keys[sorted], b.keys[sorted]];
        const found = typeof x === "string" ? x.localeCompare(y) : number(x) - number(y);
        return (up ? found : -found) || a.keys[0] - b.keys[0];
      });
      const all = document.createDocumentFragment();
      for (const line of lines) {
        all.append(line.row);
        if (line.detail) all.append(line.detail);
      }
      body.append(all);
      filter();
      for (const button of table.tHead.querySelectorAll("button")) {
        const own = button.dataset.key === sorted;
        if (own) button.parentNode.setAttribute("aria-sort", up ? "ascending" : "descending");
        else button.parentNode.removeAttribute("aria-sort");
      }
      by("sort").value = sorted;
    };
    by("sort").value = sorted;
    const sortBy = (key) => {
      up = key === sorted ? !up : Number(key) < 3;
      sorted = key;
      arrange();
    };
    for (const button of table.tHead.querySelectorAll("button")) {
      button.addEventListener("click", () => sortBy(button.dataset.key));
    }
    by("sort").addEventListener("change", (event) => sortBy(event.target.value));
    const FIRST = window.matchMedia("screen and (max-width: 720px)").matches ? 15 : 50;
    let most = FIRST;
    const filter = () => {
      const words = by("search").value.toLowerCase().split(/\s+/).filter(Boolean);
      let found = 0;
      for (const line of lines) {
        const match = words.every((word) => line.text.includes(word));
        found += match;
        const shown = match && found <= most;
        line.row.hidden = !shown;
        if (line.detail) line.detail.hidden = !shown || !line.open;
      }
      by("found").textContent = (words.length ? found + " of " : "") + lines.length +
        (lines.length === 1 ? " rule" : " rules");
      by("more-rules").hidden = found <= most;
      by("more-rules").textContent = "Show all " + found + " rules";
    };
    by("search").addEventListener("input", () => { most = FIRST; filter(); });
    by("more-rules").addEventListener("click", () => { most = Infinity; filter(); });
    filter();
    for (const line of lines) {
      const button = line.row.querySelector(".if button");
      button.addEventListener("click", () => {
        if (!line.detail) {
          line.detail = detail(line.place);
          line.row.after(line.detail);
        }
        line.open = !line.open;
        line.detail.hidden = !line.open;
        button.setAttribute("aria-expanded", String(line.open));
      });
    }
  }

  function grid(titles, rows) {
    const made = make("table"), head = make("tr");
    for (const title of titles) {
      const cell = make("th", title);
      cell.scope = "col";
      head.append(cell);
    }
    if (titles.length) made.createTHead().append(head);
    const inside = made.createTBody();
    for (const row of rows) {
      const line = make("tr");
      for (const value of row) line.append(make("td", value));
      inside.append(line);
    }
    const around = make("div", null, "scroll");
    around.append(made);
    return around;
  }

  // What a rule covers: classes, evidence, what its learner counted, rows.
  function detail(place) {
    const [rows, counted, figures, counts, examples] = data.rules[place];
    const row = make("tr", null, "detail"), cell = make("td");
    const inside = make("div", null, "parts");
    cell.colSpan = 5;
    cell.append(inside);
    row.append(cell);
    const part = (title, content) => {
      const box = make("div");
      box.append(make("h3", title), content);
      inside.append(box);
    };
    if (counts.length) {
      const total = counts.reduce((sum, [, weight]) => sum + weight, 0);
      part("Classes of the rows where it applies", grid(["class", "rows", "share"],
        counts.map(([name, weight]) => [name, round(weight, 6), percent(weight / total)])));
    }
    if (figures.length) part("Evidence in the given rows", grid([], evidence(figures)));
    const [support, value, low, high] = counted;
    const share = value === null ? "" : data.classes.length
      ? ", share of the class " + percent(value) + " [" + percent(low) + ", " + percent(high) + "]"
      : ", mean " + round(value, 5);
    const words = {"left out": "held-out rows", given: "given rows"};
    const notes = {corrected: " (corrected for optimism by cross-validation)", outside: " (mostly of rows that were not used to grow the rule)"};
    const note = notes[rows] || "";
    part("What the learner counted", make("p", "applies to " + round(support, 6) + " " +
      (words[rows] || "training rows") + share + note));
    if (examples.length) {
      const used = data.columns.filter((column) => rules[place].conditions.some((part) => part.includes(column.title)));
      const names = used.length ? used : data.columns.slice(0, 6);
      const truth = data.rows.truth ? ["true", "predicted"] : ["predicted"];
      part("Rows where it applies", grid(["row", ...names.map((c) => c.title), ...truth], examples.map((i) => [
        data.rows.places[i],
        ...names.map((c) => written(data.rows.values[c.name][i])),
        ...(data.rows.truth ? [data.rows.truth[i]] : []),
        data.rows.predicted[i],
      ])));
    }
    return row;
  }
  const written = (value) => (value === null ? "missing" : typeof value === "number" ? round(value, 6) : value);
  const digits = (x, n) => (x === null ? "unknown" : Math.abs(x) < 1e-4 && x ? x.toExponential(1) : round(x, n));
  function evidence(figures) {
    const is = Object.fromEntries(data.evidence.map((name, k) => [name, figures[k]]));
    const p = digits(is.p_value, 2) + ", adjusted for all rules " + digits(is.p_adjusted, 2) + ": " +
      (is.discovered_by_p ? "confirmed" : "not confirmed") + " at a false discovery rate of 0.1";
    if (data.classes.length) return [
      ["Effect", "its class is " + (is.less ? "less" : "more") + " frequent where the rule applies"],
      ["Elsewhere", is.outside === null ? "no rows" : percent(is.outside)],
      ["Lift", digits(is.lift, 3) + " times the share in all rows"],
      ["P-value", p],
    ];
    return [
      ["Effect", "the target is " + (is.less ? "smaller" : "larger") + " where the rule applies"],
      ["Elsewhere", "mean " + digits(is.outside, 5)],
      ["Difference", digits(is.difference, 4) + " [" + digits(is.difference_low, 4) + ", " + digits(is.difference_high, 4) + "]"],
      ["P-value", p],
    ];
  }

  // The what-if panel.
  if (!by("inputs")) return;
  const end = (value) => (typeof value === "number" ? round(value, 5) : value);
  const fields = data.columns.map((column) => {
    const label = make("label");
    label.append(make("span", column.title));
    let field;
    if (column.labels && column.labels.length) {
      field = make("select");
      field.append(new Option("(missing)", ""));
      column.labels.forEach((text, k) => field.append(new Option(text === "" ? "(empty)" : text, "=" + k)));
      field.append(new Option("(another label)", "?"));
    } else {
      field = make("input");
      field.type = column.kind === "numeric" ? "number" : "text";
      if (column.kind === "numeric") field.step = "any";
      field.placeholder = "missing";
    }
    label.append(field);
    if (column.ends) label.append(make("small", "data: " + column.ends.map(end).join(" to ")));
    label.append(make("small", "", "error"));
    by("inputs").append(label);
    return {column, label, field, start: null};
  });

  const UNSEEN = "\u0000not a label of the training rows";
  function read({column, field}) {
    if (field.value === "") return null;
    if (field.tagName === "SELECT") return field.value === "?" ? UNSEEN : column.labels[Number(field.value.slice(1))];
    return column.kind === "numeric" ? Number(field.value) : field.value;
  }
  function fill(one, value) {
    const labels = one.column.labels;
    if (value === null || value === undefined) one.field.value = "";
    else if (labels && labels.length) one.field.value = labels.includes(value) ? "=" + labels.indexOf(value) : "?";
    else one.field.value = String(value);
  }
  const valuesNow = () => Object.fromEntries(fields.map((one) => [one.column.name, read(one)]));

  let before = null;
  function answerOf(values) {
    return {...predictRow(values), truths: ruleTruths(values).prediction};
  }
  function begin(i) {
    for (const one of fields) fill(one, data.rows && i !== null ? data.rows.values[one.column.name][i] : null);
    for (const one of fields) one.start = one.field.value;
    before = null;
    update();
  }
  function update() {
    for (const one of fields) one.label.classList.toggle("changed", one.field.value !== one.start);
    let now;
    try {
      now = answerOf(valuesNow());
    } catch (error) {
      by("answer").replaceChildren(make("p", error.message, "error"));
      return;
    }
    before = before || now;
    show(now);
    list(now);
  }
  function show(now) {
    const box = document.createDocumentFragment();
    const changed = fields.some((one) => one.field.value !== one.start);
    if (now.prediction !== undefined) {
      const value = make("output", round(now.prediction, 6), "label");
      value.dataset.value = String(now.prediction);
      box.append("predicts ", value);
      if (changed) box.append(make("div", "before the changes: " + round(before.prediction, 6), "was"));
    } else {
      const name = (answer) => data.classes[answer.classes.indexOf(answer.label)];
      const line = make("div");
      line.append("predicts ", make("span", name(now), "label"));
      if (now.abstains) line.append(make("span", " abstains: the vote is too close", "badge"));
      box.append(line);
      if (changed) {
        const k = before.classes.indexOf(before.label);
        box.append(make("div", "before the changes: " + name(before) + ", " + percent(before.probabilities[k]), "was"));
      }
      const order = now.probabilities.map((p, k) => k);
      if (order.length > 8) order.sort((a, b) => now.probabilities[b] - now.probabilities[a]);
      const bars = make("ul");
      for (const k of order.slice(0, 8)) {
        const item = make("li"), bar = make("span", null, "bar"), value = make("output", percent(now.probabilities[k]));
        item.append(make("span", data.classes[k]), bar, value);
        bar.append(make("s"));
        bar.style.setProperty("--p", 100 * now.probabilities[k] + "%");
        if (changed) {
          bar.append(make("b"));
          bar.style.setProperty("--b", 100 * before.probabilities[k] + "%");
        }
        bars.append(item);
      }
      box.append(bars);
    }
    const answer = by("answer");
    answer.replaceChildren(box);
    answer.dataset.answer = JSON.stringify(now);
  }
  const ranked = data.order, MOST = 20;
  function list(now) {
    const all = document.createDocumentFragment();
    let holding = 0, shown = 0;
    for (const i of ranked) {
      const [is, was] = [now.truths[i], before.truths[i]];
      holding += is > 0;
      if (is === 0 && was <= 0) continue;
      shown += 1;
      if (shown > MOST) continue;
      const rule = rules[i], item = make("li"), text = make("span");
      if (is === 0) item.className = "gone";
      text.append(make("small", "rule " + data.numbers[i] + " "));
      if (is > 0 && data.inOrder && holding === 1) text.append(make("span", "decides", "badge"), " ");
      if (is > 0 && was <= 0) text.append(make("span", "now applies", "badge"), " ");
      text.append(is < 0 ? "does not apply: " + rule.text : rule.text);
      item.append(text, make("span", rule.effect, "amount"));
      all.append(item);
    }
    if (shown > MOST) all.append(make("li", "and " + (shown - MOST) + " more"));
    by("holding").replaceChildren(all);
    by("holding-title").textContent = holding === 0 ? "No rule applies"
      : holding + (holding === 1 ? " rule applies" : " rules apply");
  }

  for (const one of fields) one.field.addEventListener("input", update);
  const chosen = by("row");
  if (chosen) {
    data.rows.places.forEach((place, i) => {
      const truth = data.rows.truth ? ", true " + data.rows.truth[i] : "";
      chosen.append(new Option("row " + place + truth + ", predicted " + data.rows.predicted[i], String(i)));
    });
    chosen.addEventListener("change", () => begin(Number(chosen.value)));
  }
  const restart = () => begin(chosen && chosen.options.length ? Number(chosen.value) : null);
  by("reset").addEventListener("click", restart);

  const FEW = 12;
  let all = fields.length <= FEW + 3;
  function arrangeInputs() {
    const wanted = by("column-search").value.toLowerCase();
    fields.forEach((one, k) => {
      const match = one.column.title.toLowerCase().includes(wanted);
      one.label.hidden = !(match && (all || wanted || k < FEW));
    });
    by("more-inputs").hidden = all || wanted !== "";
  }
  if (!all) {
    by("find-column").hidden = false;
    by("more-inputs").textContent = "Show all " + fields.length + " columns";
    by("more-inputs").addEventListener("click", () => { all = true; arrangeInputs(); });
    by("column-search").addEventListener("input", arrangeInputs);
  }
  arrangeInputs();
  restart();
})();
