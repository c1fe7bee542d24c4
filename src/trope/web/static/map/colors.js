// What points are colored by: hues for a few values, a ramp for numbers; and the legend.

const HUES = [
  [47, 111, 178], [222, 125, 31], [64, 145, 92], [193, 58, 62], [132, 94, 178], [150, 108, 74],
  [206, 104, 164], [30, 158, 168], [163, 152, 34], [92, 110, 220], [232, 96, 84], [96, 166, 50],
];
const OTHER = [140, 146, 158];
const RAMP = [[43, 48, 122], [36, 110, 150], [62, 160, 130], [168, 196, 74], [250, 222, 60]];
const FULL = 225;
const PALE = 110; // what has no color of its own does not hide what has
const FAINT = 22;

function ramp(share) {
  const at = Math.min(0.9999, Math.max(0, share)) * (RAMP.length - 1);
  const [from, to] = [RAMP[Math.floor(at)], RAMP[Math.floor(at) + 1]];
  return from.map((value, i) => Math.round(value + (to[i] - value) * (at % 1)));
}

function shade(color, value) {
  if (color.kind === "number") {
    if (value === null) return OTHER;
    return ramp((value - color.low) / (color.high - color.low || 1));
  }
  return value < 0 || value === null ? OTHER : HUES[value % HUES.length];
}

/** Whether a point is one of those picked in the legend; with nothing picked, all are. */
export function chosen(color, picked, i) {
  return picked === null || (color.values[i] ?? -1) === picked;
}

/** Four bytes a point; those not picked are faint, kinds that are not shown are gone. */
export function painted(points, color, picked, kinds) {
  const bytes = new Uint8Array(points.count * 4);
  for (let i = 0; i < points.count; i++) {
    const own = shade(color, color.values[i]);
    const strong = own === OTHER && picked === null ? PALE : FULL;
    bytes.set([...own, kinds[points.kinds[i]] ? (chosen(color, picked, i) ? strong : FAINT) : 0], 4 * i);
  }
  return bytes;
}

/** The legend of a color; `pick` hears which value is clicked, or null when it is let go. */
export function legend(color, picked, pick) {
  return color.kind === "number" ? scale(color) : said(color, values(color, picked, pick));
}

/** With what one should know of it, such as that only the first label of each counts. */
function said(color, list) {
  if (!color.told) return list;
  const [box, note] = ["div", "p"].map((name) => document.createElement(name));
  note.className = "fine";
  note.textContent = `Colored ${color.told}.`;
  box.append(note, list);
  return box;
}

function values(color, picked, pick) {
  const counts = new Map();
  for (const value of color.values) counts.set(value ?? -1, (counts.get(value ?? -1) ?? 0) + 1);
  const list = document.createElement("ul");
  list.className = "legend";
  const names = color.names.map((name, value) => [name, value]);
  if (counts.has(-1)) names.push(["others", -1]);
  for (const [name, value] of names) {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", String(picked === value));
    const dot = document.createElement("span");
    dot.className = "dot";
    dot.style.background = `rgb(${shade(color, value).join(" ")})`;
    const count = document.createElement("span");
    count.className = "count";
    count.textContent = (counts.get(value) ?? 0).toLocaleString("en");
    button.append(dot, name, count);
    button.addEventListener("click", () => pick(picked === value ? null : value));
    const entry = document.createElement("li");
    entry.append(button);
    list.append(entry);
  }
  return list;
}

function scale(color) {
  const box = document.createElement("div");
  const bar = document.createElement("canvas");
  bar.className = "ramp";
  bar.width = 256;
  bar.height = 1;
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", "Scale from low to high");
  const context = bar.getContext("2d");
  for (let i = 0; i < 256; i++) {
    context.fillStyle = `rgb(${ramp(i / 255).join(" ")})`;
    context.fillRect(i, 0, 1, 1);
  }
  const ends = document.createElement("p");
  ends.className = "ends fine number";
  for (const value of [color.low, color.high]) {
    const end = document.createElement("span");
    end.textContent = Number(value.toPrecision(5)).toString();
    ends.append(end);
  }
  box.append(bar, ends);
  return box;
}
