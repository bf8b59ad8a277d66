/**
 * Whose presence is protected. `secret`: one contributor's whole contribution replaced by
 * anything, including nothing. `public`: contents only; presence is public and unprotected.
 */
export type Participation = 'secret' | 'public';

/** One parameter of an estimator, as study files and plans hold it. */
export type ParameterValue = number | string | boolean | readonly number[];
/** Parameters by name, as `parseParameters` returns them. */
export type ParameterValues = Readonly<Record<string, ParameterValue>>;
