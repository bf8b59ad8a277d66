/**
 * How often a server may change its key. Each change adds about 200 bytes to every Welcome. 64
 * changes are more than five years of one a month. The limit has a file of its own, so that a page
 * that checks the changes loads no other limits.
 */
export const keyRotationsMax = 64;
