import { formatNumber, type Output } from '../../base/output.js';

/** One contributor's row, and what each server holds of it, in whole steps. */
export interface HeldRow {
  readonly sent: readonly number[];
  readonly steps: readonly number[];
  readonly size: number;
  readonly holds: readonly {
    readonly server: string; readonly own: readonly number[]; readonly next: readonly number[];
  }[];
}

/** What was released, beside what only the demonstration knows. */
export interface SealedResult {
  readonly estimate: readonly number[];
  readonly honest: readonly number[];
  readonly everybody: readonly number[];
  readonly accepted: number;
  /** What each server's own ledger says was spent, in rho. */
  readonly spent: readonly { readonly server: string; readonly rho: number }[];
  readonly log: string;
  readonly serverKey: string;
}

export interface SealedStart {
  readonly servers: readonly string[];
  readonly address: string;
  readonly people: number;
  readonly hostile: number;
  readonly epochSeconds: number;
  readonly lie: readonly number[];
}

const numbers = (values: readonly number[]): string => values.map(formatNumber).join(', ');

/** What `demo sealed` prints: one page for people, or JSON lines. */
export class SealedPage {
  constructor(private readonly output: Output) {}

  started(start: SealedStart): void {
    const { output } = this;
    const { servers, people, hostile, lie, epochSeconds } = start;
    output.jsonLine({ type: 'started', ...start, against: 'reading' });
    output.text(`three servers on this machine: ${servers.join(', ')}`);
    output.text('each has a process, a key, a data folder and a ledger of its own');
    output.text('One machine protects nobody: its owner has all three servers and every row.');
    output.text('In a real study three operators run one server each.');
    output.text();
    output.text(`${people} people send minutes and kilometres of their way to work, in shares`);
    output.text(`${hostile} of them lie together, and all say ${numbers(lie)}`);
    output.text(`dashboard at ${start.address}/ for as long as this runs; the epoch is open for `
      + `${epochSeconds} s`);
    output.text();
  }

  held({ sent, steps, size, holds }: HeldRow): void {
    const { output } = this;
    output.jsonLine({ type: 'held', sent, steps, size, holds });
    output.text(`one person's row: ${numbers(sent)}. In whole steps of the range: `
      + `${steps.join(', ')}`);
    output.table(
      ['server', 'shares that it holds', ''],
      holds.map(({ server, own, next }) => [server, own.join(', '), next.join(', ')]),
    );
    output.text('Each server holds two of three shares. The three add up to the row, modulo '
      + `${size}.`);
    output.text('Two of them are random numbers, which say nothing of the row.');
    output.text();
  }

  closed(accepted: number): void {
    this.output.jsonLine({ type: 'sent', accepted });
    this.output.text(`${accepted} rows are in; waiting for the close and the release`);
    this.output.text();
  }

  released(result: SealedResult): void {
    const { output } = this;
    output.jsonLine({ type: 'released', ...result });
    output.table(['', 'minutes', 'kilometres'], [
      ['released: robust-mean with noise', ...result.estimate.map(formatNumber)],
      ['mean of the honest people', ...result.honest.map(formatNumber)],
      ['mean of all rows, liars too', ...result.everybody.map(formatNumber)],
    ]);
    output.text('Only the first line is published. This demonstration made the rows, so it knows '
      + 'the others.');
    output.text();
    output.text('The release has the signatures of all three servers. All three were verified.');
    for (const { server, rho } of result.spent) {
      output.text(`${server} charged its own ledger: rho ${formatNumber(rho)} spent`);
    }
    output.text(`check it: keelson verify ${result.log} --server-key ${result.serverKey}`);
  }
}
