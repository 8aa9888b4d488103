/**
 * The image's health check: exits with 0 if the server accepts calls. Plain JavaScript, because it runs in the image, where
 * Node finds the server's address in the file that the running server writes.
 */
import { readFileSync } from "node:fs";

try {
  const { url } = JSON.parse(readFileSync(`${process.env.SOUNDING_DATA_DIR}/server.json`, "utf8"));
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(4_000) });
  console.log(await response.text());
  process.exitCode = response.ok ? 0 : 1;
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
