// A server for bench/dashboard.js with scripted releases: a real listener with real signatures over
// a hub in memory.
import { describedOutcome, describedQuestions } from '../dist/src/answers/describe.js';
import { fromHex, toHex } from '../dist/src/base/bytes.js';
import { canonicalJson } from '../dist/src/base/canonical-json.js';
import { signShare, signStatement } from '../dist/src/signing/index.js';
import { signing } from '../dist/src/signing/node.js';
import {
  encodeHeadBody, encodeReleaseBody, encodeStudyDocument, ofShortAnswer, ofShortFacts, studyId,
} from '../dist/src/wire/index.js';
import { systemClock } from '../dist/server/base/clock.js';
import { createListener } from '../dist/server/listener/index.js';

const unit = 2n ** 64n;
const affords = 20_000;

function documentOf(name, columns) {
  return ofShortFacts({
    version: 1, study: name,
    columns: Array.from({ length: columns }, (_, i) => `column_${i + 1}`), cohort: 3000,
    participation: 'secret', epoch: { everyMs: 6_000 },
    contribution: { reduce: 'mean', rowsMax: 64 }, estimator: 'mean',
    parameters: { spread: Array(columns).fill(10), corruption: 0.05, 'centre-part': 0.2 },
    privacy: { epsilon: 1, delta: 1e-6 },
    budget: { epsilon: 8, delta: 1e-5, rule: 'zcdp', scope: 'study' }, admission: { kind: 'open' },
    late: 'next', retention: { kind: 'release' },
  });
}

/** A number that looks like noise around `centre`, the same in every run. */
const wobble = (centre, seed) => centre + 3 * Math.sin(seed * 12.9898) * Math.cos(seed * 0.37);

/** One study with its log. `append` signs one more release. */
async function scriptedStudy(signer, name, columns) {
  const document = documentOf(name, columns);
  const facts = encodeStudyDocument(document);
  const id = await studyId(facts, signing);
  const log = [];
  const outcomeOf = (index) => {
    const estimate = document.columns.map((_, i) => wobble(100 * (i + 1), index + i / 7));
    return {
      kind: 'value', estimate, shape: [columns],
      uncertainty: { kind: 'gaussian', standardDeviation: estimate.map(() => 1) },
      interval95: {
        low: estimate.map((each) => each - 2), high: estimate.map((each) => each + 2),
      },
    };
  };
  const newest = () => fromHex(log.at(-1)?.digest ?? '00'.repeat(64));
  return {
    id, log,
    view: () => ({
      studyId: id, name, document, facts,
      factsSignature: signStatement('study', signer, fromHex(id), signing.sha512(facts)),
      state: 'open', epoch: BigInt(log.length + 1), closesAtMs: Date.now() + 6_000,
      releaseCount: log.length,
    }),
    head() {
      const body = encodeHeadBody({
        serverKey: signer.publicKey, studyId: fromHex(id), count: BigInt(log.length),
        digest: newest(), state: 'open',
      });
      return { body, signature: signStatement('head', signer, fromHex(id), signing.sha512(body)) };
    },
    append() {
      const index = log.length;
      const [{ estimator, parameters }] = document.questions;
      const [asked] = describedQuestions(document);
      const body = encodeReleaseBody(ofShortAnswer({
        serverKey: signer.publicKey, studyId: fromHex(id), index: BigInt(index),
        epoch: BigInt(index + 1), study: name, estimator,
        parameters: canonicalJson(parameters), participation: 'secret',
        outcome: describedOutcome(asked, outcomeOf(index)),
        cost: { epsilon: 1, delta: 1e-6, rhoAmount: unit / BigInt(affords), deltaAmount: 1n },
        ledger: {
          scope: 'study', rule: 'zcdp', rhoSpent: BigInt(index + 1) * (unit / BigInt(affords)),
          rhoCap: unit, deltaSpent: 1n, deltaCap: unit, epsilonSpent: 1, epsilonCap: 8,
        },
        previousDigest: newest(), mechanisms: '[]',
        closedAtMs: BigInt(1_767_225_600_000 + 6_000 * index), columns: document.columns,
        cohort: 3000n,
      }));
      const digest = signing.sha512(body);
      const release = {
        studyId: id, index, epoch: BigInt(index + 1), body, digest: toHex(digest),
        signature: signStatement('release', signer, fromHex(id), digest),
      };
      log.push(release);
      return release;
    },
  };
}

/**
 * @param studies how many; each has so many columns and releases.
 * @returns addresses of the page of the first study and of the list, `publish` for one more release
 *   of each study, and the name of the newest one on the page.
 */
export async function scriptedServer({ columns, releases, studies: count = 1 }) {
  const signer = signing.createSigner(new Uint8Array(32).fill(9));
  const studies = await Promise.all(Array.from({ length: count }, (_, i) =>
    scriptedStudy(signer, `bench-dashboard-${i + 1}`, columns)));
  const byId = new Map(studies.map((study) => [study.id, study]));
  for (const study of studies) for (let i = 0; i < releases; i++) study.append();
  const listeners = new Set();
  const emit = (event) => { for (const listener of listeners) listener(event); };
  const nothing = () => undefined;
  const listener = await createListener({
    clock: systemClock,
    logger: { debug: nothing, info: nothing, warn: nothing, error: console.error },
    host: '127.0.0.1', port: 0, operatorToken: 'a token of the bench',
    hub: {
      serverKey: signer.publicKey, studies: () => studies.map((study) => study.view()),
      study: (wanted) => byId.get(wanted)?.view(), overloaded: () => false,
      admits: () => true, balances: async () => [], progress: async () => null,
      releases: async (id, from, limit) => byId.get(id).log.slice(from, from + limit),
      head: async (id) => byId.get(id).head(),
      signShare: (share) => signShare(signer, share, signing),
      onEvent: (hear) => { listeners.add(hear); return () => listeners.delete(hear); },
    },
  });
  return {
    page: `${listener.address}/#/study/${studies[0].id}`,
    list: `${listener.address}/`,
    publish() {
      for (const { id, log, append } of studies) {
        emit({ kind: 'release', studyId: id, release: append() });
        emit({
          kind: 'epoch-opened', studyId: id, epoch: BigInt(log.length + 1),
          closesAtMs: Date.now() + 6_000,
        });
      }
    },
    epochText: () => (studies[0].log.length + 1).toLocaleString('en-GB'),
    newestText: () => studies[0].log.length.toLocaleString('en-GB'),
    close: () => listener.close(false),
  };
}
