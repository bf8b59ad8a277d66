import { signing } from '#signing';
import { concatBytes, toHex } from '../../src/base/bytes.js';
import {
  decodeBody, expandSeed, seedBytes, servers, type EntryBody,
} from '../../src/sealed/shares/body.js';
import { combined, unpackEntry, type EntryForm } from '../../src/sealed/shares/form.js';
import { openBoxOf } from '../../src/sealed/shares/opening.js';
import type { SharePlan, SharedRow } from '../../src/sealed/shares/share-plan.js';
import { signSealedStatement } from '../../src/sealed/shares/statements.js';
import { sharePlansOf } from '../../src/sealed/shares/study-shares.js';
import { boxKeysOf, openBox } from '../../src/signing/boxes.js';
import type { Signer } from '../../src/signing/index.js';
import type { SealedFacts, StudyDocument } from '../../src/wire/study-document.js';
import { expect } from './fault.js';
import { textDocument } from './samples.js';
import type { ScriptedServer } from './scripted-server.js';
import type { ConformanceCase, Stage } from './stage.js';

interface SealingStage {
  readonly server: ScriptedServer;
  /** The rows for the questions in each entry that came, put together from its three boxes. */
  readonly entries: (readonly Uint32Array[])[];
}

const signers = servers.map(() => signing.createSigner(signing.generateSeed()));
const secrets = servers.map(() => signing.randomBytes(32));

/** The facts of a study whose three servers have these keys. */
export const sealedBy = (by: readonly Signer[]): SealedFacts => ({
  against: 'reading', bits: 16, patienceMs: 60_000,
  servers: ['north', 'east', 'west'].map((name, i) => ({
    name, url: `wss://${name}.example`, key: toHex(by[i]!.publicKey),
  })) as unknown as SealedFacts['servers'],
});

/** Three questions about texts, an integer and a truth value; only a text must be there. */
function sealedDocument(): StudyDocument {
  const types = textDocument.types!.map((type) =>
    (type.type === 'integer' ? { ...type, low: 0, high: 64 } : type));
  const [apps] = textDocument.questions;
  return {
    ...textDocument, study: 'sealed-trips', types, late: 'drop',
    sealed: sealedBy(signers),
    contribution: { rowsMax: 1 },
    questions: [
      { ...apps!, part: 40 },
      {
        name: 'stops', estimator: 'mean', parameters: { spread: [8] }, columns: ['stops'],
        where: [{ column: 'late', is: true }], reduce: 'one', part: 40,
      },
      { name: 'many', estimator: 'count', parameters: { threshold: 3 }, columns: ['stops'],
        where: [], reduce: 'one', part: 20 },
    ],
  };
}

const plansOf = ({ document }: ScriptedServer): readonly SharePlan[] =>
  sharePlansOf({ ...document, sealed: document.sealed! });

/** Box keys for the epoch that is open on a server, signed by `by`. */
export function signedBoxKeys(
  { studyId, epoch }: Pick<ScriptedServer, 'studyId' | 'epoch'>, by: readonly Signer[],
): Uint8Array[] {
  return secrets.map((secret, i) => {
    const { publicKey: boxKey } = boxKeysOf(secret);
    const statement = { about: 'box-key', epoch, boxKey } as const;
    return concatBytes(boxKey, signSealedStatement(signing, by[i]!, studyId, statement));
  });
}

/** Starts a server of the study that opens the entries which it gets. */
async function sealingServer(stage: Stage): Promise<SealingStage> {
  const server = await stage.server(sealedDocument());
  const entries: (readonly Uint32Array[])[] = [];
  const forms = plansOf(server).map(({ form }) => form);
  server.boxKeys = signedBoxKeys(server, signers);
  server.readBody = (bytes) => {
    const entry = decodeBody(bytes, forms);
    entries.push(putTogether(entry, forms, stage.contributorKey));
    return {
      ...entry, last: false, rows: 0, columns: server.document.columns.length,
      dataType: 'float64', data: new Uint8Array(0), cells: [],
    };
  };
  return { server, entries };
}

/** The rows of an entry. @throws UnusableEntryError for boxes that a server refuses. */
function putTogether(
  entry: EntryBody, forms: EntryForm, contributorKey: Uint8Array,
): readonly Uint32Array[] {
  for (const server of servers) {
    openBoxOf(signing, contributorKey, entry, { server, forms, boxSecret: secrets[server]! });
  }
  const [seeds, rest] = [0, 1].map((place) =>
    openBox(signing, entry.boxes[place]!, place, entry.ephemeralKey, secrets[place]!)!);
  const [first, second] = [1, 2].map((place) =>
    expandSeed(signing, seeds!.subarray(place * seedBytes, (place + 1) * seedBytes), forms));
  return unpackEntry(rest!.subarray(3 * seedBytes), forms).map((third, i) =>
    combined(combined(first![i]!, second![i]!, forms[i]!), third, forms[i]!));
}

/** @param wanted the row for each question, or null. */
async function sealedRow(
  stage: Stage, row: readonly unknown[], wanted: readonly SharedRow[],
): Promise<void> {
  const { server, entries } = await sealingServer(stage);
  await stage.open(server);
  (await stage.program()).say({ do: 'send', id: 'sealed', rows: [row], last: false });
  await stage.accepted('sealed');
  await stage.close();
  const plans = plansOf(server);
  expect(entries.length === 1, `${entries.length} entries came, and there is one row`);
  server.document.questions.forEach(({ name }, i) => {
    const due = plans[i]!.valuesOf(wanted[i]!);
    expect(entries[0]![i]!.join() === due.join(),
      `the shares for the question ${name} add up to ${entries[0]![i]!.join()}, not ${due.join()}`);
  });
}

const sealing = (name: string, run: (stage: Stage) => Promise<void>): ConformanceCase =>
  ({ name, needs: 'sealed', run });

/** Cases of a client that seals: several questions, texts and absent values among them. */
export const sealedCases: readonly ConformanceCase[] = [
  sealing('sealed: a row for each question', (stage) =>
    sealedRow(stage, ['maps', 'Zürich', 3, true, 'south'], [[1], [3], [3]])),
  sealing('sealed: no row where a question does not count it', (stage) =>
    sealedRow(stage, ['maps', 'Bern', 2, false, null], [null, null, [2]])),
  sealing('sealed: absent values', (stage) =>
    sealedRow(stage, ['mail', null, null, null, null], [null, null, null])),
];
