// Points drawn without a graphics card: each color is one path of small squares.

export class Flat {
  constructor(canvas, points) {
    this.context = canvas.getContext("2d");
    Object.assign(this, { points, groups: new Map() });
  }

  /** Points of one color are drawn together. */
  paint(colors) {
    const groups = new Map();
    const words = new Uint32Array(colors.buffer);
    words.forEach((color, i) => (groups.get(color) ?? groups.set(color, []).get(color)).push(i));
    this.groups = new Map([...groups].map(([color, list]) => [css(color), Int32Array.from(list)]));
  }

  draw(view, size, ratio) {
    const { context, points } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    const side = size * 0.7;
    for (const [color, list] of this.groups) {
      context.fillStyle = color;
      context.beginPath();
      for (const i of list) {
        const [left, top] = view.toScreen(points.xs[i], points.ys[i]);
        if (left > -side && top > -side && left < view.width + side && top < view.height + side)
          context.rect(left - side / 2, top - side / 2, side, side);
      }
      context.fill();
    }
  }
}

function css(word) {
  const [red, green, blue, opacity] = new Uint8Array(new Uint32Array([word]).buffer);
  return `rgb(${red} ${green} ${blue} / ${opacity / 255})`;
}
