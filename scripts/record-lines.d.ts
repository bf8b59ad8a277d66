export function recordLines(value: unknown, open?: number): string;
