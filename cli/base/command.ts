import { parseArgs, type ArgsDef, type ParsedArgs } from 'citty';
import { checkArguments } from './arguments.js';
import type { ExitStatus, Io } from './io.js';
import type { Output } from './output.js';

/** The context in which a command runs. */
export interface CommandContext<Arguments extends ArgsDef> {
  readonly args: ParsedArgs<Arguments>;
  /** Every value of the flags that the command lists in `repeatable`, in order. */
  readonly repeated: Readonly<Record<string, readonly string[]>>;
  readonly io: Io;
  readonly output: Output;
  /** True with `--debug`. */
  readonly debug: boolean;
}

/**
 * One command, in one file of cli/commands/. `name` equals its key in the table of
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
   * True: Ctrl-C aborts `io.interrupted`, and the command ends itself; a second Ctrl-C ends the
   * process. `once-started`: the same, but only after `io.onStarted`. Before that a signal ends the
   * process at once, even while it computes.
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

/** Gives a command its types: its arguments decide the type that `run` receives. */
export function defineCommand<const Arguments extends ArgsDef>(
  command: Command<Arguments>,
): Command<Arguments> {
  return command;
}

/**
 * Checks and parses the words after the command's name.
 * @throws UsageError that names the flag and says what to type instead.
 */
export function parseCommandArguments<Arguments extends ArgsDef>(
  command: Command<Arguments>,
  words: readonly string[],
): Pick<CommandContext<Arguments>, 'args' | 'repeated'> {
  const definitions: ArgsDef = { ...command.args, ...commonArguments };
  const checked = checkArguments(words, definitions, command.repeatable ?? []);
  return {
    args: parseArgs<Arguments>([...checked.words], definitions), repeated: checked.repeated,
  };
}
