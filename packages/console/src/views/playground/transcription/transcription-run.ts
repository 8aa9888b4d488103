/**
 * One transcription: uploads the recording and reads the text while it arrives. Uses XMLHttpRequest, since `fetch` does not report
 * the progress of uploads.
 */
import { signal } from "@preact/signals";
import type { TranscriptionStreamEvent } from "@sounding/client";
import { createEventDecoder } from "../../../api/event-decoder.ts";
import { ApiError, apiUrl, failureOf } from "../../../api/request.ts";
import { createTraceParent } from "../../../api/trace-parent.ts";
import { Transcript } from "./transcript.ts";
import { transcriptionFields, type TranscriptionParameters } from "./transcription-parameters.ts";

type Data = TranscriptionStreamEvent | { readonly type?: undefined; readonly error: { readonly message: string } };

/** Models that refused to report the times of words. */
const modelsWithoutWordTimes = new Set<string>();

/** Asks for the times of words only from models that may have them. */
export function withKnownTimes(parameters: TranscriptionParameters): TranscriptionParameters {
  const refused = parameters.timestamps === "word" && modelsWithoutWordTimes.has(parameters.model);
  return refused ? { ...parameters, timestamps: "segment" } : parameters;
}

export class TranscriptionRun {
  readonly traceId: string;
  readonly state = signal<"uploading" | "running" | "complete" | "stopped" | "failed">("uploading");
  readonly error = signal<Error | undefined>(undefined);
  /** The share of the recording that has been sent, 0 to 1. */
  readonly uploaded = signal(0);
  readonly transcript = new Transcript();
  /** Changes with each event. */
  readonly eventCount = signal(0);
  /** Whether the times of words were wanted, but the model has none. */
  readonly lacksWordTimes = signal(false);
  readonly firstTextMs = signal<number | undefined>(undefined);
  readonly totalMs = signal<number | undefined>(undefined);
  readonly #parameters: TranscriptionParameters;
  readonly #file: File;
  readonly #traceParent: string;
  readonly #startedMs = performance.now();
  readonly #events = createEventDecoder();
  #request = new XMLHttpRequest();
  #read = 0;
  #ended = false;

  constructor(parameters: TranscriptionParameters, file: File) {
    const { traceId, header } = createTraceParent();
    this.traceId = traceId;
    this.#traceParent = header;
    this.#parameters = parameters;
    this.#file = file;
    this.#send();
  }

  /** Ends the call, on the server too. The text so far stays. */
  stop(): void {
    if (this.#isActive()) this.#settle("stopped");
    this.#request.abort();
  }

  #send(): void {
    const parameters = withKnownTimes(this.#parameters);
    this.lacksWordTimes.value = parameters.timestamps !== this.#parameters.timestamps;
    this.state.value = "uploading";
    const request = (this.#request = new XMLHttpRequest());
    request.open("POST", apiUrl("v1/audio/transcriptions"));
    request.setRequestHeader("traceparent", this.#traceParent);
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      this.uploaded.value = loaded / Math.max(1, total);
    });
    request.upload.addEventListener("load", () => {
      if (this.state.value === "uploading") this.state.value = "running";
    });
    request.addEventListener("progress", () => this.#receive());
    request.addEventListener("load", () => void this.#finish());
    request.addEventListener("error", () =>
      this.#fail(
        new ApiError(
          "The connection ended before the transcription was complete. Check that the server runs and that the recording is not larger than it allows, then try again.",
        ),
      ),
    );
    request.send(formOf(parameters, this.#file));
  }

  #isActive(): boolean {
    return this.state.value === "uploading" || this.state.value === "running";
  }

  #receive(): void {
    const { status, responseText } = this.#request;
    if (status < 200 || status > 299 || !this.#isActive()) return;
    const data = this.#events.push(new TextEncoder().encode(responseText.slice(this.#read)));
    this.#read = responseText.length;
    for (const each of data) this.#take(each);
  }

  #take(data: string): void {
    if (data === "[DONE]") {
      this.#ended = true;
      return;
    }
    const event = JSON.parse(data) as Data;
    if (event.type === undefined) return this.#fail(new ApiError(event.error.message, { status: 200 }));
    this.transcript.take(event);
    if (this.transcript.text !== "") this.firstTextMs.value ??= performance.now() - this.#startedMs;
    this.eventCount.value += 1;
  }

  async #finish(): Promise<void> {
    const { status, responseText } = this.#request;
    if (status < 200 || status > 299) {
      const headers = new Headers();
      for (const name of ["x-request-id", "retry-after-ms"]) {
        const value = this.#request.getResponseHeader(name);
        if (value !== null) headers.set(name, value);
      }
      return this.#refused(await failureOf(new Response(responseText, { status, headers })));
    }
    this.#receive();
    if (!this.#isActive()) return;
    if (this.#ended) this.#settle("complete");
    else this.#fail(new Error("The connection ended before the transcription was complete. Try again."));
  }

  #refused(error: ApiError): void {
    const { model, timestamps } = this.#parameters;
    const refusesWords = error.code === "unsupported_parameter" && error.param === "timestamp_granularities";
    if (!refusesWords || timestamps !== "word" || this.lacksWordTimes.value || !this.#isActive())
      return this.#fail(error);
    modelsWithoutWordTimes.add(model);
    this.#send();
  }

  #fail(error: Error): void {
    if (!this.#isActive()) return;
    this.error.value = error;
    this.#settle("failed");
  }

  #settle(state: "complete" | "stopped" | "failed"): void {
    this.totalMs.value = performance.now() - this.#startedMs;
    this.state.value = state;
  }
}

/** The server begins while the recording is being uploaded if it knows the other fields by then. */
function formOf(parameters: TranscriptionParameters, file: File): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(transcriptionFields(parameters)))
    form.append(name, typeof value === "string" ? value : JSON.stringify(value));
  form.append("stream", "true");
  form.append("file", file, file.name);
  return form;
}
