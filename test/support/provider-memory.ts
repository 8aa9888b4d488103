/** Where the identity providers of the tests keep their sessions, codes and tokens. */
import type { Adapter, AdapterPayload } from "oidc-provider";

/** What the providers of this process remember. */
const memory = new Map<string, AdapterPayload>();

export class MemoryAdapter implements Adapter {
  readonly #model: string;

  constructor(model: string) {
    this.#model = model;
  }

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    memory.set(this.#key(id), payload);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return memory.get(this.#key(id));
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return [...memory].find(([key, payload]) => key.startsWith(this.#key("")) && payload.uid === uid)?.[1];
  }

  async findByUserCode(): Promise<undefined> {}

  async consume(id: string): Promise<void> {
    const payload = memory.get(this.#key(id));
    if (payload !== undefined) payload["consumed"] = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    memory.delete(this.#key(id));
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, payload] of memory) if (payload.grantId === grantId) memory.delete(key);
  }

  #key(id: string): string {
    return `${this.#model}:${id}`;
  }
}
