// A rule model exported by rulewright; it needs nothing but JavaScript (ES2017).
// predict(row) takes an object from column names to values; a value that is absent, null,
// undefined or NaN is missing. It returns an object with label, classes, scores, probabilities.
const predict = (() => {
  "use strict";
  const LABELS = ["stay", "churn"];

  // The rules: a missing number is NaN, a missing label null.
  const rules = (age, color, plan, active) => {
    let score_stay = 0.1;
    let score_churn = -0.2;
    // rule 2: points +0.830 for churn: age <= 34 and color = red
    if (age <= 34.0 && color === "red") { score_churn += 0.83; }
    // rule 3: points +0.400 for stay: active = true
    if (active === "true") { score_stay += 0.4; }
    // rule 1: points +1.250 for churn: age > 60 and plan != "1"
    if (age > 60.0 && plan !== null && plan !== "1") { score_churn += 1.25; }
    let largest = Math.max(score_stay, score_churn);
    let odds_stay = Math.exp((score_stay - largest));
    let odds_churn = Math.exp((score_churn - largest));
    let total = (odds_stay + odds_churn);
    return {
      label: LABELS[[0, 1][[(score_stay === largest), (score_churn === largest)].indexOf(true)]],
      classes: LABELS.slice(),
      scores: [score_stay, score_churn],
      probabilities: [(odds_stay / total), (odds_churn / total)],
    };
  };

  // Reads the columns that the rules use, and checks them.
  const checked = (row) => [
    number(row, "age"),
    label(row, "color"),
    number_label(row, "plan"),
    boolean_label(row, "active"),
  ];

  function get(row, name) {
    const value = Object.prototype.hasOwnProperty.call(row, name) ? row[name] : null;
    return value === undefined || value !== value ? null : value;
  }

  function fail(name, value) {
    const found = typeof value === "object" ? "an object" : JSON.stringify(String(value));
    throw new TypeError("column " + JSON.stringify(name) + " cannot be " + found);
  }

  const SPACE = "[ \t\n\r\f\v]*";

  const WHOLE = new RegExp("^" + SPACE + "[-+]?\\d+" + SPACE + "$");

  const DECIMAL = new RegExp(
    "^" + SPACE + "[-+]?(\\d+\\.?\\d*|\\.\\d+)(e[-+]?\\d+)?" + SPACE + "$", "i");

  // A numeric column: missing is NaN, which fails every comparison.
  function number(row, name) {
    const value = get(row, name);
    if (value === null) return NaN;
    const kind = typeof value;
    const known = kind === "string" ? DECIMAL.test(value)
      : ["number", "boolean", "bigint"].includes(kind);
    return known && isFinite(Number(value)) ? Number(value) : fail(name, value);
  }

  // A number as text, as Python writes it: 3 and 3.0 are the same.
  function text(value) {
    const size = Math.abs(value);
    if (size === Infinity) return value > 0 ? "inf" : "-inf";
    if (Math.floor(value) === value) {
      if (size < 1e21) return value.toFixed(0);
      return String(typeof BigInt === "function" ? BigInt(value) : value);
    }
    if (size >= 1e-4) return String(value);
    return value.toExponential().replace(/e-(\d)$/, "e-0$1");
  }

  // The integer of 64 bits that a text writes, without leading zeros; else null.
  function whole(value) {
    if (!WHOLE.test(value)) return null;
    const [, sign, digits] = /([-+]?)0*(\d+)/.exec(value);
    const most = sign === "-" ? "9223372036854775808" : "9223372036854775807";
    if (digits.length > 19 || (digits.length === 19 && digits > most)) return null;
    return sign === "-" && digits !== "0" ? "-" + digits : digits;
  }

  // A column of labels: missing is null, anything else becomes text.
  function label(row, name) {
    const value = get(row, name);
    if (value === null || typeof value === "string") return value;
    if (typeof value === "boolean") return String(value);
    if (typeof value === "number") return text(value);
    if (typeof value !== "bigint" || !isFinite(Number(value))) return fail(name, value);
    return whole(String(value)) || text(Number(value));
  }

  // A numeric column that is compared for equality only: " 01.0" is "1".
  function number_label(row, name) {
    const value = label(row, name);
    if (value === null || !DECIMAL.test(value)) return value;
    return whole(value) || text(Number(value));
  }

  // A column of truth values, which may be 1, "1" or "True".
  function boolean_label(row, name) {
    const value = label(row, name);
    if (value === "0" || value === "1") return value === "1" ? "true" : "false";
    return value === null ? null : value.toLowerCase();
  }

  return (row) => rules(...checked(row));
})();
if (typeof module === "object" && module.exports) module.exports = predict;
