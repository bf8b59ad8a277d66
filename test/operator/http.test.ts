import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { KeelsonError } from '../../src/base/errors.js';
import { decodeLogLine } from '../../src/log/index.js';
import { verifyStatement } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { decodeHeadBody, decodeReleaseBody, encodeStudyDocument } from '../../src/wire/index.js';
import { amount, createFakeHub } from '../support/fake-hub.js';
import { rawExchange } from '../support/wire-client.js';
import {
  answersBody, document, questionsDocument, releaseBody, server,
} from '../support/wire-samples.js';
import { operatorToken, startRig, type Rig } from '../listener/harness.js';

const bearer = { Authorization: `Bearer ${operatorToken}` };

interface Fault {
  readonly error: { readonly code: string };
}

interface Studies {
  readonly serverKey: string;
  readonly studies: readonly {
    readonly facts: string; readonly signature: string; readonly batches: object;
    readonly questions: readonly { readonly last: string | null }[];
  }[];
}

interface Budgets {
  readonly budgets: readonly object[];
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly json: <T extends object = Fault>() => T;
}

async function get(rig: Rig, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(rig.url(path), init);
  const text = await response.text();
  const json = <T extends object>(): T => JSON.parse(text) as T;
  return { status: response.status, text, headers: response.headers, json };
}

describe('access', () => {
  it('/healthz says ok to everybody and details to the operator only', async () => {
    const rig = await startRig({ storeHealth: async () => ({ commits: 3 }) as never });
    await rig.contributor();
    expect((await get(rig, '/healthz')).json()).toEqual({ status: 'ok' });
    const details = (await get(rig, '/healthz', { headers: bearer })).json();
    expect(details).toMatchObject({
      status: 'ok', sockets: 1, channels: 1, overloaded: false, store: { commits: 3 },
    });
  });

  it('requires the exact token for operator pages', async () => {
    const rig = await startRig();
    for (const path of ['/metrics', '/v1/operator/progress']) {
      const near = [
        `Basic ${operatorToken}`, `Bearer ${operatorToken}x`, `Bearer ${operatorToken.slice(1)}`,
      ];
      const wrong = [undefined, 'Bearer wrong', 'Bearer ', 'Bearer', ...near];
      for (const authorization of wrong) {
        const answer =
          await get(rig, path, { headers: authorization === undefined ? {} : { authorization } });
        expect(answer.status).toBe(401);
        expect(answer.headers.get('www-authenticate')).toContain('Bearer');
        expect(answer.json().error.code).toBe('unauthorized');
      }
      expect((await get(rig, path, { headers: bearer })).status).toBe(200);
    }
  });

  it('grants nothing to an empty token', async () => {
    const rig = await startRig({ operatorToken: '' });
    expect((await get(rig, '/metrics', { headers: { authorization: 'Bearer ' } })).status)
      .toBe(401);
  });

  it('never writes the token to a log or an answer', async () => {
    const rig = await startRig();
    const paths = ['/healthz', '/metrics', '/nothing'];
    const answers = await Promise.all(paths.map((path) => get(rig, path, { headers: bearer })));
    expect(JSON.stringify([rig.logs, answers.map((answer) => answer.text)])).not
      .toContain(operatorToken);
  });
});

describe('faults', () => {
  it('are JSON with a code and a text', async () => {
    const rig = await startRig();
    const missing = await get(rig, '/v1/nothing');
    expect(missing).toMatchObject({ status: 404 });
    expect(missing.json().error).toMatchObject({ code: 'not-found' });
    expect((await get(rig, '/toString')).status).toBe(404);
    const method = await get(rig, '/healthz', { method: 'DELETE' });
    expect(method.status).toBe(405);
    expect(method.headers.get('allow')).toBe('GET, HEAD');
    expect((await get(rig, '/v1/studies', { method: 'POST', body: 'x' })).status).toBe(413);
    expect((await get(rig, '/v1/releases')).json().error.code).toBe('bad-request');
    expect((await get(rig, '/v1/releases?study=nobody')).json().error.code).toBe('unknown-study');
    expect((await get(rig, `/v1/releases?study=${document.study}&from=-1`)).status).toBe(400);
    expect((await get(rig, '/healthz', { method: 'HEAD' })).text).toBe('');
    const nonsense = 'GET //[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    expect(await rawExchange(rig.listener.port, nonsense)).toContain(' 400 ');
    await rig.expectService();
  });

  it('answers 500 without details when a route fails', async () => {
    const rig = await startRig();
    rig.hub.balances = () => Promise.reject(new Error('secret path'));
    const answer = await get(rig, '/v1/ledger');
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('secret');
    expect(rig.logs.at(-1)).toMatchObject({ level: 'error' });
  });

  it('limits rates per address', async () => {
    const rig = await startRig({ limits: { httpPerSecond: 1, httpBurst: 2 } });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await get(rig, '/healthz')).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it('every answer carries security headers; other origins read only when listed', async () => {
    const rig = await startRig({ allowedOrigins: ['https://shop.example'] });
    for (const path of ['/healthz', '/nothing', '/metrics']) {
      const { headers } = await get(rig, path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
    const allowed = (origin: string): Promise<string | undefined> =>
      new Promise((resolve) => {
        request(rig.url('/v1/studies'), { headers: { origin } }, (response) => {
          response.resume();
          resolve(response.headers['access-control-allow-origin']);
        }).end();
      });
    expect(await allowed('https://shop.example')).toBe('https://shop.example');
    expect(await allowed('https://evil.example')).toBeUndefined();
  });
});

describe('public data', () => {
  it('/v1/studies gives the signed facts', async () => {
    const rig = await startRig();
    const { serverKey, studies } = (await get(rig, '/v1/studies')).json<Studies>();
    expect(serverKey).toBe(toHex(server.publicKey));
    const { study: name } = document;
    expect(studies[0])
      .toMatchObject({ id: rig.study, name, state: 'open', epoch: '7', releases: 0, document });
    expect(Buffer.from(studies[0]!.facts, 'base64'))
      .toEqual(Buffer.from(encodeStudyDocument(document)));
    const digest = signing.sha512(Buffer.from(studies[0]!.facts, 'base64'));
    const signature = Buffer.from(studies[0]!.signature, 'base64');
    const verifier = signing.createVerifier(server.publicKey);
    expect(verifyStatement('study', verifier, fromHex(rig.study), digest, signature)).toBe(true);
  });

  it('/v1/releases gives the log as lines that end with a head', async () => {
    const rig = await startRig({ limits: { releasesPerPage: 2 } });
    for (let i = 0; i < 5; i++) rig.hub.publish(rig.study);
    const answer = await get(rig, `/v1/releases?study=${document.study}`);
    expect(answer.headers.get('content-type')).toContain('x-ndjson');
    expect(answer.text.endsWith('\n')).toBe(true);
    const lines = answer.text.trimEnd().split('\n').map(decodeLogLine);
    expect(lines.map((line) => line.type))
      .toEqual(['study', ...Array.from({ length: 5 }, () => 'release'), 'head']);
    const indices = lines.flatMap((line) =>
      (line.type === 'release' ? [decodeReleaseBody(line.body).index] : []));
    expect(indices).toEqual([0n, 1n, 2n, 3n, 4n]);
    const byId = await get(rig, `/v1/releases?study=${rig.study}&from=3`);
    expect(byId.text.trimEnd().split('\n')).toHaveLength(4);
  });

  it('/v1/releases agrees with its head when a release lands meanwhile', async () => {
    const rig = await startRig();
    rig.hub.publish(rig.study);
    const releases = rig.hub.releases.bind(rig.hub);
    rig.hub.releases = async (id, from, limit) => {
      rig.hub.publish(rig.study);
      return releases(id, from, limit);
    };
    const text = (await get(rig, `/v1/releases?study=${rig.study}`)).text;
    const lines = text.trimEnd().split('\n').map(decodeLogLine);
    const head = lines.at(-1)!;
    expect(lines.filter((line) => line.type === 'release')).toHaveLength(1);
    expect(head.type === 'head' && decodeHeadBody(head.body).count).toBe(1n);
  });

  it('/v1/ledger shows study scope, and under contributor scope only what releases '
    + 'published', async () => {
    const rig = await startRig();
    const secretMaximum = amount(123_456_789n);
    const base = {
      rule: { rule: 'zcdp' }, epsilon: 8, delta: 1e-5, rhoCap: amount(1n << 64n),
      deltaCap: amount(1n << 40n), deltaSpent: amount(5n), rhoReserved: amount(7n),
      deltaReserved: amount(1n), pureCap: amount(8n << 64n), pureSpent: null, pureReserved: null,
    } as const;
    rig.hub.ledger = [
      { key: 'study:one', scope: 'study', rhoSpent: amount(1n << 63n), ...base },
      { key: `study:${document.study}`, scope: 'contributor', rhoSpent: secretMaximum, ...base },
    ];
    const empty = (await get(rig, '/v1/ledger')).json<Budgets>();
    expect(empty.budgets[0]).toMatchObject({
      rule: 'zcdp',
      budget: 'study:one', cap: { rhoNumber: 1 }, reserved: { rho: '7' },
      spent: { rho: String(1n << 63n), rhoNumber: 0.5 },
    });
    expect(empty.budgets[1])
      .toMatchObject({ scope: 'contributor', costPerEpoch: null, bound: null, epsilonCap: 8 });
    rig.hub.publish(rig.study);
    const text = (await get(rig, '/v1/ledger')).text;
    expect(text).not.toContain(String(secretMaximum));
    expect((JSON.parse(text) as Budgets).budgets[1]).toMatchObject({
      costPerEpoch: { rho: String(releaseBody.cost.rhoAmount) },
      bound: { rho: String(releaseBody.ledger.rhoSpent) },
    });
  });

  it('hides participation from requests without the token', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    for (let i = 1n; i <= 5n; i++) await contributor.send(i);
    const before =
      await Promise.all(['/healthz', '/v1/studies', '/v1/ledger'].map((path) => get(rig, path)));
    await (await rig.contributor()).send(1n);
    const after =
      await Promise.all(['/healthz', '/v1/studies', '/v1/ledger'].map((path) => get(rig, path)));
    expect(after.map((answer) => answer.text)).toEqual(before.map((answer) => answer.text));
  });
});

describe('operator data', () => {
  it('/v1/operator/evidence says that no server sees the rows of a sealed study', async () => {
    const rig = await startRig();
    const path = `/v1/operator/evidence?study=${document.study}&contributor=${'0a'.repeat(32)}`;
    const sealed = {
      against: 'reading', bits: 16, patienceMs: 1, servers: [] as never,
    } as const;
    rig.hub.change(rig.study, { document: { ...document, sealed } });
    const answer = await get(rig, path, { headers: bearer });
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('is sealed')]);
  });

  it('/v1/operator/progress gives participation and rejections by code', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    await contributor.send(1n);
    await contributor.send(2n, { columns: 1, data: new Uint8Array(8) });
    const { studies } =
      (await get(rig, '/v1/operator/progress', { headers: bearer })).json<Studies>();
    expect(studies[0]).toMatchObject({
      name: document.study, progress: { contributors: 41, groups: 9 },
      batches: { accepted: 1, duplicates: 0, refused: { 'wrong-columns': 1 } },
    });
    expect(studies[1]!.batches).toEqual({ accepted: 0, duplicates: 0, refused: {} });
    const answer = { name: 'answer', estimator: 'prime', part: 100, last: null };
    expect(studies.map(({ questions }) => questions)).toEqual([[answer], [answer]]);
  });

  it('/v1/operator/progress gives each question, its part and its last outcome', async () => {
    const hub = await createFakeHub([questionsDocument]);
    const rig = await startRig({ hub });
    const questions = async () => (await get(rig, '/v1/operator/progress', { headers: bearer }))
      .json<Studies>().studies[0]!.questions;
    const asked = questionsDocument.questions.map(({ name, estimator, part }) =>
      ({ name, estimator, part }));
    expect(await questions()).toEqual(asked.map((each) => ({ ...each, last: null })));
    const { answers } = answersBody;
    hub.publish(hub.studies()[0]!.studyId, '', { answers });
    expect(await questions()).toEqual(asked.map((each) => {
      const { outcome } = answers.find(({ question }) => question === each.name)!;
      return { ...each, last: outcome.kind === 'value' ? 'value' : outcome.reason };
    }));
    expect((await questions()).map(({ last }) => last)).toContain('value');
  });

  it('/metrics is Prometheus text with reasons, latencies and states', async () => {
    const rig = await startRig({
      storeHealth: async () => ({
        commits: 1, batches: 1, retries: 0, commitSecondsMedian: 0.004, commitSeconds99: 0.02,
        commitSecondsTotal: 0.1, fileBytes: 4096,
        walBytes: 8,
      }),
    });
    const contributor = await rig.contributor();
    await contributor.send(1n);
    contributor.client.send({ ...contributor.batch(2n), channel: 5 });
    await contributor.refusal();
    const answer = await get(rig, '/metrics', { headers: bearer });
    expect(answer.headers.get('content-type')).toContain('version=0.0.4');
    const lines = answer.text.split('\n');
    for (const line of [
      `keelson_batches_accepted_total{study="${document.study}"} 1`,
      'keelson_refused_total{study="",code="unknown-channel"} 1',
      'keelson_ack_seconds_count 1',
      'keelson_ack_seconds_bucket{le="+Inf"} 1',
      'keelson_channels 1',
      'keelson_queue_batches 0',
      'keelson_check_threads 0',
      `keelson_study_epoch{study="${document.study}",id="${rig.study.slice(0, 16)}"} 7`,
      'keelson_store_commit_seconds{quantile="0.99"} 0.02',
      '# TYPE keelson_ack_seconds histogram',
    ]) expect(lines).toContain(line);
    for (const line of lines.filter((text) => text !== '' && !text.startsWith('#'))) {
      expect(line).toMatch(/^[a-z_0-9]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [-+0-9.e]+$/);
    }
  });

  it('/metrics goes on when a value cannot be read', async () => {
    const rig = await startRig({ storeHealth: () => Promise.reject(new Error('gone')) });
    const answer = await get(rig, '/metrics', { headers: bearer });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('keelson_sockets 0');
    expect(answer.text).not.toContain('keelson_store_commit_seconds{');
  });
});

describe('notes and history', () => {
  const originOf = (rig: Rig): string => new URL(rig.url('/')).origin;

  it('lets everybody read notes, and the operator alone write them', async () => {
    const rig = await startRig();
    const at = `/v1/operator/add-note?study=${document.study}&at=1767225600000&text=`;
    const post = (path: string, token = true) => get(rig, path, {
      method: 'POST', headers: { origin: originOf(rig), ...(token && bearer) },
    });
    expect((await post(`${at}holiday`, false)).status).toBe(401);
    for (const text of ['', 'x'.repeat(281), 'two%0Alines', 'turned%E2%80%AEround']) {
      expect((await post(`${at}${text}`)).status).toBe(400);
    }
    expect((await post(`${at}a holiday`)).status).toBe(200);
    const path = `/v1/studies/${rig.study}/notes`;
    const note = { id: 1, atMs: 1_767_225_600_000, text: 'a holiday' };
    expect(JSON.parse((await get(rig, path)).text)).toEqual({ notes: [note] });
    expect(JSON.parse((await get(rig, `/v1/studies/${rig.other}/notes`)).text))
      .toEqual({ notes: [] });
    const remove = `/v1/operator/remove-note?note=1&study=`;
    expect((await post(`${remove}${rig.other}`)).status).toBe(404);
    expect((await post(`${remove}${rig.study}`)).status).toBe(204);
    expect(JSON.parse((await get(rig, path)).text)).toEqual({ notes: [] });
  });

  it('tells why epochs were refused, with a remedy, and how long the budget lasts', async () => {
    const rig = await startRig();
    const { budget, charge: { rho, delta } } = rig.hub.studies()[0]!;
    const none = amount(0n);
    rig.hub.ledger = [{
      key: budget, scope: 'study', rule: { rule: 'zcdp' }, epsilon: 1, delta: 1e-6,
      rhoCap: amount(rho * 5n), deltaCap: amount(delta * 9n), rhoSpent: amount(rho * 2n),
      deltaSpent: none, rhoReserved: rho, deltaReserved: none,
    } as never];
    rig.hub.publish(rig.study);
    rig.hub.publish(rig.study, '', { outcome: {
      kind: 'refused', reason: 'participation-below-plan', text: 'too few people came',
    } });
    const read = async () => (JSON.parse((await get(rig, '/v1/operator/history', {
      headers: bearer,
    })).text) as { studies: readonly object[] }).studies[0]!;
    const expected = {
      id: rig.study, epochsLeft: 2, outcomes: [{ answered: 1 }, { answered: 0 }],
      reasons: [{
        reason: 'participation-below-plan', count: 1, text: 'too few people came',
        remedy: 'Too few people came: use longer epochs, or a smaller cohort.',
      }],
    };
    expect(await read()).toMatchObject(expected);
    // The second answer reads no release again.
    expect(await read()).toMatchObject(expected);
    for (let i = 0; i < 70; i++) rig.hub.publish(rig.study);
    expect(await read()).toMatchObject({ reasons: [], outcomes: { length: 60 } });
  });
});

describe('resuming a study', () => {
  it('hands the epoch on, and says why the hub does not resume it', async () => {
    const rig = await startRig();
    const resumed: (bigint | undefined)[] = [];
    const hub = rig.hub as { resumeStudy?: (studyId: string, epoch?: bigint) => Promise<void> };
    hub.resumeStudy = async (_, epoch) => {
      if (epoch === 6n) throw new KeelsonError('unsupported', 'it was held in epoch 7');
      resumed.push(epoch);
    };
    const [view] = rig.hub.studies();
    const origin = new URL(rig.url('/')).origin;
    const post = (epoch: string) => get(
      rig, `/v1/operator/resume-study?study=${view!.name}${epoch}`,
      { method: 'POST', headers: { ...bearer, origin } },
    );
    expect((await post('')).status).toBe(204);
    expect((await post('&epoch=7')).status).toBe(204);
    expect((await post('&epoch=7.5')).status).toBe(400);
    const refused = await post('&epoch=6');
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('it was held in epoch 7');
    expect(resumed).toEqual([undefined, 7n]);
  });
});

describe('ending a study', () => {
  it('wants the token and this server\'s own origin, and tells the hub', async () => {
    const rig = await startRig();
    const ended: string[] = [];
    const hub = rig.hub as { endStudy?: (studyId: string) => Promise<void> };
    hub.endStudy = async (studyId) => void ended.push(studyId);
    const [view] = rig.hub.studies();
    const path = `/v1/operator/end-study?study=${view!.name}`;
    const post = (headers: Record<string, string>) => get(rig, path, { method: 'POST', headers });
    const origin = new URL(rig.url('/')).origin;
    expect((await get(rig, path, { headers: bearer })).status).toBe(405);
    expect((await post({ origin })).status).toBe(401);
    expect((await post(bearer)).status).toBe(403);
    expect((await post({ ...bearer, origin: 'https://elsewhere.example' })).status).toBe(403);
    expect(ended).toEqual([]);
    expect((await post({ ...bearer, origin })).status).toBe(204);
    expect(ended).toEqual([view!.studyId]);
  });
});
