import { defineCommand } from '../base/command.js';
import { aggregatorUrl } from '../base/address.js';
import type { Output } from '../base/output.js';
import type { Finding } from '../doctor/finding.js';
import { folderFindings } from '../doctor/folder.js';
import { machineFindings } from '../doctor/machine.js';
import { serverFindings } from '../doctor/server.js';

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Check a data folder or a running server, and say what to mend.',
  details: [
    'Of a data folder it checks the Node version, open files, memory, the clock, the modes of the '
    + 'folder and of the keys, disk space, the database page by page, and how much of each budget '
    + 'is left. It may run beside the server, and changes nothing in it. With --disk it also times '
    + 'durable writes: it writes a small file into the folder and removes it.',
    'Of a server, given by its address, it checks what everybody may ask: health, clock, TLS '
    + 'certificate, dashboard, studies, and that metrics are closed.',
    'Each line is ok, warn or fail, with what to do. The status is 1 if one line is fail.',
  ],
  args: {
    where: {
      type: 'positional', required: true, valueHint: 'folder|url',
      description: 'data folder of "keelson serve", or a server like https://HOST',
    },
    disk: { type: 'boolean', description: 'also time durable writes to the data folder' },
  },
  examples: ['keelson doctor data', 'keelson doctor https://aggregator.example.org --json'],
  async run({ args, io, output }) {
    const findings = /^(https?|wss?):\/\//.test(args.where)
      ? await serverFindings(httpAddress(args.where), () => Date.now())
      : [...machineFindings(io.nodeVersion), ...await folderFindings(args.where, {
        nowMs: Date.now(), monotonicMs: () => io.monotonicMs(), mayWrite: args.disk === true,
      })];
    const worst = (['fail', 'warn'] as const)
      .find((state) => findings.some((finding) => finding.state === state)) ?? 'ok';
    output.json({ state: worst, findings });
    describe(findings, output);
    return worst === 'fail' ? 1 : 0;
  },
});

/** @throws UsageError when it is no address. */
function httpAddress(typed: string): URL {
  return new URL(aggregatorUrl(typed).replace(/^ws/, 'http'));
}

function describe(findings: readonly Finding[], output: Output): void {
  for (const { check, state, found, remedy } of findings) {
    output.text(`${state.padEnd(5)} ${check}: ${found}`);
    if (remedy !== undefined) output.text(`      ${remedy}`);
  }
}
