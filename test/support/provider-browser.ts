/** The part of a browser that signs in at a provider of OpenID Connect. */

/** A browser that follows the provider's redirects, with its cookies. */
export class ProviderBrowser {
  readonly #cookies = new Map<string, string>();

  /** Opens an address of the provider. @returns the first address that is not one of the provider */
  async visit(address: string): Promise<URL> {
    const { origin } = new URL(address);
    let url = address;
    for (let step = 0; step < 20; step += 1) {
      const response = await fetch(url, { headers: { cookie: this.#cookieHeader() }, redirect: "manual" });
      for (const cookie of response.headers.getSetCookie()) this.#keep(cookie);
      const location = response.headers.get("location");
      if (location === null) throw new Error(`${url} answers ${response.status}: ${await response.text()}`);
      await response.body?.cancel();
      url = new URL(location, url).href;
      if (new URL(url).origin !== origin) return new URL(url);
    }
    throw new Error("The provider redirects for ever.");
  }

  #keep(setCookie: string): void {
    const [pair] = setCookie.split(";", 1) as [string];
    const at = pair.indexOf("=");
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (value === "") this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }

  #cookieHeader(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }
}
