/** Runs a suite on SQLite and, if it is installed, on Postgres; each test opens its own databases. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe } from "node:test";
import { beforeTests } from "../../../../test/support/hooks.ts";
import {
  openControlDatabase,
  type ControlDatabase,
  type ControlDatabaseOptions,
} from "../../src/tenancy/control-database.ts";
import { startPostgres, type PostgresServer } from "./postgres-server.ts";
import { needs } from "../../../../test/support/needs.ts";

export interface Databases {
  /** The location of a new, empty database. */
  location(): Promise<ControlDatabaseOptions>;
  /** A new, empty database, opened; closed after the suite. */
  open(): Promise<ControlDatabase>;
}

/** `define` declares the tests of one kind of database. */
export function onEachDatabase(title: string, define: (databases: Databases) => void): void {
  describe(`${title}, on SQLite`, () => {
    define(databases(async () => undefined));
  });
  describe(`${title}, on Postgres`, { skip: needs("postgresql") }, () => {
    let server: PostgresServer;
    define(databases(() => server.newDatabase()));
    // After the tests' own hooks, so that the server is stopped after their connections.
    beforeTests(async (stack) => {
      server = stack.use(await startPostgres());
    });
  });
}

function databases(newUrl: () => Promise<string | undefined>): Databases {
  const opened: ControlDatabase[] = [];
  const directories: string[] = [];
  after(async () => {
    await Promise.all(opened.map((control) => control.close()));
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  });
  async function location(): Promise<ControlDatabaseOptions> {
    const dataDirectory = mkdtempSync(join(tmpdir(), "sounding-control-"));
    directories.push(dataDirectory);
    return { url: await newUrl(), dataDirectory };
  }
  return {
    location,
    async open() {
      const control = await openControlDatabase(await location());
      opened.push(control);
      return control;
    },
  };
}

/** The AppError that the work fails with, as code and param. */
export async function failure(work: () => unknown): Promise<{ code: string; param: string | null; message: string }> {
  try {
    await work();
  } catch (error) {
    const { code, param, message } = error as { code: string; param: string | null; message: string };
    return { code, param, message };
  }
  throw new Error("it did not fail");
}
