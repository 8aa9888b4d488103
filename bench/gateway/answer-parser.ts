/**
 * Parses successive HTTP/1.1 responses from a socket's bytes; supports only the part of the protocol that the benchmark
 * needs.
 */

export interface AnswerEvents {
  onHead(status: number): void;
  /** A piece of the body, without the framing. */
  onBody(bytes: Buffer): void;
  onEnd(): void;
}

const headEnd = Buffer.from("\r\n\r\n");
const lineEnd = Buffer.from("\r\n");

type State = "head" | "body" | "chunk_size" | "chunk" | "chunk_end" | "trailer";

export class AnswerParser {
  readonly #events: AnswerEvents;
  #state: State = "head";
  #kept: Buffer = Buffer.alloc(0);
  /** Bytes still expected for the body or the chunk. */
  #left = 0;

  constructor(events: AnswerEvents) {
    this.#events = events;
  }

  push(bytes: Buffer): void {
    let rest = this.#kept.length === 0 ? bytes : Buffer.concat([this.#kept, bytes]);
    this.#kept = rest.subarray(rest.length);
    while (rest.length > 0) {
      const taken = this.#step(rest);
      if (taken === 0) {
        this.#kept = rest;
        return;
      }
      rest = rest.subarray(taken);
    }
  }

  /** @returns the number of bytes consumed; 0 if more bytes are needed */
  #step(bytes: Buffer): number {
    switch (this.#state) {
      case "head":
        return this.#readHead(bytes);
      case "body":
      case "chunk": {
        const part = Math.min(this.#left, bytes.length);
        this.#events.onBody(bytes.subarray(0, part));
        this.#left -= part;
        if (this.#left === 0) {
          if (this.#state === "chunk") this.#state = "chunk_end";
          else this.#end();
        }
        return part;
      }
      case "chunk_size": {
        const end = bytes.indexOf(lineEnd);
        if (end === -1) return 0;
        this.#left = Number.parseInt(bytes.toString("latin1", 0, end), 16);
        this.#state = this.#left === 0 ? "trailer" : "chunk";
        return end + 2;
      }
      default: {
        if (bytes.length < 2) return 0;
        if (this.#state === "trailer") this.#end();
        else this.#state = "chunk_size";
        return 2;
      }
    }
  }

  #readHead(bytes: Buffer): number {
    const end = bytes.indexOf(headEnd);
    if (end === -1) return 0;
    const head = bytes.toString("latin1", 0, end + 2);
    this.#events.onHead(Number(head.slice(9, 12)));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) this.#state = "chunk_size";
    else {
      this.#left = Number(length);
      this.#state = "body";
      if (this.#left === 0) this.#end();
    }
    return end + headEnd.length;
  }

  #end(): void {
    this.#state = "head";
    this.#events.onEnd();
  }
}
