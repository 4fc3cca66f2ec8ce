// Completion of columns, operators and labels while a rule is typed.
import { element, page } from "./dom.js";

const TOKENS = /"(?:[^"\\]|\\.)*"?|<=|>=|!=|[<>={},()]|[^\s<>={},()"!]+/g;
const JOINS = new Set(["and", "or", "not", "("]);

// What may follow the text before the caret: [words, length of the word that is being typed].
export function offers(before, columns) {
  const tokens = before.match(TOKENS) || [];
  const isOpen = /[^\s<>={},()]$/.test(before);
  const typed = isOpen ? tokens.pop() || "" : "";
  const named = (token) => columns.find((column) => column.text === token);
  const last = tokens.at(-1), column = [...tokens].reverse().map(named).find(Boolean);
  let words = ["and "];
  if (last === "not" && named(tokens.at(-2))) words = ["in {"];
  else if (last === undefined || JOINS.has(last)) words = columns.map((one) => `${one.text} `);
  else if (named(last)) words = named(last).ordered
    ? [">= ", "<= ", "= ", "is missing"] : ["= ", "!= ", "in {", "not in {", "is missing"];
  else if (last === "is") words = ["missing", "known"];
  else if (["=", "!=", "{", ","].includes(last)) words = column && !column.ordered ? column.labels : [];
  else if (["<", "<=", ">", ">="].includes(last)) words = [];
  const wanted = typed.replace(/^"/, "").toLowerCase();
  const place = (word) => word.replace(/^"/, "").toLowerCase().indexOf(wanted);
  const found = words.filter((word) => place(word) >= 0 && word.trim() !== typed);
  return [found.sort((a, b) => Math.min(place(a), 1) - Math.min(place(b), 1)).slice(0, 8), typed.length];
}

export function complete(input) {
  const list = element("ul", { class: "offers", role: "listbox", id: `${input.id}-offers`, hidden: true });
  let at = -1, typed = 0;
  Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false",
    "aria-controls": list.id, autocomplete: "off", spellcheck: "false" })
    .forEach(([name, value]) => input.setAttribute(name, value));

  const show = (words) => {
    at = -1;
    list.replaceChildren(...words.map((word, place) => element("li", { role: "option", id: `${list.id}-${place}`,
      text: word, onmousedown: (event) => { event.preventDefault(); take(word); } })));
    list.hidden = !words.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    input.removeAttribute("aria-activedescendant");
  };
  const update = () => {
    const [words, length] = offers(input.value.slice(0, input.selectionStart), page.state.columns);
    typed = length;
    show(words);
  };
  const mark = (place) => {
    at = (place + list.children.length) % list.children.length;
    [...list.children].forEach((item, own) => item.setAttribute("aria-selected", String(own === at)));
    input.setAttribute("aria-activedescendant", list.children[at].id);
    list.children[at].scrollIntoView({ block: "nearest" });
  };
  const take = (word) => {
    const caret = input.selectionStart;
    input.setRangeText(word, caret - typed, caret, "end");
    input.dispatchEvent(new Event("input"));
  };
  input.addEventListener("input", update);
  input.addEventListener("blur", () => show([]));
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && list.hidden) update();
    else if (list.hidden) return;
    else if (event.key === "ArrowDown") mark(at + 1);
    else if (event.key === "ArrowUp") mark(at < 0 ? -1 : at - 1);
    else if ((event.key === "Enter" || event.key === "Tab") && at >= 0) take(list.children[at].textContent);
    else if (event.key === "Escape") show([]);
    else return;
    event.preventDefault();
  });
  return element("div", { class: "completed" }, input, list);
}
