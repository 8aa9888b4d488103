/** Diarizes a segment of speech: pyannote's segmentation, and an embedding of each voice. */
import sherpaOnnx from "sherpa-onnx-node";
import type { SpeakerSettings, SpeakerTurns } from "../protocol.ts";

const sampleRate = 16_000;
/** A voice that speaks for fewer seconds cannot be identified. */
const shortestVoice = 0.5;

/** Loads the models. Those that the library does not like may end the process. */
export function createDiarizer({ diarization, embedding }: SpeakerSettings): (samples: Float32Array) => SpeakerTurns {
  const diarizer = new sherpaOnnx.OfflineSpeakerDiarization(diarization);
  const extractor = new sherpaOnnx.SpeakerEmbeddingExtractor(embedding);

  const embeddingOf = (pieces: readonly Float32Array[]): Float32Array<ArrayBuffer> | undefined => {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (length < shortestVoice * sampleRate) return undefined;
    const stream = extractor.createStream();
    for (const samples of pieces) stream.acceptWaveform({ samples, sampleRate });
    stream.inputFinished();
    if (!extractor.isReady(stream)) return undefined;
    const found = extractor.compute(stream, false);
    return found.every(Number.isFinite) ? found : undefined;
  };

  return (samples) => {
    const turns = diarizer
      .process(samples)
      .map(({ start, end, speaker }) => ({ start, end: Math.min(end, samples.length / sampleRate), voice: speaker }));
    const voices = Math.max(0, ...turns.map(({ voice }) => voice + 1));
    const embeddings = Array.from({ length: voices }, (_, voice) =>
      embeddingOf(
        turns
          .filter((turn) => turn.voice === voice)
          .map(({ start, end }) => samples.subarray(Math.round(start * sampleRate), Math.round(end * sampleRate))),
      ),
    );
    return { turns, embeddings };
  };
}
