import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keelson } from '../support/command.js';
import { ScriptedServer } from '../../cli/conform/scripted-server.js';

let server: ScriptedServer;
beforeAll(async () => {
  server = await ScriptedServer.start();
  for (let i = 0; i < 3; i++) server.publish();
});
afterAll(() => server.crash());

const watched = (...flags: readonly string[]): ReturnType<typeof keelson> =>
  keelson(['watch', server.url, '--study', 'flight-delays', '--count', '3', ...flags]);

interface Line {
  readonly smoothed?: readonly [{
    readonly question: string;
    readonly numbers: readonly { readonly smoothed: number; readonly deviation: number }[];
  }];
}

describe('keelson watch --smooth', () => {
  it('shows what the releases so far say of each number', async () => {
    const { status, stdout } = await watched('--smooth', '--json');
    expect(status).toBe(0);
    const lines = stdout.trim().split('\n').map((line) => JSON.parse(line) as Line);
    const [first, second, third] = lines.map(({ smoothed }) => smoothed![0]);
    expect(first).toMatchObject({
      question: 'answer',
      numbers: [{ place: 0, smoothed: 8.25, deviation: 0.5 }, { smoothed: 731.5, deviation: 8 }],
    });
    // The same answer each time: it is believed more with each release.
    expect(third!.numbers[0]!.smoothed).toBeCloseTo(8.25);
    expect(second!.numbers[0]!.deviation).toBeLessThan(0.45);
    expect(third!.numbers[0]!.deviation).toBeLessThan(second!.numbers[0]!.deviation);
  });

  it('shows them to people below each answer, and nothing without the flag', async () => {
    const { stdout } = await watched('--smooth');
    expect(stdout).toMatch(/\n +7 {2}delay_minutes +8\.3 +0\.5 .*\n +distance_miles .*\n/);
    expect(stdout).toMatch(/\n +smoothed delay_minutes +8\.25 +0\.3\d+\n/);
    expect((await watched()).stdout).not.toContain('smoothed');
    expect((await watched('--json')).stdout).not.toContain('smoothed');
  });
});
