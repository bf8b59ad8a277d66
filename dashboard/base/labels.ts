import { answerKeys, cellEdges, type NamedPart, type Question } from '../../client/index.js';
import type { Asked } from './model.js';

/**
 * A name for each number of an answer, or of each key of a split one, out of the signed facts of a
 * study: those of what is asked, else the columns, else the parts of the answer and the places.
 */
export function labelsOf(
  asked: Asked, size: number, parts: readonly NamedPart[] = [],
): readonly string[] {
  const labels = labelsFrom(asked) ?? asked.columns;
  if (labels.length === size) return labels;
  const places = parts.flatMap(({ name, shape }) => Array.from(
    { length: shape.reduce((product, each) => product * each, 1) },
    (_, i) => (shape.length === 1 && shape[0] === asked.columns.length
      ? `${name} of ${asked.columns[i]!}` : `${name} ${i + 1}`),
  ));
  return places.length === size ? places
    : Array.from({ length: size }, (_, place) => `number ${place + 1} of ${size}`);
}

/** Absent where the columns name the numbers, or nothing does. */
function labelsFrom(asked: Asked): readonly string[] | undefined {
  const { estimator, parameters, columns } = asked;
  const column = typeof parameters['column'] === 'number' ? parameters['column'] : 0;
  const name = columns[column] ?? 'value';
  const list = (of: keyof Question['parameters']): readonly number[] => {
    const given: unknown = parameters[of];
    return (Array.isArray(given) ? given : listIn(given) ?? []) as readonly number[];
  };
  const quantiles = list('probabilities').map((p) => `${name} at ${p}`);
  const each = (of: 'components' | 'top'): readonly number[] =>
    Array.from({ length: Number(parameters[of]) || 0 }, (_, i) => i + 1);
  const pairs = columns.flatMap((row) => columns.map((of) => `${row}, ${of}`));
  switch (estimator) {
    case 'covariance': case 'stable-covariance': return pairs;
    case 'subspace': return [...pairs, 'rank'];
    case 'count': return [parameters['of'] === 'keys' ? 'distinct keys' : 'people'];
    case 'ratio': return [columns.join(' per ')];
    case 'heavy-tailed-1d': return [name];
    case 'quantile': return quantiles;
    case 'distribution': return [
      ...quantiles,
      ...(cellEdges(parameters) ?? []).map((edge) => `contributors below ${edge}`), 'contributors',
    ];
    case 'histogram': return answerKeys(asked) ?? binLabels(name, list('edges'), each('top'));
    case 'gaussian': return [...columns.map((of) => `mean ${of}`), ...pairs];
    case 'mixture-1d': return each('components').flatMap((k) =>
      ['weight', 'mean', 'deviation'].map((what) => `${what} ${k}`));
    case 'mixture': return [
      ...each('components').map((k) => `weight ${k}`),
      ...each('components').flatMap((k) => columns.map((of) => `mean ${k} of ${of}`)),
      ...each('components').flatMap((k) => columns.flatMap((one) =>
        columns.map((other) => `covariance ${k} of ${one}, ${other}`))),
    ];
    default: return undefined;
  }
}

function binLabels(
  name: string, edges: readonly number[], found: readonly number[],
): readonly string[] {
  if (edges.length === 0) {
    return found.flatMap((k) => [`${name}, bin ${k} from`, `${name}, bin ${k} count`]);
  }
  return [
    `${name} below ${edges[0]!}`,
    ...edges.slice(1).map((edge, i) => `${name} ${edges[i]!} to ${edge}`),
    `${name} from ${edges.at(-1)!}`,
  ];
}

/** A list parameter is sent as JSON; null for anything else. */
export function listIn(parameter: unknown): readonly unknown[] | null {
  if (typeof parameter !== 'string' || !parameter.startsWith('[')) return null;
  try {
    const list: unknown = JSON.parse(parameter);
    return Array.isArray(list) ? list : null;
  } catch {
    return null;
  }
}
