/** Monitors free disk space, so that telemetry stops before the control database runs out of it. */
import { statfs } from "node:fs/promises";
import { AppError } from "../errors.ts";

export interface DiskSpaceOptions {
  readonly directory: string;
  /** Below this, `/readyz` reports a problem. */
  readonly warningBytes: number;
  /** Below this, telemetry is refused. */
  readonly minimumBytes: number;
}

const refreshIntervalMs = 5000;

export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  readonly #timer: NodeJS.Timeout;
  #freeBytes = Number.POSITIVE_INFINITY;

  private constructor(options: DiskSpaceOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.refresh(), refreshIntervalMs);
    this.#timer.unref();
  }

  static async watch(options: DiskSpaceOptions): Promise<DiskSpace> {
    const space = new DiskSpace(options);
    await space.refresh();
    return space;
  }

  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** Reads the free space. If the system does not report it, there is enough. */
  async refresh(): Promise<void> {
    try {
      const { bavail, bsize } = await statfs(this.#options.directory);
      this.#freeBytes = bavail * bsize;
    } catch {
      this.#freeBytes = Number.POSITIVE_INFINITY;
    }
  }

  /** The problem, if any. */
  problem(): string | undefined {
    const { directory, warningBytes, minimumBytes } = this.#options;
    if (this.#freeBytes >= warningBytes) return undefined;
    const free = `${mebibytes(this.#freeBytes)} MiB are free on the disk of ${directory}`;
    return this.#isFull()
      ? `${free}, less than the ${mebibytes(minimumBytes)} MiB of storage.minimum_free_bytes; telemetry is refused until more space is free.`
      : `${free}, less than the ${mebibytes(warningBytes)} MiB of storage.warning_free_bytes.`;
  }

  /** @throws AppError overloaded while less than the minimum is free */
  requireRoom(): void {
    if (!this.#isFull()) return;
    throw new AppError("overloaded", "The server's disk is full, so it accepts no telemetry. Retry later.", {
      retryAfterMs: 30_000,
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
  }

  #isFull(): boolean {
    return this.#freeBytes < this.#options.minimumBytes;
  }
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}
