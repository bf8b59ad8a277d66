import { writeFileSync } from 'node:fs';
import { expect } from './fault.js';
import { logKey, logVectors, otherKey, type LogVector } from './logs.js';
import type { ConformanceCase, Stage } from './stage.js';

async function verify(
  stage: Stage, { fault, log }: Pick<LogVector, 'fault' | 'log'>, serverKey = logKey,
): Promise<void> {
  const path = stage.path('releases.log');
  writeFileSync(path, log);
  (await stage.program()).say({ do: 'verify', log: path, serverKey });
  const { ok } = await stage.event(({ event }) => event === 'verified');
  expect(typeof ok === 'boolean', 'an event "verified" has no "ok"');
  expect(ok === (fault === null), ok ? `the log was taken, and it has ${fault}`
    : 'the log was refused, and nothing is wrong with it');
}

/** Release logs that a verifier must accept or refuse. */
export const verifyingCases: readonly ConformanceCase[] = [
  ...logVectors().map((vector): ConformanceCase => ({
    name: `log: ${vector.name}`, needs: 'verify', run: (stage) => verify(stage, vector),
  })),
  {
    name: 'log: of another server', needs: 'verify',
    run: (stage) => verify(stage, { ...logVectors()[0]!, fault: 'server-key-mismatch' }, otherKey),
  },
];
