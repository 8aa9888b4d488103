/** Shows the progress of a download on standard error: a bar in a terminal, otherwise an occasional line. */
import type { CommandIo } from "./command.ts";

interface Progress {
  readonly phase: "downloading" | "copying" | "verifying" | "converting";
  readonly doneBytes: number;
  readonly totalBytes: number | undefined;
}

export interface ProgressDisplay {
  readonly show: (name: string, progress: Progress) => void;
  /** Ends the bar's line. */
  readonly end: () => void;
}

const barWidth = 24;
const barIntervalMs = 100;
const lineIntervalMs = 10_000;

/** Bytes in readable units. */
export function showBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}

function describe({ phase, doneBytes, totalBytes }: Progress, bytesPerSecond: number): string {
  const what = { downloading: "", copying: "copying  ", verifying: "checking  ", converting: "converting  " }[phase];
  if (totalBytes === undefined) return `${what}${showBytes(doneBytes)}  ${showBytes(bytesPerSecond)}/s`;
  const share = totalBytes === 0 ? 1 : doneBytes / totalBytes;
  const left = bytesPerSecond === 0 ? "" : `  ${Math.ceil((totalBytes - doneBytes) / bytesPerSecond)} s left`;
  return `${what}${Math.floor(share * 100)} %  ${showBytes(doneBytes)} of ${showBytes(totalBytes)}  ${showBytes(bytesPerSecond)}/s${left}`;
}

function bar({ doneBytes, totalBytes }: Progress): string {
  if (totalBytes === undefined || totalBytes === 0) return "";
  const filled = Math.round((barWidth * doneBytes) / totalBytes);
  return `[${"=".repeat(filled)}${" ".repeat(barWidth - filled)}] `;
}

/** Shows nothing with `--json`. */
export function createProgress(io: CommandIo, json: boolean): ProgressDisplay {
  const intervalMs = io.progress ? barIntervalMs : lineIntervalMs;
  let shownAtMs = 0;
  let lineLength = 0;
  let start: { phase: Progress["phase"]; atMs: number; bytes: number } | undefined;
  return {
    show(name, progress) {
      if (json) return;
      const nowMs = performance.now();
      if (start?.phase !== progress.phase) start = { phase: progress.phase, atMs: nowMs, bytes: progress.doneBytes };
      const whole = progress.doneBytes === progress.totalBytes;
      if (nowMs - shownAtMs < intervalMs && !whole) return;
      shownAtMs = nowMs;
      const seconds = (nowMs - start.atMs) / 1000;
      const speed = seconds === 0 ? 0 : (progress.doneBytes - start.bytes) / seconds;
      const text = describe(progress, Math.max(0, Math.round(speed)));
      if (io.progress) {
        const line = `${name}  ${bar(progress)}${text}`;
        io.stderr.write(`\r${line.padEnd(lineLength)}`);
        lineLength = line.length;
      } else io.stderr.write(`${name}  ${text}\n`);
    },
    end() {
      if (lineLength > 0) io.stderr.write("\n");
      lineLength = 0;
    },
  };
}
