/** A WebSocket server that a test controls frame by frame. https://www.rfc-editor.org/rfc/rfc6455 */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

const textFrame = 1;
const binaryFrame = 2;
const closeFrame = 8;
const secret = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** One connection that a client made. */
export class ServerSocket {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly #duplex: Duplex;
  readonly #onText: (text: string) => void;
  #bytes = Buffer.alloc(0);

  constructor(request: IncomingMessage, duplex: Duplex, onText: (text: string, socket: ServerSocket) => void) {
    this.path = request.url ?? "";
    this.headers = request.headers;
    this.#duplex = duplex;
    this.#onText = (text) => onText(text, this);
    duplex.on("error", () => {});
    // An HTTP server's connections stay half open.
    duplex.on("end", () => duplex.destroy());
    duplex.on("data", (bytes: Buffer) => this.#read(bytes));
  }

  get gone(): boolean {
    return this.#duplex.destroyed;
  }

  accept(): void {
    const key = String(this.headers["sec-websocket-key"]);
    const accept = createHash("sha1").update(`${key}${secret}`).digest("base64");
    this.#duplex.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
  }

  refuse(status: number, headers: Readonly<Record<string, string>> = {}): void {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#duplex.end(`HTTP/1.1 ${status} Refused\r\n${lines.join("")}content-length: 0\r\nconnection: close\r\n\r\n`);
  }

  sendText(text: string): void {
    this.#send(textFrame, Buffer.from(text));
  }

  sendBytes(bytes: Buffer): void {
    this.#send(binaryFrame, bytes);
  }

  /** Sends a close frame with a code and its reason. */
  close(code: number, reason: string): void {
    const body = Buffer.alloc(2 + Buffer.byteLength(reason));
    body.writeUInt16BE(code);
    body.write(reason, 2);
    this.#send(closeFrame, body);
  }

  /** Ends the connection without a close frame. */
  cut(): void {
    this.#duplex.destroy();
  }

  /** Bytes that are not a frame. */
  raw(bytes: Buffer): void {
    this.#duplex.write(bytes);
  }

  #send(kind: number, body: Buffer): void {
    const head = Buffer.alloc(10);
    head[0] = 0x80 | kind;
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(body.length), 2);
    const short = body.length < 126 ? Buffer.of(0x80 | kind, body.length) : undefined;
    const medium = Buffer.of(0x80 | kind, 126, body.length >> 8, body.length & 0xff);
    if (!this.gone) this.#duplex.write(Buffer.concat([short ?? (body.length < 65_536 ? medium : head), body]));
  }

  /** Clients' frames are masked, and these clients never fragment them. */
  #read(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    while (this.#bytes.length >= 2) {
      const kind = this.#bytes[0]! & 0x0f;
      const first = this.#bytes[1]! & 0x7f;
      const sizeBytes = first === 126 ? 2 : first === 127 ? 8 : 0;
      const start = 2 + sizeBytes + 4;
      if (this.#bytes.length < start) return;
      const length = sizeBytes === 0 ? first : this.#bytes.readUIntBE(sizeBytes === 8 ? 4 : 2, sizeBytes === 8 ? 6 : 2);
      if (this.#bytes.length < start + length) return;
      const mask = this.#bytes.subarray(start - 4, start);
      const body = this.#bytes.subarray(start, start + length).map((byte, at) => byte ^ mask[at % 4]!);
      this.#bytes = this.#bytes.subarray(start + length);
      if (kind === textFrame) this.#onText(Buffer.from(body).toString("utf8"));
      else if (kind === closeFrame) this.#duplex.end();
    }
  }
}
