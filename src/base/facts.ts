/**
 * Whose presence is protected. `secret`: one contributor's whole contribution replaced by
 * anything, including nothing. `public`: contents only; presence is public and unprotected.
 */
export type Participation = 'secret' | 'public';

export type ParameterValue = number | string | boolean | readonly number[];
export type ParameterValues = Readonly<Record<string, ParameterValue>>;
