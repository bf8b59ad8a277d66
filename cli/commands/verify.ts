import { createReadStream } from 'node:fs';
import { signing } from '#signing';
import { ReleaseSeries } from '../../client/index.js';
import { RunningSeries } from '../../src/series/running-sums.js';
import { logLines, verifyReleaseLog, type LogReport } from '../../src/log/index.js';
import { defineCommand } from '../base/command.js';
import { asInputError, UsageError } from '../base/errors.js';
import type { Io } from '../base/io.js';
import { publicKeyFlag } from '../base/keys.js';
import { labelsOfEach } from '../base/labels.js';
import { numberFlag } from '../base/numbers.js';
import type { Output } from '../base/output.js';
import { answersJson, printAnswers } from '../base/questions.js';
import { printTotals, totalsJson } from '../base/series.js';
import { ReleaseExport } from '../export/release-table.js';
import { exportEnding, writeExport } from '../export/write.js';

export const verify = defineCommand({
  name: 'verify',
  summary: 'Check a release log: chain, signatures and signed head.',
  details: [
    'A log proves something only together with the aggregator\'s key, which you must get from '
    + 'another place than the log. Without --server-key the log is only checked against itself. '
    + 'The command then prints the fingerprint of its key, for you to compare, and the exit '
    + 'status is 1. The last answer is shown with its intervals.',
    'With --export, the releases also go to a new file for spreadsheets and other programs, one '
    + 'row for each number. Nothing is written if a check fails.',
  ],
  args: {
    file: {
      type: 'positional', required: true, description: 'the release log, or - for standard input',
    },
    'server-key': {
      type: 'string',
      valueHint: 'key',
      description: 'the aggregator\'s public key, 64 hexadecimal digits',
    },
    totals: {
      type: 'boolean',
      description: 'also add up each number over the releases, and smooth it; this is derived from '
        + 'published answers, so it costs no privacy',
    },
    window: {
      type: 'string', valueHint: 'n',
      description: 'with --totals: add up the newest n releases only',
    },
    export: {
      type: 'string', valueHint: 'file',
      description: 'write the releases to this .csv, .parquet or .arrow file',
    },
  },
  examples: [
    'keelson verify releases.log --server-key 8f40...c2',
    'keelson verify releases.log --server-key 8f40...c2 --totals --window 7',
    'keelson verify releases.log --server-key 8f40...c2 --export releases.parquet',
    'curl -s "http://127.0.0.1:8787/v1/releases?study=flights" | keelson verify -',
  ],
  async run({ args, io, output }) {
    const key = args['server-key'] === undefined
      ? undefined : publicKeyFlag(args['server-key'], '--server-key');
    const window = numberFlag(args.window, '--window', { whole: true, atLeast: 1 });
    if (window !== undefined && args.totals !== true) {
      throw new UsageError('--window is given without --totals: give both');
    }
    if (args.export !== undefined) exportEnding(args.export);
    const exported = args.export === undefined ? null : new ReleaseExport();
    const series = args.totals === true
      ? { separate: new ReleaseSeries(window ?? 1), running: new RunningSeries() } : null;
    const lines = logLines(bytesOf(args.file, io));
    const report = await verifyReleaseLog(lines, {
      signing, ...(key !== undefined && { serverKey: key }),
      onRelease: (release, { running }) => {
        series?.separate.take(release);
        series?.running.take(release, running?.separation);
        exported?.take(release);
      },
    });
    const { document, lastAnswers } = report;
    if (exported !== null && report.consistent) {
      await writeExport(args.export!, exported.table(document!));
    }
    output.json({
      ...report, columns: document?.columns, study: document?.study,
      lastAnswers: document === null ? undefined : answersJson(lastAnswers, document),
      ...(series !== null && { series: totalsJson(series, window) }),
    });
    describe(report, args.file === '-' ? 'standard input' : args.file, key !== undefined, output);
    if (series !== null && report.consistent && document !== null) {
      printTotals(series, window, labelsOfEach(document), output);
    }
    return report.authentic ? 0 : 1;
  },
});

async function* bytesOf(path: string, io: Io): AsyncGenerator<Uint8Array> {
  try {
    const stream = path === '-' ? io.stdin : createReadStream(path);
    for await (const chunk of stream) {
      yield typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Uint8Array);
    }
  } catch (error) {
    throw asInputError(error, path === '-' ? 'standard input' : path);
  }
}

function describe(report: LogReport, path: string, hasKey: boolean, output: Output): void {
  if (report.document !== null) {
    output.text(`study        ${report.document.study} (${report.studyId})`);
  }
  if (report.serverKey !== null) {
    output.text(`server key   ${report.serverKey}`);
    output.text(`fingerprint  ${report.fingerprint}`);
  }
  output.text(`releases     ${report.count}`
    + `${report.firstFault === null ? '' : ' verified before the fault'}`);
  if (report.firstFault !== null) {
    const { line, text, code } = report.firstFault;
    output.text(`FAILED       ${path}, line ${line}: ${text} (${code})`);
  } else if (hasKey) {
    output.text('verified     every signature, the chain and the head');
  } else {
    output.text(
      'UNVERIFIED   consistent in itself, but whose key is it? compare the fingerprint with the',
    );
    output.text('             aggregator\'s, then run again with --server-key');
  }
  const { lastAnswers, document } = report;
  if (document === null || lastAnswers.length === 0) return;
  output.text('last release');
  printAnswers(lastAnswers, document, output);
}
