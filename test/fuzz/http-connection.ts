/** A TCP connection to the server that sends bytes as they are and reads HTTP/1.1 answers. https://www.rfc-editor.org/rfc/rfc9112 */
import { connect, type Socket } from "node:net";

export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Buffer;
  /** Whether the body arrived as declared; false in answers to HEAD. */
  readonly whole: boolean;
}

export interface Exchange {
  readonly answers: readonly Answer[];
  /** `answered`: the expected number of answers; `closed`: the server closed; `silent`: nothing more arrived in time. */
  readonly end: "answered" | "closed" | "silent";
}

interface SendOptions {
  /** How many answers to wait for. */
  readonly answers: number;
  /** Longest silence. */
  readonly silenceMs: number;
  /** No bodies in the answers. */
  readonly isHead: boolean;
  /** Closes our side when all is sent. */
  readonly halfClose: boolean;
}

export class HttpConnection {
  readonly #socket: Socket;
  readonly #connected: Promise<void>;
  #received: Buffer = Buffer.alloc(0);
  #over = false;
  #wake: () => void = () => {};

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
    this.#socket.on("data", (bytes: Buffer) => {
      this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    const end = (): void => {
      this.#over = true;
      this.#socket.destroy();
      this.#wake();
    };
    this.#socket.on("error", end);
    this.#socket.on("end", end);
    this.#socket.on("close", end);
    this.#connected = new Promise((resolve) => {
      this.#socket.once("connect", resolve);
      this.#socket.once("close", () => resolve());
    });
  }

  /** Whether another request may be sent. */
  get isOpen(): boolean {
    return !this.#over && !this.#socket.destroyed;
  }

  async send(bytes: Uint8Array, { answers: wanted, silenceMs, isHead, halfClose }: SendOptions): Promise<Exchange> {
    await this.#connected;
    this.#received = Buffer.alloc(0);
    if (halfClose) this.#socket.end(bytes);
    else this.#socket.write(bytes);
    const answers: Answer[] = [];
    for (;;) {
      const next = this.#take(isHead);
      if (next !== undefined) {
        if (next.status >= 200) answers.push(next);
        if (answers.length >= wanted) return { answers, end: "answered" };
      } else if (this.#over) {
        return { answers, end: "closed" };
      } else if (!(await this.#more(silenceMs))) {
        return { answers, end: "silent" };
      }
    }
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Whether anything arrived. */
  #more(silenceMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), silenceMs);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = () => {};
        resolve(true);
      };
    });
  }

  /** The next answer, once it is complete, or as much of it as there will be. */
  #take(isHead: boolean): Answer | undefined {
    const headEnd = this.#received.indexOf("\r\n\r\n");
    if (headEnd === -1) return undefined;
    const [statusLine = "", ...lines] = this.#received.toString("latin1", 0, headEnd).split("\r\n");
    const headers = new Map<string, string[]>();
    for (const line of lines) {
      const colon = line.indexOf(":");
      const name = line.slice(0, colon).toLowerCase();
      headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
    }
    const status = Number(statusLine.split(" ")[1]);
    const start = headEnd + 4;
    const finish = (body: Buffer, end: number, whole = true): Answer => {
      this.#received = this.#received.subarray(end);
      return { status, headers, body, whole };
    };
    if (isHead || status < 200 || status === 204 || status === 304) return finish(Buffer.alloc(0), start, !isHead);
    if (headers.get("transfer-encoding")?.[0] === "chunked") {
      const chunked = this.#chunks(start);
      if (chunked !== undefined) return finish(chunked.body, chunked.end);
    } else {
      const length = Number(headers.get("content-length")?.[0] ?? Number.NaN);
      if (start + length <= this.#received.length)
        return finish(this.#received.subarray(start, start + length), start + length);
    }
    return this.#over ? finish(this.#received.subarray(start), this.#received.length, false) : undefined;
  }

  #chunks(start: number): { readonly body: Buffer; readonly end: number } | undefined {
    const pieces: Buffer[] = [];
    for (let at = start; ;) {
      const lineEnd = this.#received.indexOf("\r\n", at);
      if (lineEnd === -1) return undefined;
      const length = Number.parseInt(this.#received.toString("latin1", at, lineEnd), 16);
      const end = lineEnd + 2 + length;
      if (Number.isNaN(length) || this.#received.length < end + 2) return undefined;
      if (length === 0) return { body: Buffer.concat(pieces), end: end + 2 };
      pieces.push(this.#received.subarray(lineEnd + 2, end));
      at = end + 2;
    }
  }
}
