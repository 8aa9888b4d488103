/** Checks the programs and libraries on this machine that engines and commands use if they are installed. */
import { resolve } from "node:path";
import type { Config } from "@sounding/server";
import type { CommandIo } from "../command.ts";
import { isInPath } from "../find-program.ts";
import { findPlayer, players } from "../speak/player.ts";
import { ok, warning, type Finding } from "./finding.ts";

export async function checkPrograms(config: Config | undefined, io: CommandIo): Promise<Finding[]> {
  return [
    await checkPocketSphinx(config),
    (await isInPath("espeak-ng", io.env))
      ? ok("espeak-ng", "the program is installed")
      : warning(
          "espeak-ng",
          "the program is not in PATH; the slower npm package is used if it is installed",
          "On Debian and Ubuntu: apt-get install espeak-ng.",
        ),
    await checkPlayer(io),
    (await isInPath("arecord", io.env))
      ? ok("microphone", "arecord is installed")
      : warning(
          "microphone",
          "arecord is not in PATH; `sounding transcribe --mic` requires it",
          "Install alsa-utils, which contains it.",
        ),
  ];
}

async function checkPocketSphinx(config: Config | undefined): Promise<Finding> {
  const area = "PocketSphinx";
  const { findPocketSphinx } = await import("@sounding/server");
  const settings = Object.values(config?.engines ?? {}).find(({ type }) => type === "pocketsphinx");
  const places = settings as { library?: string; model_dir?: string } | undefined;
  try {
    const found = findPocketSphinx({
      library: places?.library,
      modelDirectory: places?.model_dir,
      dataDirectory: config === undefined ? undefined : resolve(config.storage.data_dir),
    });
    return ok(area, `${found.library} and its model ${found.acousticModel}`);
  } catch (error) {
    // Reports a missing program and how to install it.
    return warning(area, (error as Error).message);
  }
}

async function checkPlayer(io: CommandIo): Promise<Finding> {
  const player = await findPlayer(io.env);
  if (player !== undefined) return ok("player", `${player.program} plays the audio of \`sounding speak\``);
  const names = players.map(({ program }) => program).join(", ");
  return warning(
    "player",
    `none of ${names} is in PATH; \`sounding speak\` can only write files`,
    "Install one of them.",
  );
}
