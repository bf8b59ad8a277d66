/* global document, fetch */
// The pages of the guides that are about one kind of question, with made-up people.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The share of people under each name of the study, in the order of its list, then other. */
const countries = [0.3, 0.22, 0.15, 0.12, 0.08, 0.05, 0.08];
/** Apps that nobody listed. The names after these have one person each. */
const apps = [
  ['maps', 0.24], ['mail', 0.2], ['weather', 0.14], ['trains', 0.1], ['chess', 0.07],
  ['radio', 0.05], ['recipes', 0.04], ['bird songs', 0.03],
];
const regions = [['north', 0.4], ['south', 0.3], ['east', 0.18], ['west', 0.12]];
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

/** The name at this place in shares of people; undefined past the last. */
function nameIn(names, at) {
  let sum = 0;
  return names.find(([, share]) => (sum += share) > at)?.[0];
}

/** Minutes: most flights are about on time, some are very late. */
const delayOf = (at) => (-25 * Math.log(at) - 12).toFixed(0);

/**
 * The rows of `people`. Of listed names as numbers: the place of a name in its list. The studies
 * with `typed` have names.
 */
function rowsOf(name, people, seed) {
  const next = uniforms(seed);
  return Array.from({ length: people }, () => {
    const at = next();
    if (name === 'people-by-country') return [placeIn(countries, at)];
    if (name === 'riders-total') return [nameIn(regions, at)];
    if (name === 'apps-nobody-listed') {
      return [nameIn(apps, at) ?? `app ${Math.floor(next() * 1e6)}`, Math.ceil(90 * next())];
    }
    if (name === 'delay-total') return [delayOf(next())];
    if (name === 'delay-distribution') return [delayOf(next()), Math.ceil(100 + 900 * at)];
    if (name === 'rides-questions') {
      const ride = Math.min(240, -30 * Math.log(next())).toFixed(1);
      return [ride, Math.floor(6 * next()), next() < 0.4, nameIn(regions, at)];
    }
    const device = placeIn(devices, at);
    // The median of an exponential number is ln 2.
    return [Math.min(240, (-Math.log(next()) * minutes[device]) / Math.LN2).toFixed(1), device];
  });
}

/**
 * `typed`: the rows are names, and the study says their types. `fleets`: so many epochs have people
 * of their own, where nobody may take part twice.
 */
const pictures = [
  // First, so that few epochs are without people.
  { name: 'riders-total', columns: 'region', people: 400, typed: true, fleets: 6 },
  { name: 'people-by-country', columns: 'country', people: 2000 },
  { name: 'median-by-device', columns: 'minutes,device', people: 4000 },
  { name: 'apps-nobody-listed', columns: 'app,minutes', people: 2000, typed: true },
  { name: 'delay-total', columns: 'delay_minutes', people: 2000 },
  { name: 'delay-distribution', columns: 'delay_minutes,distance_miles', people: 2000 },
  {
    name: 'rides-questions', columns: 'minutes,stops,late,region', people: 2000, typed: true,
  },
];

/** @param stage tools for this part of the pictures. */
export async function ofQuestions({ keelson, newPage, until, take, port, scratch, root, folder }) {
  const files = pictures.map(({ name }) => {
    const path = join(scratch, `${name}.yaml`);
    const text = readFileSync(`${root}studies/${name}.yaml`, 'utf8');
    writeFileSync(path, text.replace('every: 1m', 'every: 20s'));
    return path;
  });
  const [, address] = await keelson(
    [
      'serve', ...files, '--data', join(scratch, 'questions'), '--port', String(port),
      '--log-level', 'error', '--json',
    ],
    /"address":"(http:[^"]+)"/,
  );
  const simulate = async ({ name, columns, people, typed }, i, epochs, seed) => {
    const rows = join(scratch, `${name}.csv`);
    writeFileSync(rows, [columns, ...rowsOf(name, people, i + 1)].join('\n'));
    await keelson([
      'simulate', address.replace('http', 'ws'), '--retry', '--study', name, '--contributors',
      String(people), '--input', rows, '--rows', '1', '--epochs', epochs, '--seed', seed,
      ...(typed === true ? ['--types', files[i]] : []),
    ], /in all/);
  };
  const page = await newPage();
  const { studies } = await (await fetch(`${address}/v1/studies`)).json();
  // One after the other, so that a busy machine takes everybody in.
  for (const [i, picture] of pictures.entries()) {
    const { name, fleets } = picture;
    if (fleets === undefined) await simulate(picture, i, '4', '1');
    else for (let fleet = 0; fleet < fleets; fleet++) await simulate(picture, i, '1', `${fleet}`);
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
