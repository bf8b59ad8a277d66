import { describe, expect, it } from 'vitest';
import { createLogger } from '../../server/base/logger.js';
import { NodeWatch } from '../../server/studies/shared/node-watch.js';
import { HandClock } from '../listener/hand-clock.js';
import { servedMetrics } from '../support/served-metrics.js';

describe('what a node tells its operator', () => {
  const watched = () => {
    const lines: string[] = [];
    const logger = createLogger({
      level: 'info',
      destination: {
        write: (line) => {
          const { level, msg } = JSON.parse(line) as { level: unknown; msg: string };
          lines.push(`${String(level)} ${msg}`);
        },
      },
    });
    const watch = new NodeWatch({ clock: new HandClock(), logger });
    const note = (standings: object): void =>
      watch.note({
        studies: [], clockAheadMs: 0, isDeaf: false, fullBecause: null, lacksKey: null,
        ...standings,
      });
    return { lines, watch, note };
  };

  it('says once that its clock is off, and leads nothing when it is far off', () => {
    const { lines, watch, note } = watched();
    for (const clockAheadMs of [0, 900, -900]) note({ clockAheadMs });
    expect(lines).toEqual([]);
    for (const clockAheadMs of [1_600, 2_000]) note({ clockAheadMs });
    expect(lines).toEqual([expect.stringMatching(
      /the clock of this server is 2 s behind the database's: set it \(NTP\)$/)]);
    expect(watch.health().leadsNothing).toBeNull();
    for (const clockAheadMs of [-31_000, -32_000]) note({ clockAheadMs });
    expect(lines.slice(1)).toEqual([expect.stringMatching(
      /31 s ahead of the database's: set it \(NTP\)\. Until then it takes batches, and leads no/)]);
    expect(watch.health().leadsNothing).toMatch(/set it \(NTP\)/);
    note({});
    expect(lines.slice(2)).toEqual([expect.stringMatching(/agrees with the database again$/)]);
    expect(watch.health().leadsNothing).toBeNull();
  });

  it('says once which key it lacks, leads nothing meanwhile, and says when it is there', () => {
    const { lines, watch, note } = watched();
    for (let i = 0; i < 2; i++) note({ lacksKey: 'the encryption key k is not there' });
    expect(lines).toEqual([expect.stringMatching(/the encryption key k is not there\. Until then/)]);
    expect(watch.health()).toMatchObject({
      lacksKey: true, leadsNothing: expect.stringContaining('encryption key') as string,
    });
    note({});
    expect(lines.slice(1)).toEqual([expect.stringMatching(/all encryption keys are there again$/)]);
    expect(watch.health()).toMatchObject({ lacksKey: false, leadsNothing: null });
  });

  it('says once that the database takes no writes, and when it does again', () => {
    const { lines, note } = watched();
    for (let i = 0; i < 2; i++) note({ fullBecause: 'no room (53100)' });
    expect(lines).toEqual([expect.stringMatching(/no room \(53100\)\. Until then batches/)]);
    note({});
    expect(lines.slice(1)).toEqual([expect.stringMatching(/takes writes again$/)]);
  });

  it('says once which option helps behind a pooler that breaks LISTEN', () => {
    const { lines, note } = watched();
    for (const isDeaf of [false, true, true, false, true]) note({ isDeaf });
    expect(lines).toEqual([expect.stringMatching(/do not arrive.*store\.direct in --settings$/)]);
  });

  it('is in the metrics, where servers share a store', async () => {
    const { watch } = watched();
    const slices = { done: 5, failed: 1, lost: 2, secondsTotal: 1.5 };
    const node = { ...watch.health(), leads: ['a', 'b'], follows: ['c'], slices };
    const lines = (await servedMetrics({ ...node, storeAwaySeconds: 7, clockAheadMs: -250 }))
      .split('\n');
    expect(lines).toEqual(expect.arrayContaining([
      'keelson_studies_led 2', 'keelson_store_away_seconds 7',
      'keelson_store_clock_ahead_seconds -0.25', 'keelson_slices_total{outcome="done"} 5',
      'keelson_slices_total{outcome="failed"} 1', 'keelson_slices_total{outcome="lost"} 2',
      'keelson_slice_seconds_total 1.5', 'keelson_store_retries_total 0',
    ]));
    expect(await servedMetrics()).not.toMatch(/^keelson_(studies_led|slices_total)/m);
  });
});
