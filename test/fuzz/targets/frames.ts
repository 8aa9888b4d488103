/** Frames of HTTP/2 and of WebSockets, valid and broken, from a client that does not wait for answers. */
import { hostileString } from "../hostile-values.ts";
import { writeMessage } from "../http-message.ts";
import { mutateBytes } from "../mutate-bytes.ts";
import type { Random } from "../random.ts";
import type { ServedTarget } from "../target.ts";

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
/** https://www.rfc-editor.org/rfc/rfc9113#section-6 */
const types = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;
const flags = { endStream: 1, endHeaders: 4, padded: 8, priority: 32 } as const;
const streams = [0, 1, 1, 1, 3, 5, 7, 2, 2 ** 31 - 1] as const;
const numbers = [0, 1, 2 ** 14, 2 ** 16, 2 ** 24 - 1, 2 ** 31 - 1, 2 ** 32 - 1] as const;

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Uint8Array;
}

function frame({ flags: bits, payload, stream, type }: Frame, declared = payload.length): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(declared % 2 ** 24, 0, 3);
  head[3] = type;
  head[4] = bits;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header that is not indexed, with its name and value as they are. https://www.rfc-editor.org/rfc/rfc7541#section-6.2.2 */
function literal(name: string, value: string): Buffer {
  const text = (part: string): Buffer => {
    const bytes = Buffer.from(part, "latin1");
    if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes]);
    const length: number[] = [127];
    let rest = bytes.length - 127;
    for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) | 128);
    return Buffer.concat([Buffer.of(...length, rest), bytes]);
  };
  return Buffer.concat([Buffer.of(0), text(name), text(value)]);
}

function headerBlock(random: Random): Buffer {
  const pairs: (readonly [string, string])[] = [
    [":method", random.pick(["POST", "POST", "GET", "CONNECT", ""])],
    [":scheme", random.pick(["http", "https", "x"])],
    [":path", random.pick(["/opentelemetry.proto.collector.logs.v1.LogsService/Export", "/healthz", "/", "*", ""])],
    [":authority", "fuzz"],
    ["content-type", random.pick(["application/grpc", "application/grpc+proto", "application/json"])],
    ["te", "trailers"],
    ["grpc-timeout", random.pick(["1S", "1n", "99999999H", "x", ""])],
    ["grpc-encoding", random.pick(["identity", "gzip", "x"])],
  ];
  const chosen = pairs.filter(() => !random.chance(0.1));
  if (random.chance(0.2)) chosen.push([hostileString(random, 50), hostileString(random, 3000)]);
  if (random.chance(0.05)) chosen.push(...Array.from({ length: random.size(3000) }, () => ["a", "b"] as const));
  const block = Buffer.concat(chosen.map(([name, value]) => literal(name, value)));
  return random.chance(0.1) ? mutateBytes(block, random) : block;
}

function settings(random: Random): Buffer {
  const pairs = Array.from({ length: random.size(random.chance(0.02) ? 2000 : 6) }, () => {
    const pair = Buffer.alloc(6);
    pair.writeUInt16BE(random.below(9));
    pair.writeUInt32BE(random.pick(numbers), 2);
    return pair;
  });
  return Buffer.concat(pairs);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A frame with a payload of its type. */
function anyFrame(random: Random): Buffer {
  const type = random.chance(0.97) ? random.pick(Object.values(types)) : random.below(256);
  const stream = random.pick(streams);
  const bits = random.chance(0.2) ? random.below(256) : random.pick([0, flags.endStream, flags.endHeaders, 5]);
  const payloads: Readonly<Record<number, () => Uint8Array>> = {
    [types.data]: () => random.bytes(random.size(20_000)),
    [types.headers]: () => headerBlock(random),
    [types.continuation]: () => headerBlock(random),
    [types.pushPromise]: () => Buffer.concat([word(random.pick(streams)), headerBlock(random)]),
    [types.settings]: () => settings(random),
    [types.rstStream]: () => word(random.below(15)),
    [types.windowUpdate]: () => word(random.pick(numbers)),
    [types.ping]: () => random.bytes(8),
    [types.goAway]: () => Buffer.concat([word(random.pick(streams)), word(0), random.bytes(random.size(100))]),
    [types.priority]: () => random.bytes(5),
  };
  const payload = payloads[type]?.() ?? random.bytes(random.size(300));
  const declared = random.chance(0.97) ? payload.length : random.pick(numbers);
  return frame({ type, flags: bits, stream, payload }, declared);
}

/** A call of gRPC as it should be, which the frames after it disturb. */
function openCall(random: Random, stream: number): Buffer {
  const message = Buffer.concat([Buffer.of(0), word(random.chance(0.9) ? 2 : random.pick(numbers)), Buffer.of(10, 0)]);
  return Buffer.concat([
    frame({ type: types.headers, flags: flags.endHeaders, stream, payload: headerBlock(random) }),
    frame({ type: types.data, flags: random.chance(0.5) ? flags.endStream : 0, stream, payload: message }),
  ]);
}

export const http2FramesTarget: ServedTarget = {
  kind: "served",
  name: "http2-frames",
  perSecond: 60,
  transport: "http1",
  isRaw: true,
  generate(random) {
    const pieces: Buffer[] = [preface, frame({ type: types.settings, flags: 0, stream: 0, payload: settings(random) })];
    const calls = random.size(20);
    for (let call = 0; call < calls; call += 1) pieces.push(openCall(random, call * 2 + 1));
    const others = random.size(random.chance(0.05) ? 2000 : 30);
    for (let count = 0; count < others; count += 1) pieces.push(anyFrame(random));
    const whole = Buffer.concat(pieces);
    return random.chance(0.2) ? mutateBytes(whole, random) : whole;
  },
};

/** https://www.rfc-editor.org/rfc/rfc6455#section-5.2 */
function socketFrame(random: Random): Buffer {
  const opcode = random.chance(0.9) ? random.pick([0, 1, 2, 8, 9, 10]) : random.below(16);
  const isFinal = random.chance(0.8);
  const reserved = random.chance(0.1) ? random.below(8) << 4 : 0;
  const payload = random.bytes(opcode >= 8 && random.chance(0.9) ? random.size(125) : random.size(20_000));
  const declared = random.chance(0.95) ? payload.length : random.pick([0, 125, 126, 127, 65_535, 2 ** 31, 2 ** 40]);
  const isMasked = random.chance(0.9);
  const head = Buffer.alloc(declared < 126 ? 2 : declared < 65_536 ? 4 : 10);
  head[0] = (isFinal ? 128 : 0) | reserved | opcode;
  head[1] = (isMasked ? 128 : 0) | (declared < 126 ? declared : declared < 65_536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(declared, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(declared), 2);
  return Buffer.concat([head, ...(isMasked ? [random.bytes(4)] : []), payload]);
}

export const webSocketTarget: ServedTarget = {
  kind: "served",
  name: "websocket",
  perSecond: 40,
  transport: "http1",
  isRaw: true,
  generate(random) {
    const extensions = ["permessage-deflate", "permessage-deflate; client_max_window_bits=99", "x", ""];
    const headers: [string, string][] = [
      ["authorization", "Bearer {key}"],
      ["connection", random.chance(0.97) ? "Upgrade" : "close, upgrade"],
      ["upgrade", random.chance(0.97) ? "websocket" : "h2c"],
      ["sec-websocket-version", random.chance(0.97) ? "13" : hostileString(random, 20)],
      ["sec-websocket-key", random.chance(0.97) ? random.bytes(16).toString("base64") : hostileString(random, 40)],
    ];
    if (random.chance(0.2)) headers.push(["sec-websocket-extensions", random.pick(extensions)]);
    if (random.chance(0.1)) headers.push(["sec-websocket-protocol", hostileString(random, 300)]);
    const kept = headers.filter(() => !random.chance(0.02));
    const query = `query=${encodeURIComponent('{app="a"}')}&limit=${random.below(10)}`;
    const head = writeMessage({
      method: "GET",
      path: `/loki/api/v1/tail?${query}`,
      headers: kept,
      body: Buffer.alloc(0),
    });
    const count = random.size(random.chance(0.05) ? 500 : 12);
    const frames = Array.from({ length: count }, () => socketFrame(random));
    return Buffer.concat([
      head,
      random.chance(0.2) ? mutateBytes(Buffer.concat(frames), random) : Buffer.concat(frames),
    ]);
  },
};
