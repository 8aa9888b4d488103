/** Invalid or nearly valid HTTP/1.1: broken request lines and headers, contradictory framing, pipelines. */
import { hostileString } from "../hostile-values.ts";
import { mutateBytes } from "../mutate-bytes.ts";
import type { Random } from "../random.ts";
import type { ServedTarget } from "../target.ts";

const methods = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "CONNECT", "TRACE", "get", "G ET", "PRI", "\0", ""] as const;
const paths = [
  "/v1/models",
  "/healthz",
  "*",
  "//",
  "http://other/v1/models",
  "/v1/models?x=%",
  "/%",
  `/${"a".repeat(20_000)}`,
  "",
  "/v1/chat/completions",
  "/v1/logs",
] as const;
const versions = [
  "HTTP/1.1",
  "HTTP/1.1",
  "HTTP/1.1",
  "HTTP/1.0",
  "HTTP/2.0",
  "HTTP/9.9",
  "HTTP/1.1 ",
  "",
  "http/1.1",
] as const;
const oddHeaders = [
  "host: other",
  "host:",
  "authorization: Bearer sk-second",
  "content-length: 5",
  "content-length: -1",
  "content-length: 5, 5",
  "content-length: 99999999999999999999",
  "content-length: 0x10",
  "content-length: +5",
  "transfer-encoding: chunked",
  "transfer-encoding: gzip, chunked",
  "transfer-encoding: chunked, identity",
  "transfer-encoding: xchunked",
  "Transfer-Encoding : chunked",
  "connection: close",
  "connection: keep-alive, upgrade",
  "upgrade: websocket",
  "upgrade: h2c",
  "http2-settings: AAMAAABkAAQAAP__",
  "expect: 100-continue",
  "expect: nonsense",
  "content-encoding: gzip",
  " folded: value",
  "no colon",
  ": empty",
  "bad name: x",
  "x: \0",
  "x: \x7f\x80\xff",
  "x-forwarded-for: 1.2.3.4, ::1, zzz",
  "x-forwarded-proto: javascript",
  "range: bytes=0-",
  "trailer: x",
] as const;
const bodies = [
  "",
  "hello",
  "{}",
  "5\r\nhello\r\n0\r\n\r\n",
  "5;ext=1\r\nhello\r\n0\r\nx: y\r\n\r\n",
  "ffffffffffffffff\r\n",
  "-1\r\n",
  "5\r\nhel",
  "z\r\n",
  "0\r\n\r\nGET /admin/v1/organizations HTTP/1.1\r\nhost: x\r\n\r\n",
  "\r\n\r\n",
] as const;

function message(random: Random): Buffer {
  const lines = [
    `${random.chance(0.7) ? random.pick(methods.slice(0, 4)) : random.pick(methods)} ${random.pick(paths)} ${random.pick(versions)}`,
  ];
  if (random.chance(0.9)) lines.push("host: fuzz");
  if (random.chance(0.8)) lines.push("authorization: Bearer {key}");
  if (random.chance(0.5)) lines.push("content-type: application/json");
  const odd = random.chance(0.02) ? random.size(3000) : random.size(5);
  for (let count = 0; count < odd; count += 1)
    lines.push(random.chance(0.8) ? random.pick(oddHeaders) : `x-${count}: ${hostileString(random, 9000)}`);
  const lineEnd = random.chance(0.93) ? "\r\n" : random.pick(["\n", "\r", "\r\r\n", "\0\r\n"]);
  return Buffer.from(
    `${lines.join(lineEnd)}${lineEnd}${random.chance(0.9) ? lineEnd : ""}${random.pick(bodies)}`,
    "latin1",
  );
}

export const rawHttpTarget: ServedTarget = {
  kind: "served",
  name: "raw-http",
  perSecond: 700,
  transport: "http1",
  isRaw: true,
  serverErrors: [502, 504],
  generate(random) {
    const count = random.chance(0.8) ? 1 : 1 + random.size(30);
    const whole = Buffer.concat(Array.from({ length: count }, () => message(random)));
    if (random.chance(0.02)) return random.bytes(random.size(3000));
    return random.chance(0.3) ? mutateBytes(whole, random) : whole;
  },
};
