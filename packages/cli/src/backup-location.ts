/** The place of a backup on the command line: a folder, or a location in S3-compatible storage. */
import { resolve } from "node:path";
import type { BackupStorage } from "@sounding/server";
import type { CommandIo, Options } from "./command.ts";
import { proxiesOf } from "./proxies.ts";

export const endpointOption = {
  "s3-endpoint": {
    type: "string",
    value: "URL",
    description: "Address of S3-compatible storage. Default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or AWS.",
  },
} as const satisfies Options;

export const s3Description = `For S3, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION are read from the
environment.`;

/** @throws AppError if the location is invalid or a setting is missing */
export async function openLocation(given: string, endpoint: string | undefined, io: CommandIo): Promise<BackupStorage> {
  const { openBackupStorage, readS3Settings } = await import("@sounding/server");
  return openBackupStorage({
    location: given.includes("://") ? given : resolve(given),
    s3: () => readS3Settings({ env: io.env, endpoint, proxies: proxiesOf(io) }),
  });
}
