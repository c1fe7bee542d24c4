// Points drawn by the graphics card: positions go there once, colors when they change.

const VERTEX = `#version 300 es
in vec2 place; in vec4 color; in float kind;
uniform vec2 middle; uniform vec2 scale; uniform float size;
out vec4 shade; flat out float shape;
void main() {
  gl_Position = vec4((place - middle) * scale, 0.0, 1.0);
  gl_PointSize = size * (color.a < 0.3 ? 0.8 : 1.0);
  shade = color; shape = kind;
}`;
const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 shade; flat in float shape; out vec4 drawn;
void main() {
  vec2 p = abs(gl_PointCoord * 2.0 - 1.0);
  float away = shape < 0.5 ? length(p) : (p.x + p.y) * 0.92;
  float cover = 1.0 - smoothstep(0.72, 0.95, away);
  drawn = vec4(shade.rgb, 1.0) * shade.a * cover;
}`;

export class WebGL {
  constructor(canvas, points) {
    const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
    if (!gl) throw new Error("no WebGL");
    Object.assign(this, { canvas, gl, count: points.count });
    this.program = linked(gl);
    this.fill("place", interleaved(points), 2, gl.FLOAT, false);
    this.fill("kind", Float32Array.from(points.kinds), 1, gl.FLOAT, false);
    this.colors = gl.createBuffer();
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  fill(name, values, width, type, normal, buffer = this.gl.createBuffer()) {
    const { gl, program } = this;
    const at = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, width, type, normal, 0, 0);
  }

  /** Four bytes a point: red, green, blue, opacity. */
  paint(colors) {
    this.fill("color", colors, 4, this.gl.UNSIGNED_BYTE, true, this.colors);
  }

  draw(view, size, ratio) {
    const { gl, program, canvas } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(program);
    gl.uniform2f(gl.getUniformLocation(program, "middle"), view.x, view.y);
    const scale = [(2 * view.scale) / view.width, (2 * view.scale) / view.height];
    gl.uniform2f(gl.getUniformLocation(program, "scale"), ...scale);
    gl.uniform1f(gl.getUniformLocation(program, "size"), size * ratio);
    gl.drawArrays(gl.POINTS, 0, this.count);
  }
}

function interleaved({ xs, ys, count }) {
  const both = new Float32Array(2 * count);
  for (let i = 0; i < count; i++) both.set([xs[i], ys[i]], 2 * i);
  return both;
}

function linked(gl) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  return program;
}
