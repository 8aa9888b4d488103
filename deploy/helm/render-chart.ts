/**
 * Lints the chart, renders it with each values file in deploy/helm/sounding/ci/, and writes the manifests to
 * deploy/helm/rendered/, where tests read them without Helm: `npm run chart`. `npm run test:chart` only compares.
 * Needs `helm` in PATH, which is a Go module: go install helm.sh/helm/v3/cmd/helm@latest.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chartDigest } from "./chart-digest.ts";

const helmFolder = fileURLToPath(new URL(".", import.meta.url));
const chart = join(helmFolder, "sounding");
const isCheck = process.argv.includes("--check");
/** The oldest version that Chart.yaml allows. */
const kubernetesVersion = "1.30";

/** Values that the chart refuses, and a part of its message. */
const refused: Readonly<Record<string, string>> = {
  "replicas=2": "set database.existingSecret",
  "replicas=2,database.existingSecret=a": "set clickhouse.url",
  "persistence.enabled=false": "keys would be lost",
  "persistence.enabled=false,database.existingSecret=a": "telemetry would be lost",
  "migration.enabled=true": "set database.existingSecret",
  "migration.enabled=true,database.existingSecret=a": "set clickhouse.url",
  "image.slim=true": "has no telemetry store",
  "ingress.enabled=true": "ingress.hosts is empty",
  "replica=2": "additional properties 'replica' not allowed",
};

const helm = (...args: readonly string[]): string =>
  execFileSync("helm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const template = (...args: readonly string[]): string =>
  helm("template", "sounding", chart, "--namespace", "ai", "--kube-version", kubernetesVersion, ...args);

const problems: string[] = [];
const digest = chartDigest(chart);
mkdirSync(join(helmFolder, "rendered"), { recursive: true });
for (const name of readdirSync(join(chart, "ci"))) {
  const values = ["--values", join(chart, "ci", name)];
  helm("lint", "--strict", chart, ...values);
  const text = `# The chart rendered with ci/${name} by npm run chart. Digest of the chart: ${digest}\n${template(...values)}`;
  const file = join(helmFolder, "rendered", basename(name).replace("-values", ""));
  if (!isCheck) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) problems.push(`${file} is out of date; run npm run chart.`);
}
for (const [values, message] of Object.entries(refused)) {
  try {
    template("--set", values);
    problems.push(`The chart accepts ${values}.`);
  } catch (error) {
    const { stderr } = error as { stderr: string };
    if (!stderr.includes(message)) problems.push(`With ${values}, the chart says: ${stderr}`);
  }
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`The chart was linted and ${isCheck ? "compared" : "rendered"}.`);
