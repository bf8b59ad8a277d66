// Loaded before a program: kills it at the call of number KILL_AT of those that use the file
// KILL_PATH. A write counts twice: before it, and after the first half of its bytes.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';

const { KILL_PATH: path, KILL_AT: at } = process.env;
const descriptors = new Set();
let calls = 0;

function step(before = () => undefined) {
  calls += 1;
  if (calls !== Number(at)) return;
  before();
  process.kill(process.pid, 'SIGKILL');
}

const { openSync, writeSync, fsyncSync, closeSync, readFileSync } = fs;
fs.openSync = (name, ...others) => {
  if (name === path) step();
  const file = openSync(name, ...others);
  if (name === path) descriptors.add(file);
  return file;
};
fs.writeSync = (file, bytes, ...others) => {
  if (descriptors.has(file)) {
    step();
    step(() => writeSync(file, bytes.subarray(0, bytes.length / 2)));
  }
  return writeSync(file, bytes, ...others);
};
for (const [name, call] of Object.entries({ fsyncSync, closeSync })) {
  fs[name] = (file) => {
    if (descriptors.has(file)) step();
    if (name === 'closeSync') descriptors.delete(file);
    return call(file);
  };
}
fs.readFileSync = (name, ...others) => {
  if (name === path) step();
  return readFileSync(name, ...others);
};
syncBuiltinESMExports();
