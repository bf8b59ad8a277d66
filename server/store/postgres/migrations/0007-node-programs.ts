/** What kind of program a node is, so that a migration knows whether it may go on. */
export const nodeProgramsSchema = `
ALTER TABLE nodes
  ADD COLUMN program bigint NOT NULL DEFAULT 6; -- version of the schema that the node's program writes
`;
