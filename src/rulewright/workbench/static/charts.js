// Distribution of a column with the mean answer along it, and the loss along a threshold.
import { drawn, number, short, signed } from "./dom.js";

const WIDTH = 420;

// Bars are rows, the line is the mean answer; dashed lines are the ends of the condition.
export function distribution(found, condition, isNumber) {
  const height = 150, bottom = 20, n = found.counts.length, step = WIDTH / Math.max(n, 1);
  const most = Math.max(...found.counts, 1), known = found.means.filter((mean) => mean !== null);
  const low = isNumber ? Math.min(...known) : 0, high = isNumber ? Math.max(...known) : 1;
  const level = (mean) => 4 + (height - bottom - 8) * (1 - (mean - low) / (high - low || 1));
  const write = (mean) => (isNumber ? number(mean) : `${Math.round(100 * mean)} %`);
  const picture = drawn("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img",
    "aria-label": `Distribution of ${found.column}, and ${found.mean}` });
  found.counts.forEach((count, place) => {
    const top = (height - bottom) * (1 - count / most);
    picture.append(drawn("rect", { class: isInside(found, condition, place) ? "bar inside" : "bar",
      x: place * step + 1, y: top, width: Math.max(step - 2, 1), height: height - bottom - top },
    drawn("title", { text: `${found.labels[place]}: ${number(count, 0)} rows, ${found.mean} ${write(found.means[place] ?? 0)}` })));
  });
  const points = found.means.flatMap((mean, place) => (mean === null ? [] : [`${(place + 0.5) * step},${level(mean)}`]));
  picture.append(drawn("polyline", { class: "mean", points: points.join(" ") }));
  for (const [end, cuts] of [["low", found.lows], ["high", found.highs]]) {
    if (condition[end] === undefined || !cuts.length) continue;
    const x = (nearest(cuts, condition[end]) + 1) * step;
    picture.append(drawn("line", { class: "cut", x1: x, x2: x, y1: 0, y2: height - bottom }));
  }
  picture.append(drawn("text", { x: 2, y: height - 6, text: short(found.labels[0] || "") }),
    drawn("text", { x: WIDTH - 2, y: height - 6, "text-anchor": "end", text: short(found.labels.at(-1) || "") }));
  return picture;
}

function isInside(found, condition, place) {
  if (condition.values) return condition.values.includes(found.values[place]) !== condition.negated;
  const above = condition.low === undefined || place > nearest(found.lows, condition.low);
  const below = condition.high === undefined || place <= nearest(found.highs, condition.high);
  return above && below && (condition.low !== undefined || condition.high !== undefined);
}

export const nearest = (cuts, wanted) => cuts.reduce((best, [value], place) =>
  Math.abs(value - wanted) < Math.abs(cuts[best][0] - wanted) ? place : best, 0);

// The change of the held-out loss for each threshold; a click takes the nearest one.
export function lossCurve(found, current, take) {
  const height = 140, bottom = 22;
  const xs = found.map((one) => one[0]), ys = [0, ...found.map((one) => one[1])];
  const [a, b, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const x = (value) => 10 + (WIDTH - 20) * (value - a) / (b - a || 1);
  const y = (value) => 16 + (height - bottom - 22) * (1 - (value - low) / (high - low || 1));
  const picture = drawn("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", class: "curve",
    "aria-label": `Held-out loss along the threshold, from ${signed(low)} to ${signed(high)}` },
  drawn("line", { class: "zero", x1: 10, x2: WIDTH - 10, y1: y(0), y2: y(0) }),
  drawn("polyline", { class: "mean", points: found.map((one) => `${x(one[0])},${y(one[1])}`).join(" ") }));
  const at = Math.min(Math.max(current, a), b);
  picture.append(drawn("line", { class: "cut", x1: x(at), x2: x(at), y1: 0, y2: height - bottom }));
  for (const one of found) {
    picture.append(drawn("circle", { class: "dot", cx: x(one[0]), cy: y(one[1]), r: 4, onclick: () => take(one) },
      drawn("title", { text: `${one[2]}: ${signed(one[1])}` })));
  }
  picture.append(drawn("text", { x: 4, y: height - 6, text: number(a) }),
    drawn("text", { x: WIDTH - 4, y: height - 6, "text-anchor": "end", text: number(b) }),
    drawn("text", { x: WIDTH / 2, y: height - 6, "text-anchor": "middle", text: `lowest ${signed(low)}, highest ${signed(high)}` }));
  return picture;
}
