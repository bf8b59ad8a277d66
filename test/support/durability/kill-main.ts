/* eslint-disable no-console -- a command: it prints. */
import { parseArgs } from 'node:util';
import { Stage } from '../live-command.js';
import { KillRun, type KillReport } from './kill-run.js';

const usage = `crash [--kills N] [--people N] [--planted]
Runs \`keelson serve\` from the build on a data folder of its own, with a study of every scope and rule, under load of
contributors that take turns between all forms of a batch and also take rows back, and kills it with SIGKILL at random
moments, N times (100): while it starts, recovers, commits, charges, releases, checkpoints, or while its key is changed. Its
clock jumps between starts; once it is hours ahead, and set right. After every tenth kill, and at the end, a copy of the
folder must hold every acknowledged row exactly once, nothing that was withdrawn, and no budget that is overspent.
--planted: at the end such copies are damaged on purpose, and each damage must be found.`;

/**
 * The command behind `npm run crash`. @returns the exit code: 1 when a promise was broken, 2 for
 * usage.
 */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kills: { type: 'string', default: '100' }, people: { type: 'string', default: '80' },
      planted: { type: 'boolean', default: false }, help: { type: 'boolean' },
    },
  });
  if (values.help === true) {
    console.log(usage);
    return 2;
  }
  const stage = new Stage();
  try {
    const run = new KillRun(stage, {
      kills: Number(values.kills), people: Number(values.people), seed: Date.now(),
      log: (text) => console.log(text),
    });
    const report = await run.run();
    console.table(report.figures);
    const missed = values.planted ? await run.missedPlants() : [];
    if (values.planted) console.log(missed.length === 0
      ? 'every planted damage was found' : `not found: ${missed.join(', ')}`);
    return brokenPromises(report) || missed.length > 0 ? 1 : 0;
  } finally {
    await stage.end();
  }
}

function brokenPromises({ broken }: KillReport): boolean {
  for (const text of broken.slice(0, 20)) console.log(text);
  return broken.length > 0;
}
