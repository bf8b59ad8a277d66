/* eslint-disable no-console -- a command: it prints. */
import { parseArgs } from 'node:util';
import { Stage } from '../live-command.js';
import { ClusterRun } from './cluster-run.js';

const usage = `crash:cluster [--kills N] [--database-kills N] [--cuts N] [--freezes N] [--slices N] [--nodes N]
              [--people N] [--lease SECONDS] [--seed N]
Runs N servers (3) from the build on one private PostgreSQL, with a study of every scope and rule, under load of
contributors that also take rows back. In an order of chance it kills servers with SIGKILL (100 times, every other time
the leader), kills PostgreSQL (30), cuts, silences, delays or half closes the connections between a server and
PostgreSQL (100), and stops leaders for longer than their lease (27): before and after the commit of each step from the
taking of a lease to the release of an epoch, and at any moment. Slices of epochs have two people, so
all servers read them: one that has just claimed a slice is killed, or stopped until another one has taken it (20). After
each fault every study must go on. At the end the database must hold every acknowledged row exactly once, nothing that was
withdrawn, every release that was published, each epoch charged once, and no budget that is overspent. It needs
PostgreSQL's programs.`;

/**
 * The command behind `npm run crash:cluster`. @returns the exit code: 1 when a promise was broken,
 * 2 for usage.
 */
export async function main(args: readonly string[]): Promise<number> {
  const number = (standard: string) => ({ type: 'string', default: standard }) as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      'kills': number('100'), 'database-kills': number('30'), 'cuts': number('100'),
      'freezes': number('27'), 'slices': number('20'),
      'nodes': number('3'), 'people': number('45'), 'lease': number('3'),
      'seed': number(String(Date.now())), 'help': { type: 'boolean' },
    },
  });
  if (values.help === true) {
    console.log(usage);
    return 2;
  }
  const stage = new Stage();
  try {
    console.log(`seed ${values.seed}`);
    const report = await new ClusterRun(stage, {
      kills: Number(values.kills), databaseKills: Number(values['database-kills']),
      cuts: Number(values.cuts), freezes: Number(values.freezes), slices: Number(values.slices),
      nodes: Number(values.nodes), people: Number(values.people),
      leaseSeconds: Number(values.lease), seed: Number(values.seed),
      log: (text) => console.log(text),
    }).run();
    const { verdict, acknowledged, failovers, frozen, slices, broken } = report;
    const { lost, twice, faults, ...rest } = verdict;
    const all = Object.values(acknowledged).reduce((sum, count) => sum + count, 0);
    console.log(`${all} acknowledged: ${lost.length} lost, ${twice.length} twice, `
      + `${faults.length} other faults; ${JSON.stringify({ byForm: acknowledged, ...rest })}`);
    const slowest = failovers.length === 0 ? 0 : Math.max(...failovers);
    console.log(`${failovers.length} leaders killed: next epoch after at most `
      + `${slowest.toFixed(1)} s`);
    console.log(`${frozen.length} leaders stopped: ${frozen.join(', ')}`);
    console.log(`${slices.claimed} slices claimed, ${slices.summarised} summarised: `
      + `${slices.byOthers} by another server than the leader, ${slices.takenOver} taken over`);
    for (const text of broken.slice(0, 20)) console.log(text);
    return broken.length > 0 ? 1 : 0;
  } finally {
    await stage.end();
  }
}
