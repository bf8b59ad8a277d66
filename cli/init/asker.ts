import { createInterface } from 'node:readline';
import { UsageError } from '../base/errors.js';
import type { Io } from '../base/io.js';

/** One thing that the command has to know. */
export interface Field<Value> {
  /** The flag that gives it, without dashes. */
  readonly flag: string;
  /** What stood behind the flag; undefined when it was not given. */
  readonly given: string | undefined;
  /** What a person is asked. */
  readonly question: string;
  /**
   * What an empty answer stands for, and a missing flag where nobody can be asked. Absent: it must
   * be given.
   */
  readonly fallback?: string;
  /** @throws UsageError saying what the answer must be. */
  readonly parse: (text: string) => Value;
}

/** Gets answers: from flags, else from the person at the terminal, else from defaults. */
export interface Asker {
  /** Somebody can be asked. */
  readonly isTerminal: boolean;
  /**
   * @throws UsageError for a wrong flag, for a missing one where nobody can be asked, and when the
   *   answers end.
   */
  ask<Value>(field: Field<Value>): Promise<Value>;
  /** Tells the person something. */
  tell(line: string): void;
  close(): void;
}

export function createAsker(io: Io): Asker {
  const isTerminal = io.stdin.isTTY === true && io.stderr.isTTY === true;
  const tell = (line: string): void => void io.stderr.write(`${line}\n`);
  // Not in raw mode: Ctrl-C then ends the process as everywhere.
  const lines = isTerminal ? createInterface({ input: io.stdin, terminal: false }) : undefined;
  const answers = lines?.[Symbol.asyncIterator]();

  async function askPerson<Value>({ question, fallback, parse }: Field<Value>): Promise<Value> {
    const shown = fallback === undefined || fallback === '' ? '' : ` [${fallback}]`;
    for (;;) {
      io.stderr.write(`${question}${shown} `);
      const answer = await answers!.next() as IteratorResult<string, undefined>;
      if (answer.done === true) {
        throw new UsageError('the answers ended before the last question: nothing is written');
      }
      const text = answer.value.trim();
      try {
        if (text === '' && fallback === undefined) throw new UsageError('an answer is needed');
        return parse(text === '' ? fallback! : text);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        tell(`  ${error.message}`);
      }
    }
  }

  return {
    isTerminal,
    tell,
    ask: async (field) => {
      if (field.given !== undefined) return field.parse(field.given);
      if (isTerminal) return askPerson(field);
      if (field.fallback !== undefined) return field.parse(field.fallback);
      throw new UsageError(
        `--${field.flag} is missing: give it, or run the command in a terminal, where it asks`,
      );
    },
    close: () => lines?.close(),
  };
}
