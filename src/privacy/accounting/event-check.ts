import { log2 } from '../../base/elementary.js';
import { InvalidParameterError } from '../../base/errors.js';
import { checkList, checkObject } from '../../base/given.js';
import type { MechanismEvent } from './events.js';
import { maskDivergence } from './masking.js';

/** Grids outside this range would overflow when a double is counted in steps. */
const gridMinimum = 2 ** -300;
const gridMaximum = 2 ** 300;
/** exp(epsilon) and numbers near it must stay doubles. No sensible release comes close to this. */
const epsilonMaximum = 500;

/** The fields of each kind of event besides kind, name and cohort, and the rule for each field. */
const fields: Readonly<
  Record<MechanismEvent['kind'], Readonly<Record<string, keyof typeof rules>>>
> = {
  gaussian: { dimension: 'count', sensitivity: 'positive', sigma: 'positive', grid: 'grid' },
  'symmetric-gaussian': {
    dimension: 'count', sensitivity: 'positive', sigma: 'positive', grid: 'grid',
  },
  laplace: { dimension: 'count', sensitivity: 'positive', scale: 'positive', grid: 'grid' },
  'gaussian-threshold': {
    sensitivity: 'positive', sigma: 'positive', delta: 'probability', floor: 'finite', grid: 'grid',
  },
  'gaussian-histogram': {
    coordinates: 'count', sigma: 'positive', delta: 'probability', grid: 'countGrid',
  },
  'group-histogram': {
    groupsMax: 'count', prefilter: 'count', sigma: 'positive', delta: 'probability',
    grid: 'countGrid',
  },
  'group-weights': {
    groupsMax: 'count', sigma: 'positive', delta: 'probability', grid: 'countGrid',
  },
  'group-sums': {
    groupsMax: 'count', prefilter: 'count', values: 'count', sigma: 'positive',
    sumsSigma: 'positive', delta: 'probability', grid: 'countGrid', sumsGrid: 'grid',
  },
  exponential: { candidates: 'count', sensitivity: 'positive', epsilon: 'epsilon', times: 'count' },
  'wishart-mask': { dimension: 'count', samples: 'count', logDistance: 'positive', order: 'order' },
  'affine-mask': {
    dimension: 'count', spread: 'positive', logDistance: 'positive', order: 'order',
  },
};

/** Fields that an event of any kind may have. */
const common: ReadonlySet<string> =
  new Set(['kind', 'name', 'cohort', 'keyed', 'presence']);

const rules = {
  finite: { test: (value: number) => Number.isFinite(value), text: 'a finite number' },
  positive: {
    test: (value: number) => value > 2 ** -1000 && value < 2 ** 1000, text: 'a number above 0',
  },
  count: { test: (value: number) =>
    Number.isSafeInteger(value) && value >= 1, text: 'a whole number of at least 1' },
  order: { test: (value: number) => value > 1 && value <= 2 ** 40, text: 'above 1' },
  epsilon: {
    test: (value: number) => value > 2 ** -200 && value <= epsilonMaximum, text: 'in (0, 500]',
  },
  probability: { test: (value: number) => value > 2 ** -1000 && value <= 0.5, text: 'in (0, 0.5]' },
  grid: { test: isGrid, text: 'a power of two in [2^-300, 2^300]' },
  countGrid: {
    test: (value: number) => isGrid(value) && value <= 1,
    text: 'a power of two of at most 1, so that counts lie on the grid',
  },
} as const;

function isGrid(value: number): boolean {
  return value >= gridMinimum && value <= gridMaximum
    && 2 ** Math.round(log2(value)) === value;
}

/**
 * Refuses an event of an unknown kind, with an unknown or missing member, or with a number outside
 * its range.
 * @throws InvalidParameterError that names the event, the member and its rule.
 */
export function checkEvent(event: MechanismEvent): void {
  const members = event as unknown as Readonly<Record<string, unknown>>;
  if (typeof members['kind'] !== 'string' || !Object.hasOwn(fields, members['kind'])) {
    throw new InvalidParameterError(
      'a mechanism event has an unknown kind', { kind: members['kind'] },
    );
  }
  for (const name of ['name', 'cohort']) {
    const text = members[name];
    if (typeof text !== 'string' || text.length === 0 || text.length > 200) {
      throw new InvalidParameterError(
        `a mechanism event's ${name} is a text of 1 to 200 characters`, { [name]: text },
      );
    }
  }
  const expected = fields[event.kind];
  for (const name in expected) {
    const rule = rules[expected[name]!];
    const value = members[name];
    if (typeof value !== 'number' || !rule.test(value)) {
      throw new InvalidParameterError(
        `event ${event.name}: ${name} must be ${rule.text}`, { kind: event.kind, value },
      );
    }
  }
  if ((event.kind === 'wishart-mask' || event.kind === 'affine-mask')
      && !Number.isFinite(maskDivergence(event))) {
    throw new InvalidParameterError(
      `event ${event.name}: at order ${event.order} the divergence is not finite; the distance `
        + 'must be smaller',
      {},
    );
  }
  if (event.keyed !== undefined) checkKeyed(event);
  if (event.presence !== undefined && !(event.presence > 0 && event.presence <= 1)) {
    throw new InvalidParameterError(
      `event ${event.name}: presence must be in (0, 1]`, { presence: event.presence },
    );
  }
  const surplus = Object.keys(members)
    .find((name) => !common.has(name) && !Object.hasOwn(expected, name));
  if (surplus !== undefined) {
    throw new InvalidParameterError(
      `event ${event.name}: ${surplus} is not a member of ${event.kind}`, {},
    );
  }
}

const keyedName = /^([^@#]+)@(\d+)\/[^@#]+$/;

/** The menu of a keyed event and its choice in the menu. @throws as `checkEvent` does. */
export function placeInMenu(name: string): { readonly menu: string; readonly choice: number } {
  const [, menu, choice] = keyedName.exec(name) ?? [];
  if (menu !== undefined) return { menu, choice: Number(choice) };
  throw new InvalidParameterError(`the name of the keyed event ${name} is not menu@choice/name`);
}

function checkKeyed({ name, kind, keyed }: MechanismEvent): void {
  placeInMenu(name);
  if (kind === 'wishart-mask' || kind === 'affine-mask') {
    throw new InvalidParameterError(`event ${name}: a mask cannot be drawn for each key`);
  }
  const { keys, groupsMax, ...surplus } = keyed!;
  if (rules.count.test(keys) && rules.count.test(groupsMax) && Object.keys(surplus).length === 0) {
    return;
  }
  throw new InvalidParameterError(
    `event ${name}: keyed is { keys, groupsMax }, whole numbers of at least 1`, { keys, groupsMax },
  );
}

/** Checks every event, and that names are unique. @throws InvalidParameterError. */
export function checkEvents(events: readonly MechanismEvent[]): void {
  checkList(events, 'events are those of a plan, and an infeasible plan has none');
  const names = new Set<string>();
  for (const event of events) {
    checkObject(event, 'an event is one of plan.events');
    checkEvent(event);
    if (names.has(event.name)) {
      throw new InvalidParameterError(
        `two mechanism events are called ${event.name}; names are unique in a plan`,
      );
    }
    names.add(event.name);
  }
}
