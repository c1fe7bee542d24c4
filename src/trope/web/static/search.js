// The search page: results as one types, filters as one clicks, in the same page and history.

import "./keys.js";
import "./large.js";
import { here, lost, visit, wanted } from "./live.js";
import { listen } from "./picture.js";

const PAUSE = 140; // milliseconds without a key before we ask
const form = document.getElementById("ask");
const box = document.getElementById("q");
let waiting = 0;
let typed = false; // whether the newest entry of the history came from typing

const INSTEAD = ["item", "like"]; // of what is asked when there are no words

/** The page that the form asks for, without what is empty. */
function asked() {
  const said = new URLSearchParams();
  const usual = form.querySelector("[name=find]:checked")?.matches("[data-usual]");
  const left = (name) => box.value.trim() && INSTEAD.includes(name);
  for (const [name, value] of new FormData(form))
    if (!left(name) && typeof value === "string" && value.trim() && !(usual && name === "find") && name + value !== "index0")
      said.append(name, value.trim());
  const plain = said.toString();
  return form.dataset.action + (plain ? `?${plain}` : "");
}

function ask(how) {
  clearTimeout(waiting);
  const url = asked();
  if (url !== wanted()) visit(url, how);
}

function type() {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    ask(typed ? "replace" : "push");
    typed = true;
  }, PAUSE);
}

function commit() {
  typed = false;
  ask("push");
}

function complain(message) {
  const told = document.getElementById("refused").content.cloneNode(true);
  told.querySelector(".message").textContent = message;
  told.querySelector("a").href = here();
  document.getElementById("found").replaceChildren(told);
  document.body.classList.remove("fresh");
  forget();
  lost();
}

/** What was asked with before is neither shown beside a picture that was refused, nor asked with again. */
function forget() {
  document.getElementById("given").replaceChildren();
  for (const held of form.querySelectorAll("input[type=hidden]:is([name=image], [name=item], [name=like])")) held.remove();
}

/** The box says what the URL says. */
function follow(url) {
  typed = false;
  box.value = new URL(url, location).searchParams.get("q") ?? "";
}

box.addEventListener("input", (event) => event.isComposing || type());
box.addEventListener("compositionend", type);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  commit();
});
form.addEventListener("change", (event) => {
  if (event.target !== box && event.target.type !== "file") commit();
});
document.addEventListener("trope:left", (event) => follow(event.detail));

const pictures = form.dataset.pictures;
if (pictures)
  listen((digest) => {
    for (const menu of document.querySelectorAll("details.by-picture[open]")) menu.open = false;
    box.value = "";
    typed = false;
    visit(`${form.dataset.action}?image=${encodeURIComponent(digest)}`);
  }, complain);
