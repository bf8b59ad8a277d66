import { UsageError } from '../base/errors.js';
import { listFlag, numberFlag } from '../base/numbers.js';
import { sealedQuestions, yamlText, type Facts, type Question, type Server } from './questions.js';

/** Flags that nobody is asked for: most studies have none of these facts. */
export interface FactFlags {
  readonly optional?: string | undefined;
  /** Each is `name=url,key`. */
  readonly servers: readonly string[];
  readonly quarantine?: string | undefined;
}

/** @throws UsageError for a flag with another form, or servers of a question that none answers. */
export function readFacts(
  { optional, servers, quarantine }: FactFlags, question: Question,
): Facts {
  if (servers.length > 0 && !sealedQuestions.has(question)) {
    throw new UsageError(`--server is not for --question ${question}: three servers that see no row `
      + `answer ${[...sealedQuestions].join(', ')}`);
  }
  if (servers.length > 0 && servers.length !== 3) {
    throw new UsageError(`a sealed study has three servers, and --server is given `
      + `${servers.length === 1 ? 'once' : `${servers.length} times`}: give it three times`);
  }
  return {
    optional: optional === undefined ? [] : listFlag(optional, '--optional')!,
    servers: servers.length === 0 ? null : servers.map(serverOf),
    quarantine: quarantine === undefined ? null
      : numberFlag(quarantine, '--quarantine', { atLeast: 0, atMost: 1e6 }),
  };
}

/** @throws UsageError for names of no column of the study. */
export function checkOptional(
  { optional }: Facts, columns: readonly string[], by: readonly string[],
): void {
  const names = [...columns, ...by];
  const unknown = optional.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new UsageError(`--optional names "${unknown}", and the study has no such column; it has `
    + names.join(', '));
}

function serverOf(text: string): Server {
  const [, name, url, key] = /^([^=]+)=(\S+),([0-9a-fA-F]{64})$/.exec(text) ?? [];
  if (name !== undefined) return { name, url: url!, key: key! };
  throw new UsageError(`--server is NAME=URL,KEY, such as north=wss://north.example,KEY with the 64 `
    + `digits that "keelson keys server" prints, not "${text}"`);
}

/** The keys that the facts add to a study file, each with its comment. */
export function factsText({ servers, quarantine }: Facts): string {
  return [
    quarantine === null ? '' : `
# Keys whose rows are further than this from the published answers, in spreads, are shown to the
# operator, who may exclude them.
quarantine: { beyond: ${quarantine} }
`,
    servers === null ? '' : `
# Three servers of three operators hold shares of each row, and none of them sees a row. All three
# start with this file. Two of them together have the rows.
sealed:
  against: reading
  servers:
${servers.map(({ name, url, key }) => `    - name: ${yamlText(name)}
      url: ${JSON.stringify(url)}
      key: "${key}"
`).join('')}`,
  ].join('');
}
