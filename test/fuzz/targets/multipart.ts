/** Damaged forms: sent to the server, and directly to the decoder. */
import { AppError } from "../../../packages/server/src/errors.ts";
import { boundaryOf, MultipartDecoder } from "../../../packages/server/src/http/multipart.ts";
import { hostileString } from "../hostile-values.ts";
import { readMessage, writeMessage } from "../http-message.ts";
import { mutateBytes } from "../mutate-bytes.ts";
import type { Random } from "../random.ts";
import type { DirectTarget, ServedTarget } from "../target.ts";

const boundaries = ["b", "--", "a b", "x".repeat(70), "x".repeat(201), "\r\n", '"', "=_?"] as const;
const names = ["model", "file", "prompt", "stream", "include[]", "chunking_strategy", "", "__proto__"] as const;

function part(random: Random, boundary: string): Buffer {
  const name = random.chance(0.9) ? random.pick(names) : hostileString(random, 300);
  const disposition = random.chance(0.95)
    ? `form-data; name="${name}"`
    : random.pick(["form-data", "attachment; name=model", `form-data; name=${name}`, ""]);
  const file =
    name === "file" || random.chance(0.1)
      ? `; filename="${random.chance(0.8) ? "a.wav" : hostileString(random, 100)}"`
      : "";
  const extra = random.chance(0.1)
    ? `${random.pick(["Content-Transfer-Encoding: base64", "X: ".padEnd(random.size(20_000), "y"), "Content-Type: text/plain", ": ", "content-disposition: form-data; name=x"])}\r\n`
    : "";
  const content = random.chance(0.7)
    ? Buffer.from(random.pick(["scripted-transcription", "true", "en", "{}"]))
    : random.bytes(random.size(random.chance(0.02) ? 2_000_000 : 2000));
  return Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: ${disposition}${file}\r\n${extra}\r\n`),
    content,
    Buffer.from("\r\n"),
  ]);
}

function form(random: Random): { readonly contentType: string; readonly body: Buffer } {
  const boundary = random.chance(0.8) ? "fuzz-boundary" : random.pick(boundaries);
  const count = random.chance(0.02) ? random.between(100, 400) : random.size(8);
  const whole = Buffer.concat([
    ...Array.from({ length: count }, () => part(random, boundary)),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
  const contentType = random.chance(0.95)
    ? `multipart/form-data; boundary=${random.chance(0.5) ? boundary : JSON.stringify(boundary)}`
    : random.pick([
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/mixed; boundary=b",
        "text/plain",
      ]);
  return { contentType, body: random.chance(0.4) ? mutateBytes(whole, random) : whole };
}

function generate(random: Random): Buffer {
  const { contentType, body } = form(random);
  const headers = [
    ["authorization", "Bearer {key}"],
    ["content-type", contentType.replaceAll(/[\r\n]/g, " ")],
  ] as const;
  return writeMessage({ method: "POST", path: "/v1/audio/transcriptions", headers, body });
}

export const multipartTarget: ServedTarget = {
  kind: "served",
  name: "multipart",
  perSecond: 800,
  transport: "http1",
  generate,
  serverErrors: [502, 504],
};

/** The same requests; the body arrives in pieces whose lengths depend on it. */
export const multipartDecoderTarget: DirectTarget = {
  kind: "direct",
  name: "multipart-decoder",
  perSecond: 3000,
  generate,
  run(input) {
    const { headers, body } = readMessage(input);
    const bytes = Buffer.from(body);
    try {
      const decoder = new MultipartDecoder(boundaryOf(new Map(headers).get("content-type")));
      let items = 0;
      // Small pieces exercise the splitting, and a few thousand of them are enough.
      const length = Math.ceil(bytes.length / 5000) + (bytes.length % 700);
      for (let at = 0; at < bytes.length; at += length) {
        for (const item of decoder.push(bytes.subarray(at, at + length))) items += item.kind === "headers" ? 1 : 0;
      }
      decoder.end();
      return items === 0 ? "empty" : "read";
    } catch (error) {
      if (error instanceof AppError && error.status < 500) return String(error.status);
      throw error;
    }
  },
};
