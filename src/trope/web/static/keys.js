// The keyboard: / to the box, arrows among what was found, escape back to the box.

import { hits, isOpen } from "./large.js";

const box = document.getElementById("q");
const MOVES = { ArrowLeft: -1, ArrowRight: 1 };

function typing(target) {
  return target.closest("input, textarea, select, [contenteditable]");
}

/** The link above or below: in the nearest row, the one whose middle is nearest. */
function vertical(links, from, down) {
  const at = from.getBoundingClientRect();
  const middle = at.left + at.width / 2;
  let best = null;
  for (const link of links) {
    const box = link.getBoundingClientRect();
    const away = down ? box.top - at.top : at.top - box.top;
    if (away < at.height / 4) continue;
    const cost = away * 1000 + Math.abs(box.left + box.width / 2 - middle);
    if (!best || cost < best.cost) best = { cost, link };
  }
  return best?.link;
}

function move(event) {
  const links = hits();
  const at = links.indexOf(document.activeElement);
  if (at < 0) return false;
  const sideways = MOVES[event.key];
  const next = sideways ? links[at + sideways] : vertical(links, links[at], event.key === "ArrowDown");
  (next ?? (event.key === "ArrowUp" ? box : null))?.focus();
  return true;
}

function escape(event) {
  const menu = document.querySelector("details.menu[open], details.by-picture[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  } else if (event.target !== box) {
    box.focus();
    box.select();
  }
}

document.addEventListener("keydown", (event) => {
  if (!box || isOpen() || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const empty = event.target === box && !box.value; // it has the focus already, nothing is typed yet
  if (event.key === "/" && (empty || !typing(event.target))) {
    event.preventDefault();
    box.focus();
    box.select();
  } else if (event.key === "Escape") {
    escape(event);
  } else if (event.key === "ArrowDown" && event.target === box && hits().length) {
    event.preventDefault();
    hits()[0].focus();
  } else if (event.key.startsWith("Arrow") && !typing(event.target) && move(event)) {
    event.preventDefault();
  }
});

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open], details.by-picture[open]"))
    if (!menu.contains(event.target)) menu.open = false;
});
