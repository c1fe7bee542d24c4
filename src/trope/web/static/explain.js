// Marks: kept or flagged with one click, saved before the button says so.

import "./large.js";

const MARKS = "/api/v1/marks";

function show(form, verdict) {
  form.closest(".pair").dataset.mark = verdict ?? "";
  for (const button of form.querySelectorAll("button")) {
    const on = button.dataset.verdict === verdict;
    button.setAttribute("aria-pressed", String(on));
    button.value = on ? "" : button.dataset.verdict;
  }
}

function tell(words) {
  const told = document.getElementById("marked");
  if (told) told.textContent = words;
}

async function mark(form, verdict) {
  const key = form.elements.key.value;
  try {
    const answer = await fetch(`${MARKS}/${encodeURIComponent(key)}`, {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ verdict }),
    });
    if (!answer.ok) throw new Error((await answer.json()).error);
    show(form, verdict);
    const said = { keep: "kept", flag: "flagged" }[verdict] ?? "not marked any more";
    tell(`${key.slice(key.indexOf(":") + 1)} is ${said}`);
  } catch (error) {
    tell(`That was not saved. ${typeof error.message === "string" ? error.message : ""}`);
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-marking]");
  if (!form) return;
  event.preventDefault();
  mark(form, event.submitter.value || null);
});
