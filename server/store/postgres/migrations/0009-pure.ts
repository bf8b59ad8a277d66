/**
 * The second sum of every budget: pure epsilons, beside rho and delta (accounting/budget.ts). NULL
 * is `none`. The code of the step (rules/pure-charges.ts) adds up what charges with events cost.
 */
export const pureSchema = `
DROP FUNCTION IF EXISTS admit_list(bigint, bigint, bigint[], bigint[], bigint[], bytea[], bigint[],
  bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bytea[], bigint[],
  bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bytea[],
  bigint[], bigint[], bigint[], text[], text[], bigint[], bigint[], bigint[], text[], text[],
  bigint[], bigint[], bigint[], text[], bigint[], bigint[], bigint[], bigint[], bigint[],
  bigint[], bigint[], bigint[]);
DROP FUNCTION IF EXISTS write_spending(bigint[], bigint[], bigint[], numeric[], numeric[]);

ALTER TABLE budgets
  ADD COLUMN pure_cap numeric(60,0) NOT NULL DEFAULT 0, -- most that pure epsilons may add up to; only shrinks
  ADD COLUMN pure_spent numeric(60,0) CHECK (pure_spent >= 0), -- pure epsilons charged so far; NULL: one was not pure, or nobody knows
  ADD COLUMN pure_reserved numeric(60,0) CHECK (pure_reserved >= 0), -- pure epsilons promised to epochs; NULL as above
  DROP CONSTRAINT budgets_within_cap,
  ADD CONSTRAINT budgets_within_cap CHECK (scope = 'contributor' OR renews
    OR (rho_spent + rho_reserved <= rho_cap AND delta_spent + delta_reserved <= delta_cap)
    OR coalesce(pure_spent + pure_reserved <= pure_cap, false));
ALTER TABLE epochs
  ADD COLUMN pure numeric(60,0); -- pure epsilon of its release; NULL: not pure, or nobody knows
ALTER TABLE ledger
  ADD COLUMN pure numeric(60,0); -- amount of pure epsilon; NULL as above
ALTER TABLE contributor_spend
  ADD COLUMN pure numeric(60,0) CHECK (pure >= 0); -- pure epsilon spent so far; NULL as above
ALTER TABLE contributor_debits
  ADD COLUMN pure numeric(60,0); -- amount of pure epsilon; NULL as above
UPDATE epochs SET pure = rho WHERE study_key IN
  (SELECT study_key FROM studies JOIN budgets USING (budget_id) WHERE rule = 'pure');
UPDATE ledger SET pure = rho WHERE budget_id IN
  (SELECT budget_id FROM budgets WHERE rule = 'pure');
UPDATE contributor_spend SET pure = rho WHERE rho = 0 OR budget_id IN
  (SELECT budget_id FROM budgets WHERE rule = 'pure');
UPDATE contributor_debits SET pure = rho WHERE budget_id IN
  (SELECT budget_id FROM budgets WHERE rule = 'pure');
`;
