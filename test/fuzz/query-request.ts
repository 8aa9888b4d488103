/** Requests to the query APIs: parameters in the URL or in a form. */
import { hostileString } from "./hostile-values.ts";
import { inUrl, writeMessage } from "./http-message.ts";
import type { Random } from "./random.ts";

export type Parameters = readonly (readonly [name: string, value: string])[];

/** A request with these parameters, sometimes with one more or one twice. */
export function queryRequest(
  random: Random,
  request: {
    readonly path: string;
    readonly parameters: Parameters;
    readonly headers: readonly (readonly [name: string, value: string])[];
    /** Whether the parameters can also be the body of a POST. */
    readonly hasForm: boolean;
  },
): Buffer {
  const { path, parameters } = request;
  const extra: Parameters = random.chance(0.05)
    ? [
        [parameters[0]?.[0] ?? "x", hostileString(random, 100)],
        [hostileString(random, 50), hostileString(random, 50)],
      ]
    : [];
  const text = [...parameters, ...extra]
    .map(([name, value]) => `${encodeURIComponent(name.toWellFormed())}=${inUrl(random, value)}`)
    .join("&");
  const headers = [["authorization", "Bearer {key}"] as const, ...request.headers];
  if (random.chance(0.05)) headers.push(["accept", random.pick(["application/protobuf", "*/*", "x"])]);
  const isForm = random.chance(request.hasForm ? 0.4 : 0.02) || (request.hasForm && text.length > 12_000);
  if (!isForm && text.length < 12_000)
    return writeMessage({ method: "GET", path: `${path}?${text}`, headers, body: Buffer.alloc(0) });
  headers.push(["content-type", "application/x-www-form-urlencoded"]);
  return writeMessage({ method: "POST", path, headers, body: Buffer.from(text) });
}
