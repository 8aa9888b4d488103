/** Shows the progress of a transcription on one line of standard error, which is redrawn. */
import type { CommandIo } from "../command.ts";

const width = 30;
const intervalMs = 100;

export interface ProgressBar {
  /** Seconds of the recording that have been transcribed. */
  readonly show: (seconds: number) => void;
  /** Removes the line. */
  readonly clear: () => void;
}

/**
 * Shows nothing if progress may not be shown.
 * @param total seconds, if known
 */
export function createProgressBar(io: CommandIo, total: number | undefined): ProgressBar {
  let shownAtMs = -Infinity;
  let length = 0;
  const draw = (line: string): void => {
    io.stderr.write(`\r${line.padEnd(length)}`);
    length = line.length;
  };
  if (io.progress) draw(lineOf(0, total));
  return {
    show(seconds) {
      const nowMs = performance.now();
      if (!io.progress || nowMs - shownAtMs < intervalMs) return;
      shownAtMs = nowMs;
      draw(lineOf(seconds, total));
    },
    clear() {
      if (length > 0) io.stderr.write(`\r${" ".repeat(length)}\r`);
      length = 0;
    },
  };
}

function lineOf(seconds: number, total: number | undefined): string {
  if (total === undefined || total <= 0) return `${minutes(seconds)} transcribed`;
  const share = Math.min(1, seconds / total);
  const bar = "=".repeat(Math.round(share * width)).padEnd(width);
  return `[${bar}] ${Math.floor(share * 100)} %  ${minutes(seconds)} of ${minutes(total)}`;
}

/** `2:05` */
function minutes(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}
