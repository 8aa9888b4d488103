/**
 * The engine of the benchmarks: answers chats over raw sockets, so that its own cost is small. Runs as a separate process and
 * prints its port. The path selects the response: `/<mode>/v1/chat/completions`, or the path of another API, where mode is
 * `batch`, `paced`, `burst`, `steady` or `idle`.
 */
import { createServer, type AddressInfo, type Socket } from "node:net";
import { apiPaths, apis, upstreams, type Api } from "./apis.ts";
import { paceMs } from "./wire.ts";

const batchAnswers = Object.fromEntries(
  apis.map((api) => {
    const { answer } = upstreams[api];
    const head = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(answer)}`;
    return [api, Buffer.from(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${answer}`)];
  }),
) as Record<Api, Buffer>;
const streamHead =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
const headEnd = Buffer.from("\r\n\r\n");

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** Event number `index` of a stream. */
function eventAt(api: Api, index: number): string {
  const { events } = upstreams[api];
  const event = chunk(events[index]!());
  return index === events.length - 1 ? `${event}0\r\n\r\n` : event;
}

function sendPaced(socket: Socket, api: Api, intervalMs: number): void {
  let index = 0;
  socket.write(streamHead + eventAt(api, index++));
  const pace = setInterval(() => {
    socket.write(eventAt(api, index++));
    if (index === upstreams[api].events.length || socket.destroyed) clearInterval(pace);
  }, intervalMs);
}

function sendBurst(socket: Socket, api: Api): void {
  let text = streamHead;
  for (let index = 0; index < upstreams[api].events.length; index++) text += eventAt(api, index);
  socket.write(text);
}

const modes: Readonly<Record<string, (socket: Socket, api: Api) => void>> = {
  batch: (socket, api) => socket.write(batchAnswers[api]),
  paced: (socket, api) => sendPaced(socket, api, paceMs),
  burst: sendBurst,
  // Slow enough for a thousand concurrent streams.
  steady: (socket, api) => sendPaced(socket, api, 40 * paceMs),
  // Starts and then sends nothing until the client disconnects.
  idle: (socket, api) => socket.write(streamHead + eventAt(api, 0)),
};

/** One request at a time on each connection, with `content-length`, or chunked. */
function serve(socket: Socket): void {
  socket.setNoDelay(true);
  let pending: Buffer = Buffer.alloc(0);
  let mode = "";
  let api: Api = "chat";
  /** Remaining body bytes; -1 between requests; Infinity for a chunked body. */
  let left = -1;
  socket.on("error", () => socket.destroy());
  socket.on("data", (bytes: Buffer) => {
    if (left === -1) {
      pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
      const end = pending.indexOf(headEnd);
      if (end === -1) return;
      const head = pending.toString("latin1", 0, end);
      const [, name, path] = /^POST \/(\w+)(\S*)/.exec(head) ?? [];
      mode = name ?? "batch";
      api = apis.find((each) => apiPaths[each] === path) ?? "chat";
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      left = length === undefined ? (/\r\ntransfer-encoding: *chunked/i.test(head) ? Infinity : 0) : Number(length);
      left -= left === Infinity ? 0 : pending.length - end - headEnd.length;
    } else {
      left -= bytes.length;
      pending = left === Infinity ? bytes : pending;
    }
    const isWhole = left === Infinity ? pending.subarray(-5).toString("latin1") === "0\r\n\r\n" : left <= 0;
    if (!isWhole) return;
    left = -1;
    pending = Buffer.alloc(0);
    modes[mode]?.(socket, api);
  });
}

const server = createServer(serve);
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.on("disconnect", () => process.exit());
process.on("SIGTERM", () => process.exit());
