/**
 * Reads the object of an operation before and after its change, as the API shows it: by the route that shows the object at the
 * path of the operation. What the API does not show, such as a secret, is therefore never recorded.
 */
import { AppError } from "../../errors.ts";
import type { Operation } from "../../api/operation.ts";
import type { Route, RouteInput } from "../../http/route.ts";
import type { ObjectState, StateReader } from "./current-act.ts";
import type { ActObject } from "./entry.ts";

type Path = Readonly<Record<string, string>>;

interface ObjectRoute {
  readonly route: Route;
  /** The parameter of the path that identifies the object. */
  readonly parameter: string;
}

const lastParameter = /^(?<parent>.*)\/\{\+?(?<name>\w+)\}$/;

export class ObjectStates {
  /** The routes that show one object, by their paths and by those of their lists. */
  readonly #shown = new Map<string, ObjectRoute>();
  readonly #listed = new Map<string, ObjectRoute>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const { method, path } = route.operation;
      const { name, parent } = lastParameter.exec(path)?.groups ?? {};
      if (method !== "GET" || name === undefined || parent === undefined) continue;
      this.#shown.set(path, { route, parameter: name });
      this.#listed.set(parent, { route, parameter: name });
    }
  }

  /** The object that the path names, as far as the path says. */
  named({ path: pattern }: Operation, path: Path): ActObject {
    const shown = this.#find(pattern);
    const parameter = shown?.parameter ?? Object.keys(path).at(-1);
    if (parameter === undefined) return { kind: kindOfList(this.#listed.get(pattern)), id: null, name: null };
    return { kind: kindOf(parameter), id: path[parameter] ?? null, name: null };
  }

  /** @param input of the request, whose caller reads the object */
  reader(operation: Operation, input: RouteInput<never>): StateReader | undefined {
    const shown = this.#find(operation.path);
    if (shown !== undefined) {
      const read = (): Promise<ObjectState | undefined> => stateOf(shown, input, input.path);
      return { before: read, after: read };
    }
    const listed = this.#listed.get(operation.path);
    if (listed === undefined) return undefined;
    return {
      before: async () => undefined,
      after: async (result) => {
        if (typeof result !== "object" || result === null || !("id" in result)) return undefined;
        const { id } = result;
        if (typeof id !== "string") return undefined;
        return await stateOf(listed, input, { ...input.path, [listed.parameter]: id });
      },
    };
  }

  /** The object at the path or, for `/keys/{key_id}/revoke`, above it. */
  #find(pattern: string): ObjectRoute | undefined {
    for (let path = pattern; path !== ""; path = path.slice(0, path.lastIndexOf("/"))) {
      const found = this.#shown.get(path);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function kindOf(parameter: string): string {
  return parameter.replace(/_id$/, "");
}

function kindOfList(listed: ObjectRoute | undefined): string | null {
  return listed === undefined ? null : kindOf(listed.parameter);
}

async function stateOf(
  { parameter, route }: ObjectRoute,
  input: RouteInput<never>,
  path: Path,
): Promise<ObjectState | undefined> {
  const id = path[parameter] ?? "";
  const state = await readState(route, input, path);
  if (state === undefined) return undefined;
  const name = "name" in state && typeof state.name === "string" ? state.name : null;
  return { object: { kind: kindOf(parameter), id, name }, state };
}

async function readState(route: Route, input: RouteInput<never>, path: Path): Promise<object | undefined> {
  try {
    const response = await route.serve({
      body: undefined as never,
      bytes: Buffer.alloc(0),
      form: undefined,
      scope: input.scope,
      session: input.session,
      origin: input.origin,
      path,
      pathname: input.pathname,
      query: new URLSearchParams(),
      headers: input.headers,
      requestId: input.requestId,
      clientAddress: input.clientAddress,
      signal: input.signal,
      cancellation: input.cancellation,
      memory: input.memory,
      note: () => {},
    });
    if (response.kind !== "json" || typeof response.value !== "object" || response.value === null) return undefined;
    return response.value;
  } catch (error) {
    if (error instanceof AppError && error.status < firstServerStatus) return undefined;
    throw error;
  }
}

const firstServerStatus = 500;
