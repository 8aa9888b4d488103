/** Defines the messages between the server and a decoder worker, which decodes one recording at a time. */
import type { ErrorCode } from "../errors.ts";
import type { CompressedKind } from "./compressed-kind.ts";

/** The requested form of the samples. */
export interface DecodeRequest {
  /** In Hz; the worker resamples. */
  readonly rate: number;
  /** Samples at that rate that an earlier worker has sent already. */
  readonly skip: number;
}

export type ToDecoder =
  | {
      readonly type: "start";
      readonly kind: CompressedKind;
      readonly maxSeconds: number;
      /** One 32-bit counter, which wraps: bytes read and values decoded. */
      readonly progress: SharedArrayBuffer;
      /** Absent until the samples are requested. */
      readonly playing: DecodeRequest | undefined;
    }
  | { readonly type: "play"; readonly playing: DecodeRequest }
  /** The answer to `read`: null at the end, `failed` when the source broke. */
  | { readonly type: "bytes"; readonly bytes: Uint8Array | null | "failed" }
  /** The server has taken a piece; the worker may send another one. */
  | { readonly type: "taken" };

export type FromDecoder =
  | { readonly type: "read" }
  /** The first sound is decoded. */
  | { readonly type: "opened"; readonly sampleRate: number; readonly channels: number }
  /** @property heard samples of the recording so far, at its own rate */
  | { readonly type: "samples"; readonly samples: Float32Array<ArrayBuffer>; readonly heard: number }
  /** Everything is sent. */
  | { readonly type: "end"; readonly heard: number }
  | {
      readonly type: "error";
      readonly code: ErrorCode;
      readonly message: string;
      readonly param: string | null;
    }
  /** Follows `end` and `error` when nothing keeps the worker busy any more. */
  | { readonly type: "free" };

/** Samples of the largest piece. */
export const pieceSamples = 16_384;
/** Pieces that may be on their way to the server or wait there. */
export const piecesAhead = 4;
