/** Sends requests without a client, for promises about the wire format. */
import type { Facts } from "./known-service.ts";

type Headers = Readonly<Record<string, string>>;

/** Sends JSON with the service's key. */
export function post({ url, key }: Facts, path: string, body: unknown, headers: Headers = {}): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

interface ErrorBody {
  readonly error: { readonly message: string; readonly type: string; readonly param: unknown; readonly code: unknown };
}

export async function errorOf(response: Response): Promise<ErrorBody["error"]> {
  return ((await response.json()) as ErrorBody).error;
}

/** The values of a stream's `data:` events, whose last one may be `[DONE]`. */
export async function dataOf(response: Response): Promise<string[]> {
  const events = (await response.text()).split("\n\n").filter((event) => event.trim() !== "");
  return events.map((event) => event.replaceAll(/^: .*\n/gm, "").replace(/^data: /, ""));
}
