import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createContributor, type Sealing } from '../../client/index.js';
import { sealing } from '../../client/sealing.js';
import type { Clock } from '../../server/base/clock.js';
import type { Store } from '../../server/store/contract.js';
import { openSqliteStore } from '../../server/store/sqlite/open.js';
import { concatBytes, fromHex } from '../../src/base/bytes.js';
import { expandSeed, seedBytes, servers, type ServerIndex } from '../../src/sealed/shares/body.js';
import { difference, packValues, type ShareForm } from '../../src/sealed/shares/form.js';
import { sealEntry } from '../../src/sealed/shares/sealing.js';
import { sharePlansOf } from '../../src/sealed/shares/study-shares.js';
import { verifiedBoxKeys } from '../../src/sealed/shares/statements.js';
import { signing } from '../../src/signing/node.js';
import { subprotocol, subprotocols } from '../../src/wire/index.js';
import { Stage } from '../support/live-command.js';
import { bytesMark, marksIn, type Mark } from '../support/marks.js';
import { MeddlingProxy } from '../../cli/conform/meddling-proxy.js';
import { canReadMemory, marksInMemory } from '../support/process-memory.js';
import { RecordedWire } from '../support/recorded-wire.js';
import { SealedProcesses } from '../support/sealed-processes.js';
import { until } from '../support/until.js';

const slow = { tags: ['slow'], timeout: 300_000 };
let processes: SealedProcesses | null = null;
let commands: Stage | null = null;
let wire: RecordedWire | null = null;
afterEach(async () => {
  await processes?.close();
  await commands?.end();
  await wire?.close();
  [processes, commands, wire] = [null, null, null];
});

const columns = 4;
/** People whose rows are looked for; they come first, one after the other. */
const marked = 6;
/** Rows of four columns, with bits that nothing else has. */
const rows = Array.from({ length: 54 }, (_, i) =>
  Array.from({ length: columns }, (__, j) => 21.234_567_891_23 + 0.357_913_791_379 * (i + 5 * j)));
const question = 'estimator: mean\nparameters: { spread: [4, 4, 4, 4] }';
const study = {
  question, columns: '[a, b, c, d]', cohort: rows.length,
  // So little noise that a few people have a mean, and the servers run the whole program.
  epsilon: 50,
  sealed: `  range: [${rows[0]!.map(() => '[0, 64]').join(', ')}]`,
};

/** The same question to one server. */
const plain = `study: shared
columns: [a, b, c, d]
cohort: 1000
epoch: { every: 1h }
${question}
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5 }
`;

/** What the three servers hold of one row. */
interface Sealed {
  readonly values: Uint32Array;
  readonly components: readonly Uint32Array[];
  /** Two seeds, and the salt with the packed third component. */
  readonly contents: readonly Uint8Array[];
  readonly form: ShareForm;
}

/** Seals as `sealing` does, and keeps what it drew. */
function noting(made: Sealed[]): Sealing {
  return ({ document, rows: [...row], studyId, epoch, sequence, contributorKey, boxKeys }) => {
    const { sealed } = document;
    const serverKeys = sealed!.servers.map(({ key }) => fromHex(key));
    const [plan] = sharePlansOf({ ...document, sealed: sealed! });
    const { form, valuesOf } = plan!;
    const values = valuesOf(row);
    const drawn: Uint8Array[] = [];
    const body = sealEntry({
      ...signing,
      randomBytes: (length) => {
        drawn.push(signing.randomBytes(length));
        return drawn.at(-1)!.slice();
      },
    }, [values], {
      forms: [form], place: { studyId, epoch, sequence }, contributorKey,
      boxKeys: verifiedBoxKeys(signing, studyId, epoch, serverKeys, boxKeys),
    });
    const [s0, s1, r] = drawn as [Uint8Array, Uint8Array, Uint8Array];
    const [first, second] = [s0, s1].map((seed) => expandSeed(signing, seed, [form])[0]) as
      [Uint32Array, Uint32Array];
    const third = difference(difference(values, first, form), second, form);
    made.push({
      values, form, components: [first, second, third],
      contents: [s0, s1, concatBytes(r, packValues(third, form))],
    });
    return body;
  };
}

/** Values as a server would have them: packed, as words, and as numbers of 64 bits. */
function valuesMark(name: string, values: Uint32Array, form: ShareForm): Mark {
  const bytes = (list: Uint32Array): Buffer => Buffer.from(list.slice().buffer);
  return {
    name,
    patterns: [
      ...bytesMark(name, packValues(values, form)).patterns, bytes(values),
      bytes(Uint32Array.from([...values].flatMap((value) => [value, 0]))),
    ],
  };
}

/**
 * Sums over everybody, a number for each column: as numbers of 64 bits and as doubles, of the
 * values themselves and about the middle of the range.
 */
function sumsMark(name: string, lists: readonly Uint32Array[], { bits }: ShareForm): Mark {
  const sums = Array.from(lists[0]!, (_, j) => lists.reduce((sum, list) => sum + list[j]!, 0));
  const middle = lists.length * 2 ** (bits - 1);
  return {
    name,
    patterns: [sums, sums.map((sum) => sum - middle)].flatMap((each) => [
      Buffer.from(BigInt64Array.from(each, BigInt).buffer),
      Buffer.from(Float64Array.from(each).buffer),
    ]),
  };
}

const rowMark = (i: number): Mark =>
  bytesMark(`row ${i}`, new Uint8Array(Float64Array.from(rows[i]!).buffer));
const own = (server: ServerIndex): readonly number[] => [server, (server + 1) % 3];

/**
 * What a server must not hold: of the first rows the row, its steps and the third component, of
 * everybody the sums of the rows and those of the third component.
 */
function secretsFrom(server: ServerIndex, made: readonly Sealed[]): readonly Mark[] {
  const missing = (server + 2) % 3;
  const listed = made.slice(0, 2).flatMap(({ values, components, contents, form }, i) => [
    rowMark(i), valuesMark(`steps of ${i}`, values, form),
    valuesMark(`component ${missing} of ${i}`, components[missing]!, form),
    bytesMark(`what stands for component ${missing} of ${i}`,
      contents[missing]!.subarray(0, seedBytes)),
  ]);
  // Programs hold a column of everybody, in the order in which they came.
  const columnOf = (of: (one: Sealed) => Uint32Array): Uint32Array =>
    Uint32Array.from(made.slice(0, marked), (one) => of(one)[0]!);
  const { form } = made[0]!;
  const whole: ShareForm = { ...form, count: marked };
  return [
    ...listed, valuesMark('steps of a column', columnOf(({ values }) => values), whole),
    valuesMark(`component ${missing} of a column`,
      columnOf(({ components }) => components[missing]!), whole),
    sumsMark('sums', made.map(({ values }) => values), form),
    sumsMark(`sums of component ${missing}`, made.map(({ components }) =>
      components[missing]!), form),
  ];
}

/** What nobody must see between two servers: no row, and nothing of any component. */
const secretsBetween = (made: readonly Sealed[]): readonly Mark[] =>
  servers.flatMap((server) => secretsFrom(server, made));

/** What a server does hold of the first row while it works on it. */
function sharesAt(server: ServerIndex, [first]: readonly Sealed[]): readonly Mark[] {
  return own(server).map((component) =>
    valuesMark(`component ${component}`, first!.components[component]!, first!.form));
}

/** Sends all rows, and checks that they came into the first epoch. */
async function contribute(url: string, seal: Sealing, people = rows.length): Promise<void> {
  const one = async (i: number): Promise<void> => {
    const seed = new Uint8Array(32).fill(70 + i);
    const contributor = createContributor({ url, study: 'shared', seed, sealing: seal });
    expect(await contributor.contribute([rows[i]!])).toMatchObject({ kind: 'accepted', epoch: 1n });
    await contributor.close();
  };
  for (let i = 0; i < marked; i++) await one(i);
  await Promise.all(rows.slice(marked, people).map((_, i) => one(marked + i)));
}

const filesOf = (folder: string): Buffer =>
  Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));

interface Line { readonly type: string; readonly body: string; readonly signature: string }

/** The releases in a server's log. */
async function releasesAt(server: number): Promise<readonly string[]> {
  const log = await processes!.get(server, '/v1/releases?study=shared');
  return log.trimEnd().split('\n').map((line) => JSON.parse(line) as Line)
    .filter(({ type }) => type === 'release').map(({ body, signature }) => `${body} ${signature}`);
}

/** Waits for the first release at all three, and checks that it is the same one. */
async function released(): Promise<void> {
  for (const server of servers) await until(async () => (await releasesAt(server)).length > 0, 100);
  const logs = await Promise.all(servers.map(async (server) => (await releasesAt(server))[0]!));
  expect(new Set(logs).size).toBe(1);
}

/** Waits for the close of the epoch that took the entries. */
const closed = (): Promise<void> => until(async () => {
  const { studies } = JSON.parse(await processes!.get(0, '/v1/studies')) as {
    studies: readonly { readonly epoch: number | string | null }[];
  };
  return Number(studies[0]!.epoch ?? 0) !== 1;
}, 100);

/**
 * A store of one server that holds an attempt up where it begins. The two others then wait for this
 * server, with their shares in their hands.
 */
function holdingStore() {
  let begin!: () => void;
  let release!: () => void;
  const began = new Promise<void>((resolve) => { begin = resolve; });
  const isReleased = new Promise<void>((resolve) => { release = resolve; });
  const openStore = async (directory: string, clock: Clock): Promise<Store> => {
    const store = await openSqliteStore({ directory, clock });
    return new Proxy(store, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== 'function') return value;
        return async (...given: unknown[]): Promise<unknown> => {
          if (name === 'noteRecovery') {
            begin();
            await isReleased;
          }
          return Reflect.apply(value, target, given) as unknown;
        };
      },
    });
  };
  return { began, release, openStore };
}

describe('a process of a sealed study', () => {
  // One server is of this process, so that it can be held up; the two others are searched.
  it.for<readonly [ServerIndex, ServerIndex, ServerIndex]>([
    [0, 2, 1], [0, 1, 2],
  ])('holds its own two components of a row, and nowhere the third, the row or a sum: servers %i '
    + 'and %i', slow, async ([first, second, other], { skip }) => {
    processes = await SealedProcesses.of({ ...study, everyMs: 16_000 });
    const held = holdingStore();
    const searched = [first, second];
    await Promise.all([
      ...searched.map((server) => processes!.start(server)),
      processes.stage.start(other, { openStore: held.openStore }),
    ]);
    const pid = (server: ServerIndex): number => processes!.pid(server);
    try {
      if (!canReadMemory(pid(0))) return skip('the memory of other processes cannot be read here');
      const made: Sealed[] = [];
      await contribute(processes.stage.url, noting(made));
      await held.began;
      // Each stands still as soon as it holds its shares: one mark is found fast.
      await Promise.all(searched.map(async (server) => {
        const [share] = sharesAt(server, made);
        await until(() => marksInMemory(pid(server), [share!]).length > 0, 50);
        processes!.signal(server, 'SIGSTOP');
      }));
      for (const server of searched) {
        const secrets = secretsFrom(server, made);
        expect(marksInMemory(pid(server), sharesAt(server, made))).toHaveLength(2);
        expect([server, marksInMemory(pid(server), secrets)]).toEqual([server, []]);
        expect(marksIn(filesOf(processes.stage.folder(server)), secrets)).toEqual([]);
        processes.signal(server, 'SIGCONT');
      }
      held.release();
      await released();
      for (const server of searched) {
        const secrets = secretsFrom(server, made);
        expect([server, marksInMemory(pid(server), secrets)]).toEqual([server, []]);
        const { stdout, stderr } = processes.commands[server]!;
        expect(marksIn(Buffer.from(stdout + stderr), [...secrets, ...sharesAt(server, made)]))
          .toEqual([]);
        expect(marksIn(filesOf(processes.stage.folder(server)), secrets)).toEqual([]);
      }
    } finally {
      held.release();
    }
  });

  it('is searched by what finds the row in a server of an ordinary study', slow, async ({
    skip,
  }) => {
    commands = new Stage();
    const { command, url } = await commands.serve([commands.write('plain.yaml', plain)]);
    const pid = command.child.pid!;
    if (!canReadMemory(pid)) return skip('the memory of other processes cannot be read here');
    expect(marksInMemory(pid, [rowMark(0)])).toEqual([]);
    await contribute(url, sealing, marked);
    expect(marksInMemory(pid, [rowMark(0), rowMark(1)])).toEqual(['row 0', 'row 1']);
  });
});

describe('the wires between three processes of a sealed study', () => {
  it('carry no row, nothing of any component, and no sum', slow, async () => {
    processes = await SealedProcesses.of({ ...study, everyMs: 12_000, isRecorded: true });
    await processes.startAll();
    const made: Sealed[] = [];
    await contribute(processes.stage.url, noting(made));
    await released();
    const [release] = await releasesAt(0);
    const signatures = Buffer.from(release!.split(' ')[1]!, 'base64');
    const ways = processes.stage.wires.flatMap((each) => each.ways);
    // All was recorded: each server sent its signature of the release to both others.
    for (const server of servers) {
      const signature =
        bytesMark(`of ${server}`, signatures.subarray(64 * server, 64 * (server + 1)));
      expect(ways.filter((way) => marksIn(way, [signature]).length > 0)).toHaveLength(2);
    }
    for (const way of ways) expect(marksIn(way, secretsBetween(made))).toEqual([]);
  });

  it.each([
    { form: 'signed', offered: [subprotocol], found: ['row 0', 'row 1'] },
    { form: 'encrypted', offered: subprotocols, found: [] },
  ])('are searched by what finds a row on its way to an ordinary study, unless it is encrypted: '
    + '$form', slow, async ({ offered, found }) => {
    commands = new Stage();
    const { url } = await commands.serve([commands.write('plain.yaml', plain)]);
    wire = await RecordedWire.to(Number(new URL(url).port));
    const proxy = await MeddlingProxy.to(wire.port);
    try {
      proxy.offers = () => offered;
      await contribute(proxy.url, sealing, marked);
    } finally {
      await proxy.close();
    }
    const seen = wire.ways.flatMap((way) => marksIn(way, [rowMark(0), rowMark(1)]));
    expect(seen.sort()).toEqual(found);
  });
});

describe('three processes of a sealed study', () => {
  it('release an epoch once, though two are killed in the middle of it', slow, async () => {
    processes = await SealedProcesses.of({ ...study, everyMs: 12_000 });
    await processes.startAll();
    await contribute(processes.stage.url, sealing, marked);
    processes.signal(2, 'SIGSTOP');
    await closed();
    await Promise.all([processes.kill(0), processes.kill(1)]);
    processes.signal(2, 'SIGCONT');
    await Promise.all([processes.start(0), processes.start(1)]);
    await released();
    const ledgers = await Promise.all(servers.map(async (server) => {
      const { budgets: [budget] } = JSON.parse(await processes!.get(server, '/v1/ledger')) as {
        budgets: readonly { readonly spent: unknown }[];
      };
      return JSON.stringify(budget!.spent);
    }));
    expect(new Set(ledgers).size).toBe(1);
    // Killed after the release is charged: its log and ledger are as they were.
    const before = await releasesAt(1);
    await processes.kill(1);
    await processes.start(1);
    expect((await releasesAt(1)).slice(0, before.length)).toEqual(before);
  });
});
