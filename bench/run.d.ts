export const commands: Readonly<Record<string, Readonly<Record<string, string>>>>;
