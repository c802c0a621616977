// Twelve models of the gallery, checked and run in WebAssembly and by the native command: the same verdicts and events, and numbers
// within the tolerance. Digits differ because the length of a step is a power of its error, and `pow`, `exp` and `log` of the system's
// library round otherwise than those of WebAssembly; sine and cosine are zwang's own and the same everywhere.
// usage: node gallery.mjs MODULE.wasm ZWANG MODELS

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const [module, zwang, models] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const { memory, zwang_allocate, zwang_answer, zwang_free } = instance.exports;

function ask(request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const at = zwang_allocate(bytes.length);
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const answer = zwang_answer(at, bytes.length);
  const length = new DataView(memory.buffer).getUint32(answer, true);
  const text = new TextDecoder().decode(new Uint8Array(memory.buffer, answer + 4, length));
  zwang_free(answer, length + 4);
  return JSON.parse(text);
}

function native(command, path) {
  return JSON.parse(execFileSync(zwang, [command, path, "--json"], { maxBuffer: 1 << 28 }));
}

const names = ["pendulum", "double_pendulum_redundant", "rolling_disk", "chaplygin_sleigh", "squeezer", "kepler_with_integral",
  "rattleback", "two_link_arm", "slider_crank_dead_centre", "nonideal_particle", "bouncing_ball", "stick_slip_belt"];
const MOST = 1e-6; // of numbers, relative: a thousand tolerances, since errors grow along a motion
const MOST_STEPS = 0.01; // of counts, relative
const failures = [];

function same(name, what, here, there) {
  const [a, b] = [JSON.stringify(here), JSON.stringify(there)];
  if (a !== b) failures.push(`${name}: ${what} is ${a} in WebAssembly and ${b} natively`);
}

function difference(here, there) {
  const size = Math.max(...Object.values(there).map(Math.abs), 1e-9);
  return Math.max(...Object.keys(there).map((k) => Math.abs(here[k] - there[k]))) / size;
}

for (const name of names) {
  const path = `${models}/${name}.zw`;
  const text = readFileSync(path, "utf8");
  const [check, checkThere] = [ask({ text, request: "check" }), native("check", path)];
  for (const key of ["rank", "degrees_of_freedom", "constraints", "redundant", "integrability"]) {
    same(name, key, check[key], checkThere[key]);
  }
  const [run, there] = [ask({ text, request: "run" }), native("run", path)];
  same(name, "outcome", run.outcome, there.outcome);
  const kinds = (r) => r.events.map((e) => `${e.kind} ${e.name}`);
  same(name, "events", kinds(run), kinds(there));
  const off = Math.max(difference(run.q, there.q), difference(run.qdot, there.qdot));
  if (!(off <= MOST)) failures.push(`${name}: the end differs by ${off}`);
  if (Math.abs(run.steps - there.steps) > MOST_STEPS * there.steps) same(name, "steps", run.steps, there.steps);
  console.log(`${name}: ${run.outcome}, ${run.steps} steps (${there.steps} natively), the end differs by ${off.toExponential(1)}`);
}
if (failures.length) {
  console.error(failures.join("\n"));
  process.exit(1);
}
