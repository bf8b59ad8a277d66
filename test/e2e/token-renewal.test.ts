import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createContributor } from '../../client/index.js';
import { requestToken } from '../../client/tokens.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { createAggregator, silentLogger, type Aggregator } from '../../server/index.js';
import { BlindIssuer } from '../support/blind-issuer.js';
import { define } from '../support/hub-bench.js';
import { ShiftedClock } from '../support/shifted-clock.js';

const hourMs = 3_600_000;
let clock: ShiftedClock;
let issuer: BlindIssuer;
let directory: string;
let aggregator: Aggregator;

beforeEach(async () => {
  clock = new ShiftedClock();
  issuer = await BlindIssuer.start({ fromMs: clock.nowMs() - hourMs, perMs: 2 * hourMs });
  directory = mkdtempSync(join(tmpdir(), 'keelson-renewal-'));
  aggregator = await createAggregator({
    dataDirectory: join(directory, 'data'), port: 0, logger: silentLogger, clock,
    runnerFactory: () => new InlineEpochRunner(),
    studies: [
      define({ epoch: { everyMs: hourMs / 2 }, late: 'drop', admission: issuer.admission }),
    ],
  });
});
afterEach(async () => {
  await aggregator.close();
  await issuer.end();
  rmSync(directory, { recursive: true, force: true });
});

it('goes on in the next period with another token', async () => {
  const [code, seed] = [issuer.person(), new Uint8Array(32).fill(7)];
  const tokens: string[] = [];
  const contributor = createContributor({
    url: aggregator.address.replace('http', 'ws'), study: aggregator.hub.studies()[0]!.name, seed,
    enrolment: async (study) => {
      issuer.nowMs = clock.nowMs();
      const { enrolment } =
        await requestToken({ issuer: issuer.running.address, code, seed, study });
      tokens.push(enrolment);
      return enrolment;
    },
  });
  expect(await contributor.contribute([[1, 2]])).toMatchObject({ kind: 'accepted', epoch: 1n });
  clock.advance(2 * hourMs);
  // The contributor knows that the epoch is another one. Its token is of the period before.
  for await (const { epoch } of contributor.epochs()) if (epoch === 2n) break;
  expect(await contributor.contribute([[3, 4]])).toMatchObject({ kind: 'accepted', epoch: 2n });
  expect(tokens.length).toBe(2);
  expect(tokens[1]).not.toBe(tokens[0]);
  await contributor.close();
});
