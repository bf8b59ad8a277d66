/**
 * The second sum of every budget: pure epsilons, beside rho and delta (accounting/budget.ts). NULL
 * is `none`. The code of the step (rules/pure-charges.ts) adds up what charges with events cost.
 * Where a column is added to a table, SQLite keeps comments of this form only.
 */
export const pureSchema = `
ALTER TABLE budgets ADD COLUMN pure_cap TEXT NOT NULL DEFAULT '0' /* most that pure epsilons may add up to; only shrinks */;
ALTER TABLE budgets ADD COLUMN pure_spent TEXT /* pure epsilons charged so far; NULL: one was not pure, or nobody knows */;
ALTER TABLE budgets ADD COLUMN pure_reserved TEXT /* pure epsilons promised to epochs; NULL as above */;
ALTER TABLE epochs ADD COLUMN pure TEXT /* pure epsilon of its release; NULL: not pure, or nobody knows */;
ALTER TABLE ledger ADD COLUMN pure TEXT /* amount of pure epsilon; NULL as above */;
ALTER TABLE contributor_spend ADD COLUMN pure TEXT /* pure epsilon spent so far; NULL as above */;
ALTER TABLE contributor_debits ADD COLUMN pure TEXT /* amount of pure epsilon; NULL as above */;
UPDATE epochs SET pure = rho WHERE study_key IN
  (SELECT study_key FROM studies JOIN budgets USING (budget_id) WHERE rule = 'pure');
UPDATE ledger SET pure = rho WHERE budget_id IN
  (SELECT budget_id FROM budgets WHERE rule = 'pure');
UPDATE contributor_spend SET pure = rho WHERE rho = '0' OR budget_id IN
  (SELECT budget_id FROM budgets WHERE rule = 'pure');
UPDATE contributor_debits SET pure = rho WHERE budget_id IN
  (SELECT budget_id FROM budgets WHERE rule = 'pure');
`;
