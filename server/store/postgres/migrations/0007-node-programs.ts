/** The version of each node's program, so that a migration knows whether the node may go on. */
export const nodeProgramsSchema = `
ALTER TABLE nodes
  ADD COLUMN program bigint NOT NULL DEFAULT 6; -- version of the schema that the node's program writes
`;
