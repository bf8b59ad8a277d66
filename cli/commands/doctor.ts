import { defineCommand } from '../base/command.js';
import { aggregatorUrl } from '../base/address.js';
import { UsageError } from '../base/errors.js';
import type { Output } from '../base/output.js';
import type { Finding } from '../doctor/finding.js';
import { folderFindings } from '../doctor/folder.js';
import { machineFindings } from '../doctor/machine.js';
import { serverFindings } from '../doctor/server.js';
import { studyFileFindings } from '../doctor/study-file.js';

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Check a data folder, a server or a study file, and say what to mend.',
  details: [
    'Of a data folder it checks the Node version, open files, memory, the clock, the modes of the '
    + 'folder and of the keys, disk space, the database page by page, and how much of each budget '
    + 'is left. It may run beside the server, and changes nothing in it. With --disk it also times '
    + 'durable writes: it writes a small file into the folder and removes it.',
    'Of a server, given by its address, it checks what everybody may ask: health, clock, TLS '
    + 'certificate, dashboard, studies, that metrics are closed, and whether rows from here go '
    + 'encrypted.',
    'Of a study file, whose name ends in .yaml or .yml, it lists names of before the first release '
    + 'with the new ones, and plans the study. --write puts the new names into the file, where all '
    + 'else stays. --servers also asks the three servers of a sealed study: whether each answers, '
    + 'has its key, serves this study, and shares the time.',
    'Each line is ok, warn or fail, with what to do. The status is 1 if one line is fail.',
  ],
  args: {
    where: {
      type: 'positional', required: true, valueHint: 'folder|url|file',
      description: 'data folder of "keelson serve", a server like https://HOST, or a study file',
    },
    disk: { type: 'boolean', description: 'also time durable writes to the data folder' },
    write: { type: 'boolean', description: 'write new names into a study file' },
    servers: { type: 'boolean', description: 'also ask the three servers of a sealed study' },
  },
  examples: [
    'keelson doctor data', 'keelson doctor https://aggregator.example.org --json',
    'keelson doctor rides.yaml --write', 'keelson doctor sealed.yaml --servers',
  ],
  async run({ args, io, output }) {
    const isStudyFile = /\.ya?ml$/.test(args.where);
    const ofFile = (['write', 'servers'] as const).find((name) => args[name] === true);
    if (ofFile !== undefined && !isStudyFile) {
      throw new UsageError(`--${ofFile} is for a study file, whose name ends in .yaml or .yml`);
    }
    const findings = /^(https?|wss?):\/\//.test(args.where)
      ? await serverFindings(httpAddress(args.where), () => Date.now())
      : isStudyFile ? await studyFileFindings(args.where, {
        mayWrite: args.write === true, asksServers: args.servers === true, nowMs: () => Date.now(),
      }) : [
        ...machineFindings(io.nodeVersion),
        ...await folderFindings(args.where, {
          nowMs: Date.now(), monotonicMs: () => io.monotonicMs(), mayWrite: args.disk === true,
        }),
      ];
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
