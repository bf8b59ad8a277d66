// Public tables: those of the installed package vega-datasets, and the flights of data/. Nothing is
// copied into this repository. Each line names the origin and the terms of a table, as the package
// states them.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { loadFlights } from '../../dist/cli/data/flights.js';
import { useTool } from '../../scripts/tool.js';

useTool('datasets');
const folder = fileURLToPath(new URL('../../node_modules/vega-datasets/data/', import.meta.url));

/** `leaveOut`: columns of numbers that are times or positions in a list. */
export const tables = [
  { name: 'airports', file: 'airports.csv', from: 'US Federal Aviation Administration',
    terms: 'government work' },
  { name: 'barley', file: 'barley.json', from: 'Minnesota Agricultural Experiment Station, 1934',
    terms: 'not stated' },
  { name: 'birdstrikes', file: 'birdstrikes.csv', from: 'FAA Wildlife Strike Database',
    terms: 'public domain' },
  { name: 'cars', file: 'cars.json', from: 'StatLib archive, 1982',
    terms: 'for education and science' },
  { name: 'co2', file: 'co2-concentration.csv', from: 'Scripps CO2 Program', terms: 'CC BY 4.0' },
  { name: 'disasters', file: 'disasters.csv', from: 'EM-DAT, by Our World in Data',
    terms: 'CC BY 4.0, EM-DAT terms' },
  { name: 'earthquakes', file: 'earthquakes.json', from: 'US Geological Survey',
    terms: 'public domain', leaveOut: ['time', 'updated'] },
  { name: 'flights', from: 'US Bureau of Transportation Statistics', terms: 'government work' },
  { name: 'football', file: 'football.json', from: 'OpenFootball', terms: 'public domain' },
  { name: 'gapminder', file: 'gapminder.json', from: 'Gapminder Foundation', terms: 'CC BY 4.0' },
  { name: 'github', file: 'github.csv', from: 'vega-datasets', terms: 'BSD 3-Clause' },
  { name: 'movies', file: 'movies.json', from: 'collected for vega-datasets',
    terms: 'not stated' },
  { name: 'penguins', file: 'penguins.json', from: 'Palmer Station LTER, A. Horst',
    terms: 'CC0 1.0' },
  { name: 'political-contributions', file: 'political-contributions.json',
    from: 'US Federal Election Commission', terms: 'CC0 1.0' },
  { name: 'weather', file: 'weather.csv', from: 'US NOAA Climate Data', terms: 'government work' },
];

function recordsOf(file) {
  const text = readFileSync(`${folder}${file}`, 'utf8');
  if (file.endsWith('.csv')) return parse(text, { columns: true });
  const read = JSON.parse(text);
  return Array.isArray(read) ? read : read.features.map(({ properties }) => properties);
}

/** A field as a number, NaN for a missing one, null for anything else. */
function numberOf(field) {
  if (field === null || field === undefined || field === '') return NaN;
  if (typeof field !== 'string' && typeof field !== 'number') return null;
  const value = Number(field);
  return Number.isFinite(value) && String(field).trim() !== '' ? value : null;
}

/** Columns of which every entry that is not missing is a number, and that has 20 of them. */
function numericColumns(records, leaveOut) {
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
  return names.filter((name) => !leaveOut.includes(name)).flatMap((name) => {
    const values = records.map((record) => numberOf(record[name]));
    const present = values.filter((value) => value !== null && !Number.isNaN(value)).length;
    return values.includes(null) || present < 20 ? [] : [{ name, values }];
  });
}

/** The facts about all rows of a column that the report needs. Missing entries are left out. */
function describedColumn({ name, values }) {
  const present = Float64Array.from(values.filter((value) => !Number.isNaN(value))).sort();
  const mean = present.reduce((sum, value) => sum + value, 0) / present.length;
  const central = (power) =>
    present.reduce((sum, value) => sum + (value - mean) ** power, 0) / present.length;
  const deviation = Math.sqrt(central(2));
  return {
    name, values, sorted: present, mean, deviation, missing: 1 - present.length / values.length,
    skewness: deviation === 0 ? 0 : central(3) / deviation ** 3,
    /** The unit of errors. */
    unit: deviation > 0 ? deviation : Math.max(1, Math.abs(mean)),
  };
}

/** One of `tables`, read. @returns { name, rows: their number, columns } */
export function readTable({ name, file, leaveOut = [] }) {
  const columns = file === undefined
    ? Object.entries(loadFlights().columns).map(([column, values]) =>
      ({ name: column, values: [...values] }))
    : numericColumns(recordsOf(file), leaveOut);
  return { name, rows: columns[0].values.length, columns: columns.map(describedColumn) };
}

/**
 * A public range that holds a column and is not made to measure: its ends are multiples of about
 * four times the width of the column, a power of two.
 */
export function rangeOf({ sorted }) {
  const [low, high] = [sorted[0], sorted.at(-1)];
  const step = 4 * (high > low ? 2 ** Math.ceil(Math.log2(high - low)) : 1);
  return { range: `${Math.floor(low / step) * step}..${(Math.floor(high / step) + 1) * step}` };
}
