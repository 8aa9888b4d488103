/** Chooses the path of the embedded store's socket. */
import { createHash } from "node:crypto";
import { lstat, mkdir } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { AppError } from "../../errors.ts";

/** The kernel's limit: 104 bytes on macOS, 108 on Linux, including the final NUL. */
const longestSocketPath = 100;

/**
 * `store.sock` in the store's folder. If that path is too long for a socket, it is in a private folder of this user in the
 * system's temporary directory.
 * @throws AppError internal if another user has created that folder
 */
export async function socketPathFor(directory: string): Promise<string> {
  const path = resolve(directory, "store.sock");
  if (Buffer.byteLength(path) <= longestSocketPath) return path;
  const name = createHash("sha256").update(path).digest("hex").slice(0, 16);
  const folder = join(tmpdir(), `sounding-${userInfo().uid}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== userInfo().uid || (found.mode & 0o077) !== 0) {
    throw new AppError("internal", `${folder} is not a folder that only this user can access; remove it.`);
  }
  return join(folder, `${name}.sock`);
}
