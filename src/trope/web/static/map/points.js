// The points of the map, from the API: fetched until they are made, then fitted into a unit square.

const FEW = 0.04; // of the points may lie outside on each side at first
const AGAIN = 1500; // milliseconds between questions while the map is being made

/** Wait for the map; `tell` hears how it goes. */
export async function points(index, tell) {
  for (;;) {
    const answer = await fetch(`/api/v1/map?index=${index}`);
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.error ?? `error ${answer.status}`);
    if (found.state === "ready") return fitted(found);
    if (found.state === "failed") throw new Error(found.message);
    tell(found.message);
    await new Promise((done) => setTimeout(done, AGAIN));
  }
}

function fitted(found) {
  const count = found.keys.length;
  const [left, wide] = ends(found.x);
  const [low, high] = ends(found.y);
  const side = Math.max(wide, high) || 1;
  const fit = (values, start, size) => Float32Array.from(values, (v) => (v - start - size / 2) / side + 0.5);
  const kinds = Uint8Array.from(found.modality, (kind) => (kind === "text" ? 1 : 0));
  const kind = { column: "picture or text", kind: "choice", names: ["picture", "text"], values: [...kinds] };
  return {
    count,
    total: found.total,
    told: found.message,
    keys: found.keys,
    xs: fit(found.x, left, wide),
    ys: fit(found.y, low, high),
    kinds,
    colors: [...found.colors, kind],
  };
}

/** Where most values begin, and how far they reach: a few far away do not make all others small. */
function ends(values) {
  const sorted = Float64Array.from(values).sort();
  const [low, high] = [FEW, 1 - FEW].map((share) => sorted[Math.round(share * (sorted.length - 1))]);
  return sorted.length ? [low, high - low] : [0, 1];
}
