import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/base/canonical-json.js';
import { toHex, utf8 } from '../../src/base/bytes.js';
import {
  encodeLogLine, decodeLogLine, logLines, verifyReleaseLog, type LogReport,
} from '../../src/log/index.js';
import { signing as browser } from '../../src/signing/browser.js';
import { signing } from '../../src/signing/node.js';
import type { NumberInfo } from '../../src/base/number-info.js';
import type { ValueOutcome } from '../../src/base/outcome.js';
import {
  ofShortAnswer, ofShortFacts, type Answer, type ReleaseFacts,
} from '../../src/wire/index.js';
import type { SealedFacts } from '../../src/wire/study-document.js';
import {
  answersBody, document, questionsDocument, server, serverSeed, shortFacts, shortRelease,
} from '../support/wire-samples.js';
import { without } from '../support/without.js';
import { sampleLog } from '../support/log-samples.js';

const log = await sampleLog(4);
const [study, first, second, third, fourth, head] =
  log.lines as [string, string, string, string, string, string];
const stranger = signing.createSigner(serverSeed.map((byte) => byte ^ 1));
const strangers = await sampleLog(4, { signer: stranger });
const otherStudy = await sampleLog(4, { facts: { ...document, cohort: 2999 } });
const shorter = await sampleLog(3);

const verify = (
  lines: readonly string[], serverKey: Uint8Array | undefined = server.publicKey,
): Promise<LogReport> =>
  verifyReleaseLog(lines, { signing, ...(serverKey && { serverKey }) });

const fault = async (lines: readonly string[]): Promise<string> => {
  const { firstFault, consistent, authentic } = await verify(lines);
  expect([consistent, authentic]).toEqual([firstFault === null, firstFault === null]);
  return firstFault === null ? 'none' : `${firstFault.line} ${firstFault.code}`;
};

describe('release log', () => {
  it.each([
    ['node', signing], ['browser', browser],
  ])('verifies a whole log with %s', async (_, implementation) => {
    const report =
      await verifyReleaseLog(log.lines, { signing: implementation, serverKey: server.publicKey });
    expect(report).toMatchObject({
      consistent: true,
      authentic: true,
      count: 4,
      studyId: toHex(log.studyId),
      document,
      serverKey: toHex(server.publicKey),
      fingerprint: 'ed42 42ea d4ac 6948 6ebb a169 4968 b592',
      state: 'ended',
      firstFault: null,
    });
  });

  it('names two releases of one epoch, as a folder that is served twice makes them', async () => {
    const { lines: copy } = await sampleLog(4, {
      change: (body) => (body.index === 3n ? { ...body, cohort: 2999n } : body),
    });
    // The log of one copy goes on with the last release of the other.
    const both = await verify([...log.lines.slice(0, 5), copy[4]!, head]);
    expect(both.firstFault).toMatchObject({ line: 6, code: 'epoch-order' });
    expect(both.firstFault!.text).toContain('epoch 11 has two releases');
    // A reader of one copy gets the head of the other one.
    const other = await verify([...log.lines.slice(0, 5), copy[5]!]);
    expect(other.firstFault).toMatchObject({ line: 6, code: 'head-mismatch' });
    expect(other.firstFault!.text).toContain('served again');
    // The same release twice is no second one.
    const same = await verify([...log.lines.slice(0, 5), fourth, head]);
    expect(same.firstFault).toMatchObject({ line: 6, code: 'index-mismatch' });
  });

  it('reads the log of a sealed study of an earlier version', async () => {
    const servers = ['north', 'east', 'west'].map((name, i) => ({
      name, url: `wss://${name}.example`, key: toHex(new Uint8Array(32).fill(i + 1)),
    }));
    const old = await sampleLog(0, {
      facts: {
        ...document, late: 'drop', epoch: { everyMs: 60_000 },
        budget: { epsilon: 16, delta: 1e-5, rule: 'zcdp', scope: 'study' },
        sealed: {
          against: 'reading', bits: 16, patienceMs: 60_000, unusableMax: 0.2,
          servers: servers as unknown as SealedFacts['servers'],
        },
      },
    });
    expect(await fault(old.lines)).toBe('none');
  });

  it('verifies a log without releases', async () => {
    const empty = await sampleLog(0);
    expect(await fault(empty.lines)).toBe('none');
    expect(await fault([empty.lines[0]!, first, empty.lines[1]!])).toBe('3 head-mismatch');
  });

  it('is consistent but not authentic without a key', async () => {
    const report = await verifyReleaseLog(log.lines, { signing });
    expect(report).toMatchObject({
      consistent: true, authentic: false, fingerprint: expect.any(String) as string,
    });
  });

  it.each<[string, readonly string[], string]>([
    ['nothing', [], '1 study-missing'],
    ['no study line', log.lines.slice(1), '1 study-missing'],
    ['two study lines', [study, ...log.lines], '2 study-repeated'],
    ['the first release missing', [study, second, third, fourth, head], '2 index-mismatch'],
    ['one in the middle missing', [study, first, second, fourth, head], '4 index-mismatch'],
    ['the last missing', [study, first, second, third, head], '5 head-mismatch'],
    ['all releases missing', [study, head], '2 head-mismatch'],
    ['the head missing', log.lines.slice(0, -1), '6 head-missing'],
    ['the end missing', log.lines.slice(0, 3), '4 head-missing'],
    ['two swapped', [study, first, third, second, fourth, head], '3 index-mismatch'],
    ['one twice', [study, first, first, second, third, fourth, head], '3 index-mismatch'],
    ['two heads', [...log.lines, head], '7 line-after-head'],
    ['a release after the head', [...log.lines, fourth], '7 line-after-head'],
    ['a head in the middle', [study, first, second, head, third, fourth, head], '4 head-mismatch'],
    [
      'the head of an earlier time', [...log.lines.slice(0, -1), shorter.lines.at(-1)!],
      '6 head-mismatch',
    ],
    [
      'a release of another key', [study, strangers.lines[1]!, second, third, fourth, head],
      '2 signature-invalid',
    ],
    [
      'the head of another key', [...log.lines.slice(0, -1), strangers.lines.at(-1)!],
      '6 signature-invalid',
    ],
    ['a log of another key', strangers.lines, '1 server-key-mismatch'],
    [
      'a release of another study', [study, otherStudy.lines[1]!, second, third, fourth, head],
      '2 signature-invalid',
    ],
    [
      'the study line of another study', [otherStudy.lines[0]!, ...log.lines.slice(1)],
      '2 signature-invalid',
    ],
    ['an empty line', [study, '', first, second, third, fourth, head], '2 line-malformed'],
    ['a head that says it is a release', [
      ...log.lines.slice(0, -1), head.replace('"head"', '"release"'),
    ],
      '6 signature-invalid'],
  ])('finds %s', async (_, lines, expected) => {
    expect(await fault(lines)).toBe(expected);
  });

  it('finds every single changed byte of the file', { tags: ['slow'] }, async () => {
    const file = utf8(log.lines.map((line) => `${line}\n`).join(''));
    // Each byte once, a different bit each time, is thousands of verifications: every third is
    // enough
    // to meet each member of each line, and the step shares no factor with base64's four.
    for (let at = 0; at < file.length; at += 3) {
      const damaged = file.map((byte, i) => (i === at ? byte ^ (1 << at % 7) : byte));
      const report =
        await verifyReleaseLog(logLines([damaged]), { signing, serverKey: server.publicKey });
      expect(report.authentic, `byte ${at}`).toBe(false);
    }
  });

  it('finds every cut of the file', async () => {
    const file = utf8(log.lines.map((line) => `${line}\n`).join(''));
    const lengths = Array.from({ length: Math.ceil(file.length / 61) }, (_, i) => 61 * i);
    for (const length of [...lengths, file.length - 1]) {
      const report = await verifyReleaseLog(logLines([file.subarray(0, length)]), { signing });
      expect(report.consistent, `length ${length}`).toBe(false);
    }
  });

  it('finds what a careless or dishonest server signed', async () => {
    const at = 2n;
    const cases = {
      'other-study': { studyId: new Uint8Array(32) },
      'other-server': { serverKey: stranger.publicKey },
      'epoch-order': { epoch: 7n },
      'index-mismatch': { index: 7n },
      'digest-mismatch': { previousDigest: new Uint8Array(64).fill(1) },
    };
    for (const [code, change] of Object.entries(cases)) {
      const { lines } = await sampleLog(
        4, { change: (body) => (body.index === at ? { ...body, ...change } : body) },
      );
      expect(await fault(lines)).toBe(`4 ${code}`);
    }
    const facts = {
      study: 'another',
      estimator: 'mean',
      participation: 'public',
      cohort: 2999n,
      columns: ['delay_minutes'],
    } as const;
    for (const [name, value] of Object.entries(facts)) {
      const { lines } = await sampleLog(
        3, { change: (body) => (body.index === at ? { ...body, [name]: value } : body) },
      );
      expect(await fault(lines), name).toBe('4 facts-mismatch');
    }
    for (const change of [{ count: 3n }, { count: 5n }, { digest: new Uint8Array(64).fill(9) }]) {
      const { lines } = await sampleLog(4, { changeHead: (body) => ({ ...body, ...change }) });
      expect(await fault(lines)).toBe('6 head-mismatch');
    }
  });

  it('computes the quantiles of a distribution again from its counts', async () => {
    const facts = ofShortFacts({
      ...shortFacts, estimator: 'distribution',
      parameters: { column: 0, range: [0, 20], cells: 2, probabilities: [0.5] },
    });
    const logOf = async (median: number) => (await sampleLog(1, {
      facts,
      change: (body) => ({
        ...body, estimator: 'distribution',
        outcome: {
          kind: 'value', estimate: [median, 2, 4, 8, 10], shape: [5],
          uncertainty: { kind: 'none' },
          parts: [{ name: 'quantiles', shape: [1] }, { name: 'below', shape: [4] }],
        },
      }),
    })).lines;
    expect(await fault(await logOf(12.5))).toBe('none');
    expect(await fault(await logOf(12.500001))).toBe('2 derived-mismatch');
  });

  it('compares what a release states of its numbers with the facts', async () => {
    const facts = {
      ...document, version: 2 as const,
      types: document.columns.map(() => ({ type: 'number' as const })),
      columnWords: [{ unit: 'minutes' }, {}],
    };
    const own = { kind: 'mean', column: 'delay_minutes', unit: 'minutes' } as const;
    const distance = { kind: 'mean', column: 'distance_miles' } as const;
    const faultOf = async (...numbers: readonly NumberInfo[]): Promise<string> =>
      fault((await sampleLog(1, {
        facts, change: (body) => ({
          ...body, outcome: { ...shortRelease.outcome as ValueOutcome, numbers },
        }),
      })).lines);
    expect(await faultOf(own, distance)).toBe('none');
    for (const changed of [
      [distance, own], [{ ...own, unit: 'hours' }, distance],
      [{ ...own, kind: 'median' }, distance],
      [{ kind: 'other', column: 'distance_miles', place: 1, of: 2 }, distance],
    ] as const) expect(await faultOf(...changed)).toBe('2 description-mismatch');
    // A server of another version may know less, or more.
    expect(await faultOf({ kind: 'mean', column: 'delay_minutes' }, distance)).toBe('none');
    expect(await faultOf({ kind: 'other', place: 1, of: 2 }, distance)).toBe('none');
    expect(await faultOf({ ...own, least: 0, most: 600 }, distance)).toBe('none');
  });

  describe('of a study with a list of questions', () => {
    const faultOf = async (
      changeAnswer: (answer: Answer) => Partial<Answer>, more: Partial<ReleaseFacts> = {},
    ): Promise<string> => fault((await sampleLog(1, {
      facts: questionsDocument,
      changeAnswers: (body) => ({
        ...body, ...more,
        answers: body.answers.map((answer) => ({ ...answer, ...changeAnswer(answer) })),
      }),
    })).lines);
    const only = (name: string, change: Partial<Answer>) => ({ question }: Answer) =>
      (question === name ? change : {});
    const split = answersBody.answers[1]!.outcome as ValueOutcome;

    it('accepts answers to all questions, some of them refused', async () => {
      expect(await fault((await sampleLog(3, { facts: questionsDocument })).lines)).toBe('none');
    });

    it('finds answers that are not to the questions of the facts', async () => {
      const mismatch = '2 answers-mismatch';
      expect(await faultOf(only('delays', { question: 'delay' }))).toBe(mismatch);
      expect(await faultOf(only('delays', { estimator: 'mean' }))).toBe(mismatch);
      expect(await faultOf(only('delays', { parameters: '{"spread":[40]}' }))).toBe(mismatch);
      expect(await faultOf(only('delays', { rhoAmount: 1n }))).toBe(mismatch);
      expect(await faultOf(only('quiet', { deltaAmount: 1n }))).toBe(mismatch);
      const wide = { ...answersBody.answers[0]!.outcome as ValueOutcome, spread: [40, 1] };
      expect(await faultOf(only('delays', { outcome: wide }))).toBe(mismatch);
      const reversed = await sampleLog(1, {
        facts: questionsDocument,
        changeAnswers: (body) => ({ ...body, answers: body.answers.toReversed() }),
      });
      expect(await fault(reversed.lines)).toBe(mismatch);
      const fewer = await sampleLog(1, {
        facts: questionsDocument,
        changeAnswers: (body) => ({ ...body, answers: body.answers.slice(1) }),
      });
      expect(await fault(fewer.lines)).toBe(mismatch);
    });

    it('finds keys that are not those of the facts', async () => {
      const malformed = '2 keys-malformed';
      const keys = split.groups!;
      const unsplit = without(split, 'groups', 'answered');
      for (const outcome of [
        { ...split, groups: keys.toReversed() }, unsplit,
        { ...split, groups: keys.map(([, region]) => [region!]) },
      ]) expect(await faultOf(only('regions', { outcome }))).toBe(malformed);
      const alone = { ...unsplit, estimate: [8], shape: [1], groups: [['north']] };
      const plain = without(alone, 'interval95');
      expect(await faultOf(only('delays', { outcome: plain }))).toBe(malformed);
    });

    it('takes integers with a key for those outside their range, and without', async () => {
      const facts = {
        ...questionsDocument,
        types: questionsDocument.types!.map((type, i) =>
          (questionsDocument.columns[i] === 'stops'
            ? { type: 'integer', low: 0, high: 1 } as const : type)),
        questions: questionsDocument.questions.map((each, i) =>
          (i === 1 ? { ...each, by: { columns: ['stops'], groupsMax: 1 } } : each)),
      };
      const of = async (...groups: readonly string[]) =>
        fault((await sampleLog(1, {
          facts,
          changeAnswers: (body) => ({ ...body, answers: body.answers.map((answer, i) => (i !== 1
            ? answer : {
              ...answer, outcome: {
                kind: 'value' as const, estimate: groups.map(() => 3), shape: [groups.length],
                groups: groups.map((key) => [key]), uncertainty: { kind: 'none' as const },
              },
            })) }),
        })).lines);
      expect(await of('0', '1', 'other')).toBe('none');
      expect(await of('0', '1')).toBe('none');
      expect(await of('0', 'other')).toBe('2 keys-malformed');
    });

    it('finds keys that nobody can have sent, or that come twice', async () => {
      const [, question] = questionsDocument.questions;
      const facts = {
        ...questionsDocument,
        questions: questionsDocument.questions.map((each) => (each === question
          ? {
            ...question,
              by: { columns: ['late'], groupsMax: 1, discover: { top: 2, prefilter: 1 } },
          } : each)),
      };
      const of = async (groups: readonly string[][], estimate: readonly number[]) =>
        fault((await sampleLog(1, {
          facts,
          changeAnswers: (body) => ({
            ...body,
            answers: body.answers.map((answer) => (answer.question !== 'regions' ? answer : {
              ...answer,
              outcome: {
                kind: 'value' as const, estimate, shape: [estimate.length], groups,
                uncertainty: { kind: 'none' as const },
              },
            })),
          }),
        })).lines);
      expect(await of([['true'], ['false']], [9, 3])).toBe('none');
      expect(await of([], [])).toBe('none');
      expect(await of([['true'], ['false']], [3, 9])).toBe('2 keys-malformed');
      expect(await of([['true'], ['true']], [9, 3])).toBe('2 keys-malformed');
      expect(await of([['true'], ['maybe']], [9, 3])).toBe('2 keys-malformed');
      expect(await of([['true'], ['false'], ['maybe']], [9, 3, 1])).toBe('2 keys-malformed');
      expect(await of([['true', 'false']], [9])).toBe('2 keys-malformed');
    });

    it('takes the number of discovered keys without them, and nothing else there', async () => {
      const by = { columns: ['late'], groupsMax: 1, discover: { top: 2, prefilter: 1 } };
      const parameters = { ...questionsDocument.questions[1]!.parameters, of: 'groups' };
      const facts = {
        ...questionsDocument, questions: questionsDocument.questions.map((each, i) =>
          (i === 1 ? { ...each, by, parameters } : each)),
      };
      const of = async (estimate: readonly number[], groups?: readonly string[][]) =>
        fault((await sampleLog(1, {
          facts,
          changeAnswers: (body) => ({ ...body, answers: body.answers.map((answer, i) => (i !== 1
            ? answer : {
              ...answer, parameters: canonicalJson(parameters), outcome: {
                kind: 'value' as const, estimate, shape: [estimate.length],
                uncertainty: { kind: 'none' as const }, ...(groups !== undefined && { groups }),
              },
            })) }),
        })).lines);
      expect(await of([9])).toBe('none');
      expect(await of([9], [['true']])).toBe('2 keys-malformed');
      expect(await of([9, 3])).toBe('2 keys-malformed');
    });

    it('takes keys alone where the study asks for them, and numbers elsewhere', async () => {
      const of = async (answer: 'groups' | undefined, estimate: readonly number[]) => {
        const discover = { top: 2, prefilter: 1, ...(answer !== undefined && { answer }) };
        const by = { columns: ['late'], groupsMax: 1, discover };
        const groups = [['true'], ['false']];
        return fault((await sampleLog(1, {
          facts: {
            ...questionsDocument, questions: questionsDocument.questions.map((each, i) =>
              (i === 1 ? { ...each, by } : each)),
          },
          changeAnswers: (body) => ({ ...body, answers: body.answers.map((each, i) => (i !== 1
            ? each : {
              ...each, outcome: {
                kind: 'value' as const, estimate, groups, uncertainty: { kind: 'none' as const },
                shape: estimate.length === 0 ? [2, 0] : [2],
              },
            })) }),
        })).lines);
      };
      expect(await of('groups', [])).toBe('none');
      expect(await of('groups', [9, 3])).toBe('2 keys-malformed');
      expect(await of(undefined, [])).toBe('2 keys-malformed');
      expect(await of(undefined, [9, 3])).toBe('none');
    });

    it('finds an answer without a key that the study remembers', async () => {
      const facts = {
        ...questionsDocument,
        questions: questionsDocument.questions.map((each) => (each.name !== 'regions' ? each : {
          ...each,
          by: {
            columns: ['late'], groupsMax: 1, discover: { top: 2, prefilter: 1, remember: 1 },
          },
        })),
      };
      const of = async (...shown: readonly (readonly string[])[]) =>
        fault((await sampleLog(shown.length, {
          facts,
          changeAnswers: (body) => ({
            ...body,
            answers: body.answers.map((answer) => {
              const groups = shown[Number(body.index)]!.map((key) => [key]);
              return answer.question !== 'regions' ? answer : {
                ...answer,
                outcome: {
                  kind: 'value' as const, estimate: groups.map((_, i) => 9 - i),
                  shape: [groups.length], groups, uncertainty: { kind: 'none' as const },
                },
              };
            }),
          }),
        })).lines);
      expect(await of(['true', 'false'], ['false', 'true'], ['false'])).toBe('none');
      expect(await of(['true', 'false'], ['false'])).toBe('3 keys-malformed');
      expect(await of(['true', 'false'], ['false', 'true'], ['true'])).toBe('4 keys-malformed');
    });

    it('finds a release without a list, and in a study without one a list of answers', async () => {
      const short = await sampleLog(1, {
        facts: questionsDocument,
        changeAnswers: ({ columns, ...body }) => ofShortAnswer({
          ...without(body, 'answers'), columns: columns.slice(0, 2),
          estimator: 'prime', parameters: '{}', outcome: shortRelease.outcome,
        }),
      });
      expect(await fault(short.lines)).toBe('2 facts-mismatch');
      const long = await sampleLog(1, {
        changeAnswers: (body) => ({ ...without(body, 'wireForm'), answers: answersBody.answers }),
      });
      expect(await fault(long.lines)).toBe('2 facts-mismatch');
    });
  });

  it('finds parameters that are not those of the facts', async () => {
    const { lines } = await sampleLog(1, { change: (body) => ({ ...body, parameters: '{}' }) });
    expect(await fault(lines)).toBe('2 facts-mismatch');
  });

  it('finds a study line whose key or facts are unusable', async () => {
    const line = decodeLogLine(study);
    if (line.type !== 'study') throw new Error('the first line is the study');
    const smallOrder = encodeLogLine({ ...line, serverKey: new Uint8Array(32) });
    expect(await fault([smallOrder])).toBe('1 server-key-invalid');
    const otherFacts = encodeLogLine({ ...line, facts: utf8('{}') });
    expect(await fault([otherFacts])).toBe('1 signature-invalid');
  });
});

describe('log lines', () => {
  it('reads back what it writes', () => {
    for (const line of log.lines) expect(encodeLogLine(decodeLogLine(line))).toBe(line);
  });

  it.each([
    [
      '', 'null', '7', '[]', '{}', '{"type":"study"}', '{"type":"none"}',
      '{"type":"release","body":"","signature":7}',
    ],
    [
      first.replace('{', '{ '), first.replace('==', ''), `${first} `,
      first.replace('"body"', '"\\u0062ody"'),
    ],
    [
      first.replace('}', ',"extra":1}'), first.replace('}', ',"type":"release"}'),
      first.slice(0, -1),
    ],
  ].flat())('refuses any other form: %.40s', (text) => {
    expect(text).not.toBe(first);
    expect(() => decodeLogLine(text))
      .toThrow(expect.objectContaining({ code: 'log-invalid', fault: 'line-malformed' }));
  });

  it('splits at newlines only, wherever the chunks end', async () => {
    const file = utf8('one\ntwö\r\n\n last\u2028\n');
    for (let size = 1; size <= file.length; size++) {
      const chunks: Uint8Array[] = [];
      for (let i = 0; i < file.length; i += size) chunks.push(file.subarray(i, i + size));
      const lines: string[] = [];
      for await (const line of logLines(chunks)) lines.push(line);
      expect(lines).toEqual(['one', 'twö\r', '', ' last\u2028']);
    }
  });

  it('refuses a last line without a newline', async () => {
    const report =
      await verifyReleaseLog(logLines([utf8(`${study}\n`), utf8(study)]), { signing });
    expect(report.firstFault).toMatchObject({ code: 'line-malformed', line: 2 });
  });

  it('refuses bytes that are not UTF-8, as a fault of their line', async () => {
    const report =
      await verifyReleaseLog(logLines([utf8(`${study}\n`), Uint8Array.of(0xff)]), { signing });
    expect(report.firstFault).toMatchObject({ code: 'line-malformed', line: 2 });
    const cut =
      await verifyReleaseLog(logLines([utf8(`${study}\n`), Uint8Array.of(0xc3)]), { signing });
    expect(cut.firstFault).toMatchObject({ code: 'line-malformed', line: 2 });
  });
});
