import { createInterface } from 'node:readline';
import { UsageError } from '../base/errors.js';
import type { Io } from '../base/io.js';

/** One value that the command needs. */
export interface Field<Value> {
  /** Name of its flag, without dashes. */
  readonly flag: string;
  /** The value of the flag; undefined if the flag is absent. */
  readonly given: string | undefined;
  /** The question to a person. */
  readonly question: string;
  /**
   * The value for an empty answer, and for a missing flag if there is nobody to ask. Absent: there
   * is no default.
   */
  readonly fallback?: string;
  /** @throws UsageError with the form that the answer must have. */
  readonly parse: (text: string) => Value;
}

/** Gets answers: from flags, else from the person at the terminal, else from defaults. */
export interface Asker {
  /** True if somebody can be asked. */
  readonly isTerminal: boolean;
  /**
   * @throws UsageError for a wrong flag, for a missing flag if nobody can be asked, and if the
   *   input ends.
   */
  ask<Value>(field: Field<Value>): Promise<Value>;
  /**
   * Asks all questions again. The first `count` that the person answered, by default all, keep
   * their answers.
   */
  startAgain(count?: number): void;
  /** The number of the person's answers that hold. */
  readonly answered: number;
  /** Shows the person a line. */
  tell(line: string): void;
  close(): void;
}

/** Thrown when the person wants to answer the question before again. See `startAgain`. */
export class WentBack extends Error {}

/** The answer that leads to the question before. */
export const backWord = 'back';

export function createAsker(io: Io): Asker {
  const isTerminal = io.stdin.isTTY === true && io.stderr.isTTY === true;
  const tell = (line: string): void => void io.stderr.write(`${line}\n`);
  // Without raw mode, Ctrl-C ends the process as usual.
  const lines = isTerminal ? createInterface({ input: io.stdin, terminal: false }) : undefined;
  const answers = lines?.[Symbol.asyncIterator]();

  const said: string[] = [];
  let replayed = 0;

  async function askPerson<Value>({ question, fallback, parse }: Field<Value>): Promise<Value> {
    const valueOf = (text: string): Value => parse(text === '' ? fallback! : text);
    if (replayed < said.length) return valueOf(said[replayed++]!);
    const shown = fallback === undefined || fallback === '' ? '' : ` [${fallback}]`;
    for (;;) {
      io.stderr.write(`${question}${shown} `);
      const answer = await answers!.next() as IteratorResult<string, undefined>;
      if (answer.done === true) {
        throw new UsageError('the answers ended before the last question: nothing is written');
      }
      const text = answer.value.trim();
      if (text === backWord) {
        said.pop();
        throw new WentBack();
      }
      try {
        if (text === '' && fallback === undefined) throw new UsageError('an answer is needed');
        const value = valueOf(text);
        replayed = said.push(text);
        return value;
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        tell(`  ${error.message}`);
      }
    }
  }

  return {
    isTerminal,
    tell,
    startAgain: (count = said.length) => {
      said.length = count;
      replayed = 0;
    },
    get answered() {
      return replayed;
    },
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
