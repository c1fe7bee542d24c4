// Pages in place: a page is fetched whole, as a browser without scripts would get it, and the
// parts of it that are marked `data-live` take the place of those shown. So there is one way
// in which a page is made, and each state has a URL that works by itself.

const root = document.documentElement;
let running = null;
let coming = null; // the URL that is being fetched
let shown = here();

root.classList.add("scripted"); // buttons that only a browser without scripts needs go

export function here() {
  return location.pathname + location.search;
}

/** The URL whose results are on the page, whatever is opened over them. */
export function shownUrl() {
  return shown;
}

/** The URL whose results are on the page, or on their way. */
export function wanted() {
  return coming ?? shown;
}

/** The results are not on the page any more: the same URL can be asked for again. */
export function lost() {
  shown = null;
}

/** Fetch a page as a document; an error page is a page too. */
export async function page(url, signal) {
  const answer = await fetch(url, { headers: { Accept: "text/html" }, signal });
  if (new URL(answer.url).pathname === "/login") location.assign(url);
  const made = new DOMParser().parseFromString(await answer.text(), "text/html");
  made.passing = answer.status === 429 || answer.status >= 500; // asked again, it may be answered
  if (!made.querySelector("main")) throw new Error(`no page (${answer.status})`);
  return made;
}

/** Show another state of this page; the history is to "push" it, to "replace" or "keep" what is there. */
export async function visit(url, how = "push") {
  running?.abort();
  const mine = (running = new AbortController());
  coming = url;
  root.classList.add("is-busy");
  try {
    const made = await page(url, mine.signal);
    put(made);
    remember(url, how);
    if (made.passing) lost();
  } catch (error) {
    if (error.name === "AbortError") return;
    fail(url);
  }
  if (running === mine) {
    running = coming = null;
    root.classList.remove("is-busy");
  }
}

function remember(url, how) {
  shown = url;
  if (how === "push" && url !== here()) history.pushState({}, "", url);
  if (how === "replace") history.replaceState({}, "", url);
}

function put(made) {
  document.title = made.title;
  document.body.className = made.body.className;
  for (const old of document.querySelectorAll("[data-live]")) {
    const fresh = made.getElementById(old.id);
    if (fresh) replace(old, document.importNode(fresh, true));
  }
  const [box, asked] = [document, made].map((one) => one.getElementById("q"));
  if (box && asked) box.placeholder = asked.placeholder; // what is being typed there stays
  tell();
}

/** Say what was found to those who do not see it. */
function tell() {
  const said = document.getElementById("said");
  const parts = [...document.querySelectorAll("#found .heading, #found .state h2, #found .summary-line")];
  if (said) said.textContent = parts.map((part) => part.textContent.replace(/\s+/g, " ").trim()).join(". ");
}

/** What a person has open, or has under the keyboard, stays so. */
function replace(old, fresh) {
  const open = [...old.querySelectorAll("details[open][id]")].map((one) => one.id);
  const active = old.contains(document.activeElement) ? document.activeElement : null;
  old.replaceWith(fresh);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (active) (document.getElementById(active.id) ?? document.getElementById("found")).focus({ preventScroll: true });
}

function fail(url) {
  const found = document.getElementById("found");
  const told = document.getElementById("unreachable")?.content.cloneNode(true);
  if (!found || !told) return location.assign(url);
  told.querySelector("a").href = url;
  document.body.classList.remove("fresh");
  found.replaceChildren(told);
  lost();
}
