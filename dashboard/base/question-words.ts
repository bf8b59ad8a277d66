import type { GroupBy, RowTest, TestValue } from '../../client/index.js';
import { counted, exact, spoken, whole } from './format.js';

const value = (each: TestValue): string => (typeof each === 'number' ? exact(each) : String(each));

/** A test of the rows that count: `region is north or south`. */
export function testInWords(test: RowTest): string {
  const column = spoken(test.column);
  if ('is' in test) return `${column} is ${value(test.is)}`;
  if ('not' in test) return `${column} is not ${value(test.not)}`;
  if ('in' in test) return `${column} is ${test.in.map(value).join(' or ')}`;
  if ('atLeast' in test) return `${column} is at least ${exact(test.atLeast)}`;
  if ('below' in test) return `${column} is below ${exact(test.below)}`;
  return `${column} is ${test.present ? '' : 'not '}given`;
}

/** The origin of a split answer's groups, and the number of groups that a person counts for. */
export function keysInWords({ groupsMax, groups: keys, discover }: GroupBy): string {
  const from = discover !== undefined ? foundInWords(discover)
    : keys !== undefined ? `a list of ${whole(keys.length)}` : 'all public values';
  return `${from}; a person counts for ${counted(groupsMax, 'group')} at most`;
}

function foundInWords({ top, remember, answer }: NonNullable<GroupBy['discover']>): string {
  const again = remember === undefined ? '' : `, and ${whole(remember)} of them are shown again`;
  const alone = answer === 'groups' ? ', without counts' : '';
  return `those that most people sent, at most ${whole(top)}${alone}${again}`;
}
