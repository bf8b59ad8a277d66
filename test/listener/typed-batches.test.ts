import { describe, expect, it } from 'vitest';
import { createFakeHub } from '../support/fake-hub.js';
import { protocolLimits } from '../../src/base/limits.js';
import { refusalText } from '../../server/listener/refusal-texts.js';
import { encodeCells } from '../../src/wire/index.js';
import { WireContributor } from '../support/wire-client.js';
import { document, typedDocument, typedBody } from '../support/wire-samples.js';
import { startRig } from './harness.js';

const types = typedDocument.types!;
const columns = types.length;
const { cells, dataType, rows } = typedBody;
const none = new Uint8Array(0);

async function typedRig() {
  const hub = await createFakeHub([document, typedDocument]);
  const rig = await startRig({ hub });
  const [plain, typed] = hub.studies().map(({ studyId }) => studyId) as [string, string];
  const open = async (study: string) => WireContributor.open(await rig.open(), study);
  return { hub, plain: await open(plain), typed: await open(typed) };
}

describe('batches with typed columns', () => {
  it('give the hub numbers: a boolean 0 or 1, a category the place of its name', async () => {
    const { hub, typed } = await typedRig();
    const frame = typed.batch(1n, { rows, columns, dataType, data: none, cells: cells! });
    typed.client.send(frame);
    expect(await typed.client.next('ack')).toMatchObject({ accepted: [1n], rejections: [] });
    expect(hub.submitted[0]).toMatchObject({
      rows: 2, columns: 4, body: frame.body,
      values: Float64Array.of(12.5, 3, 1, 0, -4, 0, 0, 2),
    });
  });

  it('are refused for good with the code of their fault', async () => {
    const { hub, plain, typed } = await typedRig();
    const base = { rows: 1, columns, data: none };
    const cellsOf = (...values: number[]) =>
      encodeCells(Float64Array.from(values), types, 'float64');
    const good = cellsOf(1, 2, 1, 0);
    const withColumn = (column: number, change: Partial<(typeof good)[number]>) =>
      good.map((each, i) => (i === column ? { ...each, ...change } : each));
    const doubles = (value: number) => new Uint8Array(Float64Array.of(value).buffer);
    const refusals = [
      ['not-finite', { cells: withColumn(0, { numbers: doubles(Number.NaN) }) },
        /^column 0, row 0: the value is NaN or infinite: leave such rows out/],
      ['wrong-type', { cells: withColumn(0, { numbers: doubles(1e20) }) },
        /^column 0, row 0: the value is beyond 2\^64 \(1\.8e19\) in size: send numbers of at most/],
      ['wrong-type', { cells: withColumn(1, { numbers: doubles(0.5) }) },
        /^column 1, row 0: the value is not a whole number of at most 2\^53 - 1 in size: /],
      ['wrong-type', { cells: withColumn(3, { codes: Uint8Array.of(3) }) },
        /^column 3, row 0: the code is not the place of a name of the category: /],
      ['malformed', { cells: withColumn(2, { codes: Uint8Array.of(2) }) },
        /^malformed message: unused bits of column 2 are not 0; see docs/],
      ['malformed', { cells: good, data: doubles(1) }, /takes cells, not data; see docs/],
      ['wrong-columns', { cells: good.slice(1) }, /^the study has 4 columns \(/],
      ['wrong-columns', { cells: good.slice(1), columns: 3 }, /^the study has 4 columns \(/],
    ] as const;
    for (const [i, [code, change, text]] of refusals.entries()) {
      const sequence = BigInt(i + 1);
      typed.client.send(typed.batch(sequence, { ...base, ...change }));
      const { rejections } = await typed.client.next('ack');
      expect(rejections).toMatchObject([{ sequence, code, retryable: false }]);
      expect(rejections[0]!.text).toMatch(text);
      expect(hub.submitted.at(-1)).toMatchObject({ rejectAs: code });
    }
    // A study without types takes no cells, and says so.
    plain.client.send(plain.batch(1n, { columns: 2, data: none, cells: good.slice(0, 2) }));
    expect((await plain.client.next('ack')).rejections)
      .toMatchObject([{ sequence: 1n, code: 'malformed', retryable: false }]);
    plain.client.send(plain.batch(2n, {
      rows: 2, columns: 2, data: new Uint8Array(Float64Array.of(1, 2, 3, Infinity).buffer),
    }));
    const [last] = (await plain.client.next('ack')).rejections;
    expect(last).toMatchObject({ sequence: 2n, code: 'not-finite' });
    expect(last!.text).toMatch(/^column 1, row 1: the value is NaN or infinite: leave/);
  });
});

it('say that the epoch has all its people, and when to send again', () => {
  const facts = { limits: protocolLimits, peopleMax: 480 };
  const text = refusalText('overloaded', { ...facts, isFull: true });
  expect(text).toMatch(/^the epoch has all the 480 people .* the same bytes in the next epoch$/);
  expect(refusalText('overloaded', { limits: protocolLimits })).toMatch(/^the journal is/);
});
