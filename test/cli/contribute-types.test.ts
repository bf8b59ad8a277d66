import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toHex } from '../../src/base/bytes.js';
import { encodeCells } from '../../src/wire/index.js';
import { keelson } from '../support/command.js';
import { ScriptedServer } from '../../cli/conform/scripted-server.js';
import { textDocument, textFacts, textFactsId } from '../support/wire-samples.js';

const studyFile = `study: trips
columns:
  app: { type: text, bytes: 8 }
  city: { type: text, optional: true }
  stops: { type: integer, optional: true }
  late: { type: boolean, optional: true }
  region: { type: category, of: [north, south], optional: true }
cohort: 3000
epoch: { every: 10s }
questions:
  apps: { estimator: count, by: { column: app, groups: [mail, maps], groupsMax: 1 } }
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5 }
`;
const types = textDocument.types!;
const csv = 'app,city,stops,late,region\nmaps, Zu\u0308rich,3,true,south\n'
  + 'mail,Z\u00fcrich,,0,\nmaps ,,,,\n';
const ndjson = '{"app":"maps","city":"Zürich","stops":3,"late":true,"region":"south"}\n'
  + '{"app":"mail","city":"Zürich","late":false}\n{"app":"maps","stops":null}\n';
const sent = encodeCells(
  Float64Array.of(0, 2, 3, 1, 1, 1, 2, NaN, 0, NaN, 0, NaN, NaN, NaN, NaN), types,
  'float64', ['maps', 'mail', 'Zürich'],
);

describe('contribute sends rows with texts and empty cells', () => {
  let folder: string;
  let server: ScriptedServer;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keelson-contribute-'));
    server = await ScriptedServer.start({ version: 2, columns: textDocument.columns, types });
    server.facts = textFacts;
    server.id = toHex(textFactsId);
    await keelson(['keys', 'new', join(folder, 'a.key')]);
  });
  afterEach(async () => {
    await server.crash();
    rmSync(folder, { recursive: true });
  });

  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const contribute = (...words: readonly string[]) => keelson([
    'contribute', server.url, '--study', 'trips', '--key', join(folder, 'a.key'), ...words,
  ]);

  it.each([['rows.csv', csv], ['rows.ndjson', ndjson]])('from %s, typed by a study file', async (
    name, text,
  ) => {
    const study = write('trips.yaml', studyFile);
    const { status, stdout, stderr } =
      await contribute('--input', write(name, text), '--types', study);
    expect([status, stderr, stdout])
      .toEqual([0, '', 'accepted: 3 rows, durable, in epoch 7\n']);
    expect(server.taken.map(({ cells }) => cells)).toEqual([sent]);
  });

  it('typed by flags, where every cell is filled', async () => {
    const rows = write('rows.csv', 'app,city,stops,late,region\nmaps,Bern,3,true,south\n');
    const flags = ['app=text:8', 'city=text', 'stops=integer', 'late=boolean',
      'region=category:south,north'].flatMap((each) => ['--type', each]);
    expect(await contribute('--input', rows, ...flags)).toMatchObject({ status: 0, stderr: '' });
    // The names of a category have the places that the study gives them.
    expect(server.taken.map(({ cells }) => cells)).toEqual([encodeCells(
      Float64Array.of(0, 1, 3, 1, 1), types, 'float64', ['maps', 'Bern'],
    )]);
  });

  it('and nothing of a file with a text that the study would refuse', async () => {
    const rows = write('rows.csv', 'app,city,stops,late,region\nmaps,,,,\nsecretive,,,,\n');
    const { status, stderr } =
      await contribute('--input', rows, '--types', write('trips.yaml', studyFile));
    expect([status, stderr]).toEqual([2, expect.stringContaining(
      'rows.csv, line 3, column 1 ("app"): the text has more bytes than its column takes (8)')]);
    expect(stderr).not.toContain('secretive');
    expect(server.taken).toEqual([]);
  });
});
