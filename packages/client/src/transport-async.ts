/** The asynchronous transport: `fetch` and promises. */
import { ConfigurationError } from "./errors.ts";
import { exchangeOpen, exchangeWhole, type OpenBody } from "./exchange.ts";
import { fileSystem } from "./file-system.ts";
import type { AsyncEventStream, Items, StreamDecoder, Transform, Transport } from "./mode.ts";
import type { ClientSettings } from "./options.ts";
import { buildRequest } from "./request.ts";

export function createAsyncTransport(settings: ClientSettings): Transport<"async"> {
  return {
    async send(request, read) {
      return read(await exchangeWhole(buildRequest(request, settings), settings));
    },

    async stream(request, open) {
      const body = await exchangeOpen(buildRequest(request, settings), settings);
      try {
        return eventStream(body, open(body.head));
      } catch (error) {
        body.close();
        throw error;
      }
    },

    map: async (value, change) => change(await value),
    transform: transformed,
    sequence: sequenced,

    async writeFile(path, pieces) {
      const file = await fileSystem().promises.open(path, "w");
      try {
        for await (const piece of pieces) await file.writeFile(piece);
      } finally {
        await file.close();
      }
    },
  };
}

async function* transformed<A, B>(
  items: Items<"async", A>,
  { push, end }: Transform<A, B>,
): AsyncGenerator<B, void, void> {
  for await (const item of items) yield* push(item);
  yield* end();
}

async function* sequenced<T>(next: (last: T | undefined) => Promise<T> | undefined): AsyncGenerator<T, void, void> {
  for (let result = next(undefined); result !== undefined;) {
    const last = await result;
    yield last;
    result = next(last);
  }
}

function eventStream<T>(body: OpenBody, decoder: StreamDecoder<T>): AsyncEventStream<T> {
  let iterated = false;
  return {
    head: body.head,
    [Symbol.asyncIterator]() {
      if (iterated)
        throw new ConfigurationError("The stream has already been iterated; its events are delivered only once.");
      iterated = true;
      return readEvents(body, decoder);
    },
    close: async () => body.close(),
  };
}

async function* readEvents<T>(body: OpenBody, decoder: StreamDecoder<T>): AsyncGenerator<T, void, void> {
  let whole = false;
  try {
    while (!decoder.finished) {
      const bytes = await body.read();
      if (body.closed) return;
      for (const event of bytes === undefined ? decoder.end() : decoder.push(bytes)) {
        yield event;
        body.check();
        if (body.closed) return;
      }
      if (bytes === undefined) break;
    }
    whole = true;
  } finally {
    if (whole) body.finish();
    else body.close();
  }
}
