/**
 * Changes of a server's key: each is in every Welcome, some 200 bytes of it. One a month is more than five years. By itself,
 * so that a page which checks them does not carry all other limits.
 */
export const keyRotationsMax = 64;
