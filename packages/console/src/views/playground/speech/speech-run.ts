/** One call of speech synthesis: plays the audio while it arrives, with the times of its words. */
import { signal } from "@preact/signals";
import type { TTSWordBoundaryEvent } from "@sounding/client";
import { ApiError, request } from "../../../api/request.ts";
import { createTraceParent } from "../../../api/trace-parent.ts";
import { SamplePlayer } from "../audio/sample-player.ts";
import { readLines, readSamples } from "./read-stream.ts";
import { speechBody, type SpeechParameters } from "./speech-parameters.ts";
import { SpokenInput } from "./spoken-input.ts";

type Line =
  | { readonly type: "audio"; readonly data: string }
  | TTSWordBoundaryEvent
  | { readonly type: "error"; readonly error: { readonly message: string; readonly code?: string | null } };

interface Call {
  readonly sampleRate: number;
  readonly startedMs: number;
}

export class SpeechRun {
  readonly parameters: SpeechParameters;
  readonly traceId: string;
  readonly state = signal<"running" | "complete" | "stopped" | "failed">("running");
  readonly error = signal<Error | undefined>(undefined);
  /** Undefined until the first audio arrives. */
  readonly player = signal<SamplePlayer | undefined>(undefined);
  readonly text: SpokenInput;
  /** Pieces of the text that have been spoken. */
  readonly pieceCount = signal(0);
  readonly firstAudioMs = signal<number | undefined>(undefined);
  readonly totalMs = signal<number | undefined>(undefined);
  readonly #controller = new AbortController();

  constructor(parameters: SpeechParameters) {
    const { traceId, header } = createTraceParent();
    this.parameters = parameters;
    this.traceId = traceId;
    this.text = new SpokenInput(parameters.input);
    void this.#run(header);
  }

  /** Ends the call, on the server too. What has arrived can still be played. */
  stop(): void {
    if (this.state.value === "running") this.state.value = "stopped";
    this.#controller.abort();
    this.player.value?.pause();
  }

  /** Ends the call and frees the audio. */
  close(): void {
    this.stop();
    this.player.value?.close();
  }

  async #run(traceparent: string): Promise<void> {
    const startedMs = performance.now();
    const { signal } = this.#controller;
    const { wordTimes } = this.parameters;
    try {
      const response = await request("v1/audio/speech", {
        json: {
          ...speechBody(this.parameters, "pcm"),
          stream: true,
          // Sentences would be sent whole.
          ...(wordTimes ? { enable_word_boundary: true, boundary_types: ["word"] } : {}),
        },
        headers: { traceparent },
        signal,
      });
      const sampleRate = Number(response.headers.get("x-sample-rate"));
      const call = { sampleRate, startedMs };
      if (wordTimes) {
        for await (const line of readLines(response)) {
          if (signal.aborted) return;
          this.#take(line as Line, call);
        }
      } else {
        for await (const samples of readSamples(response)) {
          if (signal.aborted) return;
          this.#play(samples, call);
        }
      }
      if (!signal.aborted) this.state.value = "complete";
    } catch (error) {
      if (signal.aborted) return;
      this.state.value = "failed";
      this.error.value =
        error instanceof ApiError
          ? error
          : new Error(
              "The connection ended before the audio was complete. Check that the server runs, then try again.",
            );
    } finally {
      this.totalMs.value = performance.now() - startedMs;
      this.player.value?.complete();
    }
  }

  #take(line: Line, call: Call): void {
    switch (line.type) {
      case "word_boundary":
        this.text.add(line);
        break;
      case "audio":
        this.#play(samplesOf(line.data), call);
        break;
      case "error":
        throw new ApiError(line.error.message, { status: 200, code: line.error.code ?? undefined });
    }
  }

  #play(samples: Int16Array, { sampleRate, startedMs }: Call): void {
    const player = this.player.value ?? new SamplePlayer(sampleRate);
    player.append(samples);
    // The words of these samples came before them.
    this.pieceCount.value = this.text.pieces.length;
    if (this.player.value !== undefined) return;
    player.play();
    this.player.value = player;
    this.firstAudioMs.value = performance.now() - startedMs;
  }
}

/** @param data 16-bit samples in base64 */
function samplesOf(data: string): Int16Array {
  const binary = atob(data);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return new Int16Array(bytes.buffer, 0, bytes.length >> 1);
}
