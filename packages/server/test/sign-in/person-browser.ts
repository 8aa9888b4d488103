/** A browser in which a person signs in at a provider: keeps cookies, follows redirects of the provider, and opens the console's API. */
import assert from "node:assert/strict";
import { ProviderBrowser } from "../../../../test/support/provider-browser.ts";

/** A response body, whose members the tests compare. */
// oxlint-disable-next-line typescript/no-explicit-any
export type TestJson = any;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: TestJson;
}

export class PersonBrowser {
  readonly url: string;
  readonly cookies = new Map<string, string>();
  readonly #provider = new ProviderBrowser();
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.url = url;
    this.#headers = headers;
  }

  /** A request of the console's pages. */
  async request(method: string, path: string, body?: unknown): Promise<Answer> {
    return await this.#fetch(path, {
      method,
      headers: {
        "sec-fetch-site": "same-origin",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Opens an address of the server, as a link does. */
  async open(path: string): Promise<Answer> {
    return await this.#fetch(path, { headers: { "sec-fetch-site": "cross-site" }, redirect: "manual" });
  }

  /** Goes to the provider. @returns the address to which it sends the browser back */
  async toProvider(path: string, change: (url: URL) => void = () => {}): Promise<URL> {
    const { headers, status, text } = await this.open(path);
    assert.equal(status, 303, text);
    const url = new URL(headers.get("location")!);
    change(url);
    return await this.#provider.visit(url.href);
  }

  /** Signs in, as far as the provider and the server let the person. */
  async signIn(path = "/sign-in/acme"): Promise<Answer> {
    const back = await this.toProvider(path);
    return await this.open(`${back.pathname}${back.search}`);
  }

  /** The names of the cookies. */
  get cookieNames(): readonly string[] {
    return [...this.cookies.keys()];
  }

  async #fetch(path: string, init: RequestInit): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(`${this.url}${path}`, {
      ...init,
      headers: { ...this.#headers, ...(init.headers as Record<string, string>), ...(cookie === "" ? {} : { cookie }) },
    });
    for (const set of response.headers.getSetCookie()) {
      const [pair] = set.split(";", 1) as [string];
      const at = pair.indexOf("=");
      if (set.includes("Max-Age=0")) this.cookies.delete(pair.slice(0, at));
      else this.cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  }
}
