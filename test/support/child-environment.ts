/** What every process that a test starts inherits from the test's own, beside what the test gives it. */

const inherited = ["PATH", "NODE_COMPILE_CACHE"];

/** Programs are found, and modules that were compiled once are not compiled again. */
export const childEnvironment: Readonly<Record<string, string>> = Object.fromEntries(
  inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
);
