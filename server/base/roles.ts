/** The possible roles of a server on a shared store. */
export const roleNames = ['ingest', 'lead', 'work'] as const;

/**
 * `ingest`: accepts batches. `lead`: opens and closes epochs, draws their noise and releases them.
 * `work`: reads slices of closed epochs for other servers.
 */
export type Role = (typeof roleNames)[number];

export const allRoles: ReadonlySet<Role> = new Set(roleNames);
