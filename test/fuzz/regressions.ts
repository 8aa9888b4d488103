/**
 * Inputs that caused a fault before, sent again by every test run: files in `regressions/<target>/`, and inputs that are too
 * large for files. A file's name is `<what it is>.<outcome>.<extension>`; the outcome, which may be absent, is the status of
 * the answer or the target's word.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { repository } from "../support/served-process.ts";
import { generatedRegressions } from "./generated-regressions.ts";
import type { Finding } from "./tally.ts";

export interface Regression {
  readonly target: string;
  readonly name: string;
  readonly outcome: string | undefined;
  read(): Uint8Array;
}

const directory = fileURLToPath(new URL("regressions", import.meta.url));

export function regressions(): readonly Regression[] {
  const files = readdirSync(directory, { withFileTypes: true }).flatMap((target) =>
    target.isDirectory()
      ? readdirSync(join(directory, target.name)).map((file): Regression => ({
          target: target.name,
          name: file,
          outcome: /\.(?<outcome>\w+)\.\w+$/.exec(file)?.groups?.["outcome"],
          read: () => readFileSync(join(directory, target.name, file)),
        }))
      : [],
  );
  return [...files, ...generatedRegressions];
}

/** Saves the finding's input as a file. @returns the file's path in the repository */
export function saveFinding({ target, input }: Pick<Finding, "target" | "input">): string {
  const folder = join(directory, target);
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
  const path = join(folder, `${createHash("sha256").update(input).digest("hex").slice(0, 12)}.bin`);
  writeFileSync(path, input);
  return relative(repository, path);
}
