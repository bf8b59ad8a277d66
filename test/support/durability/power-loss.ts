import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Chance } from '../simulation/chance.js';
import { root } from '../sources.js';
import type { Stage } from '../live-command.js';
import { meanStudy } from '../study-files.js';
import { everyForm, Load, type Acknowledged } from './load.js';
import { cuts, PowerModel, type Cut } from './power-model.js';
import { readTrace, traceArguments, type TracedCall } from './trace-log.js';
import { judgeFolder, serverKeyOf } from './verdict.js';

/** What a server did to its folder, and what it acknowledged meanwhile. */
export interface Recording {
  readonly folder: string;
  readonly calls: readonly TracedCall[];
  readonly acknowledged: readonly Acknowledged[];
  /** Hex. */
  readonly serverKey: string;
}

/** True if this system can record: strace is there and allowed to trace. */
export function canRecord(): boolean {
  return spawnSync(
    'strace', ['-o', '/dev/null', '-e', 'trace=none', process.execPath, '--version'],
  ).status === 0;
}

/**
 * Runs a real server under strace and contributors for `seconds`, or until rows came in every form,
 * then stops it.
 */
export async function record(stage: Stage, seconds: number, people: number): Promise<Recording> {
  const columns = 24;
  const names = Array.from({ length: columns }, (_, i) => `c${i}`);
  const study = stage.write('power.yaml', meanStudy('power', {
    columns: `[${names.join(', ')}]`, cohort: '5000', epoch: '{ every: 1s }',
    parameters: '{ spread: 1 }', privacy: '{ epsilon: 2, delta: 1e-9 }',
    budget: '{ epsilon: 100, delta: 1e-5, scope: study }',
    contribution: '{ reduce: mean, rowsMax: 60000 }', retention: '30d',
  }));
  const folder = stage.path('data');
  mkdirSync(folder, { mode: 0o700 });
  const command = [
    'serve', study, '--data', folder, '--port', '0', '--log-level', 'warn', '--json',
  ];
  const child = spawn('strace', [
    ...traceArguments(stage.path('trace')), process.execPath, `${root}bin/keelson.js`, ...command,
  ],
    { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, UV_USE_IO_URING: '0' } });
  const ended = once(child, 'close');
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => { said += chunk.toString(); });
  while (!said.includes('\n')) {
    if (child.exitCode !== null) throw new Error(`the recorded server ended:\n${said}`);
    await pause(20);
  }
  const { address, serverKey } =
    JSON.parse(said.split('\n')[0]!) as { address: string; serverKey: string };
  const load = new Load({
    url: address.replace('http', 'ws'), study: 'power', serverKey, people, columns, pauseMs: 20,
  });
  await Promise.all([pause(seconds * 1_000), everyForm([load])]);
  await load.end();
  // strace passes it on to whom it traces when asked by the terminal only, so the server is told
  // directly.
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
  process.kill(Number(children.trim().split(' ')[0]), 'SIGTERM');
  await ended;
  if (load.failures.length > 0) throw load.failures[0];
  return {
    folder, calls: readTrace(stage.folder, 'trace'), acknowledged: load.acknowledged, serverKey,
  };
}

export interface ReplayOptions {
  /** Look at every sync point up to this many, spread evenly. Default: all. */
  readonly pointsMax?: number;
  readonly ignoreSyncs?: boolean;
  /** Default: all. */
  readonly cuts?: readonly Cut[];
}

export interface ReplayReport {
  readonly syncPoints: number;
  readonly images: number;
  readonly acknowledged: number;
  /** Acknowledged rows looked for, over all images. */
  readonly lookedFor: number;
  readonly failures: readonly string[];
}

/**
 * Cuts the power just before each sync ends: what was acknowledged until then rests on earlier
 * syncs alone. Each image is opened as the next start would, and must hold every acknowledged row
 * exactly once.
 */
export async function replay(
  stage: Stage, recording: Recording, options: ReplayOptions = {},
): Promise<ReplayReport> {
  const { folder, calls, acknowledged } = recording;
  const model = new PowerModel(folder, options.ignoreSyncs);
  const chance = Chance.of(4);
  const image = stage.path('image');
  const failures: string[] = [];
  let [syncPoints, images, lookedFor] = [0, 0, 0];
  const total = countSyncs(recording);
  const every = Math.max(1, Math.ceil(total / (options.pointsMax ?? Infinity)));
  for (const call of calls) {
    if (model.isSync(call) && syncPoints++ % every === 0) {
      const due = acknowledged.filter(({ atMs }) => atMs < call.atSeconds * 1_000);
      for (const cut of options.cuts ?? cuts) {
        model.leave(image, cut, chance);
        images += 1;
        lookedFor += due.length;
        const fault = await faultOf(image, due, recording.serverKey);
        if (fault !== null) failures.push(`sync ${syncPoints} of ${total}, ${cut}: ${fault}`);
      }
    }
    model.apply(call);
  }
  if (model.unknown.size > 0) {
    failures.push(`calls that the model does not know: ${[...model.unknown].join(', ')}`);
  }
  return { syncPoints, images, acknowledged: acknowledged.length, lookedFor, failures };
}

function countSyncs({ folder, calls }: Recording): number {
  const model = new PowerModel(folder);
  let count = 0;
  for (const call of calls) {
    if (model.isSync(call)) count += 1;
    model.apply(call);
  }
  return count;
}

async function faultOf(
  image: string, due: readonly Acknowledged[], serverKey: string,
): Promise<string | null> {
  try {
    const { lost, twice, faults } = await judgeFolder(image, due, new Map());
    if (due.length > 0 && serverKeyOf(image) !== serverKey) return 'another server key';
    if (lost.length + twice.length + faults.length === 0) return null;
    return `${lost.length} lost, ${twice.length} twice, ${faults.join('; ')}`;
  } catch (error) {
    return `it cannot be opened: ${error instanceof Error ? error.message : String(error)}`;
  }
}
