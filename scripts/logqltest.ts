/**
 * Runs LogQL test scripts in Loki's format against the engine: `npm run logqltest -- FILE|FOLDER…`. A folder stands for its
 * files `*.logqltest` and `*.test.txt`. Prints each failing case with its place and the difference, then the counts. The exit
 * code is 1 if a case failed, and 2 if there was nothing to run.
 */
import { runScript } from "../packages/logql/test/support/run-script.ts";
import { reportScripts } from "./test-scripts.ts";

await reportScripts({
  command: "logqltest",
  pattern: /\.(?:logqltest|test\.txt)$/,
  extensions: "*.logqltest, *.test.txt",
  run: async (text) => (await runScript(text)).map(({ failure, line, query }) => ({ failure, line, title: query })),
});
