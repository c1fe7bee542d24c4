// Which point is under the pointer: points sorted into a grid once, then a few cells looked at.

export class Near {
  constructor(xs, ys, side = 128) {
    Object.assign(this, { xs, ys, side });
    const cells = new Int32Array(xs.length);
    this.starts = new Int32Array(side * side + 1);
    for (let i = 0; i < xs.length; i++) {
      cells[i] = this.cell(ys[i]) * side + this.cell(xs[i]);
      this.starts[cells[i] + 1]++;
    }
    for (let i = 0; i < side * side; i++) this.starts[i + 1] += this.starts[i];
    const next = this.starts.slice();
    this.order = new Int32Array(xs.length);
    for (let i = 0; i < xs.length; i++) this.order[next[cells[i]]++] = i;
  }

  cell(value) {
    return Math.min(this.side - 1, Math.max(0, Math.floor(value * this.side)));
  }

  /** The nearest point within `reach` that `passes`; -1 where there is none. */
  at(x, y, reach, passes = () => true) {
    let best = -1;
    let least = reach * reach;
    this.around(x, y, reach, (i) => {
      const away = (this.xs[i] - x) ** 2 + (this.ys[i] - y) ** 2;
      if (away <= least && passes(i)) [best, least] = [i, away];
    });
    return best;
  }

  around(x, y, reach, see) {
    const [left, right] = [this.cell(x - reach), this.cell(x + reach)];
    for (let row = this.cell(y - reach); row <= this.cell(y + reach); row++)
      for (let at = this.starts[row * this.side + left]; at < this.starts[row * this.side + right + 1]; at++)
        see(this.order[at]);
  }

  /** The `count` points nearest to a place. */
  nearest(x, y, count, passes) {
    for (let reach = 0.02; ; reach *= 2) {
      const found = [];
      this.around(x, y, reach, (i) => passes(i) && found.push([(this.xs[i] - x) ** 2 + (this.ys[i] - y) ** 2, i]));
      const within = found.filter(([away]) => away <= reach * reach);
      if (within.length >= count || reach > 2)
        return within.sort((a, b) => a[0] - b[0]).slice(0, count).map(([, i]) => i);
    }
  }
}
