/**
 * Runs PromQL test scripts in Prometheus' format against the engine: `npm run promqltest -- FILE|FOLDER…`. A folder stands
 * for its files `*.test` and `*.test.txt`. Prints each failing case with its place and the difference, then the counts. The
 * exit code is 1 if a case failed, and 2 if there was nothing to run.
 */
import { runScript } from "../packages/promql/test/support/run-script.ts";
import { reportScripts } from "./test-scripts.ts";

await reportScripts({
  command: "promqltest",
  pattern: /\.test(\.txt)?$/,
  extensions: "*.test, *.test.txt",
  run: async (text) =>
    (await runScript(text)).map(({ expression, failure, line }) => ({ failure, line, title: expression })),
});
