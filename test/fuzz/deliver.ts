/** Sends one input to the server and checks the response. */
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2";
import { dialectOf, faultOf } from "./check-answer.ts";
import { HttpConnection } from "./http-connection.ts";
import { fillPlaceholders, readMessage } from "./http-message.ts";
import type { ServedTarget } from "./target.ts";

export interface Delivery {
  /** For the counts: a status, or a word for its absence. */
  readonly outcome: string;
  readonly fault?: string;
}

interface Destination {
  readonly port: number;
  readonly grpcPort: number;
  readonly placeholders: Readonly<Record<string, string>>;
}

/** Long, since only a blocked server should come near it. */
const silenceMs = 60_000;
/** After input that is not a request, the server may wait for the rest of it. */
const rawSilenceMs = 100;
/** Every this many requests, our side of the connection is closed. */
const halfCloseEvery = 50;

/** Sequentially over one connection, which is reopened when necessary. */
export class Courier {
  readonly #to: Destination;
  #connection: HttpConnection | undefined;
  #session: ClientHttp2Session | undefined;
  #sent = 0;

  constructor(to: Destination) {
    this.#to = to;
  }

  deliver(target: ServedTarget, input: Uint8Array): Promise<Delivery> {
    this.#sent += 1;
    if (target.transport === "http2") return this.#call(input);
    const bytes = fillPlaceholders(input, this.#to.placeholders);
    return target.isRaw === true ? this.#sendRaw(target, bytes) : this.#send(target, bytes);
  }

  close(): void {
    this.#connection?.destroy();
    this.#session?.destroy();
  }

  async #send(target: ServedTarget, bytes: Buffer): Promise<Delivery> {
    const { method, path } = readMessage(bytes);
    const halfClose = this.#sent % halfCloseEvery === 0;
    const options = { answers: 1, silenceMs, isHead: method === "HEAD", halfClose };
    const isFresh = this.#connection?.isOpen !== true;
    if (isFresh) this.#connection = new HttpConnection(this.#to.port);
    const connection = this.#connection!;
    let { answers, end } = await connection.send(bytes, options);
    if (end === "closed" && answers.length === 0 && !isFresh) {
      // The server closed the idle connection meanwhile.
      this.#connection = new HttpConnection(this.#to.port);
      ({ answers, end } = await this.#connection.send(bytes, options));
    }
    const [answer] = answers;
    if (answer === undefined) {
      this.#connection!.destroy();
      const what =
        end === "silent" ? `no answer within ${silenceMs} ms` : "the connection was closed without an answer";
      return { outcome: end, fault: halfClose ? `${what} (our side was closed after the request)` : what };
    }
    if (halfClose || answer.headers.get("connection")?.[0] === "close") this.#connection!.destroy();
    const fault = faultOf(answer, {
      dialect: dialectOf(path),
      ...(target.serverErrors === undefined ? {} : { serverErrors: target.serverErrors }),
    });
    return { outcome: String(answer.status), ...(fault === undefined ? {} : { fault }) };
  }

  async #sendRaw(target: ServedTarget, bytes: Buffer): Promise<Delivery> {
    const connection = new HttpConnection(this.#to.port);
    try {
      const isHead = bytes.toString("latin1", 0, 5) === "HEAD ";
      const { answers, end } = await connection.send(bytes, {
        answers: Infinity,
        silenceMs: rawSilenceMs,
        isHead,
        halfClose: this.#sent % 4 === 0,
      });
      // After a HEAD in a pipeline, the start of an answer is ambiguous.
      const known = bytes.includes("HEAD") ? answers.slice(0, 1) : answers;
      const { path } = readMessage(bytes);
      const faults = known.map((answer) =>
        faultOf(answer, {
          dialect: dialectOf(path),
          ...(target.serverErrors === undefined ? {} : { serverErrors: target.serverErrors }),
        }),
      );
      const fault = faults.find((each) => each !== undefined);
      return {
        outcome: answers[0] === undefined ? end : String(answers[0].status),
        ...(fault === undefined ? {} : { fault }),
      };
    } finally {
      connection.destroy();
    }
  }

  /** https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */
  #call(input: Uint8Array): Promise<Delivery> {
    const { path, headers, body } = readMessage(fillPlaceholders(input, this.#to.placeholders));
    if (this.#session === undefined || this.#session.destroyed || this.#session.closed) {
      this.#session = connect(`http://127.0.0.1:${this.#to.grpcPort}`);
      this.#session.on("error", () => {});
    }
    const kept = headers.filter(([name]) => name !== "host" && name !== "content-length");
    const stream = this.#session.request({ ":method": "POST", ":path": path, ...Object.fromEntries(kept) });
    return new Promise((resolve) => {
      let status: string | undefined;
      const note = (fields: IncomingHttpHeaders): void => {
        const value = fields["grpc-status"];
        if (typeof value === "string") status ??= value;
      };
      stream.setTimeout(silenceMs, () => stream.destroy());
      stream.on("response", note);
      stream.on("trailers", note);
      stream.on("error", () => {});
      stream.once("close", () => {
        const isRight = status !== undefined && /^(?:0|1|3|4|5|6|7|8|9|10|11|12|14|16)$/.test(status);
        resolve({
          outcome: `grpc ${status ?? "none"}`,
          ...(isRight ? {} : { fault: `grpc-status ${status ?? "is absent"}` }),
        });
      });
      stream.resume();
      stream.end(body);
    });
  }
}
