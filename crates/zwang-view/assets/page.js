"use strict";
addEventListener("error", e => { document.documentElement.dataset.error = e.message; });
(() => {
const root = document.documentElement, $ = id => document.getElementById(id);
const data = JSON.parse($("data").textContent), events = data.events.filter(([t]) => t !== null);
const numbers = list => Float64Array.from(list, x => x === null ? NaN : x);
const times = numbers(data.t), width = data.space ? 3 : 2, n_curves = 7;
const things = data.things.map(thing => {
  for (const key of ["p", "to", "axes", "f", "radii"]) if (thing[key]) thing[key] = numbers(thing[key]);
  return thing;
});
const plots = data.plots.map(plot => ({ ...plot, t: plot.t ? numbers(plot.t) : times,
  curves: plot.curves.map(c => ({ name: c.name, v: numbers(c.v) })) }));
const of_kind = kind => things.filter(thing => thing.kind === kind);
const instants = [times, ...plots.map(plot => plot.t)].filter(t => t.length > 0);
const t_start = Math.min(...instants.map(t => t[0])), t_end = Math.max(...instants.map(t => t[t.length - 1]));
const duration = instants.length ? t_end - t_start : 0;
const has_scene = things.length > 0 && times.length > 0;
root.classList.add("js");

// ---- numbers and vectors

const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
const add = (a, b, k = 1) => [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = a => { const l = Math.hypot(...a); return l > 0 ? [a[0] / l, a[1] / l, a[2] / l] : a; };
const unit_vectors = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
const finite = a => a.every(Number.isFinite);

/** The largest of 1, 2, 5 times a power of ten that is at most x. */
function nice(x) {
  const power = 10 ** Math.floor(Math.log10(x)), digit = x / power;
  return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

function text_of(x, digits = 4) {
  if (!Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  const text = size !== 0 && (size >= 1e6 || size < 1e-4) ? x.toExponential(digits - 1).replace(/\.?0+e/, "e")
    : String(Number(x.toPrecision(digits)));
  return text.replaceAll("-", "−");
}
const with_unit = (text, name) => name ? text + "\u2009" + name : text;

/** Number of the last instant that is not later than t. */
function frame_of(t_list, t) {
  let low = 0, high = t_list.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (t_list[middle] <= t) low = middle; else high = middle - 1;
  }
  return low;
}
const place_in = (t_list, t) => {
  const k = frame_of(t_list, t), step = t_list[k + 1] - t_list[k];
  return [k, step > 0 ? clamp((t - t_list[k]) / step, 0, 1) : 0];
};
/** Value between frames; where the next frame has none, that of the last one. */
function value_at(list, [k, w], count, index) {
  const a = list[k * count + index], b = w > 0 ? list[(k + 1) * count + index] : a;
  return Number.isFinite(b) ? a + w * (b - a) : a;
}
const vector_at = (list, place, offset = 0, count = width) =>
  [value_at(list, place, count, offset), value_at(list, place, count, offset + 1),
    width === 3 ? value_at(list, place, count, offset + 2) : 0];

// ---- colours

const color = {};
function read_colors() {
  const style = getComputedStyle(root), names = "bg ink muted line grid axis accent rod body body-dark force shadow c0 c1 c2 c3 c4 c5 c6";
  for (const name of names.split(" ")) color[name] = style.getPropertyValue("--" + name).trim();
}
const rgb = hex => [1, 3, 5].map(k => parseInt(hex.slice(k, k + 2), 16));
const shaded = (hex, k) => "rgb(" + rgb(hex).map(c => Math.round(clamp(c * k, 0, 255))).join(" ") + ")";

// ---- the extent of the motion

/** Where things are: every place they take, bodies with their size. */
function all_places() {
  const out = [], step = Math.max(1, Math.ceil(times.length / 300));
  for (let k = 0; k < times.length; k += step) {
    for (const thing of things) {
      if (thing.kind === "force") continue;
      const at = [k, 0], p = vector_at(thing.p, at);
      const reach = thing.radii ? Math.max(0, ...thing.radii.slice(0, width)) : 0;
      for (const q of thing.to ? [p, vector_at(thing.to, at)] : [p]) {
        if (!finite(q)) continue;
        if (reach === 0) out.push(q);
        else for (const e of unit_vectors.slice(0, width)) out.push(add(q, e, reach), add(q, e, -reach));
      }
    }
  }
  return out;
}
/** Least and greatest value per axis; a few that fly far away do not count. */
function extent_of(places) {
  return [0, 1, 2].map(i => {
    const x = places.map(p => p[i]).sort((a, b) => a - b);
    if (x.length === 0) return [-1, 1];
    const low = x[Math.floor(0.01 * (x.length - 1))], high = x[Math.ceil(0.99 * (x.length - 1))], core = high - low;
    const all = [x[0], x[x.length - 1]];
    return core > 0 && all[1] - all[0] > 3 * core ? [low - 0.1 * core, high + 0.1 * core] : all;
  });
}
const places = has_scene ? all_places() : [], extent = extent_of(places);
const whole_size = Math.max(...extent.map(([low, high]) => high - low)) || 1;
const middle = extent.map(([low, high]) => (low + high) / 2);
const near_places = places.filter(p => p.every((x, i) => x >= extent[i][0] && x <= extent[i][1]));
const ground = extent[2][0] >= -0.02 * whole_size ? Math.min(0, extent[2][0]) : extent[2][0] - 0.08 * whole_size;

/** What moves together is followed where its way is long: its middle at an instant, and how far it reaches from there. */
const solid = things.filter(thing => thing.kind === "body" || thing.kind === "rod" || thing.kind === "point" && thing.mass);
function middle_at(at) {
  const places = solid.flatMap(thing => [vector_at(thing.p, at), ...(thing.to ? [vector_at(thing.to, at)] : [])]).filter(finite);
  return places.length ? places.reduce((sum, p) => add(sum, p, 1 / places.length), [0, 0, 0]) : middle;
}
function reach_at(at) {
  const m = middle_at(at);
  return Math.max(0, ...solid.flatMap(thing => [thing.p, thing.to].filter(list => list).map(list => vector_at(list, at)).filter(finite)
    .map(p => Math.hypot(...add(p, m, -1)) + Math.max(0, ...(thing.radii || [])))));
}
let reach = 0;
if (has_scene && solid.length) {
  for (let k = 0; k < times.length; k += Math.max(1, Math.ceil(times.length / 100))) reach = Math.max(reach, reach_at([k, 0]));
}
const can_follow = reach > 0 && 5 * reach < whole_size;
$("follow").checked = 16 * reach < whole_size;
let size = whole_size, focus = middle;
function look_at(t) {
  const follows = can_follow && !printing && $("follow").checked;
  size = follows ? 5 * reach : whole_size;
  focus = follows ? middle_at(place_in(times, t)) : middle;
}

/** Length of an arrow per unit of force: the largest usual force takes a quarter of the picture. */
const all_forces = of_kind("force").flatMap(thing => Array.from(times, (_, k) => Math.hypot(...vector_at(thing.f, [k, 0]))))
  .filter(f => f > 0 && f < Infinity).sort((a, b) => a - b);
const usual_force = all_forces.length ? all_forces[Math.floor(0.98 * (all_forces.length - 1))] : 0;
const force_scale = () => usual_force ? 0.27 * size / usual_force : 0;

// ---- the camera

const canvas = $("view"), layer = document.createElement("canvas");
let ctx = canvas.getContext("2d");
const camera = { azimuth: -1.05, elevation: 0.36, scale: 1, x: 0, y: 0, touched: false };
let view = { w: 1, h: 1 }, basis = null;

function turn() {
  const { azimuth: a, elevation: e } = camera;
  const right = [-Math.sin(a), Math.cos(a), 0];
  const forward = [-Math.cos(a) * Math.cos(e), -Math.sin(a) * Math.cos(e), -Math.sin(e)];
  const up = cross(right, forward), distance = 3.2 * size;
  basis = { right, forward, up, distance, eye: add(focus, forward, -distance),
    light: unit(add(add(add([0, 0, 0.5], forward, -1), up, 0.5), right, -0.6)) };
}
/** Screen x, y, depth and pixels per unit of length there. */
function project(p) {
  const d = add(p, focus, -1);
  if (!data.space) {
    return [view.w / 2 + camera.x + d[0] * camera.scale, view.h / 2 + camera.y - d[1] * camera.scale, 0, camera.scale];
  }
  const depth = dot(d, basis.forward), ahead = 1 + depth / basis.distance;
  if (ahead < 0.05) return null;
  const k = camera.scale / ahead;
  return [view.w / 2 + camera.x + dot(d, basis.right) * k, view.h / 2 + camera.y - dot(d, basis.up) * k, depth, k];
}
function fit() {
  Object.assign(camera, { scale: 1, x: 0, y: 0, touched: false });
  look_at(now);
  turn();
  const corners = [-1, 1].flatMap(x => [-1, 1].flatMap(y => [-1, 1].map(z => add(focus, [x, y, z], 0.36 * size))));
  const shown = size < whole_size ? corners : near_places;
  let box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const p of shown.length ? shown : [focus]) {
    const q = project(p);
    if (q) box = [Math.min(box[0], q[0]), Math.min(box[1], q[1]), Math.max(box[2], q[0]), Math.max(box[3], q[1])];
  }
  const margin = data.space ? 40 : 52;
  const across = Math.max(box[2] - box[0], 0.05 * size), high = Math.max(box[3] - box[1], 0.05 * size);
  camera.scale = Math.min(Math.max(40, view.w - 2 * margin) / across, Math.max(40, view.h - 2 * margin - 16) / high);
  camera.x = (view.w / 2 - (box[0] + box[2]) / 2) * camera.scale;
  camera.y = (view.h / 2 - (box[1] + box[3]) / 2) * camera.scale - (data.space ? 0 : 8);
}

// ---- drawing: every piece has a depth and is painted from far to near

let pieces = [], spots = [], printing = false;
const axis_colors = ["c1", "c2", "c0"];
const font = "system-ui, -apple-system, \"Segoe UI\", Roboto, Arial, sans-serif";
const piece = (depth, paint) => pieces.push({ depth, paint });

/** A line through points, broken where one is missing. */
function trace(c, points) {
  let down = false;
  c.beginPath();
  for (const p of points) {
    const there = p && Number.isFinite(p[0] + p[1]);
    if (there && down) c.lineTo(p[0], p[1]); else if (there) c.moveTo(p[0], p[1]);
    down = there;
  }
}
function stroke(points, style, line_width, alpha = 1, cap = "round") {
  Object.assign(ctx, { globalAlpha: alpha, strokeStyle: style, lineWidth: line_width, lineCap: cap, lineJoin: "round" });
  trace(ctx, points);
  ctx.stroke();
}
function fill(points, style, alpha = 1, seam = false) {
  if (points.some(p => !p)) return;
  Object.assign(ctx, { globalAlpha: alpha, fillStyle: style, strokeStyle: style, lineWidth: 0.8 });
  trace(ctx, points);
  ctx.closePath();
  ctx.fill();
  if (seam) ctx.stroke();
}
function disc(x, y, r, style, edge, edge_width) {
  Object.assign(ctx, { globalAlpha: 1, fillStyle: style, strokeStyle: edge || style, lineWidth: edge_width || 0.1 });
  ctx.beginPath();
  ctx.arc(x, y, r, 0, 2 * Math.PI);
  ctx.fill();
  ctx.stroke();
}
function write(text, x, y, style, align = "left", font_size = 12.5) {
  Object.assign(ctx, { globalAlpha: 1, font: `${font_size}px ${font}`, textAlign: align, textBaseline: "middle",
    lineJoin: "round", lineWidth: 3, strokeStyle: color.bg, fillStyle: style });
  ctx.strokeText(text, x, y);
  ctx.fillText(text, x, y);
}
function arrow(a, b, style, line_width) {
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
  if (length < 1.5) return disc(a[0], a[1], 1.6, style);
  const head = Math.min(11, 0.6 * length), [ux, uy] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
  const neck = [b[0] - ux * head * 0.8, b[1] - uy * head * 0.8], half = 0.42 * head;
  stroke([a, neck], style, line_width, 1, "butt");
  fill([b, [b[0] - ux * head - uy * half, b[1] - uy * head + ux * half], neck,
    [b[0] - ux * head + uy * half, b[1] - uy * head - ux * half]], style);
}

function grid_flat() {
  const step = nice(90 / camera.scale), small = step / 5, scale = camera.scale;
  const x0 = focus[0] - (view.w / 2 + camera.x) / scale, x1 = x0 + view.w / scale;
  const y1 = focus[1] + (view.h / 2 + camera.y) / scale, y0 = y1 - view.h / scale;
  const line = (k, ends) => stroke(ends, k ? color.grid : color.axis, k ? 1 : 1.2, k % 5 === 0 ? 1 : 0.45);
  for (let k = Math.ceil(x0 / small), x; k * small <= x1; k++) line(k, [[x = project([k * small, 0, 0])[0], 0], [x, view.h]]);
  for (let k = Math.ceil(y0 / small), y; k * small <= y1; k++) line(k, [[0, y = project([0, k * small, 0])[1]], [view.w, y]]);
}
function grid_ground() {
  const step = nice(size / 4), around = 0.35 * size, near = size < whole_size;
  const edge = (i, side) => near ? focus[i] + (side ? 1 : -1) * 1.6 * size : extent[i][side] + (side ? around : -around);
  const [low, high] = [0, 1].map(side => [0, 1].map(i => side ? Math.ceil(edge(i, 1) / step) : Math.floor(edge(i, 0) / step)));
  const corner = (i, j) => project([i * step, j * step, ground]);
  fill([corner(low[0], low[1]), corner(high[0], low[1]), corner(high[0], high[1]), corner(low[0], high[1])], color.grid, 0.35);
  for (let i = low[0]; i <= high[0]; i++) stroke([corner(i, low[1]), corner(i, high[1])], i ? color.line : color.axis, i ? 1 : 1.4);
  for (let j = low[1]; j <= high[1]; j++) stroke([corner(low[0], j), corner(high[0], j)], j ? color.line : color.axis, j ? 1 : 1.4);
  return step;
}

const n_rods = of_kind("rod").length, thing_width = n_rods > 25 ? 3 : 5, n_points = of_kind("point").length,
  points_are_few = n_points <= 16, point_size = n_points <= 12 ? 7.5 : n_points <= 40 ? 5 : 3.5;
const round = Array.from({ length: 40 }, (_, k) => [Math.cos(k * Math.PI / 20), Math.sin(k * Math.PI / 20)]);
const on_ground = p => project([p[0], p[1], ground]);
function draw_point(thing, p) {
  const q = project(p);
  if (!q) return;
  const r = thing.mass ? clamp(point_size * (data.space ? q[3] / camera.scale : 1), 4, 12) : 3.2;
  const s = data.space && p[2] >= ground && on_ground(p), flat = Math.max(0.15, Math.sin(camera.elevation));
  if (s) fill(round.map(([x, y]) => [s[0] + r * x, s[1] + r * flat * y]), color.shadow);
  piece(q[2] - 1e-3 * size, () => thing.mass ? disc(q[0], q[1], r, color.accent, color.bg, 1.8)
    : disc(q[0], q[1], r, color.bg, color.rod, 1.8));
  spots.push({ q, p, name: thing.name, label: points_are_few, r });
}
function draw_rod(thing, p, to) {
  const a = project(p), b = project(to);
  if (!a || !b) return;
  if (data.space) stroke([on_ground(p), on_ground(to)], color.shadow, thing_width);
  // in space a rod may pass before one thing and behind another: short parts, each as far away as its farther end
  const n = data.space ? n_rods > 25 ? 3 : 10 : 1, at = k => project(add(p, add(to, p, -1), k / n));
  for (let k = 0; k < n; k++) {
    const [u, v] = [at(k), at(k + 1)];
    if (u && v) piece(Math.max(u[2], v[2]), () => {
      stroke([u, v], color.bg, thing_width + 3, 1, "butt");
      stroke([u, v], color.rod, thing_width);
    });
  }
}
function draw_body_flat(thing, p, axis) {
  const q = project(p), [rx, ry] = [0, 1].map(i => Math.max(2.5, thing.radii[i] * camera.scale));
  const angle = -Math.atan2(axis[1], axis[0]), quarter = Math.PI / 2;
  const sector = (from, to, style) => {
    Object.assign(ctx, { globalAlpha: 0.9, fillStyle: style });
    ctx.beginPath();
    ctx.moveTo(q[0], q[1]);
    ctx.ellipse(q[0], q[1], rx, ry, angle, from, to);
    ctx.fill();
  };
  piece(1, () => {
    for (let k = 0; k < 4; k++) sector(k * quarter, (k + 1) * quarter, k % 2 ? color["body-dark"] : color.body);
    Object.assign(ctx, { globalAlpha: 1, strokeStyle: color.rod, lineWidth: 1.5 });
    ctx.beginPath();
    ctx.ellipse(q[0], q[1], rx, ry, angle, 0, 2 * Math.PI);
    ctx.stroke();
  });
  spots.push({ q, p, name: thing.name, label: true, r: Math.min(rx, ry) });
}

/** Quadrilaterals of the unit sphere, cut along the planes of the axes. */
const sphere = (() => {
  const many = of_kind("body").length, around = many > 12 ? 12 : many > 4 ? 24 : 36, up = around / 2 & ~1, quads = [];
  const at = (i, j) => {
    const a = 2 * Math.PI * i / around, b = Math.PI * (j / up - 0.5);
    return [Math.cos(a) * Math.cos(b), Math.sin(a) * Math.cos(b), Math.sin(b)];
  };
  for (let i = 0; i < around; i++) for (let j = 0; j < up; j++) {
    quads.push({ corners: [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)], middle: at(i + 0.5, j + 0.5),
      dark: (Math.floor(4 * i / around) + Math.floor(2 * j / up)) % 2 === 1 });
  }
  return quads;
})();
function draw_body(thing, p, first, second) {
  const x = unit(first), z = unit(cross(x, second)), axes = [x, cross(z, x), z];
  const largest = Math.max(...thing.radii), thin = 0.035 * largest;
  const radii = [0, 1, 2].map(i => Math.max(thing.radii[i] || 0, thin));
  const point = s => [0, 1, 2].reduce((q, i) => add(q, axes[i], radii[i] * s[i]), p);
  const q = project(p);
  if (!q) return;

  // the shadow of an ellipsoid is the ellipse whose matrix is the sum of r² a aᵀ
  const sum = (i, j) => axes.reduce((s, a, k) => s + radii[k] ** 2 * a[i] * a[j], 0);
  const l00 = Math.sqrt(sum(0, 0)), l10 = sum(0, 1) / (l00 || 1), l11 = Math.sqrt(Math.max(0, sum(1, 1) - l10 ** 2));
  const rim = round.map(([c, s]) => project([p[0] + l00 * c, p[1] + l10 * c + l11 * s, ground]));
  fill(rim, color.shadow);

  piece(q[2], () => {
    for (const quad of sphere) {
      const normal = unit([0, 1, 2].reduce((n, i) => add(n, axes[i], quad.middle[i] / radii[i]), [0, 0, 0]));
      if (dot(normal, add(point(quad.middle), basis.eye, -1)) >= 0) continue;
      const bright = 0.62 + 0.5 * Math.max(0, dot(normal, basis.light));
      fill(quad.corners.map(c => project(point(c))), shaded(quad.dark ? color["body-dark"] : color.body, bright), 1, true);
    }
  });
  axes.forEach((axis, i) => {
    const a = add(p, axis, radii[i]), b = add(p, axis, Math.max(1.28 * radii[i], 0.35 * largest)), [pa, pb] = [project(a), project(b)];
    if (pa && pb) piece(pb[2], () => stroke([pa, pb], color[axis_colors[i]], 2.2));
  });
  spots.push({ q, p, name: thing.name, label: false, r: 0.6 * largest * q[3] });
}
/** The path so far, older parts fainter. */
function draw_trace(thing, place, style) {
  const last = place[0], chunk = Math.max(4, Math.ceil(times.length / 80));
  for (let from = 0; from <= last; from += chunk) {
    const to = Math.min(from + chunk, last), line = [];
    for (let k = from; k <= to; k++) line.push(project(vector_at(thing.p, [k, 0])));
    if (to === last) line.push(project(vector_at(thing.p, place)));
    const age = (times[last] - times[to]) / (duration || 1), alpha = printing ? 0.7 : 0.16 + 0.8 * Math.exp(-6 * age);
    const mean = line[line.length >> 1];
    piece(data.space ? (mean ? mean[2] : 0) : 2, () => stroke(line, style, 2, alpha, printing || alpha > 0.9 ? "round" : "butt"));
  }
}
function draw_force(thing, p, f) {
  const a = project(p), b = project(add(p, f, force_scale()));
  if (!a || !b) return;
  piece(Math.min(a[2], b[2]) - 2e-3 * size - (data.space ? 0 : 1), () => arrow(a, b, color.force, 2.6));
  // the name stands beside the arrow, where no rod along it hides it
  const long = Math.hypot(b[0] - a[0], b[1] - a[1]), right = b[1] > a[1] ? -1 : 1;
  const side = [right * (a[1] - b[1]) / long, right * (b[0] - a[0]) / long];
  spots.push({ q: b, p: f, name: thing.name, label: of_kind("force").length <= 6 && long > 24, force: true, side, r: 2 });
}
function draw_things(t, ghost) {
  const place = place_in(times, t);
  [pieces, spots] = [[], []];
  if (!ghost && $("traces").checked) of_kind("trace").forEach((thing, k) => draw_trace(thing, place, color["c" + k % n_curves]));
  for (const thing of things) {
    const p = vector_at(thing.p, place);
    if (thing.kind === "force" && (ghost || !$("forces").checked)) continue;
    const to = thing.to || thing.f ? vector_at(thing.to || thing.f, place) : p;
    const axis = thing.axes ? vector_at(thing.axes, place, 0, data.space ? 6 : 2) : p;
    if (!finite([...p, ...to, ...axis])) continue;
    if (thing.kind === "point" && (thing.mass || !ghost)) draw_point(thing, p);
    if (thing.kind === "rod") draw_rod(thing, p, to);
    if (thing.kind === "force") draw_force(thing, p, to);
    if (thing.kind === "body" && data.space) draw_body(thing, p, axis, vector_at(thing.axes, place, 3, 6));
    if (thing.kind === "body" && !data.space) draw_body_flat(thing, p, axis);
  }
  // Array.sort keeps the order of equals: in the plane, the order of the user
  pieces.sort((a, b) => b.depth - a.depth);
  for (const { paint } of pieces) paint();
}
function draw_legend(step) {
  const length = data.unit.length, y = view.h - 18;
  let x = 18;
  if (data.space) {
    write("grid " + with_unit(text_of(step), length), x, y, color.muted);
    const at = [view.w - 40, view.h - 40];
    data.axes.forEach((e, i) => {
      const [dx, dy] = [24 * dot(e, basis.right), -24 * dot(e, basis.up)];
      stroke([at, [at[0] + dx, at[1] + dy]], color[axis_colors[i]], 2);
      write("xyz"[i], at[0] + 1.35 * dx, at[1] + 1.35 * dy, color.muted, "center", 11);
    });
    x += 90;
  } else {
    const bar = nice(130 / camera.scale), px = bar * camera.scale;
    stroke([[x, y - 4], [x, y + 4], [x, y], [x + px, y], [x + px, y - 4], [x + px, y + 4]], color.muted, 1.5, 1, "butt");
    write(with_unit(text_of(bar), length), x + px + 8, y, color.muted);
    x += px + 80;
  }
  if (!usual_force || !$("forces").checked) return;
  const k = force_scale() * camera.scale, force = nice(90 / k), px = force * k;
  arrow([x, y], [x + px, y], color.force, 2.6);
  write("= " + with_unit(text_of(force), data.unit.force), x + px + 8, y, color.muted);
}
/** On paper, earlier and later places stand for the motion: each drawn apart, then laid over the picture faintly. */
function draw_ghosts() {
  const front = ctx;
  Object.assign(layer, { width: canvas.width, height: canvas.height });
  ctx = layer.getContext("2d");
  for (let k = 0; k <= 8; k++) {
    ctx.setTransform(view.dpr, 0, 0, view.dpr, 0, 0);
    ctx.clearRect(0, 0, view.w, view.h);
    draw_things(times[0] + k / 8 * (times[times.length - 1] - times[0]), true);
    front.globalAlpha = 0.25;
    front.drawImage(layer, 0, 0, view.w, view.h);
  }
  ctx = front;
}
function draw_scene() {
  if (!has_scene) return;
  look_at(now);
  turn();
  ctx.setTransform(view.dpr, 0, 0, view.dpr, 0, 0);
  Object.assign(ctx, { globalAlpha: 1, fillStyle: color.bg });
  ctx.fillRect(0, 0, view.w, view.h);
  const step = data.space ? grid_ground() : grid_flat();
  if (printing && duration > 0) draw_ghosts();
  draw_things(now, false);
  for (const s of $("names").checked ? spots : []) {
    if (!s.label || !s.name) continue;
    if (s.side) write(s.name, s.q[0] + 11 * s.side[0], s.q[1] + 11 * s.side[1], color.force);
    else write(s.name, s.q[0] + s.r + 6, s.q[1] - s.r - 4, color.ink);
  }
  draw_legend(step);
}

// ---- plots

let hover = null;
const charts = plots.map(plot => {
  const figure = document.createElement("figure"), caption = document.createElement("figcaption");
  const chart = { plot, canvas: document.createElement("canvas"), base: document.createElement("canvas"), values: [] };
  figure.className = "plot";
  caption.append(document.createElement("b"));
  caption.firstChild.textContent = plot.unit ? `${plot.y} [${plot.unit}]` : plot.y;
  plot.curves.forEach((curve, k) => {
    const key = document.createElement("span"), line = document.createElement("i"), value = document.createElement("span");
    const named = plot.curves.length > 1 || curve.name !== plot.y;
    key.className = named ? "key named" : "key";
    line.style.background = `var(--c${k % n_curves})`;
    key.append(line, named ? curve.name : "", value);
    chart.values.push(value);
    caption.append(key);
  });
  chart.canvas.setAttribute("role", "img");
  chart.canvas.setAttribute("aria-label", `Plot of ${plot.curves.map(c => c.name).join(", ")} over time`);
  const time_of = e => {
    const box = chart.canvas.getBoundingClientRect();
    return clamp(t_start + (e.clientX - box.left - chart.left) / chart.inner * duration, t_start, t_end);
  };
  chart.canvas.addEventListener("pointerdown", e => { chart.canvas.setPointerCapture(e.pointerId); pause(); go(time_of(e)); });
  chart.canvas.addEventListener("pointermove", e => {
    if (e.buttons) go(time_of(e)); else { hover = time_of(e); draw_soon(); }
  });
  chart.canvas.addEventListener("pointerleave", () => { hover = null; draw_soon(); });
  figure.append(caption, chart.canvas);
  $("plots").append(figure);
  const all = plot.curves.flatMap(c => Array.from(c.v)).filter(Number.isFinite);
  let low = all.reduce((a, b) => Math.min(a, b), Infinity), high = all.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!all.length) [low, high] = [0, 1];
  const pad = high - low > 1e-9 * Math.abs(high) ? 0.06 * (high - low) : 0.1 * Math.abs(high) || 1;
  return Object.assign(chart, { low: low - pad, high: high + pad });
});
function draw_base(chart) {
  const { plot, base, low, high, w, h } = chart, c = base.getContext("2d"), bottom = h - 22;
  base.width = chart.canvas.width;
  base.height = chart.canvas.height;
  c.setTransform(view.dpr, 0, 0, view.dpr, 0, 0);
  c.font = "11px " + font;
  const step = nice((high - low) / 3.2), t_step = duration > 0 ? nice(duration / Math.max(2, w / 90)) : 1;
  const ticks = (from, to, by) => {
    const out = [];
    for (let k = Math.ceil(from / by - 1e-9); k * by <= to * (1 + 1e-12) + 1e-12 * by; k++) out.push(k * by);
    return out;
  };
  const label = (x, by) => text_of(Math.abs(x) < 1e-9 * by ? 0 : x, Math.max(4, Math.ceil(Math.log10(Math.abs(x) / by || 1)) + 2));
  const marks = ticks(low, high, step);
  chart.left = Math.max(34, ...marks.map(y => c.measureText(label(y, step)).width + 10));
  chart.inner = w - chart.left - 10;
  chart.x = t => chart.left + (duration > 0 ? (t - t_start) / duration : 0) * chart.inner;
  chart.y = v => 6 + (high - v) / (high - low) * (bottom - 6);
  const line = (x0, y0, x1, y1, style, dash = []) => {
    Object.assign(c, { strokeStyle: style, lineWidth: 1 });
    c.setLineDash(dash);
    trace(c, [[x0, y0], [x1, y1]]);
    c.stroke();
    c.setLineDash([]);
  };
  Object.assign(c, { fillStyle: color.muted, textBaseline: "middle", textAlign: "right" });
  for (const y of marks) {
    line(chart.left, chart.y(y), w - 10, chart.y(y), Math.abs(y) < 1e-9 * step ? color.axis : color.grid);
    c.fillText(label(y, step), chart.left - 6, chart.y(y));
  }
  c.textAlign = "center";
  const last = ticks(t_start, t_end, t_step);
  last.forEach((t, k) => {
    const name = k < last.length - 2 || k === last.length - 1 || chart.x(last[k + 1]) - chart.x(t) > 70 ? label(t, t_step) : "";
    line(chart.x(t), 6, chart.x(t), bottom, color.grid);
    c.textAlign = chart.x(t) > w - 24 ? "right" : "center";
    c.fillText(k === last.length - 1 ? "t = " + with_unit(name, data.unit.time) : name, Math.min(chart.x(t), w - 4), bottom + 12);
  });
  for (const [t] of events) line(chart.x(t), 6, chart.x(t), bottom, color.axis, [3, 3]);
  plot.curves.forEach((curve, k) => {
    Object.assign(c, { strokeStyle: color["c" + k % n_curves], lineWidth: 1.7, lineJoin: "round" });
    trace(c, Array.from(curve.v, (v, i) => [chart.x(plot.t[i]), chart.y(v)]));
    c.stroke();
  });
}
function draw_chart(chart) {
  const c = chart.canvas.getContext("2d"), { plot, h } = chart;
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.clearRect(0, 0, chart.canvas.width, chart.canvas.height);
  c.drawImage(chart.base, 0, 0);
  c.setTransform(view.dpr, 0, 0, view.dpr, 0, 0);
  const cursor = (t, style, line_width) => {
    Object.assign(c, { strokeStyle: style, lineWidth: line_width });
    trace(c, [[chart.x(t), 4], [chart.x(t), h - 22]]);
    c.stroke();
  };
  if (!printing) cursor(now, color.accent, 1.5);
  if (hover !== null) cursor(hover, color.muted, 1);
  const t = hover === null ? now : hover;
  plot.curves.forEach((curve, k) => {
    const v = plot.t.length ? value_at(curve.v, place_in(plot.t, t), 1, 0) : NaN;
    chart.values[k].textContent = printing ? "" : "= " + text_of(v);
    if (printing || !Number.isFinite(v)) return;
    Object.assign(c, { fillStyle: color["c" + k % n_curves], strokeStyle: color.bg, lineWidth: 1.2 });
    c.beginPath();
    c.arc(chart.x(t), chart.y(v), 3.4, 0, 2 * Math.PI);
    c.fill();
    c.stroke();
  });
}

// ---- time

const real_time = duration >= 1 && duration <= 60 || duration === 0, base_rate = real_time ? 1 : duration / 10;
const speeds = [0.25, 0.5, 1, 2, 4, 8], speed_names = ["¼", "½", "1", "2", "4", "8"];
let now = instants.length ? t_start : 0, playing = false, speed = 1, clock = 0, waiting = false;
const decimals = duration > 0 ? clamp(3 - Math.floor(Math.log10(duration)), 0, 9) : 3;

const go = t => { now = clamp(Number.isFinite(t) ? t : now, t_start, t_end); draw_soon(); };
const pause = () => { playing = false; $("play").textContent = "Play"; };
function play() {
  if (!(duration > 0)) return;
  if (now >= t_end) now = t_start;
  playing = true;
  clock = performance.now();
  $("play").textContent = "Pause";
  draw_soon();
}
const step_by = k => {
  pause();
  const list = times.length > 1 ? times : instants[0] || [now], near = frame_of(list, now);
  let to = clamp(near + k, 0, list.length - 1);
  if (k < 0 && list[near] < now) to = clamp(to + 1, 0, list.length - 1);
  go(list[to]);
};
function set_speed(k) {
  speed = speeds[clamp(k, 0, speeds.length - 1)];
  $("speed").value = speed;
  const rate = base_rate * speed;
  $("rate").textContent = rate === 1 ? "" : data.unit.time === "s" ? text_of(rate, 3) + " × real time" : text_of(rate, 3) + " per second";
}
function tick(stamp) {
  waiting = false;
  if (playing) {
    now += Math.min(0.1, Math.max(0, stamp - clock) / 1000) * base_rate * speed;
    clock = stamp;
    if (now >= t_end) {
      if ($("loop").checked) now = t_start + (now - t_end) % duration; else { now = t_end; pause(); }
    }
  }
  draw();
  if (playing) draw_soon();
}
function draw_soon() { if (!waiting) { waiting = true; requestAnimationFrame(tick); } }
function draw() {
  draw_scene();
  charts.forEach(draw_chart);
  $("scrub").value = now;
  $("time").textContent = "t = " + with_unit(now.toFixed(decimals).replace("-", "−"), data.unit.time);
}
function resize() {
  const box = $("scene").getBoundingClientRect(), before = [view.w, view.h];
  view = printing ? { w: 760, h: 400, dpr: 3 }
    : { w: Math.max(1, box.width), h: Math.max(1, box.height), dpr: Math.max(1, devicePixelRatio || 1) };
  canvas.width = Math.round(view.w * view.dpr);
  canvas.height = Math.round(view.h * view.dpr);
  if (!camera.touched) fit();
  else for (const key of ["scale", "x", "y"]) camera[key] *= Math.min(view.w, view.h) / Math.min(...before);
  const room = has_scene ? box.height / Math.max(1, charts.length) - 40 : 260;
  for (const chart of charts) {
    chart.w = printing ? 380 : Math.max(120, chart.canvas.parentElement.clientWidth);
    chart.h = printing ? 170 : clamp(room, 120, 300);
    chart.canvas.style.height = chart.h + "px";
    chart.canvas.width = Math.round(chart.w * view.dpr);
    chart.canvas.height = Math.round(chart.h * view.dpr);
    draw_base(chart);
  }
  draw();
}

// ---- hands

const fingers = new Map();
canvas.addEventListener("pointerdown", e => {
  canvas.setPointerCapture(e.pointerId);
  fingers.set(e.pointerId, [e.clientX, e.clientY]);
  $("tip").hidden = true;
});
function zoom(factor, x, y) {
  const box = canvas.getBoundingClientRect(), dx = x - box.left - view.w / 2, dy = y - box.top - view.h / 2;
  camera.x = dx + (camera.x - dx) * factor;
  camera.y = dy + (camera.y - dy) * factor;
  camera.scale *= factor;
  camera.touched = true;
  draw_soon();
}
canvas.addEventListener("pointermove", e => {
  const last = fingers.get(e.pointerId);
  if (!last) return show_tip(e);
  const dx = e.clientX - last[0], dy = e.clientY - last[1];
  camera.touched = true;
  if (fingers.size > 1) {
    const other = [...fingers].find(([id]) => id !== e.pointerId)[1];
    const apart = (x, y) => Math.max(10, Math.hypot(x - other[0], y - other[1]));
    zoom(apart(e.clientX, e.clientY) / apart(...last), other[0], other[1]);
  } else if (data.space && !e.shiftKey && e.buttons !== 4 && e.buttons !== 2) {
    camera.azimuth -= 0.008 * dx;
    camera.elevation = clamp(camera.elevation + 0.008 * dy, -1.5, 1.5);
  } else Object.assign(camera, { x: camera.x + dx, y: camera.y + dy });
  fingers.set(e.pointerId, [e.clientX, e.clientY]);
  draw_soon();
});
for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, e => fingers.delete(e.pointerId));
canvas.addEventListener("pointerleave", () => { $("tip").hidden = true; });
canvas.addEventListener("contextmenu", e => { if (data.space) e.preventDefault(); });
canvas.addEventListener("wheel", e => { e.preventDefault(); zoom(Math.exp(-0.0015 * e.deltaY * (e.deltaMode ? 20 : 1)), e.clientX, e.clientY); },
  { passive: false });
canvas.addEventListener("dblclick", () => { Object.assign(camera, { azimuth: -1.05, elevation: 0.36 }); fit(); draw_soon(); });
function show_tip(e) {
  const box = canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top, tip = $("tip");
  const near = spots.map(s => [Math.hypot(s.q[0] - x, s.q[1] - y) - s.r, s]).sort((a, b) => a[0] - b[0])[0];
  tip.hidden = !near || near[0] > 12;
  if (tip.hidden) return;
  const s = near[1], values = data.axes.slice(0, width).map(e => text_of(dot(s.p, e))).join(", ");
  const shown = s.force ? with_unit(text_of(Math.hypot(...s.p)), data.unit.force) + "  " : "";
  tip.textContent = `${s.name}  ${shown}(${values})` + (s.force ? "" : with_unit("", data.unit.length));
  tip.style.left = clamp(x + 12, 0, Math.max(0, view.w - tip.offsetWidth - 4)) + "px";
  tip.style.top = Math.max(2, y - 30) + "px";
}

$("play").addEventListener("click", () => playing ? pause() : play());
$("back").addEventListener("click", () => step_by(-1));
$("forward").addEventListener("click", () => step_by(1));
$("scrub").addEventListener("input", () => { pause(); go(Number($("scrub").value)); });
for (const id of ["traces", "forces", "names"]) $(id).addEventListener("change", draw_soon);
$("follow").addEventListener("change", () => { fit(); draw_soon(); });
speeds.forEach((s, k) => $("speed").append(new Option(speed_names[k] + "×", s, s === 1, s === 1)));
$("speed").addEventListener("change", () => set_speed(speeds.indexOf(Number($("speed").value))));
for (const button of document.querySelectorAll("#events button")) {
  button.addEventListener("click", () => { pause(); go(Number(button.dataset.t)); });
}
addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  const pressable = /^(BUTTON|SUMMARY|A)$/.test(e.target.tagName) || e.target.type === "checkbox";
  const action = { " ": pressable ? null : () => playing ? pause() : play(), "ArrowLeft": () => step_by(e.shiftKey ? -10 : -1),
    "ArrowRight": () => step_by(e.shiftKey ? 10 : 1), "Home": () => go(t_start), "End": () => go(t_end),
    "[": () => set_speed(speeds.indexOf(speed) - 1), "]": () => set_speed(speeds.indexOf(speed) + 1) }[e.key];
  const scrolls = (e.key === "Home" || e.key === "End") && e.target !== canvas && e.target !== $("scrub");
  if (!action || scrolls) return;
  e.preventDefault();
  action();
});
function time_in_address() {
  const found = /[#&]t=([-+.\deE]+)/.exec(location.hash), t = found ? Number(found[1]) : NaN;
  if (Number.isFinite(t)) { pause(); go(t); }
  return Number.isFinite(t);
}
addEventListener("hashchange", time_in_address);
function on_paper(yes) {
  printing = yes;
  root.classList.toggle("paper", yes);
  read_colors();
  resize();
}
addEventListener("beforeprint", () => on_paper(true));
addEventListener("afterprint", () => on_paper(false));

// ---- begin

$("scene").hidden = !has_scene;
$("controls").hidden = instants.length === 0;
$("show").classList.toggle("no-plots", plots.length === 0);
$("show").hidden = !has_scene && plots.length === 0;
$("with-traces").hidden = of_kind("trace").length === 0;
$("with-forces").hidden = of_kind("force").length === 0;
$("with-names").hidden = !has_scene;
$("with-follow").hidden = !can_follow;
Object.assign($("scrub"), { min: instants.length ? t_start : 0, max: instants.length ? t_end : 1, disabled: !(duration > 0) });
for (const [t] of duration > 0 ? events.slice(0, 400) : []) {
  const mark = document.createElement("i");
  mark.style.left = 100 * clamp((t - t_start) / duration, 0, 1) + "%";
  $("marks").append(mark);
}
read_colors();
set_speed(2);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { read_colors(); resize(); });
if (instants.length) {
  // the time of the address before the first drawing: no frame shows another one
  const is_still = time_in_address() || matchMedia("(prefers-reduced-motion: reduce)").matches;
  resize();
  new ResizeObserver(() => { if (!printing) resize(); }).observe($("show"));
  if (!is_still) play();
}
root.dataset.ready = "1";
})();
