/** The reference: faster-whisper with its usual settings, int8 on the CPU. https://github.com/SYSTRAN/faster-whisper */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const script = `
import json, resource, sys
from faster_whisper import WhisperModel
model = WhisperModel(sys.argv[1], device="cpu", compute_type="int8")
before = resource.getrusage(resource.RUSAGE_SELF)
segments, _ = model.transcribe(sys.argv[2], beam_size=int(sys.argv[3]))
text = "".join(segment.text for segment in segments)
after = resource.getrusage(resource.RUSAGE_SELF)
cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(json.dumps({"text": text, "cpuSeconds": cpu, "highestBytes": after.ru_maxrss * 1024}))
`;

/** Greedily, as Sounding; loading is not counted. */
export async function runFasterWhisper(
  python: string,
  model: string,
  path: string,
): Promise<{ readonly text: string; readonly cpuSeconds: number; readonly highestBytes: number }> {
  const { stdout } = await promisify(execFile)(python, ["-c", script, model, path, "1"]);
  return JSON.parse(stdout) as { text: string; cpuSeconds: number; highestBytes: number };
}
