/**
 * Checks signatures of requests to S3, written from the specification and independent of the server's library.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export interface SignedRequest {
  readonly method: string;
  /** Path and query, as they are sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Whether the request was signed with the key. The payload's hash is that of its header. */
export function isSignedWith({ headers, method, target }: SignedRequest, secretAccessKey: string): boolean {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=(?<id>[^/]+)\/(?<scope>(?<date>\d{8})\/(?<region>[^/]+)\/s3\/aws4_request), ?SignedHeaders=(?<names>[a-z0-9;-]+), ?Signature=(?<signature>[0-9a-f]{64})$/;
  const groups = pattern.exec(headers.authorization ?? "")?.groups;
  if (groups === undefined) return false;
  const { date, names, region, scope, signature } = groups as Record<string, string>;
  const signed = names!.split(";");
  // A header that is not signed could be changed on the way.
  const mustBeSigned = Object.keys(headers).filter((name) => name === "host" || name.startsWith("x-amz-"));
  if (mustBeSigned.some((name) => !signed.includes(name))) return false;
  const [path = "", search = ""] = target.split("?");
  const canonical = [
    method,
    path,
    search
      .split("&")
      .filter((pair) => pair !== "")
      .map((pair) => (pair.includes("=") ? pair : `${pair}=`))
      .toSorted()
      .join("&"),
    ...signed.map((name) => `${name}:${String(headers[name]).trim().replaceAll(/ +/g, " ")}`),
    "",
    names,
    headers["x-amz-content-sha256"],
  ].join("\n");
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(canonical)].join("\n");
  const key = ["s3", "aws4_request"].reduce(
    (each: Buffer, part) => hmac(each, part),
    hmac(hmac(`AWS4${secretAccessKey}`, date!), region!),
  );
  return timingSafeEqual(hmac(key, text), Buffer.from(signature!, "hex"));
}
