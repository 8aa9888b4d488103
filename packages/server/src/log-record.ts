/**
 * Serializes a log record as one line of JSON, without its secrets. It knows which fields the server creates itself, so
 * that the line of a request costs no search for secrets in them.
 */

export type LogFields = Record<string, unknown>;

/**
 * Sounding's keys (sk-…), signed tokens (JWT), bearer tokens, Basic credentials, passwords in URLs, and JSON members with the name of a secret.
 * A key needs a word boundary before it, so that `task-…` is not one. Applied to serialized members, so that it covers
 * nested fields.
 */
const secretText =
  /(?<![A-Za-z0-9])(sk-[\w-]{4})[\w-]{8,}|(?<![\w-])(eyJ)[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?|(\bBearer\s+)[^\s"'\\]+|(\bBasic\s+)[A-Za-z0-9+/]{20,}={0,2}|(:\/\/[^\s/:@"']+:)[^\s@"']+(?=@)|("(?:authorization|x-api-key|api-key|api_key|apiKey|password|secret|cookie)":")[^"]*/gi;

/** The text with its secrets redacted. */
export function redactText(text: string): string {
  return text.replace(
    secretText,
    (_match, key?: string, token?: string, bearer?: string, basic?: string, url?: string, member?: string) =>
      `${key ?? token ?? bearer ?? basic ?? url ?? member ?? ""}[redacted]`,
  );
}

/** Fields of a request whose text the server creates or has checked: it needs no escapes and contains no secrets. */
const ownFields: ReadonlySet<string> = new Set([
  "request_id",
  "operation",
  "outcome",
  "client_address",
  "organization_id",
  "key_id",
]);

/** @returns the line, with its line break */
export function toLogLine(level: string, fields: LogFields, message: string): string {
  let line = `{"level":"${level}","time":"${isoTime(Date.now())}"`;
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === "number") line += `,"${name}":${Number.isFinite(value) ? value : null}`;
    else if (typeof value === "string") {
      line += ownFields.has(name) ? `,"${name}":"${value}"` : textMember(name, value);
    } else if (value !== undefined) line += memberOf(name, value);
  }
  return `${line},"msg":${redactText(JSON.stringify(message))}}\n`;
}

/** Fields whose texts repeat in the lines of many requests. */
const repeatedFields: ReadonlySet<string> = new Set(["method", "path", "project", "model", "engine"]);
/** Their texts that contain no secret, with their JSON. */
const harmlessTexts = new Map<string, string>();
const maximumHarmlessTexts = 1000;
const longestHarmlessText = 100;

function textMember(name: string, text: string): string {
  if (!repeatedFields.has(name)) return redactText(`,"${name}":${JSON.stringify(text)}`);
  const known = harmlessTexts.get(text);
  if (known !== undefined) return `,"${name}":${known}`;
  const json = JSON.stringify(text);
  const member = `,"${name}":${json}`;
  const redacted = redactText(member);
  if (redacted === member && text.length <= longestHarmlessText) {
    if (harmlessTexts.size >= maximumHarmlessTexts) harmlessTexts.clear();
    harmlessTexts.set(text, json);
  }
  return redacted;
}

function memberOf(name: string, value: unknown): string {
  const text = serialize(name === "error" ? describeError(value) : value);
  return text === undefined ? "" : redactText(`,"${name}":${text}`);
}

/** Undefined for what JSON does not have, such as functions. A log never throws. */
function serialize(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return '"[not serializable]"';
  }
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

let secondStartMs = Number.NaN;
let secondText = "";

/** ISO 8601, in UTC. Only the milliseconds are formatted again for most lines. */
function isoTime(unixMs: number): string {
  let ms = unixMs - secondStartMs;
  if (!(ms >= 0 && ms < 1000)) {
    secondStartMs = Math.floor(unixMs / 1000) * 1000;
    secondText = new Date(secondStartMs).toISOString().slice(0, -4);
    ms = unixMs - secondStartMs;
  }
  return `${secondText}${ms < 10 ? "00" : ms < 100 ? "0" : ""}${ms}Z`;
}
