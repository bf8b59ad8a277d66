import { afterEach, describe, expect, it } from 'vitest';
import { createContributor, type Contributor } from '../../client/index.js';
import { numbersOf } from '../../client/rows.js';
import { cellOf, type ColumnType } from '../../src/base/columns.js';
import { InvalidParameterError } from '../../src/base/errors.js';
import { FakeServer } from '../support/fake-server.js';
import { contributorSeed, document, typedDocument } from '../support/wire-samples.js';

const open = { contributors: [] as Contributor[], servers: [] as FakeServer[] };

afterEach(async () => {
  for (const contributor of open.contributors.splice(0)) contributor.abort();
  for (const server of open.servers.splice(0)) await server.crash();
});

async function connected(): Promise<{ server: FakeServer; contributor: Contributor }> {
  const server = await FakeServer.start(typedDocument);
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
      [{ ...ride, late: 1 }, 'late of row 1 is no boolean of the study'],
      [{ ...ride, region: 7 }, 'region of row 1 is no category of the study'],
      [{ minutes: 1, stops: 1, late: true },
        'row 1 does not have the columns minutes, stops, late, region'],
      [{ ...ride, extra: 1 }, 'row 1 does not have the columns'],
      [{ minutes: 1, stops: 1, late: true, Region: 'north' }, 'region of row 1 is no category'],
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
      .toEqual(Float64Array.of(1, 2));
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
