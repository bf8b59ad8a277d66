/** The rules of budgets: the unit in which costs are added up. */
export const budgetRuleNames = ['zcdp', 'pure', 'gaussian', 'renyi'] as const;

/** The unit in which a budget adds up costs; `zcdp` suits nearly every study. */
export type BudgetRuleName = typeof budgetRuleNames[number];

/**
 * True if a budget of this rule keeps a sum of pure epsilons beside its own. If it also states its
 * releases, the facts say which noise was chosen for them.
 */
export function keepsTwoSums(rule: BudgetRuleName): boolean {
  return rule === 'zcdp' || rule === 'gaussian';
}
