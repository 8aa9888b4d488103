/** The cases of Prometheus' scripts that the engine does not claim to pass: the reason by file name and expression. */
export const skippedCases: Readonly<Record<string, Readonly<Record<string, string>>>> = {};
