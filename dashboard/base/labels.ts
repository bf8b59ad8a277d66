import { answerKeys, cellEdges, type Question } from '../../client/index.js';
import type { Asked } from './model.js';

/**
 * A name for each number of an answer, or of each key of a split one, out of the signed facts of a
 * study: those of what is asked, else the columns, else the places.
 */
export function labelsOf(asked: Asked, size: number): readonly string[] {
  const labels = labelsFrom(asked) ?? asked.columns;
  return labels.length === size ? labels
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
  const quantiles = (): readonly string[] => list('probabilities').map((p) => `${name} at ${p}`);
  const each = (of: 'components' | 'top'): readonly number[] =>
    Array.from({ length: Number(parameters[of]) || 0 }, (_, i) => i + 1);
  switch (estimator) {
    case 'count': return [parameters['of'] === 'keys' ? 'distinct keys' : 'contributors'];
    case 'share': return ['share'];
    case 'ratio': return [`${columns[0] ?? 'first'} per ${columns[1] ?? 'second'}`];
    case 'heavy-tailed-1d': return [name];
    case 'select': return ['place in the list, from 0'];
    case 'quantile': return quantiles();
    case 'distribution': return [
      ...quantiles(),
      ...(cellEdges(parameters) ?? []).map((edge) => `contributors below ${edge}`), 'contributors',
    ];
    case 'histogram': return answerKeys(asked) ?? binLabels(name, list('edges'), each('top'));
    case 'gaussian': return [
      ...columns.map((of) => `mean ${of}`),
      ...columns.flatMap((row) => columns.map((of) => `${row}, ${of}`)),
    ];
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
