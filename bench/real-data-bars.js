// Cells and bars of bench/real-data.js: what was measured, in words.
const atShare = (list, part) => [...list].sort((a, b) => a - b)[Math.floor(part * list.length)];
const median = (list) => atShare(list, 0.5);
const average = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
const rootMeanSquare = (list) => Math.sqrt(average(list.map((value) => value ** 2)));
const short = (value) => (value === null || value === undefined || Number.isNaN(value)
  ? 'none' : !Number.isFinite(value) ? 'refused' : value.toPrecision(3));
/** A refusal is the worst answer. */
const errorOf = ({ kind, error }) => (kind === 'value' ? error : Infinity);
const stated = (lines, field) => lines.filter(({ kind, [field]: value }) =>
  kind === 'value' && value !== null && value !== undefined);
const sharing = (lines, field) => {
  const own = stated(lines, field);
  return own.length === 0 ? null : average(own.map((line) => line[field]));
};

function groupsOf(lines, keyOf) {
  const groups = new Map();
  for (const line of lines) {
    const key = keyOf(line);
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups].map(([key, own]) => ({ key, own, ...own[0] }));
}

const cells = (lines) => groupsOf(lines, ({ part, rows, attack, contributors }) =>
  `${part}, ${rows}, ${attack}, n = ${contributors}`);

/** Radius over error, median. null: no radius. */
function radiusOverError(own) {
  const all = stated(own, 'radius').filter(({ inScales }) => inScales > 0);
  return all.length === 0 ? null : median(all.map(({ radius, inScales }) => radius / inScales));
}

function cellText({ key, own }) {
  const answered = own.filter(({ kind }) => kind === 'value');
  const refused = own.length - answered.length;
  if (answered.length === 0) return `${key}: ${own[0].reason ?? own[0].text}`;
  const scales = stated(own, 'scale').flatMap(({ scale }) => scale);
  const found = [...new Set(answered.flatMap(({ findings }) => findings ?? []))];
  return `${key}: error ${short(median(answered.map(({ error }) => error)))}, from the truth `
    + `${short(rootMeanSquare(answered.map(({ fromTruth }) => fromTruth)))} (clipped mean `
    + `${short(rootMeanSquare(answered.map(({ clipped }) => clipped)))}), interval95 holds `
    + `${short(sharing(own, 'holds'))}, if hostile ${short(sharing(own, 'holdsIfHostile'))}, radius `
    + `${short(radiusOverError(own))} errors, scale ${short(scales.length === 0
      ? null : Math.min(...scales))} to ${short(scales.length === 0 ? null : Math.max(...scales))}`
    + `${found.length === 0 ? '' : `, ${found.join(' ')}`}`
    + `${refused === 0 ? '' : `, ${refused} of ${own.length} refused`}`;
}

/** A line for each cell: the median error, the intervals, the scale and the refusals. */
export const cellsOf = (lines) => cells(lines).map(cellText);

const namedAtMost = 10;

/** One bar: the figures of its cells that miss it. A cell without the figure misses it. */
function bar(name, list, figureOf, allowed) {
  if (list.length === 0) return [];
  const all = list.map((cell) => {
    const [figure, limit] = [figureOf(cell), allowed(cell)];
    return { ...cell, figure, isMet: figure !== null && (typeof limit === 'function'
      ? limit(figure) : figure <= limit) };
  });
  const missing = all.filter(({ isMet }) => !isMet);
  const named = missing.slice(0, namedAtMost).map(({ rows, attack, figure }) =>
    `${rows}${attack === 'none' ? '' : ` ${attack}`} ${short(figure)}`);
  const more = missing.length - named.length;
  return [`bar ${name}: ${all.length - missing.length} of ${all.length} cells`
    + `${missing.length === 0 ? '' : `; not ${named.join(', ')}`}`
    + `${more > 0 ? ` and ${more} more` : ''}`];
}

const medianError = ({ own }) => median(own.map(errorOf));
const overClipped = ({ own }) => (own.some(({ kind }) => kind !== 'value') ? Infinity
  : rootMeanSquare(own.map(({ fromTruth }) => fromTruth))
    / rootMeanSquare(own.map(({ clipped }) => clipped)));
const atLeast = (limit) => (figure) => figure >= limit;
const widestRatio = ({ own }) => {
  const all = stated(own, 'scale');
  if (all.length === 0) return null;
  return Math.max(...all.flatMap(({ scale: [low, high] }) => [1 / low, high]));
};
const apart = new Set(
  ['ones', 'alternating', 'direction', 'coordinate', 'point', 'two-clusters'],
);

function barOfAttack({ rows, attack }) {
  if (attack === 'far' || attack === 'pairs') return 0.03;
  if (rows === 'normal' && apart.has(attack)) return 0.02;
  if (rows === 'normal' && (attack === 'dense' || attack === 'cluster')) return 0.06;
  return attack === 'tail-mimic' ? 0.33 : 0.25;
}

function barOfClean({ rows }) {
  if (rows === 'normal') return 1.15;
  return rows === 'lognormal-correlated' || rows === 'student' ? 1.4 : 1.25;
}

/** The share of runs that rightly say, or do not say, that rows are skewed. */
function skewBar({ rows, own }) {
  const all = stated(own, 'findings');
  if (all.length === 0) return null;
  const said = average(all.map(({ findings }) => (findings.includes('skewed') ? 1 : 0)));
  return rows === 'normal' ? 1 - said : said;
}

/** Figures beside the bars that they should meet: a line for each bar that has cells. */
export function barsOf(lines) {
  const of = (part) => cells(lines.filter((line) => line.part === part));
  const [clean, attacked, normal] = [of('clean'), of('attacks'), of('normal')];
  const hostile = attacked.filter(({ attack }) => attack !== 'none');
  const [plain, narrow] = ['normal', 'condition-1e4'].map((name) =>
    normal.filter(({ rows }) => rows === name));
  const large = hostile.filter(({ own }) => medianError({ own }) > 0.08
    && Number.isFinite(medianError({ own })));
  return [
    bar('1, scale within 1 / 1.25 and 1.5 deviations (Bernoulli .01: 2)',
      clean.filter(({ rows }) => rows !== 'one-constant'), widestRatio,
      ({ rows, own }) => (rows === 'bernoulli-.01' ? 2
        : () => stated(own, 'scale').every(({ scale: [low, high] }) => low >= 0.8 && high <= 1.5))),
    bar('1, a twentieth in one column makes at most 1.8',
      attacked.filter(({ rows, attack }) => rows === 'normal' && attack === 'coordinate'),
      widestRatio, () => 1.8),
    bar('1, no clean shape is refused', clean,
      ({ own }) => own.filter(({ kind }) => kind !== 'value').length, () => 0),
    bar('2, error over that of the clipped mean (1.25; normal 1.15; 1.4)', clean, overClipped,
      barOfClean),
    bar('2, flights within .005 of the honest mean in every release', of('flights'),
      ({ own }) => Math.max(...own.map(errorOf)), () => 0.005),
    bar('3, median error under attack', hostile, medianError, barOfAttack),
    bar('4, shape normal: median error at most .04', plain, medianError, () => 0.04),
    bar('4, shape normal, condition 10^4: at most .15', narrow, medianError, () => 0.15),
    bar('4, shape normal, condition 10^4: at most .05 in half',
      narrow.length === 0 ? [] : [{ ...narrow[0], attack: 'half of the attacks' }],
      () => median(narrow.map(medianError)), () => 0.05),
    bar('5, interval95 holds in .95 of the clean columns', clean, ({ own }) =>
      sharing(own, 'holds'), () => atLeast(0.95)),
    bar('5, intervalIfHostile95 holds in .95 of the columns', hostile, ({ own }) =>
      sharing(own, 'holdsIfHostile'), () => atLeast(0.95)),
    bar('5, radius at most 4 errors, where the error is above .08', large, ({ own }) =>
      radiusOverError(own), () => 4),
    bar('7, skewed is said (normal rows: is not said)', [...of('diagnosis'), ...of('flights')],
      skewBar, ({ rows }) => atLeast(rows === 'normal' ? 0.98 : 0.95)),
  ].flat();
}
