/* eslint-disable no-console -- a command: it prints. */
import { parseArgs } from 'node:util';
import { Stage } from '../live-command.js';
import { canRecord, record, replay } from './power-loss.js';

const usage = `power-loss [--seconds N] [--people N] [--points N]
Records with strace what \`keelson serve\` writes and syncs under load for N seconds (10), then cuts the power before every
sync (or N of them, evenly), three times: what was not synced is gone, is there, or is there in part. Every folder that is
left must open and hold every row acknowledged by then exactly once.`;

/**
 * The command behind `npm run power-loss`. @returns the exit code: 1 when a promise was broken, 2
 * for usage.
 */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '10' }, people: { type: 'string', default: '40' },
      points: { type: 'string' }, help: { type: 'boolean' },
    },
  });
  if (values.help === true || !canRecord()) {
    console.log(values.help === true
      ? usage : 'nothing is recorded: strace is not installed, or may not trace here');
    return 2;
  }
  const stage = new Stage();
  try {
    const recording = await record(stage, Number(values.seconds), Number(values.people));
    const points = values.points === undefined ? {} : { pointsMax: Number(values.points) };
    const { failures, ...report } = await replay(stage, recording, points);
    console.table({ ...report, failures: failures.length });
    for (const failure of failures.slice(0, 20)) console.log(failure);
    const planted =
      await replay(stage, recording, { pointsMax: 20, ignoreSyncs: true, cuts: ['none'] });
    console.log(
      `a disk whose syncs do nothing: ${planted.failures.length} of ${planted.images} images fail`,
    );
    return failures.length > 0 || planted.failures.length === 0 ? 1 : 0;
  } finally {
    await stage.end();
  }
}
