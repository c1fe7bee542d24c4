// The points of the map, from the API: fetched until they are made, then fitted into a unit square.

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
  return {
    count,
    total: found.total,
    told: found.message,
    keys: found.keys,
    xs: fit(found.x, left, wide),
    ys: fit(found.y, low, high),
    kinds: Uint8Array.from(found.modality, (kind) => (kind === "text" ? 1 : 0)),
    colors: found.colors,
  };
}

function ends(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return values.length ? [low, high - low] : [0, 1];
}
