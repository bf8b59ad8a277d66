/** Budgets of the rule `gaussian`. SQLite cannot change a check: the column is made again. */
export const gaussianRuleSchema = `
ALTER TABLE budgets RENAME COLUMN rule TO rule_before;
ALTER TABLE budgets ADD COLUMN rule TEXT NOT NULL DEFAULT 'zcdp' CHECK (rule IN ('zcdp', 'pure', 'gaussian', 'renyi')) /* unit of the amounts; fixed at creation */;
UPDATE budgets SET rule = rule_before;
ALTER TABLE budgets DROP COLUMN rule_before;
`;
