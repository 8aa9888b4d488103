/**
 * Finds the entry that is registered for the path of a URL: literal segments first, then a parameter, then the rest of the path.
 * docs/adr/0002-contract-and-http-server.md
 */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";

const maxParameterCharacters = inputLimit({
  area: "HTTP",
  bounds: "A parameter in the path of a URL",
  value: 1024,
  unit: "characters",
  error: "invalid_request",
});

export type PathParameters = Readonly<Record<string, string>>;

export interface PathMatch<Value> {
  readonly value: Value;
  /** Decoded. */
  readonly parameters: PathParameters;
}

interface Node<Value> {
  readonly literals: Map<string, Node<Value>>;
  parameter?: { readonly name: string; readonly node: Node<Value> };
  /** `tail`: the segments that the path must end with. */
  rest?: { readonly name: string; readonly tail: readonly string[]; readonly value: Value };
  value?: Value;
}

const noParameters: PathParameters = {};

export class Router<Value> {
  /** Paths without parameters, which most requests use. */
  readonly #literalPaths = new Map<string, PathMatch<Value>>();
  readonly #root: Node<Value> = { literals: new Map() };

  /**
   * @param pattern with parameters `{name}`; `{+name}` takes the rest, slashes included, up to the literal segments that
   *   follow it (RFC 6570)
   */
  add(pattern: string, value: Value): void {
    const segments = pattern.split("/");
    let node = this.#root;
    for (const [index, segment] of segments.entries()) {
      const { name, plus } = /^\{(?<plus>\+?)(?<name>\w+)\}$/.exec(segment)?.groups ?? {};
      if (name !== undefined && plus === "+") {
        node.rest = { name, tail: segments.slice(index + 1), value };
        return;
      }
      node = name === undefined ? literalChild(node, segment) : parameterChild(node, name);
    }
    node.value = value;
    if (!pattern.includes("{")) this.#literalPaths.set(pattern, { value, parameters: noParameters });
  }

  /**
   * @param target the target of a request's first line: a path with a query, or an absolute URL
   * @throws AppError invalid_request when the path is not a valid URL or a parameter is too long
   */
  find(target: string): PathMatch<Value> | undefined {
    const literal = this.#literalPaths.get(target);
    if (literal !== undefined) return literal;
    return matchFrom(this.#root, decodeSegments(pathOf(target)), 0);
  }
}

function literalChild<Value>(node: Node<Value>, segment: string): Node<Value> {
  const child = node.literals.get(segment) ?? { literals: new Map() };
  node.literals.set(segment, child);
  return child;
}

function parameterChild<Value>(node: Node<Value>, name: string): Node<Value> {
  node.parameter ??= { name, node: { literals: new Map() } };
  if (node.parameter.name !== name)
    throw new Error(`Two paths name the same segment {${node.parameter.name}} and {${name}}.`);
  return node.parameter.node;
}

function matchFrom<Value>(node: Node<Value>, segments: readonly string[], index: number): PathMatch<Value> | undefined {
  const segment = segments[index];
  if (segment === undefined) {
    return node.value === undefined ? undefined : { value: node.value, parameters: noParameters };
  }
  const literal = node.literals.get(segment);
  const found = literal === undefined ? undefined : matchFrom(literal, segments, index + 1);
  if (found !== undefined) return found;
  if (node.parameter !== undefined) {
    if (segment.length > maxParameterCharacters) throw parameterTooLong(node.parameter.name, segment);
    const { name, node: child } = node.parameter;
    const match = matchFrom(child, segments, index + 1);
    if (match !== undefined) return { value: match.value, parameters: { ...match.parameters, [name]: segment } };
  }
  if (node.rest === undefined) return undefined;
  const { name, tail, value } = node.rest;
  const end = segments.length - tail.length;
  if (end <= index || tail.some((expected, at) => segments[end + at] !== expected)) return undefined;
  return { value, parameters: { [name]: segments.slice(index, end).join("/") } };
}

/** Without the query. Clients of proxies send absolute URLs: https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2 */
export function pathOf(target: string): string {
  const end = target.search(/[?#]/);
  const path = end === -1 ? target : target.slice(0, end);
  if (path.startsWith("/")) return path;
  return /^https?:\/\/[^/]+(?<path>\/.*)$/i.exec(path)?.groups?.["path"] ?? path;
}

function decodeSegments(path: string): string[] {
  const segments = path.split("/");
  if (!path.includes("%")) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch (error) {
    throw new AppError("invalid_request", `The path ${path.slice(0, 200)} is not a valid URL.`, { cause: error });
  }
}

function parameterTooLong(name: string, segment: string): AppError {
  return new AppError(
    "invalid_request",
    `${name} in the path has ${segment.length} characters; at most ${maxParameterCharacters} are allowed.`,
    { param: name },
  );
}
