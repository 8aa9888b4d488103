/** The address of objects in S3-compatible storage: `s3://bucket/prefix`. */
import { AppError } from "../errors.ts";

export interface S3Location {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
}

/** A key has at most 1,024 bytes; this leaves room for the names of files. */
const maximumPrefixBytes = 800;

/** @throws AppError invalid_request */
export function parseS3Location(text: string): S3Location {
  const match = /^s3:\/\/(?<bucket>[^/]*)\/?(?<prefix>.*)$/s.exec(text)?.groups;
  const { bucket = "", prefix: given = "" } = match ?? {};
  const invalid = (reason: string): AppError =>
    new AppError("invalid_request", `${JSON.stringify(text)} is not a location in S3 (s3://bucket/prefix): ${reason}.`);
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket) || bucket.includes(".."))
    throw invalid("the name of a bucket has 3 to 63 letters, digits, dots and hyphens");
  const prefix = given.replace(/\/$/, "");
  if (prefix === "") return { bucket, prefix };
  const wrong = prefix.split("/").find((segment) => segment === "" || segment === "." || segment === "..");
  if (wrong !== undefined) throw invalid(`the prefix has the part ${JSON.stringify(wrong)}`);
  // oxlint-disable-next-line no-control-regex -- these are what is refused
  if (/[\u0000-\u001f\u007f\ufffd]/.test(prefix) || !prefix.isWellFormed()) throw invalid("it has a control character");
  if (Buffer.byteLength(prefix) > maximumPrefixBytes)
    throw invalid(`the prefix has more than ${maximumPrefixBytes} bytes`);
  return { bucket, prefix: `${prefix}/` };
}
