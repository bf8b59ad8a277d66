import { writeFileSync } from 'node:fs';
import { comparedPlace } from '../../server/studies/keep/own-rows.js';
import { rewriteStudyText } from '../../server/study-file/index.js';
import { KeelsonError } from '../../src/base/errors.js';
import { UsageError } from '../base/errors.js';
import { askedText } from '../base/questions.js';
import { readStudyFiles } from '../base/study-files.js';
import { readText } from '../base/text-files.js';
import { fail, ok, warn, type Finding } from './finding.js';
import { sealedFindings } from './sealed.js';

/** Options of the checks of a study file. */
export interface StudyFileOptions {
  /** Writes the new names in place of the old ones; all else in the file stays. */
  readonly mayWrite: boolean;
  /** Asks the three servers of a sealed study too. */
  readonly asksServers: boolean;
  readonly nowMs: () => number;
}

/**
 * Looks for old names in a study file, and then whether it is a study that can be planned.
 * @throws InvalidInputError if it cannot be read; KeelsonError('invalid-study') if it is not YAML.
 */
export async function studyFileFindings(
  path: string, { mayWrite, ...options }: StudyFileOptions,
): Promise<Finding[]> {
  const before = readText(path);
  const { text, found } = rewriteStudyText(before, path);
  const names = found.map(({ line, text: said, isRewritten }): Finding => {
    const where = `line ${line}: ${said}`;
    if (!isRewritten) return fail('names', where, 'take it out by hand');
    return mayWrite ? ok('names', `${where}: rewritten`)
      : warn('names', where, 'run again with --write, which rewrites the file');
  });
  if (mayWrite && text !== before) writeFileSync(path, text);
  if (found.some(({ isRewritten }) => !(isRewritten && mayWrite))) return names;
  if (names.length === 0) names.push(ok('names', 'all are in force'));
  return [...names, ...await planned(path, options)];
}

async function planned(
  file: string, { asksServers, nowMs }: Omit<StudyFileOptions, 'mayWrite'>,
): Promise<Finding[]> {
  const { studies: [study], refused: [refusal] } = readStudyFiles([file], undefined);
  if (study === undefined) return [refusedFinding(refusal!.error)];
  const { document } = study;
  const { sealed, quarantine } = document;
  const findings = [ok('study', `${document.study} can be planned: ${askedText(document)}`)];
  if (quarantine !== undefined) {
    const { name } = document.questions[comparedPlace(document)]!;
    findings.push(ok('quarantine', `keys whose rows are more than ${quarantine.beyond} spreads `
      + `from the question ${name} are ${quarantine.automatic === true ? 'excluded' : 'shown'}`));
  }
  if (sealed === undefined) {
    if (!asksServers) return findings;
    throw new UsageError('--servers is for a sealed study, which has three: give the address of '
      + 'this one, as in "keelson doctor https://HOST"');
  }
  findings.push(ok('sealed', `by ${sealed.servers.map(({ name }) => name).join(', ')}, of whom none `
    + 'sees a row'));
  return asksServers ? [...findings, ...await sealedFindings(document, nowMs)] : findings;
}

function refusedFinding(error: unknown): Finding {
  const path = error instanceof KeelsonError ? error.details['path'] : undefined;
  return path === 'budget.population'
    ? ok('study', 'its budget is in a populations file, which is not looked at here')
    : fail('study', (error as Error).message, 'mend the file');
}
