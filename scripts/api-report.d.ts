/** The report of each public entry of the package `keelson`, by its file in `test/e2e/api`. */
export function apiReports(): ReadonlyMap<string, string>;
