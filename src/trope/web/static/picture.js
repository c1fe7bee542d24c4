// A picture as the question: dropped anywhere, pasted anywhere, or picked.

const UPLOAD = "/api/v1/images";
const root = document.documentElement;

/** Send a picture; `ask` gets the name it is kept by, or `fail` what was wrong with it. */
async function send(file, ask, fail) {
  root.classList.add("is-busy");
  try {
    const answer = await fetch(UPLOAD, { method: "POST", body: file, headers: { "Content-Type": type(file) } });
    const told = await answer.json();
    if (answer.ok) ask(told.digest);
    else fail(said(told, answer.status));
  } catch {
    fail("The picture could not be sent. Is the server still running?");
  }
  root.classList.remove("is-busy");
}

function type(file) {
  return file.type.startsWith("image/") ? file.type : "application/octet-stream";
}

function said(told, status) {
  return typeof told.error === "string" ? told.error : `The picture was refused (${status}).`;
}

function pictureIn(transfer) {
  return [...(transfer?.files ?? [])][0];
}

function holdsFiles(event) {
  return [...(event.dataTransfer?.types ?? [])].includes("Files");
}

/** Listen for pictures on the whole page. */
export function listen(ask, fail) {
  const take = (file) => file && send(file, ask, fail);
  let over = 0;
  const veil = (by) => {
    over = by ? Math.max(0, over + by) : 0;
    root.classList.toggle("dropping", over > 0);
  };
  document.addEventListener("dragenter", (event) => holdsFiles(event) && veil(1));
  document.addEventListener("dragleave", (event) => holdsFiles(event) && veil(-1));
  document.addEventListener("dragover", (event) => holdsFiles(event) && event.preventDefault());
  document.addEventListener("drop", (event) => {
    veil(0);
    if (!holdsFiles(event)) return;
    event.preventDefault();
    take(pictureIn(event.dataTransfer));
  });
  document.addEventListener("paste", (event) => take(pictureIn(event.clipboardData)));
  document.addEventListener("change", (event) => {
    if (!event.target.matches("input[type=file]")) return;
    take(event.target.files[0]);
    event.target.value = "";
  });
}
