import { parseArgs, type ArgsDef, type ParsedArgs } from 'citty';
import { checkArguments } from './arguments.js';
import type { ExitStatus, Io } from './io.js';
import type { Output } from './output.js';

/** What a running command works with. */
export interface CommandContext<Arguments extends ArgsDef> {
  readonly args: ParsedArgs<Arguments>;
  /** Every value of the flags that the command lists in `repeatable`, in order. */
  readonly repeated: Readonly<Record<string, readonly string[]>>;
  readonly io: Io;
  readonly output: Output;
}

/**
 * One command, in one file of cli/commands/. `name` repeats its key in the table of
 * cli/commands/table.ts, which loads the file only when the command runs.
 */
export interface Command<Arguments extends ArgsDef = ArgsDef> {
  readonly name: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  /** Paragraphs for its help. */
  readonly details?: readonly string[];
  /** Kebab-case names, as typed. `--json`, `--debug` and `--help` are added to every command. */
  readonly args: Arguments;
  /** Flags that may be given several times. */
  readonly repeatable?: readonly string[];
  /** At least one, shown in its help. */
  readonly examples: readonly string[];
  /**
   * True: Ctrl-C aborts `io.interrupted` and the command ends by itself; a second one kills. `once-started`: from
   * `io.onStarted` on; before it a signal ends the process at once, also one that computes.
   */
  readonly stopsGently?: boolean | 'once-started';
  run(context: CommandContext<Arguments>): Promise<ExitStatus>;
}

/** Flags of every command. */
export const commonArguments = {
  json: { type: 'boolean', description: 'print JSON on standard output and nothing else there' },
  debug: { type: 'boolean', description: 'print stack traces of errors' },
  help: { type: 'boolean', alias: 'h', description: 'print this help' },
} as const satisfies ArgsDef;

/** Gives a command its types; the arguments decide what `run` sees. */
export function defineCommand<const Arguments extends ArgsDef>(command: Command<Arguments>): Command<Arguments> {
  return command;
}

/**
 * Checks and parses what follows the command's name.
 * @throws UsageError naming the flag and what to type instead.
 */
export function parseCommandArguments<Arguments extends ArgsDef>(
  command: Command<Arguments>,
  words: readonly string[],
): Pick<CommandContext<Arguments>, 'args' | 'repeated'> {
  const definitions: ArgsDef = { ...command.args, ...commonArguments };
  const checked = checkArguments(words, definitions, command.repeatable ?? []);
  return { args: parseArgs<Arguments>([...checked.words], definitions), repeated: checked.repeated };
}
