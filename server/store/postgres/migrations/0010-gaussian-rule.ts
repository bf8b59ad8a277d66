/** Budgets of the rule `gaussian`. */
export const gaussianRuleSchema = `
ALTER TABLE budgets
  DROP CONSTRAINT budgets_rule_check,
  ADD CONSTRAINT budgets_rule_check CHECK (rule IN ('zcdp', 'pure', 'gaussian', 'renyi'));
`;
