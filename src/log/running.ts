import { oldReasons, storedNow } from '../base/old-names.js';
import type { Outcome, ValueOutcome } from '../base/outcome.js';
import { groupsCutName } from '../base/public-keys.js';
import { isRunningQuestion } from '../base/questions.js';
import { factorStep } from '../base/root-factor.js';
import { SeriesReader } from '../base/running-totals.js';
import type { ReleaseBody } from '../wire/messages.js';
import type { StudyDocument } from '../wire/study-document.js';

/** One question's series so far. */
interface Series {
  readonly reader: SeriesReader;
  epoch: bigint;
}

/**
 * Computes the running totals of a study again from what its releases state as released, to the
 * last bit. A series is a run of successive epochs with an answer. The server may begin a new one
 * at any release, and then says position 0.
 */
export class RunningCheck {
  readonly #series = new Map<string, Series>();

  constructor(private readonly document: StudyDocument) {}

  /** Takes the next release of the log. @returns what is wrong with it, in words; null if fine. */
  take(release: ReleaseBody): string | null {
    const { running } = this.document;
    const { answers } = release;
    for (const [i, { name }] of this.document.questions.entries()) {
      const { outcome } = answers[i]!;
      const fault = isRunningQuestion(running, name) ? this.#take(name, outcome, release)
        : outcome.kind === 'value' && outcome.running !== undefined
          ? 'it is a running total, which the study does not ask for' : null;
      if (fault !== null) return `the answer to ${name} is wrong: ${fault}`;
    }
    return null;
  }

  #take(question: string, outcome: Outcome, release: ReleaseBody): string | null {
    if (outcome.kind === 'refused') {
      this.#series.delete(question);
      return null;
    }
    const { running, estimate } = outcome;
    if (running === undefined) return 'it is no running total, which the study asks for';
    const before = this.#series.get(question);
    if (running.position === 0) {
      const reader = new SeriesReader(this.document.running!.separation, estimate.length);
      this.#series.set(question, { reader, epoch: release.epoch });
      return totalsFault(reader, outcome, sigmaOf(release, question));
    }
    const isNext = before !== undefined && before.epoch + 1n === release.epoch
      && before.reader.state.position === running.position
      && before.reader.state.total.length === estimate.length;
    if (!isNext) return 'its place does not follow the release before it';
    before.epoch = release.epoch;
    return totalsFault(before.reader, outcome, sigmaOf(release, question));
  }
}

function totalsFault(
  reader: SeriesReader, { estimate, uncertainty, running }: ValueOutcome, sigma: number | null,
): string | null {
  const { released } = running!;
  if (!released.every((entry) => Number.isInteger(entry / factorStep))) {
    return 'it was released off its grid';
  }
  const { totals, deviation } = reader.take(released);
  if (!estimate.every((total, i) => total === totals[i])) return 'its totals do not follow';
  if (sigma === null) return 'its noise is not among the charged mechanisms';
  return uncertainty.kind === 'gaussian'
    && uncertainty.standardDeviation.length === estimate.length
    && uncertainty.standardDeviation.every((each) => each === sigma * deviation)
    ? null : 'its deviation does not follow from the charged noise';
}

/** The deviation of the question's Gaussian noise, from the events that the release was charged. */
function sigmaOf({ mechanisms, wireForm }: ReleaseBody, question: string): number | null {
  let events: unknown;
  try {
    events = JSON.parse(mechanisms);
  } catch {
    return null;
  }
  if (!Array.isArray(events)) return null;
  const prefix = wireForm === 'short' ? '' : `${question}/`;
  const own = (events as readonly unknown[]).filter((event) => isOwn(event)
    && event.name.startsWith(prefix)
    && storedNow(oldReasons, event.name.slice(prefix.length)) !== groupsCutName);
  const [only] = own as readonly GaussianNoise[];
  return own.length === 1 ? only!.sigma : null;
}

interface GaussianNoise {
  readonly name: string;
  readonly sigma: number;
}

function isOwn(event: unknown): event is GaussianNoise {
  const { kind, name, sigma } = (event ?? {}) as Readonly<Record<string, unknown>>;
  return kind === 'gaussian' && typeof name === 'string' && typeof sigma === 'number';
}
