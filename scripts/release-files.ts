/** The files of a release next to its packages: the software bill of materials and checksums. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface BillOfMaterials {
  readonly metadata: { readonly component: { name: string } };
  readonly components: readonly { readonly "bom-ref": string; name: string }[];
}

export const checksumFile = "SHA256SUMS";

/** Writes everything that the lock file installs in production, on any platform, in CycloneDX's format. @returns the file's name */
export function writeBillOfMaterials(root: string, folder: string, version: string): string {
  const words = ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--omit", "dev"];
  const text = execFileSync("npm", words, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  const bill = JSON.parse(text) as BillOfMaterials;
  // npm uses the names of folders.
  bill.metadata.component.name = "sounding";
  for (const component of bill.components) {
    const own = /^(?<name>@sounding\/[^@]+)@/.exec(component["bom-ref"])?.groups?.["name"];
    if (own !== undefined) component.name = own;
  }
  const name = `sounding-${version}.cdx.json`;
  writeFileSync(join(folder, name), `${JSON.stringify(bill, null, 2)}\n`);
  return name;
}

/** Writes the SHA-256 of every other file in the folder, as `sha256sum --check` reads it. */
export function writeChecksums(folder: string): void {
  const files = readdirSync(folder).filter((name) => name !== checksumFile);
  const lines = files.toSorted().map(
    (name) =>
      `${createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex")}  ${name}\n`,
  );
  writeFileSync(join(folder, checksumFile), lines.join(""));
}
