import { signing } from '#signing';
import { encodeStudyDocument, studyId, type StudyDocument } from '../../src/wire/index.js';
import { ask, servedIn, type Answer } from './ask.js';
import { fail, ok, warn, type Finding } from './finding.js';

/** No epoch opens while the clocks of two servers are further apart. */
const clocksApartMs = 60_000;

/**
 * Asks the three servers of a sealed study what everybody may ask: whether each answers, has the
 * key that the facts name, serves this study and not another of its name, and shares the time.
 * @param document of a study with `sealed`.
 */
export async function sealedFindings(
  document: StudyDocument, nowMs: () => number,
): Promise<Finding[]> {
  const id = await studyId(encodeStudyDocument(document), signing);
  const asked = await Promise.all(document.sealed!.servers.map(async (server) => {
    const address = new URL('/v1/studies', server.url.replace(/^ws/, 'http'));
    try {
      return { ...server, answer: await ask(address), atMs: nowMs() };
    } catch (error) {
      return { ...server, answer: error as Error, atMs: nowMs() };
    }
  }));
  const offsets = asked.flatMap(({ answer, atMs }) =>
    ('dateMs' in answer && !Number.isNaN(answer.dateMs) ? [answer.dateMs - atMs] : []));
  return [
    ...asked.map(({ name, url, key, answer }) =>
      serverFinding(`server ${name}`, url, answer, { id, key, study: document.study })),
    ...(offsets.length < 2 ? [] : [clocksFinding(Math.max(...offsets) - Math.min(...offsets))]),
  ];
}

function serverFinding(
  check: string, url: string, answer: Answer | Error,
  { id, key, study }: { readonly id: string; readonly key: string; readonly study: string },
): Finding {
  const served = answer instanceof Error ? answer.message : servedIn(answer);
  if (typeof served === 'string') {
    const why = answer instanceof Error ? served : `it ${served}`;
    return fail(check, `no answer from ${url}: ${why}`,
      'its operator starts it, or mends the proxy before it; no epoch opens without it');
  }
  const { serverKey, studies } = served;
  if (serverKey !== key) {
    return fail(check, `has the key ${serverKey}, not the one in the file`,
      'another key is another study: agree on one file, or give the server its data folder back');
  }
  const named = studies.find(({ name }) => name === study);
  if (named?.id === id) return ok(check, `serves the study with its key`);
  return named === undefined
    ? warn(check, `does not serve ${study}`, `its operator starts it with this file and --as`)
    : fail(check, `serves another study with the name ${study}`,
      'compare the files of the three operators: every fact must be the same');
}

function clocksFinding(apartMs: number): Finding {
  const text = `the servers' clocks are ${Math.round(apartMs / 1000)} s apart`;
  return apartMs < clocksApartMs ? ok('clocks', text)
    : fail('clocks', text, 'run a time service such as chrony on all three: no epoch opens');
}
