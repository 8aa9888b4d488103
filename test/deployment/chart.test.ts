/**
 * The Helm chart, rendered: valid for Kubernetes, unprivileged, and with settings that exist. Helm has no Debian package, so
 * the tests read the rendered manifests in the repository, and fail if they are older than the chart. `npm run chart` renders.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import Schema from "typebox/schema";
import { chartDigest } from "../../deploy/helm/chart-digest.ts";
import { operations } from "../../packages/server/src/api/index.ts";
import { assertServerAccepts, imageEnvironment, readDeployed, readDeployedYaml } from "../support/deployment-files.ts";
import { parseYaml } from "../../packages/server/src/config/yaml-file.ts";
import { repository } from "../support/served-process.ts";
import { needs, python } from "../support/needs.ts";

const run = promisify(execFile);

interface Variable {
  readonly name: string;
  readonly value?: string;
}

interface Container {
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly Variable[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: object;
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly [Container];
  readonly volumes?: readonly { readonly name: string }[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
}

const names = ["embedded", "fleet", "stateless"] as const;

async function rendered(name: string): Promise<Manifest[]> {
  const text = await readDeployed(`helm/rendered/${name}.yaml`);
  return text
    .split(/^---$/m)
    .slice(1)
    .map((document) => parseYaml(name, document).value as Manifest);
}

const podOf = ({ kind, spec }: Manifest): PodSpec | undefined => {
  if (kind === "Pod") return spec as unknown as PodSpec;
  return (spec?.["template"] as { spec: PodSpec } | undefined)?.spec;
};

test("the rendered manifests are those of the chart", async () => {
  const digest = chartDigest(join(repository, "deploy/helm/sounding"));
  for (const name of names) {
    const [first] = (await readDeployed(`helm/rendered/${name}.yaml`)).split("\n", 1);
    assert.ok(
      first!.endsWith(digest),
      `run npm run chart: ${name}.yaml was rendered from another version of the chart`,
    );
  }
  assert.deepEqual(
    (await readdir(join(repository, "deploy/helm/sounding/ci"))).toSorted(),
    names.map((name) => `${name}-values.yaml`),
  );
});

test("the chart has the version of the server", async () => {
  const { version } = JSON.parse(await readFile(join(repository, "package.json"), "utf8")) as { version: string };
  const chart = await readDeployedYaml<{ version: string; appVersion: string }>("helm/sounding/Chart.yaml");
  assert.deepEqual([chart.version, chart.appVersion], [version, version]);
});

test("the default values follow the schema, which knows every value", async () => {
  const schema = JSON.parse(await readDeployed("helm/sounding/values.schema.json")) as { properties: object };
  const values = await readDeployedYaml<object>("helm/sounding/values.yaml");
  assert.deepEqual(Schema.Errors(schema, values)[1], []);
  const optional = new Set(["global", "nameOverride", "fullnameOverride"]);
  assert.deepEqual(
    Object.keys(values).toSorted(),
    Object.keys(schema.properties)
      .filter((name) => !optional.has(name))
      .toSorted(),
  );
});

describe("the chart rendered for", () => {
  for (const name of names) {
    const skip = needs("python");
    for (const version of ["1.30", "1.37"]) {
      test(`${name} is valid for Kubernetes ${version}, without unknown fields`, { skip }, async () => {
        const file = join(repository, `deploy/helm/rendered/${name}.yaml`);
        const words = ["--strict", "--quiet", "--no-warn", "-k", version, file];
        await run(python, ["-m", "kubernetes_validate", ...words]);
      });
    }

    test(`${name} runs unprivileged, with the image's user, port and volume`, async () => {
      const pods = (await rendered(name)).map(podOf).filter((pod) => pod !== undefined);
      // The server and the test of the release; in the fleet also the migration.
      assert.equal(pods.length, name === "fleet" ? 3 : 2);
      for (const pod of pods) {
        assert.deepEqual([pod.automountServiceAccountToken, pod.enableServiceLinks], [false, false]);
        const { runAsNonRoot, runAsUser, seccompProfile } = pod.securityContext;
        assert.deepEqual([runAsNonRoot, runAsUser, seccompProfile], [true, 10_001, { type: "RuntimeDefault" }]);
        assert.deepEqual(pod.containers[0].securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
      }
      const [
        {
          containers: [server],
        },
      ] = pods as [PodSpec];
      assert.deepEqual(server.ports, [
        { name: "http", containerPort: Number(imageEnvironment["SOUNDING_LISTEN_PORT"]) },
      ]);
      const mounts = Object.fromEntries(server.volumeMounts!.map(({ name, mountPath }) => [name, mountPath]));
      assert.deepEqual(mounts, { data: imageEnvironment["SOUNDING_DATA_DIR"], config: "/etc/sounding" });
    });

    test(`${name} probes paths that the server has`, async () => {
      const paths = new Set<string>(operations.map(({ path }) => path));
      const pod = (await rendered(name)).map(podOf).find((pod) => pod?.containers[0].readinessProbe !== undefined);
      const { startupProbe, readinessProbe, livenessProbe } = pod!.containers[0];
      for (const probe of [startupProbe, readinessProbe, livenessProbe]) {
        assert.ok(paths.has(probe!.httpGet.path), probe!.httpGet.path);
        assert.equal(probe!.httpGet.port, "http");
      }
    });

    test(`${name} gives the server settings that exist`, async () => {
      const manifests = await rendered(name);
      const { env = [] } = manifests.map(podOf).find((pod) => pod !== undefined)!.containers[0];
      const values = env.map(({ name, value }) => [name, value ?? "postgres://sounding:a@postgres/sounding"] as const);
      const config = manifests.find(({ kind }) => kind === "ConfigMap")!.data!["sounding.yaml"]!;
      const secret = { OPENAI_API_KEY: `sk-${"a".repeat(40)}` };
      assertServerAccepts({ ...imageEnvironment, ...secret, ...Object.fromEntries(values) }, config);
    });
  }

  test("one server has a volume, and no budget for disruptions", async () => {
    const kinds = (await rendered("embedded")).map(({ kind }) => kind);
    assert.ok(kinds.includes("StatefulSet") && !kinds.includes("PodDisruptionBudget"), kinds.join());
  });

  test("a fleet without volumes does not acknowledge telemetry before ClickHouse has it", async () => {
    const manifests = await rendered("stateless");
    const kinds = manifests.map(({ kind }) => kind);
    assert.ok(kinds.includes("Deployment") && kinds.includes("HorizontalPodAutoscaler"), kinds.join());
    const { env = [] } = manifests.map(podOf).find((pod) => pod !== undefined)!.containers[0];
    assert.deepEqual(env.find(({ name }) => name === "SOUNDING_TELEMETRY_JOURNAL")?.value, "off");
  });

  test("a job migrates the fleet's databases before its servers are upgraded, with the same settings", async () => {
    const manifests = await rendered("fleet");
    const job = manifests.find(({ kind }) => kind === "Job")!;
    const hooks = manifests.filter(
      ({ metadata }) => metadata.annotations?.["helm.sh/hook"] === "pre-install,pre-upgrade",
    );
    assert.deepEqual(hooks.map(({ kind }) => kind).toSorted(), ["ConfigMap", "Job"]);
    const server = manifests.map(podOf).find((pod) => pod !== undefined);
    const migration = podOf(job)!.containers[0];
    assert.deepEqual([migration.args, migration.image], [["migrate"], server!.containers[0].image]);
    const served = new Map(server!.containers[0].env!.map((each) => [each.name, each]));
    for (const each of migration.env!) assert.deepEqual(each, served.get(each.name), each.name);
    assert.ok(migration.env!.some(({ name }) => name === "DATABASE_URL"));
    const [config, own] = manifests.filter(({ kind }) => kind === "ConfigMap");
    assert.deepEqual(own!.data, config!.data);
  });

  test("Prometheus scrapes each server once", async () => {
    const manifests = await rendered("fleet");
    const monitor = manifests.find(({ kind }) => kind === "ServiceMonitor")!;
    const [endpoint] = monitor.spec["endpoints"] as [{ port: string; path: string }];
    const { matchLabels } = monitor.spec["selector"] as { matchLabels: Record<string, string> };
    const selected = manifests.filter(
      ({ kind, metadata, spec }) =>
        kind === "Service" &&
        Object.entries(matchLabels).every(([label, value]) => metadata.labels[label] === value) &&
        (spec["ports"] as { name: string }[]).some(({ name }) => name === endpoint.port),
    );
    assert.deepEqual([endpoint.path, selected.map(({ metadata }) => metadata.name)], ["/metrics", ["sounding"]]);
  });
});
