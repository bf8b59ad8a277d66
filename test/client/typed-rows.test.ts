import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signing } from '#signing';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createContributor, openOutbox, type Cell, type Contributor, type TypedRow,
} from '../../client/index.js';
import { numbersOf } from '../../client/rows.js';
import { batchesOf } from '../../client/session/contribution.js';
import { fromUtf8 } from '../../src/base/bytes.js';
import { cellOf, type ColumnType } from '../../src/base/columns.js';
import { InvalidParameterError } from '../../src/base/errors.js';
import { batchCells, decodeBatchBody, textAt } from '../../src/wire/index.js';
import { ScriptedServer } from '../../cli/conform/scripted-server.js';
import { contributorSeed, document, typedDocument } from '../support/wire-samples.js';

const open = { contributors: [] as Contributor[], servers: [] as ScriptedServer[] };

afterEach(async () => {
  for (const contributor of open.contributors.splice(0)) contributor.abort();
  for (const server of open.servers.splice(0)) await server.crash();
});

async function connected(): Promise<{ server: ScriptedServer; contributor: Contributor }> {
  const server = await ScriptedServer.start(typedDocument);
  open.servers.push(server);
  const contributor = createContributor({
    url: server.url, study: typedDocument.study, seed: contributorSeed, backoffInitialMs: 5,
    backoffMaxMs: 20,
  });
  open.contributors.push(contributor);
  return { server, contributor };
}

const ride = { minutes: 12.5, stops: 3, late: true, region: 'north' };

describe('rows with names and types', () => {
  it('are sent as cells, before and after the study is known', async () => {
    const { server, contributor } = await connected();
    const mine = { ...ride };
    const first = contributor.send([mine, { ...ride, late: false, region: ' south ' }]);
    mine.minutes = 99;
    expect(await first).toMatchObject({ kind: 'accepted', sequences: [1n] });
    await contributor.send([[4, 0, true, 'elsewhere']]);
    await contributor.contribute([[4, 0, 1, 2]]);
    expect(server.taken.map(({ values }) => [...values])).toEqual([
      [12.5, 3, 1, 0, 12.5, 3, 0, 1], [4, 0, 1, 2], [4, 0, 1, 2],
    ]);
  });

  it('are refused before they are sent, by row and column and without the value', async () => {
    const { server, contributor } = await connected();
    const early = contributor.send([{ ...ride, stops: 2.5 }]);
    await expect(early).rejects.toThrow('stops of row 0 is no integer of the study');
    for (const [row, message] of [
      [{ ...ride, minutes: Number.NaN }, 'minutes of row 1 is no number of the study'],
      // A bigint is not rounded to a double in silence.
      [{ ...ride, stops: 2n ** 53n as never }, 'stops of row 1 is no integer of the study'],
      [{ ...ride, minutes: 1n as never }, 'minutes of row 1 is no number of the study'],
      [{ ...ride, late: 1 }, 'late of row 1 is no boolean of the study'],
      [{ ...ride, region: 7 }, 'region of row 1 is no category of the study'],
      [{ minutes: 1, stops: 1, late: true },
        'row 1 does not have the columns minutes, stops, late, region'],
      [{ ...ride, extra: 1 }, 'row 1 does not have the columns'],
      [{ minutes: 1, stops: 1, late: true, Region: 'north' },
        'row 1 does not have the columns'],
    ] as const) {
      const refused = contributor.send([ride, row]);
      await expect(refused).rejects.toThrow(InvalidParameterError);
      await expect(refused).rejects.toThrow(message);
    }
    // Numbers alone are checked when they are signed.
    await expect(contributor.send([[1, 1, 1, 9]])).rejects.toThrow('column 3 of row 0');
    expect(await contributor.contribute([ride])).toMatchObject({ sequences: [1n] });
    expect(server.taken).toHaveLength(1);
  });

  it('may also have names where all columns are numbers', () => {
    expect(numbersOf([{ distance_miles: 2, delay_minutes: 1 }], document))
      .toEqual({ values: Float64Array.of(1, 2) });
  });

  const types: readonly ColumnType[] = [
    { type: 'text', bytes: 8, optional: true }, { type: 'number', optional: true },
  ];
  const study = { columns: ['app', 'minutes'], types };

  it('bring texts into their one form, and leave out what is absent', () => {
    const rows = [
      { app: ' cafe\u0301', minutes: 1 }, ['caf\u00e9', null], { minutes: 2 },
      { app: undefined, minutes: undefined }, ['chat', 3],
    ];
    expect(numbersOf(rows as TypedRow[], study)).toEqual({
      values: Float64Array.of(0, 1, 0, NaN, NaN, 2, NaN, NaN, 1, 3), texts: ['caf\u00e9', 'chat'],
    });
  });

  it.each<[string, Cell, string]>([
    ['is too long', 'ninechars', 'app of row 1 has more bytes than its column takes'],
    ['is empty', ' \n', 'app of row 1 is empty'],
    ['has a joiner', 'a\u200eb', 'app of row 1 has a control character, an invisible character'],
    ['is no text', 7, 'app of row 1 is no text of the study'],
  ])('say before they are sent that a text %s', (_, app, message) => {
    const send = () => numbersOf([{ app: 'a' }, { app }], study);
    expect(send).toThrow(InvalidParameterError);
    expect(send).toThrow(message);
    expect(send).not.toThrow(/ninechars/);
  });

  it('refuse an absent value where the column is not optional', () => {
    const strict = { columns: ['app'], types: [{ type: 'text', bytes: 8 }] as const };
    expect(() => numbersOf([{}], strict)).toThrow('row 0 does not have the columns app');
    expect(() => numbersOf([{ app: null }], strict)).toThrow('is no text');
  });

  it('wait in an outbox with their texts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keelson-texts-'));
    try {
      const path = join(folder, 'a.outbox');
      const kept = { values: Float64Array.of(0, NaN), texts: ['caf\u00e9'] };
      const outbox = await openOutbox(path);
      await outbox.load();
      await outbox.keep(1, kept.values, true, 2, kept.texts);
      await outbox.keep(2, Float64Array.of(5), false);
      await outbox.close();
      const again = await openOutbox(path);
      expect((await again.load()).items).toEqual([
        { id: 1, last: true, batches: [], columns: 2, ...kept },
        { id: 2, last: false, batches: [], values: Float64Array.of(5) },
      ]);
      await again.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('are signed as cells with a dictionary for each batch', () => {
    const rows = Array.from({ length: 5 }, (_, i) => ({ app: `app ${i}`, minutes: i }));
    const batches = batchesOf({
      id: 1, last: true, ...numbersOf(rows, study), batches: [], refusal: null,
      finish: () => undefined, fail: () => undefined,
    }, {
      serverKey: new Uint8Array(32), studyId: new Uint8Array(32), columns: 2, types,
      signer: signing.createSigner(contributorSeed),
      dataType: 'float64', isSigned: true, epoch: 1n, takeSequence: () => 1n,
      limits: {
        frameBytes: 4096, rowsPerBatch: 2, creditBatches: 4, channelsPerSocket: 1,
        sequenceWindow: 64,
      },
    });
    const apps = batches.flatMap(({ body }) => {
      const { values, texts: [table] } = batchCells(decodeBatchBody(body), types);
      return Array.from({ length: values.length / 2 }, (_, row) =>
        fromUtf8(textAt(table!, values[2 * row]!)));
    });
    expect([batches.length, apps]).toEqual([3, rows.map(({ app }) => app)]);
  });

  it('refuse names that no list has, unless the category has other', () => {
    const closed: ColumnType = { type: 'category', of: ['north', 'Zürich'] };
    expect(cellOf(closed, 'Zu\u0308rich ')).toBe(1);
    expect(cellOf(closed, 'east')).toBeNull();
    expect(cellOf({ ...closed, other: true }, 'east')).toBe(2);
    expect(cellOf({ ...closed, other: true }, 'other')).toBe(2);
    expect(cellOf(closed, 0)).toBeNull();
  });
});
