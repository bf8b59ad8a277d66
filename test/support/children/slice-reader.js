// Claims a slice of a shared store and stops in the middle of it. There the test kills the process.
// Arguments: the address of the store, the folder of encryption keys, the study's id, its document.
import { systemClock } from '../../../dist/server/base/clock.js';
import { InlineEpochRunner } from '../../../dist/server/epochs/inline-runner.js';
import { openPostgresStore } from '../../../dist/server/store/postgres/open.js';
import { defineStudy } from '../../../dist/server/studies/definition.js';
import { SliceWorker } from '../../../dist/server/studies/shared/slice-worker.js';
import { slicingOf } from '../../../dist/server/studies/release/slices.js';
import { decodeStudyDocument } from '../../../dist/src/wire/index.js';

const [, , url, encryptionKeys, studyId, document] = process.argv;
const store = await openPostgresStore({ url, encryptionKeys });
const definition = defineStudy(decodeStudyDocument(Buffer.from(document)));
const runner = new InlineEpochRunner();
// It has the rows of a page, and no summary yet.
runner.progress = async (name, epoch) => {
  const { contributors } = await InlineEpochRunner.prototype.progress.call(runner, name, epoch);
  process.stdout.write(`${JSON.stringify({ name, contributors })}\n`);
  return new Promise(() => undefined);
};
const failed = (error) => { throw error; };
const { slicing } = slicingOf({ store });
const context = {
  store, runner, slicing, clock: systemClock, stopped: () => false, fatal: failed,
  logger: { debug: failed, info: failed, warn: failed, error: failed },
};
new SliceWorker(context, slicing, () => new Map([[studyId, definition]]));
