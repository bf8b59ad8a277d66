import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { setMaxListeners } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signing } from '#signing';
import {
  createContributor, subscribe, type Sealing, type SealingInput,
} from '../../../client/index.js';
import { sealing } from '../../../client/sealing.js';
import { systemClock } from '../../../server/base/clock.js';
import { openServerKeys } from '../../../server/keys/server-keys.js';
import { openSqliteStore } from '../../../server/store/sqlite/open.js';
import { toHex } from '../../../src/base/bytes.js';
import { seededRandom } from '../../../src/random/work.js';
import { decodeBody, expandSeed, servers } from '../../../src/sealed/shares/body.js';
import { unpackValues } from '../../../src/sealed/shares/form.js';
import { sharePlansOf } from '../../../src/sealed/shares/study-shares.js';
import { openBox } from '../../../src/signing/boxes.js';
import type { Answer } from '../../../src/wire/messages.js';
import type { Io } from '../../base/io.js';
import { DemoNode } from '../cluster/node.js';
import { freePort } from '../free-port.js';
import type { HeldRow, SealedPage } from './page.js';

const names = ['north', 'east', 'west'] as const;
const study = 'commute-sealed';
/** The row that every liar sends: minutes and kilometres. */
const lie = [75, 35];
/** People who connect at the same time. */
const connectedAtOnce = 40;

export interface SealedDemoOptions {
  readonly people: number;
  readonly corruption: number;
  readonly epochSeconds: number;
  /** Continues after the first release, until it is interrupted. The budget renews. */
  readonly keep: boolean;
  /** Folder for the release log. */
  readonly logDirectory: string;
}

/**
 * A sealed study of three server processes on this machine, with people of whom some lie. It shows
 * each server's secret share of one row, and the released answer. Everything but the log is removed
 * at the end.
 * @returns false after an interrupt.
 */
export async function runSealedDemo(
  options: SealedDemoOptions, io: Io, page: SealedPage,
): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-demo-'));
  const stop = new AbortController();
  // Everybody who is connected listens to it.
  setMaxListeners(0, stop.signal);
  io.interrupted.addEventListener('abort', () => stop.abort(), { once: true });
  const nodes: DemoNode[] = [];
  try {
    const { file, ports } = await writeStudy(folder, options);
    const settings = join(folder, 'settings.yaml');
    writeFileSync(settings, 'releaseTick: 0s\n');
    nodes.push(...names.map((name, i) => new DemoNode(
      name, [file, '--data', join(folder, name), '--as', name, '--settings', settings], ports[i],
    )));
    await Promise.all(nodes.map((node) => node.start()));
    await perform({ options, folder, nodes, page, signal: stop.signal });
    return true;
  } catch (error) {
    if (io.interrupted.aborted) return false;
    throw error;
  } finally {
    stop.abort();
    await Promise.all(nodes.map((node) => node.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes the three keys, and the one study file that names them. */
async function writeStudy(
  folder: string, { people, epochSeconds, keep }: SealedDemoOptions,
): Promise<{ readonly file: string; readonly ports: readonly number[] }> {
  const ports = await Promise.all(names.map(freePort));
  const listed: string[] = [];
  for (const [i, name] of names.entries()) {
    const directory = join(folder, name);
    const store = await openSqliteStore({ directory, clock: systemClock });
    const { publicKey } = signing.createSigner(openServerKeys(directory).seed);
    await store.close();
    listed.push(`    - { name: ${name}, url: 'ws://127.0.0.1:${ports[i]}', `
      + `key: '${toHex(publicKey)}' }`);
  }
  const file = join(folder, `${study}.yaml`);
  writeFileSync(file, `study: ${study}
columns: [minutes, kilometres]
cohort: ${people}
epoch: { every: ${epochSeconds}s }
estimator: robust-mean
parameters: { spread: [8, 4], shape: light, corruption: 0.1 }
privacy: { epsilon: 4, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5${keep ? `, per: ${2 * epochSeconds}s` : ''} }
sealed:
  against: reading
  range: [[0, 256], [0, 128]]
  servers:
${listed.join('\n')}
`);
  return { file, ports };
}

interface Scene {
  readonly options: SealedDemoOptions;
  readonly folder: string;
  readonly nodes: readonly DemoNode[];
  readonly page: SealedPage;
  readonly signal: AbortSignal;
}

async function perform(scene: Scene): Promise<void> {
  const { options: { people, corruption, epochSeconds, keep }, nodes, page, signal } = scene;
  const { folder } = scene;
  const front = nodes[0]!;
  const address = `http://127.0.0.1:${front.port}`;
  const hostile = Math.round(corruption * people);
  page.started({
    servers: nodes.map(({ name, port }) => ({
      name, address: `http://127.0.0.1:${port}`, data: join(folder, name),
      operatorToken: join(folder, name, 'operator.token'),
    })),
    people, hostile, epochSeconds, lie,
  });
  const honest = honestRows(people - hostile);
  const rows = [...honest, ...Array.from({ length: hostile }, () => lie)];
  const { serverKey } = front;
  const subscription = subscribe({ url: address, study, serverKey, signal });
  const releases = subscription[Symbol.asyncIterator]();
  const first = releases.next();
  // An interrupt ends it even while nobody waits for it.
  first.catch(() => undefined);
  const made = await contributeOne(scene, rows[0]!);
  page.held(await heldRow(scene, rows[0]!, made));
  const accepted = 1 + await contributeAll(scene, rows.slice(1));
  page.closed(accepted);
  const next = await first;
  if (next.done === true) throw new Error('no release came');
  const [{ outcome }] = next.value.release.answers as [Answer];
  if (outcome.kind !== 'value') throw new Error(outcome.text);
  page.released({
    estimate: outcome.estimate, honest: meanOf(honest), everybody: meanOf(rows), accepted,
    serverKey: toHex(serverKey), log: await saveLog(scene, address),
    spent: await Promise.all(nodes.map(spentAt)),
  });
  if (keep) {
    page.kept();
    await goOn(scene, rows, releases);
  }
}

/** Lets the same people send to each next epoch, until it is interrupted. */
async function goOn(
  scene: Scene, rows: readonly (readonly number[])[], releases: AsyncIterator<unknown>,
): Promise<void> {
  do await contributeAll(scene, rows);
  while ((await releases.next()).done !== true);
}

/** Normal rows, the same in each run: about 30 minutes and 12 kilometres. */
function honestRows(count: number): number[][] {
  const random = seededRandom(Uint8Array.of(22));
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random.uniform()))
    * Math.cos(2 * Math.PI * random.uniform());
  return Array.from({ length: count }, () => [30 + 8 * normal(), 12 + 4 * normal()]);
}

const meanOf = (rows: readonly (readonly number[])[]): number[] =>
  [0, 1].map((j) => rows.reduce((sum, row) => sum + row[j]!, 0) / rows.length);

/** An entry as its contributor made it. */
interface Made {
  readonly input: SealingInput;
  readonly body: Uint8Array;
}

/** @returns the entry, which the servers have durably. */
async function contributeOne(scene: Scene, row: readonly number[]): Promise<Made> {
  let made: Made | undefined;
  const isIn = await contribute(scene, row, (input) => {
    made = { input, body: sealing(input) };
    return made.body;
  });
  if (!isIn || made === undefined) throw new Error('the first row was not taken');
  return made;
}

async function contribute(
  { nodes, signal }: Scene, row: readonly number[], seal: Sealing = sealing,
): Promise<boolean> {
  const [front] = nodes;
  const contributor = createContributor({
    url: `ws://127.0.0.1:${front!.port}`, study, seed: signing.randomBytes(32), sealing: seal,
    serverKey: front!.serverKey, signal,
  });
  try {
    return (await contributor.contribute([row])).kind === 'accepted';
  } finally {
    contributor.abort();
  }
}

/** @returns how many rows were taken. */
async function contributeAll(scene: Scene, rows: readonly (readonly number[])[]): Promise<number> {
  let [at, accepted] = [0, 0];
  await Promise.all(Array.from({ length: connectedAtOnce }, async () => {
    while (at < rows.length && !scene.signal.aborted) {
      if (await contribute(scene, rows[at++]!)) accepted += 1;
    }
  }));
  return accepted;
}

/** Copies each server's data folder, as a thief would, and opens its box of the entry with it. */
async function heldRow(
  { folder }: Scene, sent: readonly number[], { input, body }: Made,
): Promise<HeldRow> {
  const { document } = input;
  const [plan] = sharePlansOf({ ...document, sealed: document.sealed! });
  const { form, valuesOf } = plan!;
  const { ephemeralKey, boxes } = decodeBody(body, [form]);
  const holds: HeldRow['holds'][number][] = [];
  for (const server of servers) {
    const directory = join(folder, `copy-of-${names[server]}`);
    cpSync(join(folder, names[server]), directory, { recursive: true });
    const store = await openSqliteStore({ directory, clock: systemClock });
    const { assignmentKey } = (await store.epoch(toHex(input.studyId), input.epoch))!;
    await store.close();
    const plain = openBox(signing, boxes[server]!, server, ephemeralKey, assignmentKey)!;
    // After 32 bytes of binding: two seeds, or one seed and a salt with packed numbers.
    const seed = (from: number): number[] =>
      [...expandSeed(signing, plain.slice(from, from + 32), [form])[0]!];
    const packed = (from: number, end = plain.length): number[] =>
      [...unpackValues(plain.slice(from, end), form)];
    const [own, next] = [
      () => [seed(32), seed(64)], () => [seed(32), packed(96)],
      () => [packed(64, plain.length - 32), seed(plain.length - 32)],
    ][server]!() as [number[], number[]];
    holds.push({ server: names[server], own, next });
  }
  return { sent, steps: [...valuesOf(sent)], size: 2 ** form.bits, holds };
}

/** The spending of a server's one study, from the server's own ledger. */
async function spentAt(
  { name, port }: DemoNode,
): Promise<{ readonly server: string; readonly rho: number }> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/ledger?study=${study}`);
  const { budgets: [budget] } = await answer.json() as {
    readonly budgets: readonly [{ readonly spent: { readonly rhoNumber: number } }];
  };
  return { server: name, rho: budget.spent.rhoNumber };
}

/** Saves the log in the form that anybody can download. */
async function saveLog(
  { options: { logDirectory } }: Scene, address: string,
): Promise<string> {
  mkdirSync(logDirectory, { recursive: true });
  const response = await fetch(`${address}/v1/releases?study=${study}`);
  const path = join(logDirectory, `${study}.log`);
  writeFileSync(path, await response.text());
  return path;
}
