/**
 * The engine of the benchmarks: answers chat completions over raw sockets, so that its own cost is small. Runs as a
 * separate process and prints its port. The path selects the response: `/<mode>/v1/chat/completions`, where mode is
 * `batch`, `paced`, `burst`, `steady` or `idle`.
 */
import { createServer, type AddressInfo, type Socket } from "node:net";
import { completionText, eventsPerStream, paceMs, tokenEvent, usageEvent } from "./wire.ts";

const answer = completionText();
const batchAnswer = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(answer)}\r\n\r\n${answer}`,
);
const streamHead =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
const headEnd = Buffer.from("\r\n\r\n");

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** Event number `index` of a stream; the last two are the usage and `[DONE]`. */
function eventAt(index: number): string {
  if (index === eventsPerStream - 1) return `${chunk("data: [DONE]\n\n")}0\r\n\r\n`;
  return chunk(`data: ${index === eventsPerStream - 2 ? usageEvent() : tokenEvent(index)}\n\n`);
}

function sendPaced(socket: Socket, intervalMs: number): void {
  let index = 0;
  socket.write(streamHead + eventAt(index++));
  const pace = setInterval(() => {
    socket.write(eventAt(index++));
    if (index === eventsPerStream || socket.destroyed) clearInterval(pace);
  }, intervalMs);
}

function sendBurst(socket: Socket): void {
  let text = streamHead;
  for (let index = 0; index < eventsPerStream; index++) text += eventAt(index);
  socket.write(text);
}

const modes: Readonly<Record<string, (socket: Socket) => void>> = {
  batch: (socket) => socket.write(batchAnswer),
  paced: (socket) => sendPaced(socket, paceMs),
  burst: sendBurst,
  // Slow enough for a thousand concurrent streams.
  steady: (socket) => sendPaced(socket, 40 * paceMs),
  // Starts and then sends nothing until the client disconnects.
  idle: (socket) => socket.write(streamHead + eventAt(0)),
};

/** One request at a time on each connection, with `content-length`, or chunked. */
function serve(socket: Socket): void {
  socket.setNoDelay(true);
  let pending: Buffer = Buffer.alloc(0);
  let mode = "";
  /** Remaining body bytes; -1 between requests; Infinity for a chunked body. */
  let left = -1;
  socket.on("error", () => socket.destroy());
  socket.on("data", (bytes: Buffer) => {
    if (left === -1) {
      pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
      const end = pending.indexOf(headEnd);
      if (end === -1) return;
      const head = pending.toString("latin1", 0, end);
      mode = /^POST \/(\w+)\//.exec(head)?.[1] ?? "batch";
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
    modes[mode]?.(socket);
  });
}

const server = createServer(serve);
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.on("disconnect", () => process.exit());
process.on("SIGTERM", () => process.exit());
