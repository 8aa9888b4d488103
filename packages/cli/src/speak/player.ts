/** Plays audio with a program on this machine, while it arrives if the program supports that. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliError } from "../cli-error.ts";
import type { CommandIo } from "../command.ts";
import { isInPath } from "../find-program.ts";
import { hasAudioDevice } from "./audio-device.ts";
import { fileSink, type AudioFormat, type AudioSink } from "./audio-sink.ts";

interface Player {
  readonly program: string;
  /** What it reads: samples or MP3 from standard input, or a WAV file. */
  readonly reads: "pcm" | "mp3" | "wav";
  /** @param given the sample rate of `pcm`, the path of `wav` */
  readonly words: (given: string) => readonly string[];
}

/** In the order of preference. */
export const players: readonly Player[] = [
  { program: "afplay", reads: "wav", words: (path) => [path] },
  {
    program: "paplay",
    reads: "pcm",
    words: (rate) => ["--raw", "--format=s16le", "--channels=1", `--rate=${rate}`],
  },
  { program: "aplay", reads: "pcm", words: (rate) => ["-q", "-t", "raw", "-f", "S16_LE", "-c", "1", "-r", rate, "-"] },
  {
    program: "ffplay",
    reads: "pcm",
    words: (rate) => `-loglevel error -nodisp -autoexit -f s16le -sample_rate ${rate} -i pipe:0`.split(" "),
  },
  {
    program: "play",
    reads: "pcm",
    words: (rate) => `-q -t raw -e signed-integer -b 16 -c 1 -r ${rate} -`.split(" "),
  },
  { program: "mpg123", reads: "mp3", words: () => ["-q", "-"] },
];

/** The first player in PATH; undefined if there is none. */
export async function findPlayer(env: CommandIo["env"]): Promise<Player | undefined> {
  for (const player of players) if (await isInPath(player.program, env)) return player;
  return undefined;
}

/** Throws CliError if there is no audio device, or no player is installed. */
export async function playerSink(env: CommandIo["env"]): Promise<AudioSink> {
  if (!(await hasAudioDevice(env))) {
    throw new CliError("this machine has no audio device; `sounding speak -o FILE` writes a file instead");
  }
  const player = await findPlayer(env);
  if (player === undefined) {
    const names = players.map(({ program }) => program).join(", ");
    throw new CliError(`no audio player is installed (${names}); \`sounding speak -o FILE\` writes a file instead`);
  }
  return player.reads === "wav" ? playedFile(player, env) : playedStream(player, player.reads, env);
}

function playedStream(player: Player, wireFormat: AudioFormat, env: CommandIo["env"]): AudioSink {
  let running: RunningPlayer | undefined;
  return {
    wireFormat,
    begin: async (sampleRate) => void (running = startPlayer(player, String(sampleRate), env)),
    write: (bytes) => running!.write(bytes),
    pieceEnded: async () => {},
    end: () => running!.end(),
    abandon: async () => running?.kill(),
  };
}

/** Each piece of text becomes a file, which is played before the next is requested. */
function playedFile(player: Player, env: CommandIo["env"]): AudioSink {
  let folder: string | undefined;
  let rate: number | undefined;
  let file: AudioSink | undefined;
  let running: RunningPlayer | undefined;
  const path = (): string => join(folder!, "speech.wav");
  const clean = async (): Promise<void> => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
  return {
    wireFormat: "pcm",
    async begin(sampleRate) {
      folder = await mkdtemp(join(tmpdir(), "sounding-speak-"));
      rate = sampleRate;
    },
    async write(bytes) {
      if (file === undefined) {
        file = fileSink(path(), "wav");
        await file.begin(rate);
      }
      await file.write(bytes);
    },
    async pieceEnded() {
      // A piece without audio.
      if (file === undefined) return;
      await file.end();
      file = undefined;
      running = startPlayer(player, path(), env);
      await running.end();
    },
    end: clean,
    async abandon() {
      running?.kill();
      await file?.abandon();
      await clean();
    },
  };
}

/** What ffplay writes if it cannot open the audio device; it exits with 0. */
const deviceProblem = /audio open failed|SDL_OpenAudio/;

interface RunningPlayer {
  /** Waits until the player accepts more. Throws CliError if it has exited. */
  write(bytes: Uint8Array): Promise<void>;
  /** Waits until everything is played. Throws CliError if it failed. */
  end(): Promise<void>;
  kill(): void;
}

function startPlayer({ program, words }: Player, given: string, env: CommandIo["env"]): RunningPlayer {
  const child: ChildProcess = spawn(program, words(given), { stdio: ["pipe", "ignore", "pipe"], env: { ...env } });
  const { stdin, stderr } = child;
  let complaint = "";
  let failure: Error | undefined;
  stderr!.on("data", (bytes: Buffer) => (complaint = (complaint + bytes.toString()).slice(-2_000)));
  // The program's exit code decides whether this is an error.
  stdin!.on("error", () => undefined);
  const ended = new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      failure = error;
      resolve(null);
    });
    child.once("close", resolve);
  });
  const fail = async (): Promise<never> => {
    // Its last output arrives before it exits.
    await ended;
    const why = failure?.message ?? complaint.trim().split("\n").at(-1) ?? "";
    throw new CliError(`${program} cannot play it${why === "" ? "" : `: ${why}`}; use -o FILE to write a file`);
  };
  return {
    async write(bytes) {
      if (child.exitCode !== null || failure !== undefined) await fail();
      if (!stdin!.write(bytes)) await Promise.race([once(stdin!, "drain").catch(fail), ended]);
    },
    async end() {
      stdin!.end();
      if ((await ended) !== 0 || deviceProblem.test(complaint)) await fail();
    },
    kill: () => void child.kill(),
  };
}
