/**
 * Detects whether this machine can play audio. Without a device, players wait forever, or fail without saying so: mpg123
 * tries again and again, ffplay exits with 0.
 */
import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { CommandIo } from "../command.ts";

/** Variables that name an audio server or device. */
const namingVariables = ["PULSE_SERVER", "PIPEWIRE_REMOTE", "AUDIODEV", "SDL_AUDIODRIVER"];
/** Sockets of audio servers in the user's runtime folder. */
const serverSockets = ["pulse/native", "pipewire-0"];

export interface AudioSystem {
  readonly platform: NodeJS.Platform;
  /** The folder of ALSA's devices. */
  readonly devices: string;
  /** ALSA's own configuration, which can name a device that is not in that folder. */
  readonly configurations: readonly string[];
}

const thisMachine: AudioSystem = {
  platform: process.platform,
  devices: "/dev/snd",
  configurations: ["/etc/asound.conf"],
};

/** Only Linux is examined; other systems say so themselves. */
export async function hasAudioDevice(env: CommandIo["env"], system: AudioSystem = thisMachine): Promise<boolean> {
  if (system.platform !== "linux") return true;
  if (namingVariables.some((name) => (env[name] ?? "") !== "")) return true;
  const runtime = env["XDG_RUNTIME_DIR"] ?? "";
  const home = env["HOME"] ?? "";
  const files = [
    ...(runtime === "" ? [] : serverSockets.map((socket) => join(runtime, socket))),
    ...(home === "" ? [] : [join(home, ".asoundrc")]),
    ...system.configurations,
  ];
  for (const file of files) if (await exists(file)) return true;
  // A playback device is pcmC<card>D<device>p; timers and sequencers are there without any sound card.
  const devices = await readdir(system.devices).catch(() => []);
  return devices.some((name) => /^pcm.*p$/.test(name));
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
