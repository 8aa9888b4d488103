import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { hasAudioDevice } from "./audio-device.ts";

test("an audio device is a playback device, an audio server or one that is configured", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sounding-audio-"));
  const devices = join(folder, "snd");
  const system = { platform: "linux", devices, configurations: [join(folder, "asound.conf")] } as const;
  const env = { HOME: join(folder, "home"), XDG_RUNTIME_DIR: join(folder, "run") };
  assert.equal(await hasAudioDevice(env, system), false);
  assert.equal(await hasAudioDevice({}, { ...system, platform: "darwin" }), true);
  assert.equal(await hasAudioDevice({ ...env, PULSE_SERVER: "tcp:host" }, system), true);
  mkdirSync(devices);
  for (const name of ["timer", "seq", "controlC0", "pcmC0D0c"]) writeFileSync(join(devices, name), "");
  assert.equal(await hasAudioDevice(env, system), false);
  writeFileSync(join(devices, "pcmC0D0p"), "");
  assert.equal(await hasAudioDevice(env, system), true);
  mkdirSync(join(folder, "run/pulse"), { recursive: true });
  writeFileSync(join(folder, "run/pulse/native"), "");
  assert.equal(await hasAudioDevice(env, { ...system, devices: "/nowhere" }), true);
});
