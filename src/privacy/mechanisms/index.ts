import { assert } from '../../base/assert.js';
import type { Released, Sensitive } from '../../base/brands.js';
import { openSensitive, releasedByMechanism } from '../../base/wrappers.js';
import { InvariantError } from '../../base/errors.js';
import { checkList, checkObject } from '../../base/given.js';
import { Coins } from '../../random/samplers/coins.js';
import type { NoiseSource } from '../../random/source.js';
import { checkEvents, placeInMenu } from '../accounting/event-check.js';
import type { MechanismEvent } from '../accounting/events.js';
import type {
  FoundKeys, KeptBin, KeptKey, KeptSums, Mechanisms, PlaceTable, Scores,
} from './contract.js';
import type { Draw } from './draw.js';
import { drawExponential } from './exponential.js';
import { drawGaussian } from './gaussian.js';
import { drawHistogram } from './histogram.js';
import { drawGroupHistogram } from './group-histogram.js';
import { drawGroupSums } from './group-sums.js';
import { drawGroupWeights } from './group-weights.js';
import { drawLaplace } from './laplace.js';
import { drawMask } from './masking.js';
import { drawMode } from './mode.js';
import { suppliesOf, type NoiseSupply } from './supply.js';
import { drawSymmetricGaussian } from './symmetric-gaussian.js';
import { drawThreshold } from './threshold.js';

type Kind = MechanismEvent['kind'];
type EventOf<K extends Kind> = Extract<MechanismEvent, { readonly kind: K }>;

interface Entry {
  readonly event: MechanismEvent;
  /** Calls that are left; of a keyed event for each key that had a call, by its place. */
  left: number;
  readonly byKey: Map<number, Entry>;
  /** Made at the first call: samplers take time to set up. */
  supplies: readonly NoiseSupply[] | null;
}

/** Mechanisms whose noise can be drawn before there is a value to add it to. */
export interface PreparedMechanisms extends Mechanisms {
  /**
   * Draws up to `limit` of the noise values that are not drawn yet. Returns how many it drew; 0
   * when all are ready. Two kinds of draw are never made ahead: masks, and the bins and keys of a
   * histogram past the first ones (see mechanisms/supply). Their time depends on the data, and so
   * does that of a choice among scores, so a server shows a release only after a planned time.
   * Values drawn ahead exist in memory only. Each is used once or never, and it reveals nothing
   * before it is added to something.
   */
  prepare(limit: number): number;
}

/** The gate from sensitive to released values: every draw was charged. */
class ChargedMechanisms implements PreparedMechanisms {
  readonly #entries: ReadonlyMap<string, Entry>;
  /** The choice that each key has made in each menu. */
  readonly #choices = new Map<string, number>();
  readonly #coins: Coins;

  constructor(events: readonly MechanismEvent[], noise: NoiseSource) {
    checkEvents(events);
    // Copies, so that a plan whose events change afterwards cannot weaken noise that was charged.
    this.#entries =
      new Map(events.map((event) => [event.name, entryOf(Object.freeze({ ...event }))]));
    this.#coins = new Coins(noise);
  }

  gaussian(event: string, value: Sensitive<Float64Array>): Released<Float64Array> {
    const spent = this.#spend(event, ['gaussian']);
    return releasedByMechanism(
      drawGaussian(this.#draw(event), spent, vector(value, spent.dimension)),
    );
  }

  symmetricGaussian(event: string, value: Sensitive<Float64Array>): Released<Float64Array> {
    const spent = this.#spend(event, ['symmetric-gaussian']);
    const content = vector(value, spent.dimension ** 2);
    return releasedByMechanism(
      drawSymmetricGaussian(this.#draw(event), this.#draw(event, 1), spent, content),
    );
  }

  laplace(event: string, value: Sensitive<Float64Array>): Released<Float64Array> {
    const spent = this.#spend(event, ['laplace']);
    return releasedByMechanism(
      drawLaplace(this.#draw(event), spent, vector(value, spent.dimension)),
    );
  }

  threshold(event: string, value: Sensitive<number>): Released<boolean> {
    const spent = this.#spend(event, ['gaussian-threshold']);
    const content = openSensitive(value);
    assert(Number.isFinite(content), 'a value that a mechanism is given is finite');
    return releasedByMechanism(drawThreshold(this.#draw(event), spent, content));
  }

  mode(event: string, labels: Sensitive<readonly string[]>): Released<string | null> {
    const spent = this.#spend(event, ['gaussian-threshold']);
    return releasedByMechanism(drawMode(this.#draw(event), spent, openSensitive(labels)));
  }

  histogram(
    event: string,
    counts: Sensitive<readonly ReadonlyMap<number, number>[]>,
  ): Released<readonly (readonly KeptBin[])[]> {
    const spent = this.#spend(event, ['gaussian-histogram']);
    const content = openSensitive(counts);
    assert(
      content.length === spent.coordinates,
      'a histogram has the number of coordinates that was charged',
    );
    return releasedByMechanism(drawHistogram(this.#draw(event), spent, content));
  }

  groupHistogram(
    event: string, counts: Sensitive<ArrayLike<number>>, keys: Sensitive<FoundKeys>,
    known: readonly (readonly string[])[] = [],
  ): Released<readonly KeptKey[]> {
    const spent = this.#spend(event, ['group-histogram', 'group-weights']);
    const given = [openSensitive(counts), { found: openSensitive(keys), known }] as const;
    const draw = this.#draw(event);
    return releasedByMechanism(spent.kind === 'group-weights'
      ? drawGroupWeights(draw, spent, ...given) : drawGroupHistogram(draw, spent, ...given));
  }

  groupSums(
    event: string, table: Sensitive<PlaceTable>, keys: Sensitive<FoundKeys>,
    known: readonly (readonly string[])[] = [],
  ): Released<readonly KeptSums[]> {
    const spent = this.#spend(event, ['group-sums']);
    return releasedByMechanism(drawGroupSums(
      [this.#draw(event), this.#draw(event, 1)], spent, openSensitive(table),
      { found: openSensitive(keys), known },
    ));
  }

  exponential(event: string, scores: Sensitive<Scores>): Released<number> {
    const spent = this.#spend(event, ['exponential']);
    return releasedByMechanism(
      drawExponential(this.#draw(event), spent, choiceOf(scores, spent.candidates)),
    );
  }

  mask(event: string, value: Sensitive<Float64Array>): Released<Float64Array> {
    const spent = this.#spend(event, ['wishart-mask', 'affine-mask']);
    const content = vector(value, spent.dimension ** 2);
    return releasedByMechanism(drawMask(this.#coins, spent, content));
  }

  prepare(limit: number): number {
    let drawn = 0;
    for (const entry of this.#entries.values()) {
      // Which choice of a menu is drawn for a key is not known yet.
      if (entry.event.keyed !== undefined) continue;
      for (const supply of this.#suppliesOf(entry)) {
        if (drawn < limit) drawn += supply.prepare(limit - drawn);
      }
    }
    return drawn;
  }

  #suppliesOf(entry: Entry): readonly NoiseSupply[] {
    entry.supplies ??= suppliesOf(this.#coins, entry.event);
    return entry.supplies;
  }

  #draw(name: string, place = 0): Draw {
    return this.#suppliesOf(this.#entryOf(name)!)[place]!.next;
  }

  /** The entry of an event, or of one key of a keyed event: `name#key`. */
  #entryOf(name: string): Entry | undefined {
    const [, base, digits] = /^(.*)#(0|[1-9]\d{0,8})$/.exec(name) ?? [];
    const entry = this.#entries.get(base ?? name);
    const keyed = entry?.event.keyed;
    if (entry === undefined || (keyed === undefined) !== (base === undefined)) return undefined;
    if (keyed === undefined) return entry;
    const key = Number(digits);
    if (key >= keyed.keys) return undefined;
    const { menu, choice } = placeInMenu(base!);
    const made = this.#choices.get(`${menu}#${key}`) ?? choice;
    if (made !== choice) {
      throw new InvariantError(`key ${key} drew from choice ${made} of ${menu}, so ${name} is not `
        + 'charged');
    }
    this.#choices.set(`${menu}#${key}`, choice);
    const own = entry.byKey.get(key) ?? entryOf(entry.event);
    entry.byKey.set(key, own);
    return own;
  }

  /** Uses up one call of the event, before any noise is used. */
  #spend<K extends Kind>(name: string, kinds: readonly K[]): EventOf<K> {
    const entry = this.#entryOf(name);
    if (entry === undefined) throw new InvariantError(`no event ${name} was charged`);
    if (!(kinds as readonly Kind[]).includes(entry.event.kind)) {
      throw new InvariantError(`event ${name} was charged as ${entry.event.kind}, not as `
        + `${kinds.join(' or ')}`);
    }
    if (entry.left === 0) {
      throw new InvariantError(`event ${name} was drawn as often as it was charged`);
    }
    entry.left -= 1;
    return entry.event as EventOf<K>;
  }
}

function entryOf(event: MechanismEvent): Entry {
  const left = event.kind === 'exponential' ? event.times : 1;
  return { event, left, byKey: new Map(), supplies: null };
}

/**
 * Opens an estimator's value and checks that it is finite and has the charged length. Messages hold
 * no values.
 */
function vector(value: Sensitive<Float64Array>, length: number): Float64Array {
  const content = openSensitive(value);
  assert(content.length === length, 'a value has the length that was charged');
  for (const entry of content) {
    assert(Number.isFinite(entry), 'a value that a mechanism is given is finite');
  }
  return content;
}

/** Opens a list of scores, or runs of them, and checks them as `vector` does. */
function choiceOf(value: Sensitive<Scores>, candidates: number): Scores {
  const content = openSensitive(value);
  if (content instanceof Float64Array) return vector(value as Sensitive<Float64Array>, candidates);
  for (const score of content.scores) {
    assert(Number.isFinite(score), 'a value that a mechanism is given is finite');
  }
  for (const length of content.lengths) {
    assert(Number.isSafeInteger(length) && length >= 0, 'a run has a whole number of candidates');
  }
  return content;
}

/**
 * The only way from Sensitive to Released: draws noise for the events of one plan, each as often as
 * it was charged.
 * @throws InvalidParameterError when an event is malformed or two events share a name. Methods
 *   throw InvariantError on an unknown, exhausted or mismatched event, and on a value that has
 *   another length or is not finite.
 */
export function createMechanisms(
  events: readonly MechanismEvent[], noise: NoiseSource,
): PreparedMechanisms {
  checkList(events, 'events are those of a plan, and an infeasible plan has none');
  checkObject(noise, 'noise is a source of noise, like secureNoise()');
  return new ChargedMechanisms(events, noise);
}
