/** The bytes that the benchmarks exchange: a small chat of four messages, its response, and the streamed response. */

/** 48 pieces of text, the finish reason, the usage, `[DONE]`. */
export const eventsPerStream = 51;
/** Interval between two events of a paced stream, similar to a fast engine's tokens. */
export const paceMs = 5;

/** The request's body, 0.8 KB. */
export function requestBody(model: string, options: { stream: boolean }): string {
  const messages = [
    { role: "system", content: "You are a careful assistant. Answer in plain words. ".repeat(4) },
    { role: "user", content: "What is the capital of France, and what color is the sky above it? ".repeat(3) },
    { role: "assistant", content: "Paris. The sky is blue on most days of the summer." },
    { role: "user", content: "And of Germany? Say also how far apart the two cities are." },
  ];
  const stream = options.stream ? { stream: true, stream_options: { include_usage: true } } : {};
  return JSON.stringify({ model, messages, temperature: 0.7, max_tokens: 256, ...stream });
}

export function completionText(): string {
  return JSON.stringify({
    id: "chatcmpl-0123456789abcdef0123456789abcdef",
    object: "chat.completion",
    created: 1_760_000_000,
    model: "bench",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "Berlin. The two are about 880 km apart. ".repeat(8), refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: { prompt_tokens: 120, completion_tokens: 80, total_tokens: 200 },
    system_fingerprint: "fp_0123456789",
  });
}

/** Microseconds of a clock that all processes on the machine share. */
export function clockMicros(): number {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1e6 + Math.floor(nanos / 1e3);
}

/** An event whose `system_fingerprint` contains its send time, so that the receiver can compute the transit time. */
export function tokenEvent(index: number): string {
  const isFirst = index === 0;
  const isLast = index === eventsPerStream - 3;
  const delta = isLast ? {} : { ...(isFirst ? { role: "assistant" } : {}), content: ` word${index}` };
  return event([{ index: 0, delta, logprobs: null, finish_reason: isLast ? "stop" : null }], null);
}

export function usageEvent(): string {
  return event([], { prompt_tokens: 120, completion_tokens: 48, total_tokens: 168 });
}

function event(choices: readonly unknown[], usage: unknown): string {
  return JSON.stringify({
    id: "chatcmpl-0123456789abcdef0123456789abcdef",
    object: "chat.completion.chunk",
    created: 1_760_000_000,
    model: "bench",
    system_fingerprint: `at_${clockMicros()}_`,
    choices,
    usage,
  });
}

const stampStart = Buffer.from("at_");
const digitZero = 48;

/** Reports the transit time, in microseconds, of each event in the bytes. */
export function readTransits(bytes: Buffer, onTransit: (micros: number) => void): void {
  const now = clockMicros();
  for (let at = bytes.indexOf(stampStart); at !== -1; at = bytes.indexOf(stampStart, at)) {
    at += stampStart.length;
    let sent = 0;
    for (let digit = (bytes[at] ?? 0) - digitZero; digit >= 0 && digit <= 9; digit = (bytes[++at] ?? 0) - digitZero)
      sent = sent * 10 + digit;
    // A stamp that the network split has no underscore after it, or too few digits; it is skipped.
    if (bytes[at] === 95 && now - sent < 60e6) onTransit(now - sent);
  }
}
