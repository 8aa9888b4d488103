/** Loki's push API and Prometheus' remote write: bodies in JSON, and in protobuf compressed by Snappy. */
import { gzipSync } from "node:zlib";
import { compress } from "snappyjs";
import { hostileString } from "../hostile-values.ts";
import { requestHeaders, writeMessage } from "../http-message.ts";
import { mutateBytes } from "../mutate-bytes.ts";
import { jsonText, mutateJson } from "../mutate-json.ts";
import { pushRequest, secondWriteRequest, writeRequest } from "../push-requests.ts";
import { presentMs, type Random } from "../random.ts";
import type { ServedTarget } from "../target.ts";

const protobuf = "application/x-protobuf";

/** How often a value of a message breaks a rule. Most messages are valid, so that what follows the checks runs. */
const damageOf = (random: Random): number => (random.chance(0.75) ? 0 : random.pick([0.01, 0.03, 0.2]));

/** Compressed; sometimes with a few changed bytes, before the compression or after it. */
function snappy(message: Buffer, random: Random): Buffer {
  const content = random.chance(0.1) ? mutateBytes(message, random, 1 + random.size(3)) : message;
  const body = Buffer.from(compress(content));
  if (random.chance(0.06)) return mutateBytes(body, random);
  return random.chance(0.01) ? random.bytes(random.size(400)) : body;
}

function jsonPush(random: Random): Buffer {
  const at = (): string => `${presentMs - random.below(3_600_000)}${String(random.below(1e6)).padStart(6, "0")}`;
  const any = (): string => (random.chance(0.2) ? hostileString(random, 300) : "x");
  const streams = Array.from({ length: 1 + random.size(3) }, () => ({
    stream: { app: "a", level: random.pick(["error", "info", "é"]), job: any() },
    values: Array.from({ length: 1 + random.size(5) }, () => [
      at(),
      random.chance(0.5) ? "level=info a=1" : hostileString(random),
      ...(random.chance(0.4)
        ? [{ trace_id: "0a1b", [random.chance(0.1) ? hostileString(random, 100) : "a"]: any() }]
        : []),
    ]),
  }));
  if (random.chance(0.7)) return Buffer.from(JSON.stringify({ streams }));
  return Buffer.from(jsonText(mutateJson({ streams }, random, 1 + random.size(3)), random));
}

export const lokiPushTarget: ServedTarget = {
  kind: "served",
  name: "loki-push",
  perSecond: 200,
  transport: "http1",
  generate(random) {
    const isJson = random.chance(0.4);
    const headers = requestHeaders(random, isJson ? "application/json" : protobuf);
    const path = "/loki/api/v1/push";
    if (!isJson) {
      if (random.chance(0.5)) headers.push(["content-encoding", random.chance(0.97) ? "snappy" : "gzip"]);
      return writeMessage({
        method: "POST",
        path,
        headers,
        body: snappy(pushRequest(random, damageOf(random)), random),
      });
    }
    const text = jsonPush(random);
    const isZipped = random.chance(0.2);
    if (isZipped) headers.push(["content-encoding", "gzip"]);
    return writeMessage({ method: "POST", path, headers, body: isZipped ? gzipSync(text) : text });
  },
};

export const remoteWriteTarget: ServedTarget = {
  kind: "served",
  name: "remote-write",
  perSecond: 200,
  transport: "http1",
  generate(random) {
    const isSecond = random.chance(0.4);
    const type = isSecond ? `${protobuf};proto=io.prometheus.write.v2.Request` : protobuf;
    const headers = requestHeaders(
      random,
      random.chance(0.97) ? type : `${protobuf};proto=${random.pick(["x", '"', ""])}`,
    );
    if (random.chance(0.95)) headers.push(["content-encoding", random.chance(0.97) ? "snappy" : "gzip"]);
    if (random.chance(0.8)) headers.push(["x-prometheus-remote-write-version", isSecond ? "2.0.0" : "0.1.0"]);
    const message = (isSecond ? secondWriteRequest : writeRequest)(random, damageOf(random));
    return writeMessage({ method: "POST", path: "/prometheus/api/v1/write", headers, body: snappy(message, random) });
  },
};
