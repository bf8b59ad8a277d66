import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fromUtf8 } from '../../src/base/bytes.js';
import { decodeLogLine } from '../../src/log/index.js';
import { signing } from '../../src/signing/node.js';
import { studyId } from '../../src/wire/index.js';
import { systemClock } from '../../server/base/clock.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import { createStudyHub } from '../../server/studies/hub/hub.js';
import { define } from '../support/hub-bench.js';
import { describePostgres } from '../support/postgres.js';
import { encryptionKeys } from '../support/postgres/encryption-keys.js';
import { until } from '../support/until.js';

describePostgres('a server on one PostgreSQL store', (server) => {
  it.each([
    ['rides', 'rides-questions', 'questions[0].by.keysMax is now groupsMax'],
    ['flights', 'flights-robust', 'scale is now spread'],
  ] as const)('leaves a study with old names by name, and runs the others: %s', async (
    log, study, renamed,
  ) => {
    const url = await server().createDatabase();
    await migrateSchema({ url });
    const store = await openPostgresStore({ url, encryptionKeys, leaseMs: 600_000 });
    const lines = readFileSync(new URL(`../log/before/${log}.log`, import.meta.url), 'utf8');
    const { facts } = decodeLogLine(lines.slice(0, lines.indexOf('\n'))) as
      { readonly facts: Uint8Array };
    const { budget, charge } = define();
    const record = await studyId(facts, signing);
    await store.registerStudy({
      studyId: record, name: study, document: fromUtf8(facts),
      budget: { ...budget, key: `study:${study}` }, nowMs: 0,
    });
    const leader = (await store.lead(record))!;
    await leader.openEpoch({
      studyId: record, epoch: 1n, opensAtMs: 0, closesAtMs: 1_000, ...charge, rowsMax: 1,
      late: 'drop', assignmentKey: new Uint8Array(32), workSeed: new Uint8Array(32),
    });
    await leader.release();
    const logged: { readonly study?: string; readonly err?: unknown }[] = [];
    const note = (fields: object): void => { logged.push(fields); };
    const hub = await createStudyHub({
      store, runnerFactory: () => new InlineEpochRunner(), clock: systemClock, slicePeople: 5,
      studies: [define()], signer: signing.createSigner(new Uint8Array(32).fill(5)),
      logger: { debug: note, info: note, warn: note, error: note },
      onFatal: (error) => { throw error; },
    });
    const refusal = (): object | undefined =>
      logged.find((each) => each.study === study && each.err !== undefined);
    try {
      await until(() => refusal() !== undefined, 20);
      expect(hub.studies().map(({ name }) => name)).toEqual(['delays']);
      expect(refusal()).toEqual({
        study, err: expect.objectContaining({
          code: 'invalid-study', message: expect.stringContaining(renamed) as string,
        }) as Error,
      });
      expect((await hub.balances()).map(({ key }) => key)).toContain(`study:${study}`);
    } finally {
      await hub.close();
      await store.close();
    }
  });
});
