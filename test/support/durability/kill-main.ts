/* eslint-disable no-console -- a command: it prints. */
import { cpSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Chance } from '../simulation/chance.js';
import { Stage, type LiveCommand } from '../live-command.js';
import { meanStudy } from '../study-files.js';
import { Load } from './load.js';
import { judgeFolder, type Verdict } from './verdict.js';

const usage = `crash [--kills N] [--people N]
Runs \`keelson serve\` from the build on a data folder of its own, under load of contributors, and kills it with SIGKILL
at random moments, N times (100): while it starts, recovers, commits, charges, releases, checkpoints. After every
tenth kill, and at the end, a copy of the folder must hold every acknowledged row exactly once.`;

const columns = 24;

/** The command behind `npm run crash`. @returns the exit code: 1 when a promise was broken, 2 for usage. */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kills: { type: 'string', default: '100' }, people: { type: 'string', default: '80' }, help: { type: 'boolean' },
    },
  });
  if (values.help === true) {
    console.log(usage);
    return 2;
  }
  const stage = new Stage();
  try {
    return await run(stage, Number(values.kills), Number(values.people));
  } finally {
    await stage.end();
  }
}

async function run(stage: Stage, kills: number, people: number): Promise<number> {
  const names = Array.from({ length: columns }, (_, i) => `c${i}`);
  const study = stage.write('crash.yaml', meanStudy('crash', {
    columns: `[${names.join(', ')}]`, cohort: '5000', epoch: '{ every: 1s }', parameters: '{ scale: 1 }',
    privacy: '{ epsilon: 2, delta: 1e-9 }', budget: '{ epsilon: 100, delta: 1e-5, scope: study }',
    contribution: '{ reduce: mean, rowsMax: 60000 }', retention: '30d',
  }));
  const first = await stage.serve([study]);
  const load = new Load({ ...first, study: 'crash', people, columns, pauseMs: 20 });
  const chance = Chance.of(Date.now());
  const struck = { starting: 0, serving: 0 };
  let served: { command: LiveCommand; listening: boolean } = { command: first.command, listening: true };
  for (let kill = 1; kill <= kills; kill++) {
    // A fifth of them strike before it listens.
    if (!served.listening && chance.happens(0.8)) await listening(served);
    await pause(served.listening ? chance.between(200, 2_000) : chance.between(0, 1_500));
    struck[served.listening ? 'serving' : 'starting'] += 1;
    await served.command.kill();
    if (kill % 10 === 0 || kill === kills) {
      // Nobody is told anything while no server runs, so what is acknowledged now is what the folder must hold.
      const verdict = await judgeCopy(stage, load);
      console.log(`${kill} kills: ${load.acknowledged.length} acknowledged, ${JSON.stringify(shortOf(verdict))}`);
      if (isBroken(verdict) || load.failures.length > 0) return report(load, verdict);
    }
    served = restart(stage, study, first.port);
  }
  await listening(served);
  await pause(2_500);
  await load.end();
  const { status } = await served.command.interrupt();
  const verdict = await judgeCopy(stage, load);
  console.table({ ...shortOf(verdict), acknowledged: load.acknowledged.length, stale: load.stale, ...struck });
  if (status !== 0) console.log(`the last server ended with ${status}`);
  return isBroken(verdict) || load.failures.length > 0 || status !== 0 ? report(load, verdict) : 0;
}

function restart(stage: Stage, study: string, port: number): { command: LiveCommand; listening: boolean } {
  const place = ['--data', stage.path('data'), '--port', String(port)];
  const command = stage.start(['serve', study, ...place, '--log-level', 'warn', '--json']);
  const served = { command, listening: false };
  command.line(({ type }) => type === 'listening').then(() => { served.listening = true; }, () => undefined);
  return served;
}

async function listening(served: { command: LiveCommand; listening: boolean }): Promise<void> {
  await served.command.line(({ type }) => type === 'listening');
  served.listening = true;
}

async function judgeCopy(stage: Stage, load: Load): Promise<Verdict> {
  const copy = stage.path('copy');
  rmSync(copy, { recursive: true, force: true });
  cpSync(stage.path('data'), copy, { recursive: true });
  return judgeFolder(copy, load.acknowledged, load.published);
}

const isBroken = ({ lost, twice, faults }: Verdict): boolean => lost.length + twice.length + faults.length > 0;

function shortOf({ lost, twice, faults, ...rest }: Verdict): Record<string, number> {
  return { ...rest, lost: lost.length, twice: twice.length, faults: faults.length };
}

function report(load: Load, { lost, twice, faults }: Verdict): number {
  console.log({ lost: lost.slice(0, 10), twice: twice.slice(0, 10), faults: faults.slice(0, 10), failures: load.failures });
  return 1;
}

