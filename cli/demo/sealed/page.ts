import { wrap } from '../../base/help.js';
import { terminalColumns } from '../../base/io.js';
import { formatNumber, type Output } from '../../base/output.js';

/** One contributor's row, and each server's secret share of it, in whole steps. */
export interface HeldRow {
  readonly sent: readonly number[];
  readonly steps: readonly number[];
  readonly size: number;
  readonly holds: readonly {
    readonly server: string; readonly own: readonly number[]; readonly next: readonly number[];
  }[];
}

/** The released answer, beside facts that only the demonstration knows. */
export interface SealedResult {
  readonly estimate: readonly number[];
  readonly honest: readonly number[];
  readonly everybody: readonly number[];
  readonly accepted: number;
  /** The spending by each server's own ledger, in rho. */
  readonly spent: readonly { readonly server: string; readonly rho: number }[];
  readonly log: string;
  readonly serverKey: string;
}

export interface SealedServer {
  readonly name: string;
  readonly address: string;
  /** Its data folder, which is removed at the end. */
  readonly data: string;
  /** Path of the operator token. */
  readonly operatorToken: string;
}

export interface SealedStart {
  readonly servers: readonly SealedServer[];
  readonly people: number;
  readonly hostile: number;
  readonly epochSeconds: number;
  readonly lie: readonly number[];
}

const numbers = (values: readonly number[]): string => values.map(formatNumber).join(', ');

/**
 * The output of `demo sealed`: one page for people, or JSON lines. No line is longer than 80
 * columns, except for addresses, paths and keys.
 */
export class SealedPage {
  constructor(private readonly output: Output) {}

  started(start: SealedStart): void {
    const { output } = this;
    const { servers, people, hostile, lie, epochSeconds } = start;
    output.jsonLine({ type: 'started', ...start, against: 'reading' });
    const named = servers.map(({ name }) => name).join(', ');
    output.text(`three servers on this machine: ${named}`);
    output.text('each has a process, a key, a data folder and a ledger of its own');
    for (const { name, address, data, operatorToken } of servers) {
      output.text(`${name}: dashboard at ${address}/`);
      output.text(`  data folder ${data}`);
      output.text(`  operator token in ${operatorToken}`);
    }
    output.text('All of it is there for as long as this runs.');
    output.text('One machine protects nobody: its owner has all three servers and every row.');
    output.text('In a real study three operators run one server each.');
    output.text();
    output.text(`${people} people send minutes and kilometres of their way to work, in shares`);
    output.text(`${hostile} of them lie together, and all say ${numbers(lie)}`);
    output.text(`the epoch is open for ${epochSeconds} s`);
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
    this.#say(`Each server holds two of three shares. The three add up to the row, modulo ${size}. `
      + 'Two of them are random numbers, which say nothing of the row.');
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
    this.#say('Only the first line is published. This demonstration made the rows, so it knows '
      + 'the others.');
    output.text();
    output.text('The release has the signatures of all three servers. All three were verified.');
    for (const { server, rho } of result.spent) {
      output.text(`${server} charged its own ledger: rho ${formatNumber(rho)} spent`);
    }
    output.text('check it:');
    output.text(`  npx keelson verify ${result.log} \\\n  --server-key ${result.serverKey}`);
  }

  kept(): void {
    this.output.text();
    this.output.text('the servers stay, and people go on sending: Ctrl-C ends it');
  }

  #say(text: string): void {
    for (const line of wrap(text, terminalColumns)) this.output.text(line);
  }
}
