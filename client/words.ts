/**
 * Descriptions of the numbers of an answer, their intervals, comparisons of groups, and the words
 * for findings, groups and totals, for programs and pages that show answers. It is a separate
 * entry, since other programs need none of it.
 *
 * @module keelson/client/words
 * @example
 * import { subscribe } from 'keelson/client';
 * import { findingText } from 'keelson/client/words';
 *
 * for await (const { release } of subscribe({ url: 'ws://127.0.0.1:8787', study: 'commute' })) {
 *   if (release.outcome?.kind !== 'value') continue;
 *   for (const finding of release.outcome.findings ?? []) {
 *     console.log(findingText(finding, release.columns));
 *   }
 * }
 */
export { answerKeys, describeAnswer, type Described } from '../src/answers/describe.js';
export { compareGroups, intervalOf, type GroupDifference } from '../src/answers/intervals.js';
export { leftOutText } from '../src/answers/left-out.js';
export { findingText, ifFalseText } from '../src/base/findings.js';
export type {
  BinInfo, NumberFacts, NumberInfo, NumberKind, ThresholdSide,
} from '../src/base/number-info.js';
export { answeredNumbers, partsByName } from '../src/base/parts.js';
export type { NamedPart, Nested } from '../src/base/parts.js';
export { cellEdges, type EdgeParameters } from '../src/base/running-counts.js';
export { runningText } from '../src/base/running-totals.js';
export {
  keyDoubts, lookAlikes, mixesScripts, quotedText, type KeyDoubt,
} from '../src/base/shown-text.js';
