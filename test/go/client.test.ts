// @module-tag slow
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runConformance, type CaseResult } from '../../cli/conform/runner.js';
import { freshRows, type ConformanceCase } from '../../cli/conform/stage.js';
import { addGoClient, buildGo, go, hasGo } from '../support/go.js';
import { Stage } from '../support/live-command.js';
import { root } from '../support/sources.js';
import { meanStudy } from '../support/study-files.js';

const runs = hasGo();

/** What the client says that it cannot do. */
const notAsked = ['withdraw', 'typed', 'subscribe', 'verify', 'sealed'].map((skill) =>
  `the program does not list ${skill} in "can"`);

describe.skipIf(!runs)('the client in clients/go', () => {
  const stage = new Stage();
  const program = stage.path('go-client');
  afterAll(() => stage.end());

  beforeAll(() => {
    addGoClient(stage);
    go(stage, 'build', '-o', program, 'keelson/conform');
  }, 300_000);

  it('passes its own tests, and its tools find nothing', () => {
    expect(go(stage, 'test', 'keelson')).toMatch(/^ok /);
    go(stage, 'vet', 'keelson', 'keelson/conform');
    expect(execFileSync('gofmt', ['-l', `${root}clients/go`], { encoding: 'utf8' })).toBe('');
  }, 300_000);

  it('passes every case of the conformance kit that is about contributing', async () => {
    const { status, stdout } = await stage.run(['conform', '--json', '--', program]);
    const { failed, cases } =
      JSON.parse(stdout) as { failed: number; cases: readonly CaseResult[] };
    expect(cases.filter(({ outcome }) => outcome === 'failed')
      .map(({ name, text }) => `${name}: ${text}`)).toEqual([]);
    expect({ failed, status }).toEqual({ failed: 0, status: 0 });
    const leftOut = cases.filter(({ outcome }) => outcome === 'left-out');
    expect(new Set(leftOut.map(({ text }) => text))).toEqual(new Set(notAsked));
  }, 480_000);

  it('loses and repeats nothing over 20 kills', async () => {
    const killed: ConformanceCase = {
      name: 'killed 20 times', needs: 'contribute',
      async run(one) {
        const server = await one.server();
        for (let round = 0; round < 20; round++) {
          // Rounds end before, between and after the answers to three batches.
          const { length } = server.offered;
          server.epoch = BigInt(7 + round);
          await one.open(server);
          await one.send(freshRows(40));
          await one.event(({ event }) => event === 'stored');
          await one.until(server, () => server.offered.length >= length + round % 4);
          await one.kill();
        }
        await one.open(server);
        await one.close();
        one.expectOnce(server);
      },
    };
    const results = await runConformance({
      words: [program], folder: stage.folder, limitMs: 120_000, cases: [killed],
    });
    expect(results).toEqual([{ name: 'killed 20 times', outcome: 'passed' }]);
  }, 180_000);

  it('runs the example of its README', async () => {
    const page = readFileSync(`${root}clients/go/README.md`, 'utf8');
    const [, example] = /```go\n([^]*?)```/.exec(page)!;
    const study = stage.write('study.yaml', meanStudy('flight-delays'));
    const { url } = await stage.serve([study]);
    const program =
      buildGo(stage, 'example', example!.replace('ws://127.0.0.1:8787', url));
    stage.write('alice.seed', 'a secret seed of just 32 letters');
    const { status, stdout, stderr } =
      await stage.run([], {
        program: 'env', command: program, directory: stage.folder,
      });
    expect([status, stdout, stderr]).toEqual([0, 'accepted <nil>\n', '']);
  }, 120_000);
});
