// The map: drawn when something changes, moved by pointer, wheel, fingers and keys.

import { about, itemUrl, tile, told } from "./map/about.js";
import { chosen, legend, painted } from "./map/colors.js";
import { Flat } from "./map/flat.js";
import { Near } from "./map/near.js";
import { points as fetched } from "./map/points.js";
import { View } from "./map/view.js";
import { WebGL } from "./map/webgl.js";
import { open } from "./large.js";

const REACH = 12; // pixels from the pointer to a point
const SETTLED = 350; // milliseconds after the last move
const MIDDLE = 9; // items listed
const STEPS = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
const ZOOMS = { "+": 1.4, "=": 1.4, "-": 1 / 1.4, 0: 0 };

const at = (id) => document.getElementById(id);
const canvas = at("map");
const index = Number(canvas.dataset.index);
const view = new View();
const fingers = new Map();
let points, near, renderer, color;
let picked = null;
let kinds = [true, true];
let waiting = 0;
let settling = 0;
let over = -1;
let moved = 0;

function seen(i) {
  return kinds[points.kinds[i]] && chosen(color, picked, i);
}

function size() {
  const alone = Math.max(3.4, 10.5 - 1.5 * Math.log10(points.count + 1)); // fewer may be larger
  return Math.min(13, alone * view.zoom ** 0.28);
}

function draw() {
  waiting ||= requestAnimationFrame(() => {
    waiting = 0;
    renderer.draw(view, size(), ratio());
    canvas.dataset.drawn = String(Number(canvas.dataset.drawn ?? 0) + 1);
  });
  clearTimeout(settling);
  settling = setTimeout(listMiddle, SETTLED);
}

function ratio() {
  return Math.min(2, window.devicePixelRatio || 1);
}

function fit() {
  const box = canvas.getBoundingClientRect();
  canvas.width = Math.max(1, Math.round(box.width * ratio()));
  canvas.height = Math.max(1, Math.round(box.height * ratio()));
  view.resize(box.width, box.height);
  draw();
}

function paint() {
  renderer.paint(painted(points, color, picked, kinds));
  at("legend").replaceChildren(legend(color, picked, (value) => { picked = value; paint(); }));
  draw();
}

async function listMiddle() {
  const found = near.nearest(view.x, view.y, MIDDLE, seen);
  const items = await Promise.all(found.map((i) => about(points.keys[i], index)));
  at("middle").replaceChildren(...items.filter(Boolean).map((item) => tile(item, index)));
}

function under(event) {
  const [x, y] = view.toMap(event.offsetX, event.offsetY);
  return near.at(x, y, REACH / view.scale, seen);
}

async function hover(event) {
  const i = under(event);
  canvas.classList.toggle("on-point", i >= 0);
  if (i === over) return;
  over = i;
  at("tip").hidden = true;
  if (i < 0) return;
  const found = await about(points.keys[i], index);
  if (i === over && found) showTip(i, found);
}

function showTip(i, found) {
  const tip = at("tip");
  const [left, top] = view.toScreen(points.xs[i], points.ys[i]);
  tip.replaceChildren(...told(found));
  tip.hidden = false;
  const right = left > view.width / 2;
  const low = top > view.height / 2;
  tip.style.translate = `calc(${left}px ${right ? "- 100% - 14px" : "+ 14px"}) calc(${top}px ${low ? "- 100% - 8px" : "+ 8px"})`;
}

function hideTip() {
  over = -1;
  at("tip").hidden = true;
}

function down(event) {
  canvas.setPointerCapture(event.pointerId);
  fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
  moved = fingers.size > 1 ? Infinity : 0;
}

function drag(event) {
  const last = fingers.get(event.pointerId);
  if (!last) return hover(event);
  const now = [event.offsetX, event.offsetY];
  const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
  if (other) view.zoomAt(distance(now, other) / (distance(last, other) || 1), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  else view.pan(now[0] - last[0], now[1] - last[1]);
  moved += distance(now, last);
  fingers.set(event.pointerId, now);
  hideTip();
  draw();
}

function up(event) {
  const click = fingers.delete(event.pointerId) && moved < 5 && event.type === "pointerup";
  const i = click ? under(event) : -1;
  if (i >= 0) open(itemUrl(points.keys[i], index), "push");
}

function distance([a, b], [c, d]) {
  return Math.hypot(a - c, b - d);
}

function zoom(factor, ...place) {
  if (factor) view.zoomAt(factor, ...place);
  else view.whole();
  hideTip();
  draw();
}

function keyed(event) {
  if (event.key in STEPS) view.pan(...STEPS[event.key]);
  else if (event.key in ZOOMS) zoom(ZOOMS[event.key]);
  else return;
  event.preventDefault();
  draw();
}

function listen() {
  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", drag);
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("keydown", keyed);
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), event.offsetX, event.offsetY);
  }, { passive: false });
  for (const button of document.querySelectorAll("[data-zoom]"))
    button.addEventListener("click", () => zoom(Number(button.dataset.zoom)));
  at("color").addEventListener("change", (event) => {
    color = points.colors[event.target.value];
    picked = null;
    paint();
  });
  at("kinds").addEventListener("change", () => {
    kinds = [...at("kinds").querySelectorAll("input")].map((box) => box.checked);
    paint();
  });
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => {
    renderer = drawer();
    paint();
  });
  new ResizeObserver(fit).observe(canvas);
}

function drawer() {
  try {
    return new WebGL(canvas, points);
  } catch {
    return new Flat(canvas, points);
  }
}

function choices() {
  const names = points.colors.map((one, i) => new Option(one.column, i));
  at("color").replaceChildren(...names);
  const best = points.colors.findIndex((one) => one.kind === "choice" && one.names.length > 2);
  at("color").value = String(Math.max(0, best));
  return points.colors[Math.max(0, best)];
}

async function start() {
  try {
    points = await fetched(index, (message) => (at("map-state").querySelector("p").textContent = message));
  } catch (error) {
    at("map-state").querySelector("h2").textContent = "There is no map";
    at("map-state").querySelector("p").textContent = error.message;
    return;
  }
  at("map-state").hidden = true;
  if (points.told) at("map-told").append(` ${points.told}.`);
  near = new Near(points.xs, points.ys);
  renderer = drawer();
  color = choices();
  listen();
  fit();
  paint();
  canvas.dataset.ready = renderer.constructor.name;
}

start();
