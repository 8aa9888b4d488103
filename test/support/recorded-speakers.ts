/** Recordings of people with their text, which are not part of the repository: next to it, or where a variable says. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const recordedSpeakers =
  process.env["SOUNDING_TEST_RECORDINGS"] ?? fileURLToPath(new URL("../../../shared/data/speech/", import.meta.url));

/** The reason to skip a test; false if they are there. */
export const noRecordedSpeakers: string | false = existsSync(join(recordedSpeakers, "transcripts.json"))
  ? false
  : "runs only with recordings of people";
