/** What a server on a shared store may be there for. */
export const roleNames = ['ingest', 'lead', 'work'] as const;

/**
 * `ingest`: it takes batches. `lead`: it opens and closes epochs, draws their noise and releases
 * them. `work`: it reads slices of closed epochs for other servers.
 */
export type Role = (typeof roleNames)[number];

export const allRoles: ReadonlySet<Role> = new Set(roleNames);
