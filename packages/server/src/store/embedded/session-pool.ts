/**
 * Reuses the library's sessions. The library releases a closed session only when every statement that runs at that moment has
 * ended, so next to one slow statement each new session would cost 2 MB of the engine's memory. A session keeps its settings:
 * each statement first resets those of the one before.
 */
import { randomUUID } from "node:crypto";
import type { ChdbResult } from "chdb";
import { StoreError } from "../store-error.ts";

export type Library = typeof import("chdb");
type Session = InstanceType<Library["Session"]>;

interface PooledSession {
  readonly session: Session;
  /** What earlier statements have set. */
  names: ReadonlySet<string>;
}

const settingName = /^[a-z][a-z0-9_]{0,100}$/;
const parameterPrefix = "param_";
/** Values of a session's parameters stay until they are reset; a session with more is replaced. */
const mostNames = 1000;

export function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** Resets what only earlier statements have set; an empty parameter holds no value of another caller. */
function reset(name: string): string {
  return name.startsWith(parameterPrefix) ? `${name} = ''` : `${name} = DEFAULT`;
}

function prelude(settings: ReadonlyMap<string, string>, earlier: ReadonlySet<string>): string {
  const assignments = [...settings].map(([name, value]) => {
    if (!settingName.test(name)) throw new StoreError("The name of a setting is invalid.", { code: 115 });
    return `${name} = ${quote(value)}`;
  });
  const resets = [...earlier].filter((name) => !settings.has(name)).map(reset);
  return resets.length + assignments.length === 0 ? "" : `SET ${[...resets, ...assignments].join(", ")}; `;
}

/** The library's errors have no code of their own; their text begins with ClickHouse's number if there is one. */
export function toStoreError(error: unknown): StoreError {
  const text = error instanceof Error ? error.message : String(error);
  const code = /Code: (?<code>\d+)/.exec(text)?.groups?.["code"];
  return code === undefined
    ? new StoreError("The embedded store failed.", { code: 1001 })
    : new StoreError(text, { code: Number(code) });
}

export interface SessionStatement {
  readonly text: string;
  readonly settings: ReadonlyMap<string, string>;
  readonly format: string;
}

export class SessionPool {
  readonly #open: () => Session;
  readonly #idle: PooledSession[] = [];
  #isClosed = false;

  /** @param open opens a session on the engine's data directory */
  constructor(open: () => Session) {
    this.#open = open;
  }

  /** Runs a statement in a session that runs no other. @throws StoreError */
  async run(statement: SessionStatement): Promise<ChdbResult> {
    const pooled = this.#idle.pop() ?? { session: this.#open(), names: new Set() };
    try {
      const result = await execute(pooled, statement);
      this.#release(pooled);
      return result;
    } catch (error) {
      void this.#clean(pooled);
      throw error;
    }
  }

  /** Sessions of running statements are closed at their ends. */
  close(): void {
    this.#isClosed = true;
    for (const { session } of this.#idle) session.close();
    this.#idle.length = 0;
  }

  #release(pooled: PooledSession): void {
    if (this.#isClosed || pooled.names.size > mostNames) pooled.session.close();
    else this.#idle.push(pooled);
  }

  /** What a failed statement has written is at the beginning of the session's next result, which must not reach a caller. */
  async #clean(pooled: PooledSession): Promise<void> {
    const token = randomUUID();
    const check: SessionStatement = { text: `SELECT ${quote(token)}`, settings: new Map(), format: "TSVRaw" };
    try {
      await execute(pooled, check);
      const result = await execute(pooled, check);
      if (Buffer.from(result.bytes()).equals(Buffer.from(`${token}\n`))) return this.#release(pooled);
    } catch {
      // The session is of no use, for example because the engine has no memory.
    }
    pooled.session.close();
  }
}

/** @throws StoreError */
async function execute(pooled: PooledSession, { text, settings, format }: SessionStatement): Promise<ChdbResult> {
  const before = prelude(settings, pooled.names);
  // Also when it fails: then it may have set a part of them.
  pooled.names = new Set([...pooled.names, ...settings.keys()]);
  try {
    const result = await pooled.session.queryAsync(before + text, { format });
    pooled.names = new Set(settings.keys());
    return result;
  } catch (error) {
    throw toStoreError(error);
  }
}
