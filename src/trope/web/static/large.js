// An item opened large over the page it was found on. Its URL is that of its own page, so that it
// can be shared; going back closes it.

import { here, page, shownUrl, visit } from "./live.js";

const dialog = document.getElementById("large");
const inside = dialog?.querySelector(".content");
const ITEM = "/item/";
let opener = null;
let below = ""; // the title of the page below
let depth = 0; // entries of the history since the page below was left

export function isOpen() {
  return Boolean(dialog?.open);
}

/** The links of what was found, in order. */
export function hits() {
  return [...document.querySelectorAll("#found .hit > a")];
}

/** Show an item; `how` is "push", "replace" or "keep", as for the history. */
export async function open(url, how) {
  inside.setAttribute("aria-busy", "true");
  if (!dialog.open) {
    opener = document.activeElement;
    depth = 0;
    below = document.title;
    inside.replaceChildren();
    dialog.showModal();
    dialog.querySelector(".close").focus(); // the others may be disabled in a moment
  }
  if (how === "push") depth += 1;
  if (how === "push") history.pushState({ depth }, "", url);
  if (how === "replace") history.replaceState({ depth }, "", url);
  try {
    const made = await page(url);
    const article = made.querySelector("article, .state");
    if (here() !== url) return;
    document.title = made.title;
    inside.replaceChildren(document.importNode(article, true));
    dialog.querySelector(".inside").scrollTop = 0;
    name(inside.querySelector("h1"));
  } catch {
    inside.replaceChildren(document.getElementById("unreachable").content.cloneNode(true));
    inside.querySelector("a").href = url;
  }
  inside.removeAttribute("aria-busy");
  steps(url);
}

/** Who does not see the item hears its text. */
function name(title) {
  dialog.setAttribute("aria-label", title.textContent.trim().slice(0, 200));
  title.tabIndex = -1;
  title.focus();
}

function place(url) {
  return hits().findIndex((link) => link.pathname === new URL(url, location).pathname);
}

function steps(url) {
  const at = place(url);
  const last = hits().length - 1;
  dialog.querySelector("[data-step='-1']").disabled = at <= 0;
  dialog.querySelector("[data-step='1']").disabled = at < 0 || at >= last;
}

function step(by) {
  const next = hits()[place(here()) + by];
  if (place(here()) < 0 || !next) return;
  opener = next;
  open(next.pathname + next.search, "replace");
}

function close() {
  if (dialog.open) dialog.close();
}

function closed() {
  inside.replaceChildren();
  document.title = below;
  if (location.pathname.startsWith(ITEM)) history.go(-(history.state?.depth ?? 1));
  (opener?.isConnected ? opener : hits()[0])?.focus();
}

/** Whether a click is for us, and not for a new tab. */
function plain(event) {
  return event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
}

function clicked(event) {
  const link = event.target.closest("a[href]");
  if (!link || !plain(event) || link.origin !== location.origin || link.target) return;
  const url = link.pathname + link.search;
  if (link.pathname.startsWith(ITEM)) {
    event.preventDefault();
    open(url, "push");
  } else if (link.pathname === "/" && "search" in document.body.dataset) {
    event.preventDefault();
    leave(url);
  }
}

/** From an item, or from the results, to other results. */
async function leave(url) {
  if (dialog.open) {
    history.pushState({}, "", url);
    dialog.close();
    await visit(url, "keep");
  } else {
    await visit(url);
  }
  window.scrollTo(0, 0);
  document.dispatchEvent(new CustomEvent("trope:left", { detail: url }));
}

function went() {
  const url = here();
  if (location.pathname.startsWith(ITEM)) return open(url, "keep");
  close();
  if (url === shownUrl()) return undefined;
  if (!("search" in document.body.dataset)) return location.reload();
  document.dispatchEvent(new CustomEvent("trope:left", { detail: url }));
  return visit(url, "keep");
}

if (dialog) {
  document.addEventListener("click", clicked);
  window.addEventListener("popstate", went);
  dialog.addEventListener("close", closed);
  dialog.addEventListener("click", (event) => {
    const by = event.target.closest("[data-step]")?.dataset.step;
    if (by) step(Number(by));
    if (event.target === dialog || event.target.closest(".close")) close();
  });
  document.addEventListener("keydown", (event) => {
    if (dialog.open && event.key === "ArrowRight") step(1);
    if (dialog.open && event.key === "ArrowLeft") step(-1);
  });
} else {
  window.addEventListener("popstate", () => location.reload());
}
