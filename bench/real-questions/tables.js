// The tables of bench/real-questions.js: rows of the package vega-datasets, as the study files
// name their columns. Nothing is copied into this repository.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { useTool } from '../../scripts/tool.js';

useTool('datasets');
const folder = fileURLToPath(new URL('../../node_modules/vega-datasets/data/', import.meta.url));
const textOf = (file) => readFileSync(`${folder}${file}`, 'utf8');
const csvOf = (file) => parse(textOf(file), { columns: true });

const times = [[5, 'morning'], [11, 'midday'], [14, 'afternoon'], [18, 'evening']];
const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** A flight at a time like 2001/01/13 14:56. Those after midnight count as evening. */
function flightOf({ date, delay, origin }) {
  const [day, clock] = date.split(' ');
  const hour = Number(clock.slice(0, 2));
  const time = times.findLast(([from]) => hour >= from)?.[1] ?? 'evening';
  const weekday = days[new Date(`${day.replaceAll('/', '-')}T00:00Z`).getUTCDay()];
  return { delay, origin, time, day: weekday };
}

function strikeOf(row) {
  const speed = row['Speed IAS in knots'];
  return {
    species: row['Wildlife Species'], phase: row['Phase of flight'],
    damaged: row['Effect Amount of damage'] !== 'None', speed: speed === '' ? null : Number(speed),
    cost: Number(row['Cost Total $']),
  };
}

/** By the name of the study. `rows()` reads a table. */
export const tables = {
  'flights-by-origin': {
    of: 'flights-20k.json', from: 'US Bureau of Transportation Statistics, January to March 2001',
    rows: () => JSON.parse(textOf('flights-20k.json')).map(flightOf),
  },
  birdstrikes: {
    of: 'birdstrikes.csv', from: 'FAA Wildlife Strike Database',
    rows: () => csvOf('birdstrikes.csv').map(strikeOf),
  },
  'weather-by-place': {
    of: 'weather.csv', from: 'US NOAA Climate Data',
    rows: () => csvOf('weather.csv').map(({ location, weather, temp_max: warmest, ...row }) => ({
      city: location, sky: weather, warmest: Number(warmest), rain: Number(row.precipitation),
    })),
  },
};

/** People who each have a random row of a table, with replacement. */
export function cohortOf(rows, people, { uniform }) {
  return Array.from({ length: people }, () => rows[Math.floor(uniform() * rows.length)]);
}

/** Rows as a .csv file. An absent value is an empty cell. */
export function csvText(rows) {
  const names = Object.keys(rows[0]);
  const cell = (value) => (value === null ? '' : /[",\n]/.test(String(value))
    ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  return [names, ...rows.map((row) => names.map((name) => cell(row[name])))]
    .map((cells) => cells.join(',')).join('\n');
}
