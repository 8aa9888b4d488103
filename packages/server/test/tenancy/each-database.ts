/** Runs a suite on SQLite and, if it is installed, on Postgres; each test opens its own databases. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import {
  openControlDatabase,
  type ControlDatabase,
  type ControlDatabaseOptions,
} from "../../src/tenancy/control-database.ts";
import { noPostgres, startPostgres, type PostgresServer } from "./postgres-server.ts";

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
  describe(`${title}, on Postgres`, { skip: noPostgres ?? false }, () => {
    let server: PostgresServer;
    before(async () => {
      server = await startPostgres();
    });
    define(databases(() => server.newDatabase()));
    after(() => server.remove());
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
