// Admits numbered batches for ever and prints each number once the store acknowledged it; the crash
// test kills it. Arguments: the data folder, the first number.
import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { systemClock } from '../../../dist/server/base/clock.js';
import { openSqliteStore } from '../../../dist/server/store/sqlite/open.js';

const [, , directory, first] = process.argv;
const store = await openSqliteStore({ directory, clock: systemClock });
const [epoch] = await store.unfinishedEpochs();
const contributors = 16;
let next = Number(first);

async function write() {
  for (;;) {
    const number = next++;
    const body = Buffer.alloc(2_000, `batch ${number};`);
    const [result] = await store.admit([{
      studyId: epoch.studyId, contributor: (number % contributors).toString(16).padStart(64, '0'),
      sequence: BigInt(Math.floor(number / contributors) + 1), epoch: epoch.epoch, last: false,
      rows: 1, digest: new Uint8Array(createHash('sha512').update(body).digest()), body,
      signature: new Uint8Array(64), peopleMax: contributors,
    }]);
    // One synchronous write: what was printed was acknowledged, also when the kill comes next.
    writeSync(1, `${number} ${result.verdict}\n`);
  }
}
await Promise.all(Array.from({ length: contributors }, write));
