import { answerKeys, type Question } from '../../client/index.js';
import { listIn } from './answer.js';
import type { Asked } from './model.js';

/**
 * Names for the numbers of an answer out of the question alone, for pages that have only the signed
 * facts of a study. Absent where the columns name the numbers, or nothing does.
 */
export function labelsFrom(asked: Omit<Asked, 'labels'>): readonly string[] | undefined {
  const { estimator, parameters, columns } = asked;
  const column = typeof parameters['column'] === 'number' ? parameters['column'] : 0;
  const name = columns[column] ?? 'value';
  const list = (of: keyof Question['parameters']): readonly number[] => {
    const given: unknown = parameters[of];
    return (Array.isArray(given) ? given : listIn(given) ?? []) as readonly number[];
  };
  switch (estimator) {
    case 'quantile': return list('probabilities').map((p) => `${name} at ${p}`);
    case 'distribution': return list('probabilities').map((p) => `${name} at ${p}`);
    case 'histogram': {
      const edges = list('edges');
      if (edges.length === 0) return undefined;
      return answerKeys(asked) ?? [
        `${name} below ${edges[0]!}`,
        ...edges.slice(1).map((edge, i) => `${name} ${edges[i]!} to ${edge}`),
        `${name} from ${edges.at(-1)!}`,
      ];
    }
    default: return undefined;
  }
}
