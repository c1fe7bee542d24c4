// Where on the map we are: which point of it is in the middle, and how many pixels a unit takes.

const CLOSEST = 400; // times the whole map
const FARTHEST = 0.3;

export class View {
  constructor() {
    this.x = 0.5;
    this.y = 0.5;
    this.zoom = 1;
    this.width = 1;
    this.height = 1;
  }

  /** Pixels for a unit; at zoom 1 nearly all of the map is seen, with a margin. */
  get scale() {
    return Math.min(this.width, this.height) * 0.92 * this.zoom;
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
  }

  toScreen(x, y) {
    return [(x - this.x) * this.scale + this.width / 2, this.height / 2 - (y - this.y) * this.scale];
  }

  toMap(left, top) {
    return [(left - this.width / 2) / this.scale + this.x, (this.height / 2 - top) / this.scale + this.y];
  }

  pan(right, down) {
    this.x = inside(this.x - right / this.scale);
    this.y = inside(this.y + down / this.scale);
  }

  /** Nearer or farther by a factor; the point under (left, top) stays where it is. */
  zoomAt(factor, left = this.width / 2, top = this.height / 2) {
    const [x, y] = this.toMap(left, top);
    this.zoom = Math.min(CLOSEST, Math.max(FARTHEST, this.zoom * factor));
    const [newX, newY] = this.toMap(left, top);
    this.x = inside(this.x + x - newX);
    this.y = inside(this.y + y - newY);
  }

  whole() {
    this.x = this.y = 0.5;
    this.zoom = 1;
  }
}

function inside(value) {
  return Math.min(2, Math.max(-1, value));
}
