// What a point is: its text and picture, asked for once.

const known = new Map();
const KEPT = 500;

export function itemUrl(key, index) {
  return `/item/${encodeURIComponent(key).replaceAll("%3A", ":")}${index ? `?index=${index}` : ""}`;
}

/** The item of a point, from the API. */
export function about(key, index) {
  if (!known.has(key)) {
    if (known.size > KEPT) known.delete(known.keys().next().value);
    const asked = fetch(`/api/v1/items/${encodeURIComponent(key)}?index=${index}`);
    known.set(key, asked.then((answer) => (answer.ok ? answer.json() : null)).then((item) => item?.found ?? item));
  }
  return known.get(key);
}

/** The inside of the tip over a point. */
export function told(found) {
  const parts = [];
  if (found.picture && found.modality === "image") parts.push(picture(found));
  const said = document.createElement("p");
  said.className = "said";
  said.textContent = found.text ?? "";
  const name = document.createElement("p");
  name.className = "fine";
  name.textContent = [found.modality === "image" ? "picture" : "text", found.id, ...found.labels].join(" · ");
  return [...parts, said, name];
}

/** A small link to an item. */
export function tile(found, index) {
  const link = document.createElement("a");
  link.href = itemUrl(found.key, index);
  if (found.picture && found.modality === "image") link.append(picture(found));
  else {
    const words = document.createElement("span");
    words.className = "none";
    words.textContent = (found.text ?? found.id).slice(0, 90);
    link.append(words);
  }
  const entry = document.createElement("li");
  entry.append(link);
  return entry;
}

function picture(found) {
  const image = document.createElement("img");
  image.src = found.picture.small;
  image.alt = `Picture ${found.id}`;
  return image;
}
