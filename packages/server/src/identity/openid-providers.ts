/** The identity providers of the configuration. One whose settings stay the same keeps its metadata and keys over a reload. */
import type { SignInSettings } from "../config/sign-in.ts";
import type { Logger } from "../logger.ts";
import { OpenIdProvider } from "./openid-provider.ts";

export class OpenIdProviders {
  readonly #options: { readonly logger: Logger; readonly now: () => number };
  #all: ReadonlyMap<string, OpenIdProvider> = new Map();

  /** @param options `now`: UNIX milliseconds */
  constructor(options: { readonly logger: Logger; readonly now: () => number }) {
    this.#options = options;
  }

  /** By name, in the order of the configuration. */
  get all(): ReadonlyMap<string, OpenIdProvider> {
    return this.#all;
  }

  reload({ providers }: SignInSettings): void {
    const before = this.#all;
    this.#all = new Map(
      Object.entries(providers).map(([name, settings]) => {
        const known = before.get(name);
        const isSame = known !== undefined && JSON.stringify(known.settings) === JSON.stringify(settings);
        return [name, isSame ? known : new OpenIdProvider({ name, settings, ...this.#options })];
      }),
    );
    const kept = new Set(this.#all.values());
    for (const provider of before.values()) if (!kept.has(provider)) provider.close();
  }

  close(): void {
    for (const provider of this.#all.values()) provider.close();
  }
}
