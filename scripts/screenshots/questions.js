/* global document, fetch */
// The pages of the guides that are about one kind of question, with made-up people.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The share of people under each name of the study, in the order of its list, then other. */
const countries = [0.3, 0.22, 0.15, 0.12, 0.08, 0.05, 0.08];
const devices = [0.5, 0.15, 0.2, 0.12, 0.03];
/** The median minutes of each device. */
const minutes = [65, 40, 90, 75, 30];

/** Repeatable numbers in [0, 1), so that the rows are always the same. */
function uniforms(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
}

function placeIn(shares, at) {
  let sum = 0;
  const place = shares.findIndex((share) => (sum += share) > at);
  return place < 0 ? shares.length - 1 : place;
}

/** The rows of `people`, as numbers: a name is its place in the list. */
function rowsOf(name, people, seed) {
  const next = uniforms(seed);
  return Array.from({ length: people }, () => {
    const at = next();
    if (name === 'people-by-country') return [placeIn(countries, at)];
    const device = placeIn(devices, at);
    // The median of an exponential number is ln 2.
    return [Math.min(240, (-Math.log(next()) * minutes[device]) / Math.LN2).toFixed(1), device];
  });
}

const pictures = [
  { name: 'people-by-country', columns: 'country', people: 2000 },
  { name: 'median-by-device', columns: 'minutes,device', people: 4000 },
];

/** @param stage tools for this part of the pictures. */
export async function ofQuestions({ keelson, newPage, until, take, port, scratch, root, folder }) {
  const files = pictures.map(({ name }) => {
    const path = join(scratch, `${name}.yaml`);
    const text = readFileSync(`${root}studies/${name}.yaml`, 'utf8');
    writeFileSync(path, text.replace('every: 1m', 'every: 10s'));
    return path;
  });
  const [, address] = await keelson(
    [
      'serve', ...files, '--data', join(scratch, 'questions'), '--port', String(port),
      '--log-level', 'error', '--json',
    ],
    /"address":"(http:[^"]+)"/,
  );
  await Promise.all(pictures.map(({ name, columns, people }, i) => {
    const rows = join(scratch, `${name}.csv`);
    writeFileSync(rows, [columns, ...rowsOf(name, people, i + 1)].join('\n'));
    return keelson([
      'simulate', address.replace('http', 'ws'), '--study', name, '--contributors',
      String(people), '--input', rows, '--rows', '1', '--epochs', '40',
    ], /./);
  }));
  const page = await newPage();
  const { studies } = await (await fetch(`${address}/v1/studies`)).json();
  for (const { name } of pictures) {
    await page.goto(`${address}/#/study/${studies.find((study) => study.name === name).id}`);
    await until(page, () => document.querySelectorAll('.releases tbody tr').length >= 3);
    await take(page, name, 900, [1440, 390]);
    // The guide shows the upper part.
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
    await page.setViewport({ width: 1440, height: 700, deviceScaleFactor: 1 });
    await page.screenshot({ path: join(folder, `${name}.png`) });
  }
  await page.close();
}
